//! Writes an sa file of the model's day, as sysstat 12.6 does on a 64-bit little-endian machine, with only the
//! activities that laggard also records.

use std::io::{self, Write};

use crate::day::{Disk, Nic, SECONDS, START_SECONDS, Server};

pub(crate) struct SaFile<W> {
    out: W,
    /// The buffer for one record.
    record: Vec<u8>,
}

/// One recorded thing: its number and version in sysstat, the size of an item, and its 64-bit words, longs and
/// 32-bit words.
struct Activity {
    id: u32,
    magic: u32,
    items: u32,
    is_counted: bool,
    size: u32,
    types: [u32; 3],
}

const NAME_BYTES: usize = 16;
const HEADER_BYTES: u32 = 336;
const ACTIVITY_BYTES: u32 = 36;
const RECORD_BYTES: u32 = 24;
const STATISTICS: u8 = 1;

/// Major and minor numbers of SCSI disks: sixteen to a major, sixteen partitions to a disk.
const MAJORS: [u32; 6] = [8, 65, 66, 67, 68, 69];

impl<W: Write> SaFile<W> {
    pub(crate) fn begin(out: W, devices: usize) -> io::Result<SaFile<W>> {
        let mut file = SaFile { out, record: Vec::new() };
        let activities = activities(devices as u32);
        file.header(activities.len() as u32);
        activities.iter().for_each(|activity| file.activity(activity));
        file.put_away()?;
        Ok(file)
    }

    /// Adds a sample; returns its size in bytes.
    pub(crate) fn add(&mut self, server: &Server) -> io::Result<usize> {
        let seconds = server.time_us() / 1_000_000;
        self.long((server.uptime_us() / 10_000) as u64);
        self.long(seconds as u64);
        self.int(0);
        let of_day = seconds.rem_euclid(SECONDS as i64);
        self.record.extend([
            STATISTICS,
            (of_day / 3600) as u8,
            (of_day / 60 % 60) as u8,
            (of_day % 60) as u8,
        ]);
        self.disks(server);
        self.nics(server);
        self.host(server);
        let bytes = self.record.len();
        self.put_away()?;
        Ok(bytes)
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn put_away(&mut self) -> io::Result<()> {
        self.out.write_all(&self.record)?;
        self.record.clear();
        Ok(())
    }

    fn header(&mut self, activities: u32) {
        self.record.extend([0x96, 0xd5, 0x75, 0x21, 12, 6, 1, 0]);
        // The header's size, no conversion, and the sorts of its own fields.
        [HEADER_BYTES, 0, 1, 1, 12].into_iter().for_each(|word| self.int(word));
        self.record.extend([0; 48]);
        let start = self.record.len();
        self.long(START_SECONDS as u64);
        self.long(100);
        // Processors and one, then activities, years since 1900, sorts of fields, sizes, no extension.
        [3, activities, 126, 0, 0, 9, 2, 0, 1, ACTIVITY_BYTES, RECORD_BYTES, 0]
            .into_iter()
            .for_each(|word| self.int(word));
        // The 15th of the eleventh month, counted from 0; bytes of a long.
        self.record.extend([15, 10, 8]);
        ["Linux", "oss1", "6.1.0", "x86_64"].into_iter().for_each(|name| self.text(name, 65));
        self.text("UTC", 8);
        self.record.resize(start + HEADER_BYTES as usize, 0);
    }

    fn activity(&mut self, activity: &Activity) {
        let Activity { id, magic, items, is_counted, size, types: [wides, longs, ints] } = *activity;
        [id, magic, items, 1, is_counted.into(), size, wides, longs, ints]
            .into_iter()
            .for_each(|word| self.int(word));
    }

    fn disks(&mut self, server: &Server) {
        self.int(server.disks().count() as u32);
        for (number, disk) in (0..).zip(server.disks()) {
            self.disk(number, disk);
        }
    }

    fn disk(&mut self, number: u32, disk: &Disk) {
        let Disk { reads, writes, io_ms, .. } = disk;
        // The two after the requests are a world-wide name, the one after the sectors is of discards.
        let wide = [reads.requests + writes.requests, 0, 0, reads.sectors, writes.sectors, 0];
        wide.into_iter().for_each(|word| self.long(word));
        let (major, minor) = (MAJORS[number as usize / 16 % MAJORS.len()], number % 16 * 16);
        let ticks = [reads.ms(), writes.ms(), *io_ms, disk.weighted_ms()].map(|ms| ms as u32);
        ticks.into_iter().chain([major, minor, 0, 0]).for_each(|word| self.int(word));
    }

    fn nics(&mut self, server: &Server) {
        self.int(server.nics.len() as u32);
        for (number, nic) in server.nics.iter().enumerate() {
            let Nic { rx_packets, tx_packets, rx_bytes, tx_bytes, rx_multicast } = *nic;
            [rx_packets, tx_packets, rx_bytes, tx_bytes, 0, 0, rx_multicast]
                .into_iter()
                .for_each(|n| self.long(n));
            self.int(25_000);
            self.text(&format!("eth{number}"), NAME_BYTES);
            self.record.extend([0; 4]);
        }
        self.int(server.nics.len() as u32);
        for number in 0..server.nics.len() {
            self.record.extend([0; 9 * 8]);
            self.text(&format!("eth{number}"), NAME_BYTES);
        }
    }

    /// TCP, its failures, and pressure: processor, disk, memory.
    fn host(&mut self, server: &Server) {
        let (tcp, pressure) = (&server.tcp, &server.pressure);
        let traffic = [tcp.active_opens, tcp.passive_opens, tcp.in_segs, tcp.out_segs];
        let failures = [0, 0, tcp.retrans_segs, 0, 0];
        let processor = [pressure.cpu_some_us, 0, 0, 0];
        let disk = [pressure.io_some_us, pressure.io_full_us, 0, 0, 0, 0, 0, 0];
        let words = traffic.into_iter().chain(failures).chain(processor).chain(disk).chain([0; 8]);
        words.for_each(|word| self.long(word));
    }

    fn int(&mut self, number: u32) {
        self.record.extend(number.to_le_bytes());
    }

    fn long(&mut self, number: u64) {
        self.record.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str, room: usize) {
        let end = self.record.len() + room;
        self.record.extend(text.bytes());
        self.record.resize(end, 0);
    }
}

fn activities(devices: u32) -> [Activity; 8] {
    let counted =
        |id, magic, items, size, types| Activity { id, magic, items, is_counted: true, size, types };
    let single = |id, size, types| Activity { id, magic: 0x8a, items: 1, is_counted: false, size, types };
    [
        counted(11, 0x8c, devices, 80, [3, 3, 8]),
        counted(12, 0x8d, 2, 80, [7, 0, 1]),
        counted(13, 0x8c, 2, 88, [9, 0, 0]),
        single(21, 32, [0, 4, 0]),
        single(22, 40, [0, 5, 0]),
        single(40, 32, [1, 3, 0]),
        single(41, 64, [2, 6, 0]),
        single(42, 64, [2, 6, 0]),
    ]
}
