//! The recorded tables and the counters in them.
//!
//! For every table of counters there is a table of rates (`disk` and `disk_rates`) with one column for each
//! metric: foreign recordings that hold only rates or averages are kept there, as such.

use std::sync::LazyLock;

use super::component::Kind;
use super::metric::{METRICS, Metric};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Only increases, until the component is replaced.
    Counter,
    /// Only increases, and wraps at 2^32: the kernel keeps it in 32 bits.
    Counter32,
    Gauge,
    /// The value of a metric over the time since the previous sample.
    Metric,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The same in memory, in Arrow and in Parquet.
    pub name: &'static str,
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// `u64`, from the kernel.
    Counts,
    /// `f64`, rates or averages.
    Numbers,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// `disk`, `net`, ...: part of the name of a segment file.
    pub name: &'static str,
    /// The kind of component of a row.
    pub kind: Kind,
    pub values: Values,
    /// In order, without time, uptime and component, which come first.
    pub columns: Vec<Column>,
}

impl Schema {
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == column)
    }

    pub fn named(name: &str) -> Option<&'static Schema> {
        SCHEMAS.iter().find(|s| s.name == name)
    }

    /// The table that holds the counters of a recorded metric.
    pub fn of(metric: &Metric) -> &'static Schema {
        Schema::named(metric.table).expect("every recorded metric's table is registered")
    }

    /// The table of rates for a table of counters. A table of rates returns itself.
    pub fn rates(&self) -> &'static Schema {
        let name = self.name.strip_suffix(RATES_SUFFIX).unwrap_or(self.name);
        let is_its = |s: &&Schema| s.name.strip_suffix(RATES_SUFFIX) == Some(name);
        SCHEMAS.iter().find(is_its).expect("every table of counters has its table of rates")
    }
}

const RATES_SUFFIX: &str = "_rates";

/// All tables; see [`Schema::named`].
pub static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    let mut schemas = counted();
    let rates: Vec<Schema> = schemas.iter().map(rates_of).collect();
    schemas.extend(rates);
    schemas
});

fn rates_of(counted: &Schema) -> Schema {
    let metrics = METRICS.iter().filter(|m| m.table == counted.name);
    let columns = metrics.map(|m| Column { name: m.name, form: Form::Metric }).collect();
    // Leaked once, for the lifetime of the process.
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
        // In the order of /proc/diskstats. `ios` is for recordings that do not distinguish reads and writes.
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
        // Statistics of the recorder: one row for its clock, one for each source. Totals since its start.
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
