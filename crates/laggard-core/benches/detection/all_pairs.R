# All pairs with R: all_pairs.R DAY MEMBERS THRESHOLD TRIES; prints the seconds of the fastest try and the number of
# anomalies.
words <- commandArgs(TRUE)
members <- as.integer(words[2])
threshold <- as.numeric(words[3])
tries <- as.integer(words[4])
span <- 15; least <- 8; size <- 60; shift <- 30; most <- 1000
count <- file.size(words[1]) / 4
day <- matrix(readBin(words[1], "numeric", n = count, size = 4, endian = "little"), ncol = members)

# Means of neighbours; what is missing is left out, as long as enough are there.
smooth <- function(day) {
  there <- !is.na(day)
  sums <- stats::filter(ifelse(there, day, 0), rep(1, span), sides = 1)
  counts <- stats::filter(there * 1, rep(1, span), sides = 1)
  means <- ifelse(counts >= least, sums / counts, NA)
  means[span:nrow(day), ]
}

anomalies <- function(window) {
  values <- window[!is.na(window)]
  low <- min(values); range <- max(values) - low
  width <- 2 * IQR(values) * size^(-1 / 3)
  bins <- if (width > 0) min(most, max(1, ceiling(range / width))) else most
  if (range <= 0) return(0)
  cumulative <- function(row) {
    row <- row[!is.na(row)]
    cumsum(tabulate(pmin(bins, floor((row - low) / (range / bins)) + 1), bins))
  }
  histograms <- matrix(apply(window, 2, cumulative), ncol = members)
  apart <- as.matrix(dist(t(histograms), method = "manhattan"))
  sum(rowSums(apart > threshold) > (members - 1) / 2)
}

detect <- function() {
  begin <- sum(proc.time()[1:2])
  means <- smooth(day)
  starts <- seq(1, nrow(means) - size + 1, by = shift)
  found <- sum(vapply(starts, function(start) anomalies(means[start:(start + size - 1), ]), 0))
  c(sum(proc.time()[1:2]) - begin, found)
}

outcomes <- replicate(tries, detect())
cat(sprintf("%.4f %d\n", min(outcomes[1, ]), as.integer(outcomes[2, 1])))
