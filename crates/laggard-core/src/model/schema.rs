//! The tables that are recorded: which counters each holds, and how a counter behaves.
//!
//! For every table of counters there is a table of rates (`disk` and `disk_rates`) with one column for each
//! metric: foreign recordings that hold only rates or averages are kept there, as such.

use std::sync::LazyLock;

use super::component::Kind;
use super::metric::METRICS;

/// How the values of a column move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Only grows, until the thing it counts is replaced.
    Counter,
    /// Only grows, but starts again from 0 past 2^32 - 1: the kernel keeps it in 32 bits.
    Counter32,
    /// Goes up and down.
    Gauge,
    /// A metric's value over the time since the sample before.
    Metric,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, the same in memory, in Arrow and in Parquet.
    pub name: &'static str,
    /// How its values move.
    pub form: Form,
}

/// Whether a table holds whole numbers from the kernel, or derived ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// `u64`, as the kernel counts.
    Counts,
    /// `f64`, as somebody derived.
    Numbers,
}

/// A table that is recorded: its name, what its rows speak of, and its columns.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// `disk`, `net`, ...; the second last part of a file's name.
    pub name: &'static str,
    /// The kind of component that a row speaks of.
    pub kind: Kind,
    /// What the columns hold.
    pub values: Values,
    /// The columns, in order; time, uptime and component come before them.
    pub columns: Vec<Column>,
}

impl Schema {
    /// The position of a column.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == column)
    }

    /// The schema of that name.
    pub fn named(name: &str) -> Option<&'static Schema> {
        SCHEMAS.iter().find(|s| s.name == name)
    }

    /// The table of rates that goes with a table of counters (a table of rates goes with itself).
    pub fn rates(&self) -> &'static Schema {
        let name = self.name.strip_suffix(RATES_SUFFIX).unwrap_or(self.name);
        let is_its = |s: &&Schema| s.name.strip_suffix(RATES_SUFFIX) == Some(name);
        SCHEMAS.iter().find(is_its).expect("every table of counters has its table of rates")
    }
}

const RATES_SUFFIX: &str = "_rates";

/// Every table there is; [`Schema::named`] finds one.
pub static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    let mut schemas = counted();
    let rates: Vec<Schema> = schemas.iter().map(rates_of).collect();
    schemas.extend(rates);
    schemas
});

fn rates_of(counted: &Schema) -> Schema {
    let metrics = METRICS.iter().filter(|m| m.table == counted.name);
    let columns = metrics.map(|m| Column { name: m.name, form: Form::Metric }).collect();
    // Made once, for the whole run of the program.
    let name = format!("{}{RATES_SUFFIX}", counted.name).leak();
    Schema { name, kind: counted.kind.clone(), values: Values::Numbers, columns }
}

fn counted() -> Vec<Schema> {
    use Form::{Counter, Counter32, Gauge};
    let table = |name, kind, columns: &[(&'static str, Form)]| Schema {
        name,
        kind,
        values: Values::Counts,
        columns: columns.iter().map(|&(name, form)| Column { name, form }).collect(),
    };
    vec![
        // In the order of /proc/diskstats. `ios` is for recordings that do not tell reads from writes.
        table(
            "disk",
            Kind::ATTACHMENT,
            &[
                ("reads", Counter),
                ("reads_merged", Counter),
                ("sectors_read", Counter),
                ("read_ms", Counter32),
                ("writes", Counter),
                ("writes_merged", Counter),
                ("sectors_written", Counter),
                ("write_ms", Counter32),
                ("in_flight", Gauge),
                ("io_ms", Counter32),
                ("weighted_ms", Counter32),
                ("discards", Counter),
                ("discards_merged", Counter),
                ("sectors_discarded", Counter),
                ("discard_ms", Counter32),
                ("flushes", Counter),
                ("flush_ms", Counter32),
                ("ios", Counter),
            ],
        ),
        // In the order of /proc/net/dev.
        table(
            "net",
            Kind::NIC,
            &[
                ("rx_bytes", Counter),
                ("rx_packets", Counter),
                ("rx_errors", Counter),
                ("rx_drops", Counter),
                ("rx_fifo", Counter),
                ("rx_frame", Counter),
                ("rx_compressed", Counter),
                ("rx_multicast", Counter),
                ("tx_bytes", Counter),
                ("tx_packets", Counter),
                ("tx_errors", Counter),
                ("tx_drops", Counter),
                ("tx_fifo", Counter),
                ("tx_collisions", Counter),
                ("tx_carrier", Counter),
                ("tx_compressed", Counter),
            ],
        ),
        // /proc/net/snmp (Tcp) and /proc/net/netstat (TcpExt).
        table(
            "tcp",
            Kind::SERVER,
            &[
                ("active_opens", Counter),
                ("passive_opens", Counter),
                ("attempt_fails", Counter),
                ("estab_resets", Counter),
                ("curr_estab", Gauge),
                ("in_segs", Counter),
                ("out_segs", Counter),
                ("retrans_segs", Counter),
                ("in_errs", Counter),
                ("out_rsts", Counter),
                ("listen_overflows", Counter),
                ("listen_drops", Counter),
                ("lost_retransmits", Counter),
                ("fast_retransmits", Counter),
                ("slow_start_retransmits", Counter),
                ("timeouts", Counter),
                ("syn_retransmits", Counter),
                ("spurious_rtos", Counter),
                ("backlog_drops", Counter),
                ("receive_queue_drops", Counter),
                ("zero_window_drops", Counter),
                ("out_of_order_queued", Counter),
            ],
        ),
        // Stall times of /proc/pressure, in microseconds.
        table(
            "pressure",
            Kind::SERVER,
            &[
                ("io_some_us", Counter),
                ("io_full_us", Counter),
                ("memory_some_us", Counter),
                ("memory_full_us", Counter),
                ("cpu_some_us", Counter),
                ("cpu_full_us", Counter),
            ],
        ),
        // All connections with one remote host. Counters add up over connections that have come and gone.
        table(
            "link",
            Kind::LINK,
            &[
                ("sockets", Gauge),
                ("cwnd_sum", Gauge),
                ("cwnd_min", Gauge),
                ("rtt_us_sum", Gauge),
                ("unacked", Gauge),
                ("lost", Gauge),
                ("retransmits", Counter),
                ("bytes_acked", Counter),
                ("bytes_received", Counter),
                ("segs_out", Counter),
                ("segs_in", Counter),
            ],
        ),
        // One connection.
        table(
            "socket",
            Kind::SOCKET,
            &[
                ("cwnd", Gauge),
                ("ssthresh", Gauge),
                ("rtt_us", Gauge),
                ("rttvar_us", Gauge),
                ("unacked", Gauge),
                ("lost", Gauge),
                ("retransmits", Counter32),
                ("bytes_acked", Counter),
                ("bytes_received", Counter),
                ("segs_out", Counter32),
                ("segs_in", Counter32),
            ],
        ),
        // The recorder's own account: one row for its clock, one for each source. All sums since it started.
        table(
            "recorder",
            Kind::RECORDER,
            &[
                ("ticks", Counter),
                ("missed", Counter),
                ("late_us", Counter),
                ("clock_steps", Counter),
                ("failures", Counter),
                ("read_us", Counter),
                ("rows", Counter),
                ("left_out", Counter),
                ("cpu_us", Counter),
            ],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_finds_its_table_and_its_columns() {
        for metric in METRICS {
            let table = Schema::named(metric.table).unwrap();
            for column in metric.formula.columns() {
                assert!(table.position(column).is_some(), "{}: no column {column}", metric.name);
            }
            assert!(table.rates().position(metric.name).is_some());
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = SCHEMAS.iter().map(|s| s.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SCHEMAS.len());
    }
}
