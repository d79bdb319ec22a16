"""All pairs with numpy and scipy: all_pairs.py DAY MEMBERS THRESHOLD TRIES [plain]; prints the seconds of the fastest try
and the number of anomalies. Plain: histograms are filled by np.add.at, as one would write it first."""
import sys
import time

import numpy as np
from scipy.spatial.distance import cdist

SPAN, LEAST, SIZE, SHIFT, MOST = 15, 8, 60, 30, 1000
IS_PLAIN = "plain" in sys.argv


def smooth(day):
    """Means of SPAN neighbours; what is missing is left out, as long as LEAST are there."""
    there = ~np.isnan(day)
    pad = ((0, 0), (1, 0))
    sums = np.cumsum(np.pad(np.where(there, day, 0.0), pad), axis=1)
    counts = np.cumsum(np.pad(there, pad), axis=1)
    sums, counts = sums[:, SPAN:] - sums[:, :-SPAN], counts[:, SPAN:] - counts[:, :-SPAN]
    return np.where(counts >= LEAST, sums / np.maximum(counts, 1), np.nan)


def bin_count(values):
    first, third = np.percentile(values, [25, 75])
    width = 2 * (third - first) * SIZE ** (-1 / 3)
    return int(np.clip(np.ceil(np.ptp(values) / width), 1, MOST)) if width > 0 else MOST


def anomalies(window, threshold):
    members = len(window)
    there = ~np.isnan(window)
    values = window[there]
    bins, low = bin_count(values), values.min()
    width = np.ptp(values) / bins
    if width <= 0:
        return 0
    numbers = np.minimum(bins - 1, (values - low) // width).astype(np.int64)
    rows = np.nonzero(there)[0]
    if IS_PLAIN:
        histograms = np.zeros((members, bins))
        np.add.at(histograms, (rows, numbers), 1)
    else:
        histograms = np.bincount(rows * bins + numbers, minlength=members * bins).reshape(members, bins)
    cumulative = np.cumsum(histograms, axis=1, dtype=np.float64)
    over = (cdist(cumulative, cumulative, "cityblock") > threshold).sum(axis=1)
    return int((over > (members - 1) / 2).sum())


def detect(day, threshold):
    begin = time.process_time()
    means = smooth(day)
    starts = range(0, means.shape[1] - SIZE + 1, SHIFT)
    found = sum(anomalies(means[:, start:start + SIZE], threshold) for start in starts)
    return time.process_time() - begin, found


def main():
    path, members, threshold, tries = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    day = np.fromfile(path, dtype="<f4").reshape(members, -1).astype(np.float64)
    seconds, found = min(detect(day, threshold) for _ in range(tries))
    print(f"{seconds:.4f} {found}")


main()
