//! What is compared: metrics, absence, idleness, activity.

use crate::model::component::Kind;
use crate::model::metric::{Aspect, Formula, Harm, Metric, Unit};

/// No samples, while the peers have some. Not recorded, but seen.
pub static ABSENCE: Metric = seen("absence", "time without samples, while its peers have some");

/// No requests, while the peers have some. Not recorded, but seen.
pub static IDLENESS: Metric = seen("idleness", "time without requests, while its peers have some");

/// Requests, while the peers have none. Not recorded, but seen.
pub static ACTIVITY: Metric = seen("activity", "time with requests, while its peers have none");

/// Stands for the table of what is seen and not recorded.
pub const SEEN: &str = "";

const fn seen(name: &'static str, about: &'static str) -> Metric {
    Metric {
        name,
        unit: Unit::Percent,
        table: SEEN,
        formula: Formula::Now(1.0, &[]),
        aspect: Aspect::Errors,
        harm: Harm::Up,
        weight: None,
        decimals: 0,
        about,
    }
}

/// The share of a group's traffic that does not matter.
pub const WHISPER: f64 = 0.05;

/// How a metric is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Measured by what is done; zero means that there was nothing to measure.
    Measured,
    /// An amount; what does not matter is a share of the group's traffic in the same unit, or this much if that is
    /// more.
    Traffic(f64),
    /// A percentage of what its weight counts, gathered over some time; this much does not matter.
    Share(f64),
}

/// A metric that is watched.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Its name.
    pub metric: &'static str,
    /// How it is read.
    pub reading: Reading,
    /// What is added to the group's spread: a third less than what is worth telling.
    pub floor: f64,
    /// Whether it can make a component faulty on its own. If not, it is evidence only.
    pub accuses: bool,
}

const fn watch(metric: &'static str, reading: Reading, floor: f64, accuses: bool) -> Watched {
    Watched { metric, reading, floor, accuses }
}

/// What latencies are corrected by.
pub const LOAD: &str = "throughput";

/// Of a block device: its latency accuses, its traffic only explains, since load may be uneven for good reasons.
const DISK: &[Watched] = &[
    watch("await", Reading::Measured, 0.15, true),
    watch("throughput", Reading::Traffic(0.0), 0.3, false),
    watch("rd_sec", Reading::Traffic(0.0), 0.3, false),
    watch("wr_sec", Reading::Traffic(0.0), 0.3, false),
];

/// Of an interface: traffic that its peers do not have is somebody else's.
const NIC: &[Watched] = &[
    watch("rxbyt", Reading::Traffic(NETWORK_WHISPER), 0.3, true),
    watch("txbyt", Reading::Traffic(NETWORK_WHISPER), 0.3, true),
];

/// Bytes a second that hold nobody back on any network that carries storage: uneven metadata, chatter, heartbeats.
const NETWORK_WHISPER: f64 = 1e6;

/// Of the connections with a remote host: what is lost accuses. A small window only explains: one that was closed by a
/// loss long ago stays so for as long as the connection does not need more.
const LINK: &[Watched] = &[
    watch("link_loss", Reading::Share(LOSS_WHISPER), 0.5, true),
    watch("cwnd", Reading::Measured, 0.5, false),
    watch("rtt", Reading::Measured, 0.5, false),
];

/// Of a whole host.
const HOST: &[Watched] = &[watch("loss", Reading::Share(LOSS_WHISPER), 0.5, true)];

/// Of a hundred segments, so many are lost wherever senders probe for the capacity of a network.
const LOSS_WHISPER: f64 = 0.5;

/// The floor of absence, idleness and activity.
pub const SHARE_FLOOR: f64 = 0.2;

/// What is watched of a kind.
pub fn of_kind(kind: &Kind) -> &'static [Watched] {
    match kind.as_str() {
        "nic" => NIC,
        "link" => LINK,
        "server" | "client" => HOST,
        "socket" | "recorder" => &[],
        _ => DISK,
    }
}

/// Those among them that are wanted.
pub fn judged(kind: &Kind, is_wanted: impl Fn(&Metric) -> bool) -> Vec<Watched> {
    let is_wanted = |watched: &&Watched| Metric::named(watched.metric).is_some_and(&is_wanted);
    of_kind(kind).iter().filter(is_wanted).copied().collect()
}

/// The metrics that are wanted, and what it takes to read them, which is not judged unless it is wanted, too.
pub fn read(kind: &Kind, is_wanted: impl Fn(&Metric) -> bool) -> Vec<&'static Metric> {
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for watched in judged(kind, is_wanted) {
        let metric = Metric::named(watched.metric);
        let besides = match watched.reading {
            Reading::Measured => {
                of_kind(kind).iter().find(|other| other.metric == LOAD).map(|other| other.metric)
            }
            Reading::Share(_) => metric.and_then(|metric| metric.weight),
            Reading::Traffic(_) => None,
        };
        for metric in metric.into_iter().chain(besides.and_then(Metric::named)) {
            if metrics.iter().all(|known| known.name != metric.name) {
                metrics.push(metric);
            }
        }
    }
    metrics
}

/// Whether absence and idleness of a kind accuse it: only devices have no reason to come and go.
pub fn has_to_be_there(kind: &Kind) -> bool {
    !matches!(kind.as_str(), "nic" | "link" | "server" | "client" | "socket" | "recorder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_watched_metric_is_registered_and_so_is_what_it_is_a_share_of() {
        for watched in [DISK, NIC, LINK, HOST].into_iter().flatten() {
            let metric = Metric::named(watched.metric).unwrap_or_else(|| panic!("{}", watched.metric));
            let weight = metric.weight.and_then(Metric::named);
            assert!(weight.is_some() || !matches!(watched.reading, Reading::Share(_)), "{}", watched.metric);
        }
    }

    #[test]
    fn a_latency_is_read_with_its_load() {
        let names = |only: &str| -> Vec<&str> {
            read(&Kind::ATTACHMENT, |metric| metric.name == only).iter().map(|metric| metric.name).collect()
        };
        assert_eq!(names("await"), ["await", LOAD]);
        assert_eq!(names("rd_sec"), ["rd_sec"]);
    }
}
