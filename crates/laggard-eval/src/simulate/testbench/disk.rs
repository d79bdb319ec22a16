//! A disk: one arm, streams of requests that take turns, and neighbours.
//! In: work, and the time until which to do it. Out: what was finished, and the kernel's counters. Always: a request
//! is counted when it is done, with the time from its arrival.

use super::order::{Direction, Micros, Order, Work};
use super::queue::{Piece, Queue, Turns};
use laggard_core::model::random::Random;

/// The kernel cuts work into requests of this size at most.
const LARGEST_REQUEST: u64 = 512 << 10;
/// Requests smaller than this lie anywhere on the disk.
const SCATTERED: u64 = 128 << 10;
/// A 7200 rpm disk: mean of seek and half a turn, and what passes under the head.
const SEEK_US: f64 = 8000.0;
const BYTES_PER_US: f64 = 78.0;
/// The queue depth of a process that reads large blocks directly from the disk.
const HOG_DEPTH: usize = 128;
/// By how much disks of one model differ for good.
const SPREAD: f64 = 0.003;
/// The request size of a neighbour that bypasses the host's queue.
const HIDDEN_BYTES: f64 = (1 << 20) as f64;
/// How much of that it gets done before each of our requests, and for how many microseconds that holds. A busy disk of
/// the lab is as uneven (docs/simulation.md).
const LEAST_HIDDEN: f64 = 0.4;
const MOST_HIDDEN: f64 = 1.2;
const HIDDEN_LASTS: f64 = 6e6;

/// A disk's counters, as the kernel keeps them; times in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskCounters {
    pub reads: u64,
    pub sectors_read: u64,
    pub read_us: u64,
    pub writes: u64,
    pub sectors_written: u64,
    pub write_us: u64,
    pub flushes: u64,
    pub flush_us: u64,
    pub in_flight: u64,
    pub io_us: u64,
    pub weighted_us: u64,
}

pub(super) struct Disk {
    /// How much slower than the model it is: no two disks are equal.
    slowness: f64,
    queue: Queue,
    head_at: Option<usize>,
    serving: Option<(Piece, usize)>,
    free_at: Micros,
    hog: bool,
    hidden: bool,
    /// How much of the arm's time the unseen neighbour takes just now, and until when.
    hidden_share: f64,
    hidden_until: Micros,
    accounted: Micros,
    pub counters: DiskCounters,
}

impl Disk {
    /// A disk that serves `clients`, in turns.
    pub(super) fn new(clients: usize, turns: Turns, random: &mut Random) -> Disk {
        Disk {
            slowness: 1.0 + SPREAD * random.normal(),
            queue: Queue::new(clients, turns),
            head_at: None,
            serving: None,
            free_at: 0,
            hog: false,
            hidden: false,
            hidden_share: 1.0,
            hidden_until: 0,
            accounted: 0,
            counters: DiskCounters::default(),
        }
    }

    /// The stream of the host itself: journals, write-back.
    pub(super) fn own_stream(&self) -> usize {
        self.queue.own()
    }

    /// Starts or stops a process of this host that reads the disk as fast as it can.
    pub(super) fn set_hog(&mut self, on: bool, now: Micros) {
        let begins = on && !self.hog;
        self.hog = on;
        if begins {
            (0..HOG_DEPTH).for_each(|_| self.push_hog(now));
        }
    }

    /// Starts or stops a neighbour outside of this host that reads the disk as fast as it can.
    pub(super) fn set_hidden(&mut self, on: bool) {
        self.hidden = on;
    }

    fn push_hog(&mut self, now: Micros) {
        let piece = Piece { arrived: now, direction: Direction::Read, bytes: LARGEST_REQUEST, ends: None };
        self.push(self.queue.hog(), piece);
    }

    /// Queues work of a stream; `order` is done with its last piece.
    pub(super) fn submit(&mut self, stream: usize, work: Work, order: Option<Order>, now: Micros) {
        let mut left = work.bytes;
        loop {
            let bytes = left.min(LARGEST_REQUEST);
            left -= bytes;
            let ends = order.filter(|_| left == 0);
            self.push(stream, Piece { arrived: now, direction: work.direction, bytes, ends });
            if left == 0 {
                break;
            }
        }
    }

    fn push(&mut self, stream: usize, piece: Piece) {
        self.account(piece.arrived);
        if self.counters.in_flight == 0 {
            self.free_at = self.free_at.max(piece.arrived);
        }
        self.counters.in_flight += 1;
        self.queue.push(stream, piece);
    }

    /// Works until that time; adds the orders that are done.
    pub(super) fn advance(&mut self, until: Micros, random: &mut Random, done: &mut Vec<Order>) {
        loop {
            if self.serving.is_some() {
                if self.free_at > until {
                    break;
                }
                self.finish(done);
            }
            if self.free_at >= until || !self.begin(random) {
                break;
            }
        }
        self.account(until);
    }

    /// Takes up the next request; false if there is none.
    fn begin(&mut self, random: &mut Random) -> bool {
        let Some((piece, stream)) = self.queue.pop(self.free_at) else { return false };
        let is_sequential = self.head_at == Some(stream) && piece.bytes >= SCATTERED && !self.hidden;
        let mut us = piece.bytes as f64 / BYTES_PER_US;
        if !is_sequential {
            us += seek_us(random);
        }
        us = us * self.queue.slowness(stream, piece.bytes, random) + self.hidden_us(random);
        self.head_at = Some(stream);
        self.free_at += (us * self.slowness * random.between(0.97, 1.03)) as Micros;
        self.serving = Some((piece, stream));
        true
    }

    /// The service time of the neighbour's request that is served before ours. The further its place is from ours, the
    /// longer the way of the arm; both move on.
    fn hidden_us(&mut self, random: &mut Random) -> f64 {
        if !self.hidden {
            return 0.0;
        }
        if self.free_at >= self.hidden_until {
            self.hidden_share = random.between(LEAST_HIDDEN, MOST_HIDDEN);
            self.hidden_until = self.free_at + random.wait(HIDDEN_LASTS) as Micros;
        }
        let turn = HIDDEN_BYTES / BYTES_PER_US + seek_us(random);
        turn * self.hidden_share * random.between(0.75, 1.25)
    }

    fn finish(&mut self, done: &mut Vec<Order>) {
        let Some((piece, stream)) = self.serving.take() else { return };
        self.account(self.free_at);
        self.counters.in_flight -= 1;
        self.counters.count(&piece, self.free_at - piece.arrived);
        done.extend(piece.ends);
        if stream == self.queue.hog() && self.hog {
            self.push_hog(self.free_at);
        }
    }

    /// Lets the time between two events count.
    fn account(&mut self, now: Micros) {
        let passed = now.saturating_sub(self.accounted);
        self.counters.weighted_us += passed * self.counters.in_flight;
        self.counters.io_us += if self.counters.in_flight > 0 { passed } else { 0 };
        self.accounted = self.accounted.max(now);
    }
}

fn seek_us(random: &mut Random) -> f64 {
    SEEK_US * random.between(0.45, 1.55)
}

impl DiskCounters {
    fn count(&mut self, piece: &Piece, took: Micros) {
        let (requests, us, sectors) = match piece.direction {
            Direction::Read => (&mut self.reads, &mut self.read_us, Some(&mut self.sectors_read)),
            Direction::Write => (&mut self.writes, &mut self.write_us, Some(&mut self.sectors_written)),
            Direction::Flush => (&mut self.flushes, &mut self.flush_us, None),
        };
        *requests += 1;
        *us += took;
        if let Some(sectors) = sectors {
            *sectors += piece.bytes / 512;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::testbench::order::SECOND;
    use crate::simulate::testbench::workload::System;

    fn disk() -> (Disk, Random) {
        let mut random = Random::of(1, &[]);
        (Disk::new(3, System::Pvfs.turns(), &mut random), random)
    }

    fn write(disk: &mut Disk, stream: usize, bytes: u64, now: Micros) {
        let work = Work { direction: Direction::Write, bytes };
        disk.submit(stream, work, Some(Order::write(stream, 0, 1, bytes)), now);
    }

    #[test]
    fn work_is_counted_once_in_requests_of_limited_size() {
        let (mut disk, mut random) = disk();
        let mut done = Vec::new();
        write(&mut disk, 0, 4 << 20, 0);
        disk.advance(10 * SECOND, &mut random, &mut done);
        assert_eq!(done.len(), 1);
        assert_eq!((disk.counters.writes, disk.counters.sectors_written), (8, 8192));
        assert_eq!(disk.counters.in_flight, 0);
        assert!(disk.counters.io_us < SECOND && disk.counters.weighted_us == disk.counters.write_us);
    }

    #[test]
    fn an_idle_disk_counts_nothing() {
        let (mut disk, mut random) = disk();
        disk.advance(SECOND, &mut random, &mut Vec::new());
        assert_eq!(disk.counters, DiskCounters::default());
    }

    #[test]
    fn an_unseen_neighbour_makes_requests_longer_and_adds_none() {
        let took = |hidden| {
            let (mut disk, mut random) = disk();
            disk.set_hidden(hidden);
            (0..50).for_each(|_| write(&mut disk, 0, 512 << 10, 0));
            disk.advance(60 * SECOND, &mut random, &mut Vec::new());
            (disk.counters.io_us, disk.counters.sectors_written, disk.counters.sectors_read)
        };
        let (alone, beside) = (took(false), took(true));
        assert!(beside.0 > 2 * alone.0);
        assert_eq!((alone.1, alone.2), (beside.1, beside.2));
    }

    #[test]
    fn a_hog_shows_as_reads_and_a_long_queue() {
        let (mut disk, mut random) = disk();
        disk.set_hog(true, 0);
        disk.advance(10 * SECOND, &mut random, &mut Vec::new());
        assert!(disk.counters.sectors_read > 10 * 40_000_000 / 512);
        assert!(disk.counters.weighted_us > 100 * disk.counters.io_us);
        disk.set_hog(false, 10 * SECOND);
        disk.advance(20 * SECOND, &mut random, &mut Vec::new());
        assert_eq!(disk.counters.in_flight, 0);
    }
}
