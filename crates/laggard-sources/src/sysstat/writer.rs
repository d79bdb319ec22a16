//! Writes sa files as the versions of sysstat do, for the tests. Field by field, on purpose: it shares no layout code
//! with the reader.

#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub version: Version,
    pub big_endian: bool,
    pub long_bytes: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    V9_0_4,
    V9_0_4RedHat,
    V9_1_6,
    V10_1_5,
    V11_6_1,
    V11_7_1,
    V12_0_6,
    V12_1_2,
    V12_6_1,
}

use Version::{V9_0_4, V9_0_4RedHat, V9_1_6, V10_1_5, V11_6_1, V11_7_1, V12_0_6, V12_1_2, V12_6_1};

pub(super) const VERSIONS: [Version; 9] =
    [V9_0_4, V9_0_4RedHat, V9_1_6, V10_1_5, V11_6_1, V11_7_1, V12_0_6, V12_1_2, V12_6_1];

/// Every version, on every kind of machine.
pub(super) fn styles() -> Vec<Style> {
    let machines = [(false, 8), (false, 4), (true, 8), (true, 4)];
    let all = VERSIONS.iter().flat_map(|&version| machines.map(|(b, l)| (version, b, l)));
    all.map(|(version, big_endian, long_bytes)| Style { version, big_endian, long_bytes }).collect()
}

#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub major: u32,
    pub minor: u32,
    pub ios: u64,
    pub sectors_read: u64,
    pub sectors_written: u64,
    pub sectors_discarded: u64,
    pub read_ms: u32,
    pub write_ms: u32,
    pub io_ms: u32,
    pub weighted_ms: u32,
    pub discard_ms: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Interface {
    pub name: String,
    /// Packets in and out, bytes in and out, compressed in and out, multicast.
    pub traffic: [u64; 7],
    /// Collisions, then errors, drops and overruns in and out, frame errors, carrier losses.
    pub failures: [u64; 9],
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    pub time: u64,
    pub uptime_cs: u64,
    pub disks: Vec<Disk>,
    pub interfaces: Vec<Interface>,
    /// Active and passive opens, segments in and out.
    pub tcp: [u64; 4],
    /// Failed attempts, resets, retransmits, errors in, resets out.
    pub tcp_failures: [u64; 5],
    /// Stalls: CPU some, I/O some and full, memory some and full.
    pub pressure: [u64; 5],
}

#[derive(Clone, Debug)]
pub(super) enum Record {
    Sample(Sample),
    Restart { time: u64, cpus: u32 },
    Comment { time: u64, text: String },
    Extension { time: u64 },
}

#[derive(Clone, Debug)]
pub(super) struct File {
    pub style: Style,
    pub host: String,
    pub created: u64,
    pub records: Vec<Record>,
    /// Put extensions wherever they are allowed.
    pub is_extended: bool,
    /// Added to the instant of every record, but not to its time of day.
    pub time_error: u64,
}

struct Activity {
    id: u32,
    magic: u32,
    items: u32,
    parts: u32,
    is_counted: bool,
    size: u32,
    types: [u32; 3],
}

const FILLING: u8 = 0xaa;
/// The number of items of an activity in formats where it is fixed.
const SLOTS: usize = 4;

impl File {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Out { style: self.style, bytes: Vec::new() };
        let activities = self.style.activities();
        self.magic(&mut out);
        self.header(&mut out, activities.len() as u32);
        activities.iter().for_each(|activity| out.activity(activity));
        if self.is_extended {
            out.extensions();
        }
        self.records.iter().for_each(|record| self.record(&mut out, record, &activities));
        out.bytes
    }

    fn magic(&self, out: &mut Out) {
        let (format, version) = match self.style.version {
            V9_0_4 => (0x2170, [9, 0, 4, 0]),
            V9_0_4RedHat => (0x1170, [9, 0, 4, 0]),
            V9_1_6 => (0x2171, [9, 1, 6, 0]),
            V10_1_5 => (0x2171, [10, 1, 5, 0]),
            V11_6_1 => (0x2173, [11, 6, 1, 0]),
            V11_7_1 => (0x2175, [11, 7, 1, 0]),
            V12_0_6 => (0x2175, [12, 0, 6, 0]),
            V12_1_2 => (0x2175, [12, 1, 2, 0]),
            V12_6_1 => (0x2175, [12, 6, 1, 0]),
        };
        out.short(0xd596);
        out.short(format);
        out.bytes.extend(version);
        match self.style.version {
            V9_0_4 | V9_0_4RedHat | V9_1_6 | V10_1_5 => {}
            V11_6_1 => {
                out.int(288);
                out.bytes.extend([0; 64]);
            }
            _ => {
                let (size, ints) = if self.style.version == V12_6_1 { (336, 12) } else { (328, 11) };
                [size, 0, 1, 1, ints].iter().for_each(|&word| out.int(word));
                out.bytes.extend([0; 48]);
            }
        }
    }

    fn header(&self, out: &mut Out, activities: u32) {
        let start = out.bytes.len();
        // 2026-11-15, months counted from 0.
        let (day, month, year) = (15, 10, 126);
        match self.style.version {
            V9_0_4 | V9_0_4RedHat | V9_1_6 | V10_1_5 => {
                out.long(self.created);
                out.int(activities);
                out.bytes.extend([day, month, year, self.style.long_bytes]);
                self.names(out);
                out.fill_to(start + 280);
            }
            V11_6_1 => {
                out.long(self.created);
                [3, activities, 2].iter().for_each(|&word| out.int(word));
                out.bytes.extend([day, month, year, self.style.long_bytes]);
                self.names(out);
                out.fill_to(start + 288);
            }
            version => {
                let is_late = version == V12_6_1;
                out.word(self.created);
                out.long(100);
                [3, activities, u32::from(year), 0, 0, 9, 2, 0, u32::from(is_late), 36, 24]
                    .iter()
                    .for_each(|&word| out.int(word));
                if is_late {
                    out.int(u32::from(self.is_extended));
                }
                out.bytes.extend([day, month, self.style.long_bytes]);
                self.names(out);
                out.fill_to(start + if is_late { 336 } else { 328 });
            }
        }
    }

    fn names(&self, out: &mut Out) {
        ["Linux", &self.host, "6.1.0", "any"].iter().for_each(|name| out.text(name, 65));
    }

    fn record(&self, out: &mut Out, record: &Record, activities: &[Activity]) {
        match record {
            Record::Sample(sample) => {
                self.record_header(out, 1, sample.time, sample.uptime_cs);
                if self.is_extended {
                    out.extensions();
                }
                activities.iter().for_each(|activity| out.counters(activity, sample));
            }
            Record::Restart { time, cpus } => {
                self.record_header(out, 2, *time, 0);
                self.restart(out, *cpus);
            }
            Record::Comment { time, text } => {
                self.record_header(out, 4, *time, 0);
                out.text(text, 64);
            }
            Record::Extension { time } => self.record_header(out, 7, *time, 0),
        }
        if self.is_extended && !matches!(record, Record::Sample(_)) {
            out.extensions();
        }
    }

    fn record_header(&self, out: &mut Out, kind: u8, time: u64, uptime_cs: u64) {
        let start = out.bytes.len();
        let stated = time + self.time_error;
        // An hour ahead of UTC.
        let day = (time + 3600) % 86400;
        let clock = [kind, (day / 3600) as u8, (day / 60 % 60) as u8, (day % 60) as u8];
        if self.style.version < V11_7_1 {
            out.wide(uptime_cs * 2);
            out.wide(uptime_cs);
            out.long(stated);
            out.bytes.extend(clock);
            return out.fill_to(start + 48);
        }
        out.word(uptime_cs);
        out.word(stated);
        if self.style.version == V12_6_1 {
            out.int(u32::from(self.is_extended));
        }
        out.bytes.extend(clock);
        out.fill_to(start + 24);
    }

    fn restart(&self, out: &mut Out, cpus: u32) {
        match self.style.version {
            V9_0_4 | V9_0_4RedHat | V9_1_6 | V10_1_5 => {}
            V11_6_1 => {
                [1, 0x8a, cpus + 1, 1, 16].iter().for_each(|&word| out.int(word));
                [0; 5].iter().for_each(|&word| out.int(word));
            }
            _ => out.int(cpus + 1),
        }
    }
}

impl Style {
    fn has_discards(self) -> bool {
        self.version >= V12_1_2
    }

    fn activities(self) -> Vec<Activity> {
        let is_described = self.version >= V11_7_1;
        let new = |id, magic, size, types| Activity {
            id,
            magic,
            items: if matches!(id, 11..=13) { SLOTS as u32 } else { 1 },
            // Interrupts of each CPU; the oldest files have no parts.
            parts: if id == 3 && self.version > V9_0_4RedHat { 2 } else { 1 },
            is_counted: is_described && matches!(id, 1 | 3 | 11..=13),
            size,
            types,
        };
        // CPUs, their interrupts, and an activity of the future.
        let cpus = Activity { items: 3, ..new(1, 0x8a, 16, [2, 0, 0]) };
        let interrupts = Activity { items: 3, ..new(3, 0x8c, 12, [0, 0, 1]) };
        let mut activities = vec![cpus, interrupts, new(99, 0x8a, 4, [0, 0, 1])];
        let [disk, net, failures] = match self.version {
            V9_0_4 | V9_0_4RedHat | V9_1_6 => {
                [new(11, 0x8a, 80, [0; 3]), new(12, 0x8a, 72, [0; 3]), new(13, 0x8a, 88, [0; 3])]
            }
            V10_1_5 => [new(11, 0x8b, 64, [0; 3]), new(12, 0x8b, 128, [0; 3]), new(13, 0x8b, 160, [0; 3])],
            V11_6_1 => [new(11, 0x8b, 64, [0; 3]), new(12, 0x8c, 144, [0; 3]), new(13, 0x8b, 160, [0; 3])],
            V11_7_1 => {
                [new(11, 0x8b, 48, [1, 2, 6]), new(12, 0x8c, 80, [7, 0, 1]), new(13, 0x8b, 88, [9, 0, 0])]
            }
            V12_0_6 => {
                [new(11, 0x8c, 48, [1, 2, 6]), new(12, 0x8d, 80, [7, 0, 1]), new(13, 0x8c, 88, [9, 0, 0])]
            }
            V12_1_2 => {
                [new(11, 0x8c, 64, [1, 3, 7]), new(12, 0x8d, 80, [7, 0, 1]), new(13, 0x8c, 88, [9, 0, 0])]
            }
            V12_6_1 => {
                [new(11, 0x8c, 80, [3, 3, 8]), new(12, 0x8d, 80, [7, 0, 1]), new(13, 0x8c, 88, [9, 0, 0])]
            }
        };
        activities.extend([failures, disk, net, new(21, 0x8a, 32, [0, 4, 0]), new(22, 0x8a, 40, [0, 5, 0])]);
        if self.version == V12_6_1 {
            activities.extend([
                new(40, 0x8a, 32, [1, 3, 0]),
                new(41, 0x8a, 64, [2, 6, 0]),
                new(42, 0x8a, 64, [2, 6, 0]),
            ]);
        }
        activities
    }
}

struct Out {
    style: Style,
    bytes: Vec<u8>,
}

impl Out {
    fn put(&mut self, number: u64, bytes: usize) {
        let little = number.to_le_bytes();
        match self.style.big_endian {
            true => self.bytes.extend(little[..bytes].iter().rev()),
            false => self.bytes.extend(&little[..bytes]),
        }
    }

    fn short(&mut self, number: u16) {
        self.put(number.into(), 2);
    }

    fn int(&mut self, number: u32) {
        self.put(number.into(), 4);
    }

    fn word(&mut self, number: u64) {
        self.put(number, 8);
    }

    /// Eight bytes, in old formats followed by eight unused ones.
    fn wide(&mut self, number: u64) {
        self.put(number, 8);
        if self.style.version < V11_7_1 {
            self.bytes.extend([FILLING; 8]);
        }
    }

    fn long(&mut self, number: u64) {
        let bytes = usize::from(self.style.long_bytes);
        self.put(number, bytes);
        self.fill_to(self.bytes.len() + 8 - bytes);
    }

    fn text(&mut self, text: &str, room: usize) {
        let end = self.bytes.len() + room;
        self.bytes.extend(text.bytes().take(room - 1));
        self.bytes.resize(end, 0);
    }

    fn fill_to(&mut self, end: usize) {
        assert!(self.bytes.len() <= end, "{:?}: a struct is too small", self.style);
        self.bytes.resize(end, FILLING);
    }

    fn activity(&mut self, activity: &Activity) {
        let Activity { id, magic, items, parts, is_counted, size, types } = *activity;
        let [wides, longs, ints] = types;
        let words = match self.style.version {
            V9_0_4 | V9_0_4RedHat => vec![id, items, size],
            V9_1_6 | V10_1_5 | V11_6_1 => vec![id, magic, items, parts, size],
            _ => vec![id, magic, items, parts, u32::from(is_counted), size, wides, longs, ints],
        };
        words.iter().for_each(|&word| self.int(word));
    }

    fn extensions(&mut self) {
        // Two structs of 12 bytes, then none.
        [2, 12, 1, 0, 0, 3].iter().for_each(|&word| self.int(word));
        self.bytes.extend([FILLING; 24]);
        [0, 0, 0, 0, 0, 0].iter().for_each(|&word| self.int(word));
    }

    fn counters(&mut self, activity: &Activity, sample: &Sample) {
        let items = match activity.id {
            11 => sample.disks.len(),
            12 | 13 => sample.interfaces.len(),
            _ => activity.items as usize,
        };
        let written = if activity.is_counted { items } else { activity.items as usize };
        if activity.is_counted {
            self.int(written as u32);
        }
        let size = activity.size as usize;
        for item in 0..written {
            let start = self.bytes.len();
            match activity.id {
                11 => self.disk(sample.disks.get(item), size),
                12 => self.traffic(sample.interfaces.get(item), activity.magic),
                13 => self.failures(sample.interfaces.get(item)),
                21 => sample.tcp.iter().for_each(|&number| self.long(number)),
                22 => sample.tcp_failures.iter().for_each(|&number| self.long(number)),
                40 => self.word(sample.pressure[0]),
                41 => sample.pressure[1..3].iter().for_each(|&number| self.word(number)),
                42 => sample.pressure[3..5].iter().for_each(|&number| self.word(number)),
                _ => {}
            }
            self.fill_to(start + size * activity.parts as usize);
        }
    }

    fn disk(&mut self, disk: Option<&Disk>, size: usize) {
        let Some(disk) = disk else { return self.bytes.resize(self.bytes.len() + size, 0) };
        let ticks = [disk.read_ms, disk.write_ms, disk.io_ms, disk.weighted_ms];
        if self.style.version <= V9_1_6 {
            self.wide(disk.sectors_read);
            self.wide(disk.sectors_written);
            ticks.iter().for_each(|&tick| self.long(tick.into()));
            self.long(disk.ios);
            self.int(disk.major);
            return self.int(disk.minor);
        }
        self.wide(disk.ios);
        if self.style.version == V12_6_1 {
            // A world-wide name.
            self.word(u64::MAX);
            self.word(7);
        }
        self.long(disk.sectors_read);
        self.long(disk.sectors_written);
        if self.style.has_discards() {
            self.long(disk.sectors_discarded);
        }
        ticks.iter().for_each(|&tick| self.int(tick));
        self.int(disk.major);
        self.int(disk.minor);
        if self.style.has_discards() {
            self.int(disk.discard_ms);
        }
        if self.style.version == V12_6_1 {
            self.int(3);
        }
    }

    fn traffic(&mut self, interface: Option<&Interface>, magic: u32) {
        let unused = Interface { name: "?".into(), ..Interface::default() };
        let interface = interface.unwrap_or(&unused);
        let is_long = self.style.version <= V9_1_6;
        interface.traffic.iter().for_each(|&n| if is_long { self.long(n) } else { self.wide(n) });
        if magic >= 0x8c {
            self.int(10_000);
        }
        self.text(&interface.name, 16);
    }

    fn failures(&mut self, interface: Option<&Interface>) {
        let unused = Interface::default();
        let interface = interface.unwrap_or(&unused);
        let is_long = self.style.version <= V9_1_6;
        interface.failures.iter().for_each(|&n| if is_long { self.long(n) } else { self.wide(n) });
        self.text(&interface.name, 16);
    }
}

impl Disk {
    /// The columns that a file of this style fills.
    pub(super) fn columns(&self, style: Style) -> Vec<(&'static str, u64)> {
        let mut columns = vec![
            ("sectors_read", self.sectors_read),
            ("read_ms", self.read_ms.into()),
            ("sectors_written", self.sectors_written),
            ("write_ms", self.write_ms.into()),
            ("io_ms", self.io_ms.into()),
            ("weighted_ms", self.weighted_ms.into()),
        ];
        if style.has_discards() {
            columns.push(("sectors_discarded", self.sectors_discarded));
            columns.push(("discard_ms", self.discard_ms.into()));
        }
        columns.push(("ios", self.ios));
        columns
    }
}

impl Interface {
    /// The columns that every file fills.
    pub(super) fn columns(&self) -> Vec<(&'static str, u64)> {
        let [rx_packets, tx_packets, rx_bytes, tx_bytes, rx_compressed, tx_compressed, rx_multicast] =
            self.traffic;
        let [collisions, rx_errors, tx_errors, rx_drops, tx_drops, rx_fifo, tx_fifo, rx_frame, tx_carrier] =
            self.failures;
        vec![
            ("rx_bytes", rx_bytes),
            ("rx_packets", rx_packets),
            ("rx_errors", rx_errors),
            ("rx_drops", rx_drops),
            ("rx_fifo", rx_fifo),
            ("rx_frame", rx_frame),
            ("rx_compressed", rx_compressed),
            ("rx_multicast", rx_multicast),
            ("tx_bytes", tx_bytes),
            ("tx_packets", tx_packets),
            ("tx_errors", tx_errors),
            ("tx_drops", tx_drops),
            ("tx_fifo", tx_fifo),
            ("tx_collisions", collisions),
            ("tx_carrier", tx_carrier),
            ("tx_compressed", tx_compressed),
        ]
    }
}
