//! Requests of one step, and what they leave in a device's counters.

use super::load::service_ms;

/// A device's counters; times in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub reads: u64,
    pub sectors_read: u64,
    pub read_us: u64,
    pub writes: u64,
    pub sectors_written: u64,
    pub write_us: u64,
    pub in_flight: u64,
    /// Time with a request in flight.
    pub io_us: u64,
    /// Time of all requests in flight.
    pub weighted_us: u64,
}

/// The requests of a step; whole numbers.
pub(crate) struct Requests {
    pub reads: f64,
    pub writes: f64,
    pub sectors: f64,
    pub small_reads: f64,
    pub small_writes: f64,
    pub own: f64,
}

/// Sectors of small requests, and of those that only one device is asked.
const SMALL_SECTORS: f64 = 32.0;
const OWN_SECTORS: f64 = 64.0;

impl Requests {
    pub(crate) fn all_reads(&self) -> f64 {
        self.reads + self.small_reads + self.own
    }

    pub(crate) fn all_writes(&self) -> f64 {
        self.writes + self.small_writes
    }

    pub(crate) fn count(&self) -> f64 {
        self.all_reads() + self.all_writes()
    }

    /// Milliseconds that a sound device works for them, those of its own aside.
    pub(crate) fn service_ms(&self) -> f64 {
        let [read, write, small] = service_ms(self.sectors);
        self.reads * read + self.writes * write + (self.small_reads + self.small_writes) * small
    }

    /// Microseconds that reads and writes took, if each takes `times` its service time.
    pub(crate) fn took_us(&self, each: f64, own_us: f64, held_us: f64) -> (f64, f64) {
        let [read, write, small] = service_ms(self.sectors);
        let share = self.all_reads() / self.count();
        let reads_us = (self.reads * read + self.small_reads * small) * each * 1000.0 + own_us;
        let writes_us = (self.writes * write + self.small_writes * small) * each * 1000.0;
        (reads_us + held_us * share, writes_us + held_us * (1.0 - share))
    }
}

impl Counters {
    /// Counts the requests of a step.
    pub(crate) fn add(&mut self, requests: &Requests, took_us: (f64, f64)) {
        let Requests { reads, writes, sectors, small_reads, small_writes, own } = requests;
        self.reads += requests.all_reads() as u64;
        self.sectors_read += (reads * sectors + small_reads * SMALL_SECTORS + own * OWN_SECTORS) as u64;
        self.read_us += took_us.0 as u64;
        self.writes += requests.all_writes() as u64;
        self.sectors_written += (writes * sectors + small_writes * SMALL_SECTORS) as u64;
        self.write_us += took_us.1 as u64;
        self.weighted_us += (took_us.0 + took_us.1) as u64;
    }

    /// A row of the table `disk`, in the order of /proc/diskstats; the kernel keeps milliseconds in 32 bits.
    pub(crate) fn row(&self) -> [u64; 17] {
        let ms = |us: u64| (us / 1000) & 0xffff_ffff;
        let mut row = [0; 17];
        row[..4].copy_from_slice(&[self.reads, 0, self.sectors_read, ms(self.read_us)]);
        row[4..8].copy_from_slice(&[self.writes, 0, self.sectors_written, ms(self.write_us)]);
        row[8..11].copy_from_slice(&[self.in_flight, ms(self.io_us), ms(self.weighted_us)]);
        row
    }
}
