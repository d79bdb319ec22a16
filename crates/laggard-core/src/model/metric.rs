//! The registry of metrics: one row each. Everything that lists, derives, shows or explains a metric reads it
//! from here.

use std::cmp::Ordering;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    PerSecond,
    /// Of 512 bytes.
    SectorsPerSecond,
    /// Of 512 bytes.
    Sectors,
    BytesPerSecond,
    Requests,
    Milliseconds,
    Percent,
    /// Of TCP.
    Segments,
}

impl Unit {
    pub fn symbol(self) -> &'static str {
        match self {
            PerSecond => "/s",
            SectorsPerSecond => "sectors/s",
            Sectors => "sectors",
            BytesPerSecond => "B/s",
            Requests => "requests",
            Milliseconds => "ms",
            Percent => "%",
            Segments => "segments",
        }
    }
}

/// The aspect of a resource that a metric measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    Throughput,
    Latency,
    Queue,
    Congestion,
    Errors,
}

/// The direction in which a metric gets worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    Up,
    Down,
    Either,
}

/// The computation of a metric from two samples of a table's counters, `elapsed` seconds apart. D(x) is the increase of
/// x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Formula {
    /// D(sum of the terms) / elapsed.
    Rate(Terms),
    /// `scale` x D(first) / elapsed: shares of time, queue lengths.
    Scaled(f64, Terms),
    /// `scale` x D(first) / D(second), 0 if nothing was counted (as in sar).
    PerOperation(f64, Terms, Terms),
    /// `scale` x the value at the instant.
    Now(f64, Terms),
    /// `scale` x first / second at the instant; missing if the second is 0.
    NowRatio(f64, Terms, Terms),
}

/// Alternative sums of columns. The first one whose `all` columns exist is used, with those of its `any` that exist.
pub type Terms = &'static [Sum];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// Required columns.
    pub all: &'static [&'static str],
    /// Columns that count as 0 if a kernel or a recording does not have them.
    pub any: &'static [&'static str],
}

const fn sum(all: &'static [&'static str], any: &'static [&'static str]) -> Sum {
    Sum { all, any }
}

/// A row of the registry. Two are equal if they have the same `id`.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub id: MetricId,
    /// As in the papers, where they have it.
    pub name: &'static str,
    pub unit: Unit,
    /// The table that holds its counters; empty for [`DERIVED`].
    pub table: &'static str,
    pub formula: Formula,
    pub aspect: Aspect,
    pub harm: Harm,
    /// For an average over operations: the metric that counts these, to weigh averages by.
    pub weight: Option<MetricId>,
    /// Digits shown after the point.
    pub decimals: usize,
    /// One line for people.
    pub about: &'static str,
}

impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.id == other.id
    }
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

/// Makes the identity, [`METRICS`] and [`DERIVED`] from one row for each metric.
macro_rules! registry {
    (
        recorded { $($id:ident { $($row:tt)* },)* }
        derived { $($other:ident { $($other_row:tt)* },)* }
    ) => {
        /// The identity of a metric. Ordered, printed and serialized by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum MetricId { $($id,)* $($other,)* }

        /// All metrics that are computed from recorded counters: the thirteen of the papers, then ours.
        pub static METRICS: &[Metric] = &[$(Metric { id: MetricId::$id, $($row)* }),*];

        /// Metrics that follow from others: latencies over minutes, the paths of a host, and shares of time with samples or
        /// requests. They are not recorded.
        pub static DERIVED: &[Metric] = &[$(Metric { id: MetricId::$other, $($other_row)* }),*];
    };
}

use Aspect::{Congestion, Errors, Latency, Queue, Throughput};
use Formula::{Now, NowRatio, PerOperation, Rate, Scaled};
use Harm::{Down, Either, Up};
use MetricId::{Flushes, LinkSegs, RTps, Segs, Tps, WTps};
use Unit::{BytesPerSecond, Milliseconds, PerSecond, Percent, Requests, Sectors, SectorsPerSecond, Segments};

#[rustfmt::skip]
registry! {
recorded {
    Tps { name: "tps", unit: PerSecond, table: "disk", formula: Rate(IOS), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "requests completed" },
    RdSec { name: "rd_sec", unit: SectorsPerSecond, table: "disk", formula: Rate(one!("sectors_read")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "sectors read" },
    WrSec { name: "wr_sec", unit: SectorsPerSecond, table: "disk", formula: Rate(one!("sectors_written")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "sectors written" },
    AvgrqSz { name: "avgrq-sz", unit: Sectors, table: "disk", formula: PerOperation(1.0, IO_SECTORS, IOS), aspect: Throughput, harm: Either, weight: Some(Tps), decimals: 2, about: "mean size of a request" },
    AvgquSz { name: "avgqu-sz", unit: Requests, table: "disk", formula: Scaled(0.001, one!("weighted_ms")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "mean number of requests queued or in service" },
    Await { name: "await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, IO_MS, IOS), aspect: Latency, harm: Up, weight: Some(Tps), decimals: 2, about: "mean time of a request, queueing included" },
    Svctm { name: "svctm", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("io_ms"), IOS), aspect: Latency, harm: Up, weight: Some(Tps), decimals: 2, about: "device's busy time per request" },
    Util { name: "%util", unit: Percent, table: "disk", formula: Scaled(0.1, one!("io_ms")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time with a request in flight" },
    Rxpck { name: "rxpck", unit: PerSecond, table: "net", formula: Rate(one!("rx_packets")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "packets received" },
    Txpck { name: "txpck", unit: PerSecond, table: "net", formula: Rate(one!("tx_packets")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "packets sent" },
    Rxbyt { name: "rxbyt", unit: BytesPerSecond, table: "net", formula: Rate(one!("rx_bytes")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes received" },
    Txbyt { name: "txbyt", unit: BytesPerSecond, table: "net", formula: Rate(one!("tx_bytes")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes sent" },
    Cwnd { name: "cwnd", unit: Segments, table: "link", formula: NowRatio(1.0, one!("cwnd_sum"), one!("sockets")), aspect: Congestion, harm: Down, weight: None, decimals: 1, about: "mean sending window of the connections with a remote host" },

    Throughput { name: "throughput", unit: BytesPerSecond, table: "disk", formula: Scaled(512.0, &[sum(&["sectors_read", "sectors_written"], &[])]), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes read and written" },
    RAwait { name: "r_await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("read_ms"), one!("reads")), aspect: Latency, harm: Up, weight: Some(RTps), decimals: 2, about: "mean time of a read" },
    WAwait { name: "w_await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("write_ms"), one!("writes")), aspect: Latency, harm: Up, weight: Some(WTps), decimals: 2, about: "mean time of a write" },
    FAwait { name: "f_await", unit: Milliseconds, table: "disk", formula: PerOperation(1.0, one!("flush_ms"), one!("flushes")), aspect: Latency, harm: Up, weight: Some(Flushes), decimals: 2, about: "mean time of a cache flush" },
    RTps { name: "r_tps", unit: PerSecond, table: "disk", formula: Rate(one!("reads")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "reads completed" },
    WTps { name: "w_tps", unit: PerSecond, table: "disk", formula: Rate(one!("writes")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "writes completed" },
    Flushes { name: "flushes", unit: PerSecond, table: "disk", formula: Rate(one!("flushes")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "cache flushes completed" },
    InFlight { name: "in_flight", unit: Requests, table: "disk", formula: Now(1.0, one!("in_flight")), aspect: Queue, harm: Up, weight: None, decimals: 0, about: "requests in flight at the instant" },
    Rxdrop { name: "rxdrop", unit: PerSecond, table: "net", formula: Rate(one!("rx_drops")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "received packets dropped" },
    Txdrop { name: "txdrop", unit: PerSecond, table: "net", formula: Rate(one!("tx_drops")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "packets dropped before sending" },
    Rxerr { name: "rxerr", unit: PerSecond, table: "net", formula: Rate(one!("rx_errors")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "packets received broken" },
    Txerr { name: "txerr", unit: PerSecond, table: "net", formula: Rate(one!("tx_errors")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "packets that could not be sent" },
    Rtt { name: "rtt", unit: Milliseconds, table: "link", formula: NowRatio(0.001, one!("rtt_us_sum"), one!("sockets")), aspect: Congestion, harm: Up, weight: None, decimals: 3, about: "mean smoothed round trip of the connections with a remote host" },
    LinkRetrans { name: "link_retrans", unit: PerSecond, table: "link", formula: Rate(one!("retransmits")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "segments sent again to a remote host" },
    LinkLoss { name: "link_loss", unit: Percent, table: "link", formula: PerOperation(100.0, one!("retransmits"), one!("segs_out")), aspect: Congestion, harm: Up, weight: Some(LinkSegs), decimals: 2, about: "of all segments sent to a remote host, those that were sent again" },
    LinkSegs { name: "link_segs", unit: PerSecond, table: "link", formula: Rate(one!("segs_out")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "segments sent to a remote host" },
    Acked { name: "acked", unit: BytesPerSecond, table: "link", formula: Rate(one!("bytes_acked")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes that a remote host acknowledged" },
    Received { name: "received", unit: BytesPerSecond, table: "link", formula: Rate(one!("bytes_received")), aspect: Throughput, harm: Either, weight: None, decimals: 0, about: "bytes that came from a remote host" },
    SocketCwnd { name: "socket_cwnd", unit: Segments, table: "socket", formula: Now(1.0, one!("cwnd")), aspect: Congestion, harm: Down, weight: None, decimals: 0, about: "sending window of one connection" },
    SocketRtt { name: "socket_rtt", unit: Milliseconds, table: "socket", formula: Now(0.001, one!("rtt_us")), aspect: Congestion, harm: Up, weight: None, decimals: 3, about: "smoothed round trip of one connection" },
    SocketRetrans { name: "socket_retrans", unit: PerSecond, table: "socket", formula: Rate(one!("retransmits")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "segments sent again on one connection" },
    Retrans { name: "retrans", unit: PerSecond, table: "tcp", formula: Rate(one!("retrans_segs")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "TCP segments sent again by a host" },
    Loss { name: "loss", unit: Percent, table: "tcp", formula: PerOperation(100.0, one!("retrans_segs"), one!("out_segs")), aspect: Congestion, harm: Up, weight: Some(Segs), decimals: 2, about: "of all TCP segments that a host sent, those that were sent again" },
    Segs { name: "segs", unit: PerSecond, table: "tcp", formula: Rate(one!("out_segs")), aspect: Throughput, harm: Either, weight: None, decimals: 2, about: "TCP segments sent by a host" },
    Timeouts { name: "timeouts", unit: PerSecond, table: "tcp", formula: Rate(one!("timeouts")), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "TCP retransmission timeouts of a host" },
    ListenDrops { name: "listen_drops", unit: PerSecond, table: "tcp", formula: Rate(one!("listen_drops")), aspect: Errors, harm: Up, weight: None, decimals: 2, about: "connections dropped by a full accept queue" },
    IoSome { name: "io_some", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("io_some_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which some task waited for I/O" },
    IoFull { name: "io_full", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("io_full_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which all tasks waited for I/O" },
    MemorySome { name: "memory_some", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("memory_some_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which some task waited for memory" },
    CpuSome { name: "cpu_some", unit: Percent, table: "pressure", formula: Scaled(0.0001, one!("cpu_some_us")), aspect: Queue, harm: Up, weight: None, decimals: 2, about: "time in which some task waited for a CPU" },
}
derived {
    MinuteAwait { name: "minute_await", unit: Milliseconds, table: "", formula: Now(1.0, &[]), aspect: Latency, harm: Up, weight: None, decimals: 2, about: "mean time of a request over whole minutes, stalls included" },
    PathLoss { name: "path_loss", unit: Percent, table: "", formula: Now(1.0, &[]), aspect: Congestion, harm: Up, weight: None, decimals: 2, about: "of all segments on the connections of a host, in both directions, those that were sent again" },
    PathRtt { name: "path_rtt", unit: Milliseconds, table: "", formula: Now(1.0, &[]), aspect: Congestion, harm: Up, weight: None, decimals: 3, about: "mean round trip of the connections of a host, in both directions" },
    Disconnection { name: "disconnection", unit: Percent, table: "", formula: Now(1.0, &[]), aspect: Errors, harm: Up, weight: None, decimals: 0, about: "time without a connection, while its peers have some" },
    Absence { name: "absence", unit: Percent, table: "", formula: Now(1.0, &[]), aspect: Errors, harm: Up, weight: None, decimals: 0, about: "time without samples, while its peers have some" },
    Idleness { name: "idleness", unit: Percent, table: "", formula: Now(1.0, &[]), aspect: Errors, harm: Up, weight: None, decimals: 0, about: "time without requests, while its peers have some" },
    Activity { name: "activity", unit: Percent, table: "", formula: Now(1.0, &[]), aspect: Errors, harm: Up, weight: None, decimals: 0, about: "time with requests, while its peers have none" },
}
}

impl MetricId {
    pub fn metric(self) -> &'static Metric {
        let at = self as usize;
        METRICS.get(at).unwrap_or_else(|| &DERIVED[at - METRICS.len()])
    }

    pub fn name(self) -> &'static str {
        self.metric().name
    }

    /// A share of lost segments, of a connection or a host.
    pub fn is_loss(self) -> bool {
        matches!(self, MetricId::LinkLoss | MetricId::Loss | MetricId::PathLoss)
    }

    /// The mean time of a request, at instants or over minutes.
    pub fn is_await(self) -> bool {
        matches!(self, MetricId::Await | MetricId::MinuteAwait)
    }

    /// The bytes that an interface receives or sends.
    pub fn is_traffic(self) -> bool {
        matches!(self, MetricId::Rxbyt | MetricId::Txbyt)
    }

    /// Of a connection or a host.
    pub fn is_round_trip(self) -> bool {
        matches!(self, MetricId::Rtt | MetricId::PathRtt)
    }

    /// The metrics of connections that a host's is computed from.
    pub fn sources(self) -> &'static [MetricId] {
        match self {
            MetricId::PathLoss | MetricId::PathRtt | MetricId::Disconnection => {
                &[MetricId::LinkLoss, LinkSegs, MetricId::Rtt]
            }
            _ => &[],
        }
    }
}

impl PartialOrd for MetricId {
    fn partial_cmp(&self, other: &MetricId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MetricId {
    fn cmp(&self, other: &MetricId) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl fmt::Display for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for MetricId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for MetricId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MetricId, D::Error> {
        let name = String::deserialize(deserializer)?;
        let metric = Metric::named(&name).or_else(|| DERIVED.iter().find(|metric| metric.name == name));
        metric.map(|metric| metric.id).ok_or_else(|| D::Error::custom(format!("{name:?} is not a metric")))
    }
}

impl Formula {
    /// Every column that the formula may use.
    pub fn columns(&self) -> Vec<&'static str> {
        let terms: Vec<Terms> = match *self {
            Rate(a) | Scaled(_, a) | Now(_, a) => vec![a],
            PerOperation(_, a, b) | NowRatio(_, a, b) => vec![a, b],
        };
        let sums = terms.into_iter().flatten();
        let mut columns: Vec<_> = sums.flat_map(|s| s.all.iter().chain(s.any)).copied().collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Metric {
    /// Accepts a few common other spellings.
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

    /// Computed from the counters of a table, unlike [`DERIVED`].
    pub fn is_recorded(&self) -> bool {
        !self.table.is_empty()
    }

    /// There are tables of it: it is recorded, or computed from other tables.
    pub fn is_tabulated(&self) -> bool {
        self.is_recorded() || !self.id.sources().is_empty()
    }

    /// Of the time in which a component was seen; a multiple of it says little.
    pub fn is_share_of_time(&self) -> bool {
        use MetricId::{Absence, Activity, Disconnection, Idleness};
        matches!(self.id, Absence | Activity | Disconnection | Idleness)
    }

    pub fn has_ratio(&self) -> bool {
        !self.is_share_of_time()
    }

    /// The names of all recorded metrics, for messages.
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
            let weight = metric.weight.map(MetricId::metric);
            assert!(weight.is_none_or(|w| w.table == metric.table), "{}", metric.name);
        }
    }
}
