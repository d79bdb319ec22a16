//! The column names of sadf and iostat in all their versions, and the metric of each.

use laggard_core::model::metric::{Metric, Unit as MetricUnit};
use laggard_core::model::schema::Schema;

const SECTORS_PER_KIB: f64 = 2.0;

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// The unit of the metric.
    Same,
    /// 1024 bytes.
    Kib,
    /// 1024 x 1024 bytes.
    Mib,
}
use Unit::{Kib, Mib, Same};

// Discards are not a metric of their own, but they are requests: they count in tps, await and avgrq-sz.
const DISCARDS: &str = "discards";
const DISCARDED_SECTORS: &str = "discarded sectors";
const DISCARD_MS: &str = "discard ms";
const EXTRA: [&str; 3] = [DISCARDS, DISCARDED_SECTORS, DISCARD_MS];

/// A column name, its metric and its unit. Sectors precede kB: a tool that prints both rounds kB more coarsely.
type ColumnName = (&'static str, &'static str, Unit);

const DISK: &[ColumnName] = &[
    ("tps", "tps", Same),
    ("r/s", "r_tps", Same),
    ("w/s", "w_tps", Same),
    ("d/s", DISCARDS, Same),
    ("f/s", "flushes", Same),
    ("rd_sec", "rd_sec", Same),
    ("rd_sec/s", "rd_sec", Same),
    ("rsec/s", "rd_sec", Same),
    ("Blk_read/s", "rd_sec", Same),
    ("rkB", "rd_sec", Kib),
    ("rkB/s", "rd_sec", Kib),
    ("kB_read/s", "rd_sec", Kib),
    ("rMB/s", "rd_sec", Mib),
    ("MB_read/s", "rd_sec", Mib),
    ("wr_sec", "wr_sec", Same),
    ("wr_sec/s", "wr_sec", Same),
    ("wsec/s", "wr_sec", Same),
    ("Blk_wrtn/s", "wr_sec", Same),
    ("wkB", "wr_sec", Kib),
    ("wkB/s", "wr_sec", Kib),
    ("kB_wrtn/s", "wr_sec", Kib),
    ("wMB/s", "wr_sec", Mib),
    ("MB_wrtn/s", "wr_sec", Mib),
    ("dc_sec", DISCARDED_SECTORS, Same),
    ("dkB", DISCARDED_SECTORS, Kib),
    ("dkB/s", DISCARDED_SECTORS, Kib),
    ("kB_dscd/s", DISCARDED_SECTORS, Kib),
    ("dMB/s", DISCARDED_SECTORS, Mib),
    ("MB_dscd/s", DISCARDED_SECTORS, Mib),
    ("kB/s", "throughput", Kib),
    ("MB/s", "throughput", Mib),
    ("avgrq-sz", "avgrq-sz", Same),
    ("areq-sz", "avgrq-sz", Kib),
    ("avgqu-sz", "avgqu-sz", Same),
    ("aqu-sz", "avgqu-sz", Same),
    ("await", "await", Same),
    ("r_await", "r_await", Same),
    ("w_await", "w_await", Same),
    ("d_await", DISCARD_MS, Same),
    ("f_await", "f_await", Same),
    ("svctm", "svctm", Same),
    ("%util", "%util", Same),
    ("util", "%util", Same),
    ("util-percent", "%util", Same),
];

const NET: &[ColumnName] = &[
    ("rxpck", "rxpck", Same),
    ("rxpck/s", "rxpck", Same),
    ("txpck", "txpck", Same),
    ("txpck/s", "txpck", Same),
    ("rxbyt/s", "rxbyt", Same),
    ("rxkB", "rxbyt", Kib),
    ("rxkB/s", "rxbyt", Kib),
    ("txbyt/s", "txbyt", Same),
    ("txkB", "txbyt", Kib),
    ("txkB/s", "txbyt", Kib),
    ("rxerr", "rxerr", Same),
    ("rxerr/s", "rxerr", Same),
    ("txerr", "txerr", Same),
    ("txerr/s", "txerr", Same),
    ("rxdrop", "rxdrop", Same),
    ("rxdrop/s", "rxdrop", Same),
    ("txdrop", "txdrop", Same),
    ("txdrop/s", "txdrop", Same),
];

const TCP: &[ColumnName] = &[("retrans", "retrans", Same), ("retrans/s", "retrans", Same)];

// Names without a number of seconds: the share of the interval, not the kernel's running average.
const PRESSURE: &[ColumnName] = &[
    ("%sio", "io_some", Same),
    ("%fio", "io_full", Same),
    ("%smem", "memory_some", Same),
    ("%scpu", "cpu_some", Same),
];

/// The tables that sadf and iostat have columns for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateTable {
    Disk,
    Net,
    Tcp,
    Pressure,
}

impl RateTable {
    pub(crate) fn schema(self) -> &'static Schema {
        let name = match self {
            RateTable::Disk => "disk_rates",
            RateTable::Net => "net_rates",
            RateTable::Tcp => "tcp_rates",
            RateTable::Pressure => "pressure_rates",
        };
        Schema::named(name).expect("every table of rates is registered")
    }

    fn words(self) -> &'static [ColumnName] {
        match self {
            RateTable::Disk => DISK,
            RateTable::Net => NET,
            RateTable::Tcp => TCP,
            RateTable::Pressure => PRESSURE,
        }
    }
}

/// The position of a value in a row, and its factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Target {
    position: usize,
    scale: f64,
    scale_of_kib: f64,
}

impl Target {
    /// None if `name` is not a metric of that table.
    pub(crate) fn named(table: RateTable, name: &str) -> Option<Target> {
        let &(_, metric, unit) = table.words().iter().find(|word| word.0 == name)?;
        let is_bytes = Metric::named(metric).is_some_and(|metric| metric.unit == MetricUnit::BytesPerSecond);
        let scale_of_kib = if is_bytes { 1024.0 } else { SECTORS_PER_KIB };
        let scale = match unit {
            Same => 1.0,
            Kib => scale_of_kib,
            Mib => 1024.0 * scale_of_kib,
        };
        Some(Target { position: position(table.schema(), metric)?, scale, scale_of_kib })
    }
}

fn position(schema: &Schema, metric: &str) -> Option<usize> {
    let extra = || Some(schema.columns.len() + EXTRA.iter().position(|&extra| extra == metric)?);
    schema.position(metric).or_else(extra)
}

/// One row of a table of rates.
pub(crate) struct Row {
    table: RateTable,
    schema: &'static Schema,
    values: Vec<f64>,
}

impl Row {
    pub(crate) fn new(table: RateTable) -> Self {
        let schema = table.schema();
        Row { table, schema, values: vec![f64::NAN; schema.columns.len() + EXTRA.len()] }
    }

    /// Keeps a value that is already set.
    pub(crate) fn set(&mut self, target: Target, value: f64) {
        self.put(target.position, value * target.scale);
    }

    /// False if the text is not a number.
    pub(crate) fn set_text(&mut self, target: Target, text: &str) -> bool {
        let Some((value, unit)) = number(text) else { return false };
        let scale = if unit == Kib { target.scale_of_kib } else { target.scale };
        self.put(target.position, value * scale);
        true
    }

    /// Fills missing values from another row.
    pub(crate) fn join(&mut self, other: &Row) {
        for (position, value) in other.values.iter().enumerate() {
            self.put(position, *value);
        }
    }

    fn put(&mut self, position: usize, value: f64) {
        if self.values[position].is_nan() {
            self.values[position] = value;
        }
    }

    fn get(&self, metric: &str) -> f64 {
        position(self.schema, metric).map_or(f64::NAN, |position| self.values[position])
    }

    /// The values in the schema's order, with derived ones; None if there is no value.
    pub(crate) fn values(mut self) -> Option<Vec<f64>> {
        if self.table == RateTable::Disk {
            self.derive();
        }
        self.values.truncate(self.schema.columns.len());
        self.values.iter().any(|value| !value.is_nan()).then_some(self.values)
    }

    /// Derives values that newer tools do not print, by the formulas of the metrics.
    fn derive(&mut self) {
        let (reads, writes, discards) = (self.get("r_tps"), self.get("w_tps"), or_zero(self.get(DISCARDS)));
        self.derived("tps", reads + writes + discards);
        let busy = reads * self.get("r_await") + writes * self.get("w_await");
        let busy = busy + or_zero(discards * self.get(DISCARD_MS));
        self.derived("await", per(busy, reads + writes + discards));
        let sectors = self.get("rd_sec") + self.get("wr_sec");
        self.derived("throughput", sectors * 512.0);
        self.derived("avgrq-sz", per(sectors + or_zero(self.get(DISCARDED_SECTORS)), self.get("tps")));
    }

    fn derived(&mut self, metric: &str, value: f64) {
        if let Some(position) = self.schema.position(metric) {
            self.put(position, value);
        }
    }
}

fn or_zero(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

/// 0 without operations, as the tools print it.
fn per(total: f64, operations: f64) -> f64 {
    if operations == 0.0 { 0.0 } else { total / operations }
}

/// `0.13`, `0,13`, and, with `iostat -h`, `18.3%` and `1.6M` (in units of 1024 bytes).
fn number(text: &str) -> Option<(f64, Unit)> {
    let (digits, factor, unit) = match text.char_indices().next_back()? {
        (end, '%') => (&text[..end], 1.0, Same),
        (end, 'B') => (&text[..end], 1.0 / 1024.0, Kib),
        (end, 'k') => (&text[..end], 1.0, Kib),
        (end, 'M') => (&text[..end], 1024.0, Kib),
        (end, 'G') => (&text[..end], 1024.0 * 1024.0, Kib),
        (end, 'T') => (&text[..end], 1024.0 * 1024.0 * 1024.0, Kib),
        _ => (text, 1.0, Same),
    };
    let value: f64 =
        if digits.contains(',') { digits.replace(',', ".").parse() } else { digits.parse() }.ok()?;
    (!value.is_infinite()).then_some((value * factor, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(printed: &[(&str, &str)]) -> Row {
        let mut row = Row::new(RateTable::Disk);
        for (name, text) in printed {
            assert!(row.set_text(Target::named(RateTable::Disk, name).unwrap(), text));
        }
        row.derive();
        row
    }

    #[test]
    fn every_word_names_a_metric_of_its_table() {
        for table in [RateTable::Disk, RateTable::Net, RateTable::Tcp, RateTable::Pressure] {
            for word in table.words() {
                assert!(Target::named(table, word.0).is_some(), "{}", word.0);
            }
        }
    }

    #[test]
    fn kilobytes_become_sectors() {
        let row = disk(&[("tps", "4"), ("rkB/s", "10.5"), ("wMB/s", "1"), ("areq-sz", "4")]);
        assert_eq!((row.get("rd_sec"), row.get("wr_sec"), row.get("avgrq-sz")), (21.0, 2048.0, 8.0));
        assert_eq!(row.get("throughput"), (21.0 + 2048.0) * 512.0);
    }

    #[test]
    fn await_is_weighed_by_requests() {
        let row = disk(&[
            ("r/s", "3"),
            ("r_await", "1"),
            ("w/s", "1"),
            ("w_await", "9"),
            ("d/s", "0"),
            ("d_await", "0"),
        ]);
        assert_eq!((row.get("tps"), row.get("await")), (4.0, 3.0));
        let idle = disk(&[("r/s", "0"), ("r_await", "0"), ("w/s", "0"), ("w_await", "0")]);
        assert_eq!(idle.get("await"), 0.0);
    }

    #[test]
    fn numbers_may_have_decimal_commas_and_human_suffixes() {
        assert_eq!(number("0,5").map(|n| n.0), Some(0.5));
        assert_eq!(number("18.3%").map(|n| n.0), Some(18.3));
        let row = disk(&[("rMB/s", "1018.0k"), ("wkB/s", "1.5M")]);
        assert_eq!((row.get("rd_sec"), row.get("wr_sec")), (2036.0, 3072.0));
        assert!(number("fast").is_none() && number("").is_none() && number("1e999").is_none());
    }
}
