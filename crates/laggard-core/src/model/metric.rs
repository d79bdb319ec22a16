//! The registry of metrics: one row each. Everything that lists, derives, shows or explains a metric reads it
//! from here.

/// What a metric is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things per second.
    PerSecond,
    /// 512-byte sectors per second.
    SectorsPerSecond,
    /// 512-byte sectors.
    Sectors,
    /// Bytes per second.
    BytesPerSecond,
    /// Requests.
    Requests,
    /// Milliseconds.
    Milliseconds,
    /// Hundredths of the time.
    Percent,
    /// TCP segments.
    Segments,
}

impl Unit {
    /// As it stands behind a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::PerSecond => "/s",
            Unit::SectorsPerSecond => "sectors/s",
            Unit::Sectors => "sectors",
            Unit::BytesPerSecond => "B/s",
            Unit::Requests => "requests",
            Unit::Milliseconds => "ms",
            Unit::Percent => "%",
            Unit::Segments => "segments",
        }
    }
}

/// What a metric tells about its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// How much work is done.
    Throughput,
    /// How long work takes.
    Latency,
    /// How much work waits.
    Queue,
    /// How congested the network is.
    Congestion,
    /// How much goes wrong.
    Errors,
}

/// Which way a metric moves when things get worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// More is worse.
    Up,
    /// Less is worse.
    Down,
    /// Either may be.
    Either,
}

/// How a metric follows from two samples of a table's counters, `elapsed` seconds apart.
/// D(x) is how much x grew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Formula {
    /// D(sum of the terms) / elapsed.
    Rate(Terms),
    /// `scale` x D(first) / elapsed: shares of time, queue lengths.
    Scaled(f64, Terms),
    /// `scale` x D(first) / D(second), 0 when nothing was counted (as sar says it).
    PerOperation(f64, Terms, Terms),
    /// `scale` x the value at the instant.
    Now(f64, Terms),
    /// `scale` x first / second at the instant; missing when the second is 0.
    NowRatio(f64, Terms, Terms),
}

/// A sum of columns. The first list whose `all` columns are there counts, with those of its `any` that are.
pub type Terms = &'static [Sum];

/// One way to make up a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// Columns that must be there.
    pub all: &'static [&'static str],
    /// Columns that count as 0 where a kernel or a recording does not have them.
    pub any: &'static [&'static str],
}

const fn sum(all: &'static [&'static str], any: &'static [&'static str]) -> Sum {
    Sum { all, any }
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Its name: the papers' where they have it.
    pub name: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// The table that holds its counters.
    pub table: &'static str,
    /// How it is derived.
    pub formula: Formula,
    /// What it tells.
    pub aspect: Aspect,
    /// Which way is worse.
    pub harm: Harm,
    /// Where it is an average over operations: the metric that counts these, to weigh averages by.
    pub weight: Option<&'static str>,
    /// Digits shown after the point.
    pub decimals: usize,
    /// One line for people.
    pub about: &'static str,
}

// sar counts discards among a device's requests, and so do we: operators compare the two.
const IOS: Terms = &[sum(&["reads", "writes"], &["discards"]), sum(&["ios"], &[])];
const IO_SECTORS: Terms = &[sum(&["sectors_read", "sectors_written"], &["sectors_discarded"])];
const IO_MS: Terms = &[sum(&["read_ms", "write_ms"], &["discard_ms"])];

macro_rules! one {
    ($column:literal) => {
        &[sum(&[$column], &[])]
    };
}

/// All metrics: the thirteen of the papers, then ours.
#[rustfmt::skip]
pub static METRICS: &[Metric] = &{
    use Aspect::{Congestion, Errors, Latency, Queue, Throughput};
    use Formula::{Now, NowRatio, PerOperation, Rate, Scaled};
    use Harm::{Down, Either, Up};
    use Unit::{BytesPerSecond, Milliseconds, PerSecond, Percent, Requests, Sectors, SectorsPerSecond, Segments};
    const TPS: Option<&str> = Some("tps");
    [
        Metric { name: "tps", unit: PerSecond, table: "disk", formula: Rate(IOS), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "requests completed" },
        Metric { name: "rd_sec", unit: SectorsPerSecond, table: "disk", formula: Rate(one!("sectors_read")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "sectors read" },
        Metric { name: "wr_sec", unit: SectorsPerSecond, table: "disk", formula: Rate(one!("sectors_written")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "sectors written" },
        Metric { name: "avgrq-sz", unit: Sectors, table: "disk", formula: PerOperation(1.0, IO_SECTORS, IOS), aspect: Throughput, harm: Either, weight: TPS, decimals: 2, about: "mean size of a request" },
        Metric { name: "avgqu-sz", unit: Requests, table: "disk", formula: Scaled(0.001, one!("weighted_ms")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "mean number of requests queued or in service" },
        Metric { name: "await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, IO_MS, IOS), aspect: Latency, harm: Up, weight: TPS, decimals: 2, about: "mean time of a request, queueing included" },
        Metric { name: "svctm", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("io_ms"), IOS), aspect: Latency, harm: Up, weight: TPS, decimals: 2, about: "device's busy time per request" },
        Metric { name: "%util", unit: Percent, table: "disk", formula: Scaled(0.1, one!("io_ms")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time with a request in flight" },
        Metric { name: "rxpck", unit: PerSecond, table: "net", formula: Rate(one!("rx_packets")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "packets received" },
        Metric { name: "txpck", unit: PerSecond, table: "net", formula: Rate(one!("tx_packets")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "packets sent" },
        Metric { name: "rxbyt", unit: BytesPerSecond, table: "net", formula: Rate(one!("rx_bytes")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes received" },
        Metric { name: "txbyt", unit: BytesPerSecond, table: "net", formula: Rate(one!("tx_bytes")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes sent" },
        Metric { name: "cwnd", unit: Segments, table: "link", formula: NowRatio(1.0, one!("cwnd_sum"), one!("sockets")), aspect: Congestion, harm: Down, weight: None, decimals: 1, about: "mean sending window of the connections with a remote host" },

        Metric { name: "throughput", unit: BytesPerSecond, table: "disk", formula: Scaled(512.0, &[sum(&["sectors_read", "sectors_written"], &[])]), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes read and written" },
        Metric { name: "r_await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("read_ms"), one!("reads")), aspect: Latency, harm: Up, weight: Some("r_tps"), decimals: 2, about: "mean time of a read" },
        Metric { name: "w_await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("write_ms"), one!("writes")), aspect: Latency, harm: Up, weight: Some("w_tps"), decimals: 2, about: "mean time of a write" },
        Metric { name: "f_await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("flush_ms"), one!("flushes")), aspect: Latency, harm: Up, weight: Some("flushes"), decimals: 2, about: "mean time of a cache flush" },
        Metric { name: "r_tps", unit: PerSecond, table: "disk", formula: Rate(one!("reads")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "reads completed" },
        Metric { name: "w_tps", unit: PerSecond, table: "disk", formula: Rate(one!("writes")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "writes completed" },
        Metric { name: "flushes", unit: PerSecond, table: "disk", formula: Rate(one!("flushes")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "cache flushes completed" },
        Metric { name: "in_flight", unit: Requests, table: "disk", formula: Now(1.0, one!("in_flight")), aspect: Queue, harm: Up, weight: None, decimals: 0, about: "requests in flight at the instant" },
        Metric { name: "rxdrop", unit: PerSecond, table: "net", formula: Rate(one!("rx_drops")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "received packets dropped" },
        Metric { name: "txdrop", unit: PerSecond, table: "net", formula: Rate(one!("tx_drops")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "packets dropped before sending" },
        Metric { name: "rxerr", unit: PerSecond, table: "net", formula: Rate(one!("rx_errors")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "packets received broken" },
        Metric { name: "txerr", unit: PerSecond, table: "net", formula: Rate(one!("tx_errors")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "packets that could not be sent" },
        Metric { name: "rtt", unit: Milliseconds, table: "link", formula: NowRatio(0.001, one!("rtt_us_sum"), one!("sockets")), aspect: Congestion, harm: Up, weight: None, decimals: 3, about: "mean smoothed round trip of the connections with a remote host" },
        Metric { name: "link_retrans", unit: PerSecond, table: "link", formula: Rate(one!("retransmits")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "segments sent again to a remote host" },
        Metric { name: "link_loss", unit: Percent, table: "link", formula: PerOperation(100.0, one!("retransmits"), one!("segs_out")), aspect: Congestion, harm: Up, weight: Some("link_segs"), decimals: 2, about: "of all segments sent to a remote host, those that were sent again" },
        Metric { name: "link_segs", unit: PerSecond, table: "link", formula: Rate(one!("segs_out")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "segments sent to a remote host" },
        Metric { name: "acked", unit: BytesPerSecond, table: "link", formula: Rate(one!("bytes_acked")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes that a remote host acknowledged" },
        Metric { name: "received", unit: BytesPerSecond, table: "link", formula: Rate(one!("bytes_received")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes that came from a remote host" },
        Metric { name: "socket_cwnd", unit: Segments, table: "socket", formula: Now(1.0, one!("cwnd")), aspect: Congestion, harm: Down, weight: None, decimals: 0, about: "sending window of one connection" },
        Metric { name: "socket_rtt", unit: Milliseconds, table: "socket", formula: Now(0.001, one!("rtt_us")), aspect: Congestion, harm: Up, weight: None, decimals: 3, about: "smoothed round trip of one connection" },
        Metric { name: "socket_retrans", unit: PerSecond, table: "socket", formula: Rate(one!("retransmits")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "segments sent again on one connection" },
        Metric { name: "retrans", unit: PerSecond, table: "tcp", formula: Rate(one!("retrans_segs")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "TCP segments sent again by a host" },
        Metric { name: "loss", unit: Percent, table: "tcp", formula: PerOperation(100.0, one!("retrans_segs"), one!("out_segs")), aspect: Congestion, harm: Up, weight: Some("segs"), decimals: 2, about: "of all TCP segments that a host sent, those that were sent again" },
        Metric { name: "segs", unit: PerSecond, table: "tcp", formula: Rate(one!("out_segs")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "TCP segments sent by a host" },
        Metric { name: "timeouts", unit: PerSecond, table: "tcp", formula: Rate(one!("timeouts")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "TCP retransmission timeouts of a host" },
        Metric { name: "listen_drops", unit: PerSecond, table: "tcp", formula: Rate(one!("listen_drops")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "connections dropped by a full accept queue" },
        Metric { name: "io_some", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("io_some_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which some task waited for I/O" },
        Metric { name: "io_full", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("io_full_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which all tasks waited for I/O" },
        Metric { name: "memory_some", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("memory_some_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which some task waited for memory" },
        Metric { name: "cpu_some", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("cpu_some_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which some task waited for a CPU" },
    ]
};

impl Formula {
    /// Every column that the formula may look at.
    pub fn columns(&self) -> Vec<&'static str> {
        let terms: Vec<Terms> = match *self {
            Formula::Rate(a) | Formula::Scaled(_, a) | Formula::Now(_, a) => vec![a],
            Formula::PerOperation(_, a, b) | Formula::NowRatio(_, a, b) => vec![a, b],
        };
        let sums = terms.into_iter().flatten();
        let mut columns: Vec<_> = sums.flat_map(|s| s.all.iter().chain(s.any)).copied().collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Metric {
    /// The metric of that name; a few common other spellings are understood.
    pub fn named(name: &str) -> Option<&'static Metric> {
        let name = match name {
            "util" => "%util",
            "aqu-sz" => "avgqu-sz",
            "latency" => "await",
            "retransmits" => "retrans",
            "drops" => "rxdrop",
            "pressure" => "io_full",
            other => other,
        };
        METRICS.iter().find(|m| m.name == name)
    }

    /// The names of all metrics, for messages.
    pub fn names() -> String {
        METRICS.iter().map(|m| m.name).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_thirteen_come_first() {
        let first: Vec<_> = METRICS.iter().take(13).map(|m| m.name).collect();
        let papers = "tps rd_sec wr_sec avgrq-sz avgqu-sz await svctm %util rxpck txpck rxbyt txbyt cwnd";
        assert_eq!(first.join(" "), papers);
    }

    #[test]
    fn weights_are_metrics_of_the_same_table() {
        for metric in METRICS {
            let weight = metric.weight.map(|w| Metric::named(w).expect("a weight is a metric"));
            assert!(weight.is_none_or(|w| w.table == metric.table), "{}", metric.name);
        }
    }
}
