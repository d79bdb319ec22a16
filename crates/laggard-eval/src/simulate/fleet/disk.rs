//! A block device with its queue, and the sources of its requests: small ones, streams, write-back from the page cache,
//! the journal, and a hog.

use std::collections::VecDeque;

use laggard_core::model::random::Random;

use super::counters::{DiskCounters, Flow};
use super::fault::{Fault, FaultKind};
use super::flash::Flash;
use super::hardware::{Device, MIB, Media};
use super::hdd::Hdd;
use super::jobs::Job;
use super::request::{Micros, Operation, Origin, Request, SECOND};

#[derive(Clone, Debug)]
enum Drive {
    Hdd(Hdd),
    Flash(Flash),
}

#[derive(Clone, Debug)]
pub(super) struct Disk {
    drive: Drive,
    pub counters: DiskCounters,
    fault: Option<Fault>,
    random: Random,
    sectors: u64,
    /// Arrivals of the present second, in order.
    arrivals: Vec<Request>,
    next: usize,
    queues: [OriginQueue; 4],
    /// Written by a process, not yet by the kernel; with the second.
    dirty: VecDeque<(u64, Request)>,
    dirty_sectors: u64,
    flusher_phase: u64,
    journal: u64,
    has_writes: bool,
    hashed: u64,
}

/// Requests of one origin: those in flight, and those that wait until fewer are.
#[derive(Clone, Debug, Default)]
struct OriginQueue {
    in_flight: usize,
    waiting: VecDeque<Request>,
}

/// The load of a disk in one second.
pub(super) struct SecondLoad<'a> {
    pub second: u64,
    /// Small requests per second.
    pub small: f64,
    pub read_share: f64,
    /// Share of small reads that the page cache answers.
    pub hits: f64,
    /// Additional requests of the paging of memory.
    pub paging: f64,
    /// Jobs with their numbers.
    pub jobs: &'a [(usize, &'a Job)],
    pub is_hashed: bool,
    pub seed: u64,
    pub disk: u64,
}

const OF_PLACES: u64 = 141;
const OF_TIMES: u64 = 142;
const CHUNK_SECTORS: u32 = 2048;
/// Pages are written back when they are this old (`dirty_expire_centisecs`).
const DIRTY_SECONDS: u64 = 30;
/// The flusher wakes up this often (`dirty_writeback_centisecs`).
const FLUSHER_SECONDS: u64 = 5;
/// More dirty sectors than this are written back immediately.
const MOST_DIRTY: u64 = 1 << 21;
const MOST_WAITING: usize = 4096;

impl Disk {
    pub(super) fn new(device: &Device, fault: Option<Fault>, mut random: Random) -> Disk {
        let model = device.model;
        let drive = match model.media {
            Media::Hdd => Drive::Hdd(Hdd::new(model, device.nature)),
            Media::Ssd | Media::Nvme => Drive::Flash(Flash::new(model, device.nature, &mut random)),
        };
        let count = random.between(1e5, 4e8);
        let flow = |share: f64| Flow {
            count: (count * share) as u64,
            merged: (count * share * 0.2) as u64,
            sectors: (count * share * 300.0) as u64,
            time_us: (count * share * 4000.0) as u64,
        };
        Disk {
            drive,
            counters: DiskCounters::with_history(flow(0.6), flow(0.4)),
            fault,
            sectors: model.sectors,
            arrivals: Vec::new(),
            next: 0,
            queues: Default::default(),
            dirty: VecDeque::new(),
            dirty_sectors: 0,
            flusher_phase: random.below(FLUSHER_SECONDS as usize) as u64,
            journal: 0,
            has_writes: false,
            hashed: random.bits() % 1000,
            random,
        }
    }

    /// After a reboot: nothing in flight, all counters 0.
    pub(super) fn restart(&mut self, now: Micros) {
        match &mut self.drive {
            Drive::Hdd(hdd) => hdd.clear(),
            Drive::Flash(flash) => flash.clear(),
        }
        self.counters = DiskCounters::default();
        self.counters.account(now);
        self.arrivals.clear();
        self.next = 0;
        self.queues = Default::default();
        self.dirty.clear();
        self.dirty_sectors = 0;
    }

    fn limit(&self, origin: Origin) -> usize {
        match origin {
            Origin::Small => 128,
            Origin::Stream => 8,
            // `nr_requests`, of which write-back takes its share.
            Origin::WriteBack => 48,
            Origin::Hog => self.fault.as_ref().map_or(0, |fault| fault.magnitude as usize),
        }
    }

    /// Draws the arrivals of a second. All earlier ones must have been served.
    pub(super) fn load(&mut self, load: &SecondLoad) {
        debug_assert_eq!(self.next, self.arrivals.len());
        self.arrivals.clear();
        self.next = 0;
        let begin = load.second * SECOND;
        self.add_small(load, begin);
        for &(number, job) in load.jobs {
            self.add_chunks(load, number, job, begin);
        }
        if (load.second + self.flusher_phase).is_multiple_of(FLUSHER_SECONDS) {
            self.write_back(load.second, begin);
        }
        let has_hog =
            self.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::DiskHog && fault.is_on(begin));
        if has_hog {
            for _ in self.queues[Origin::Hog as usize].in_flight..self.limit(Origin::Hog) {
                let request = self.hog_request(begin);
                self.arrivals.push(request);
            }
        }
        self.arrivals.sort_by_key(|request| request.arrival);
    }

    /// Small requests arrive in groups, as threads and plugs submit them.
    fn add_small(&mut self, load: &SecondLoad, begin: Micros) {
        let disk_rate = load.small * (1.0 - load.read_share * load.hits) + load.paging;
        let groups = self.random.count(disk_rate / 2.5);
        for _ in 0..groups {
            let at = begin + self.random.below(SECOND as usize) as Micros;
            let size = 1 + self.random.wait(1.5) as usize;
            for _ in 0..size {
                let arrival = (at + self.random.wait(900.0) as Micros).min(begin + SECOND - 1);
                let reads = load.read_share * (1.0 - load.hits);
                let is_read = self.random.happens(reads / (reads + 1.0 - load.read_share));
                let operation = if is_read { Operation::Read } else { Operation::Write };
                let sectors = (self.random.magnitude(8.0, 128.0) as u32).next_multiple_of(8);
                let request = Request {
                    operation,
                    origin: Origin::Small,
                    position: self.place(),
                    sectors,
                    merged: u32::from(self.random.happens(0.15)),
                    arrival,
                };
                // Half of the writes are synchronous.
                if is_read || self.random.happens(0.5) {
                    self.arrivals.push(request);
                } else {
                    self.add_dirty(load.second, request);
                }
            }
        }
        if load.second.is_multiple_of(FLUSHER_SECONDS) && (self.has_writes || groups > 0) {
            let offset = self.random.below(SECOND as usize / 2) as Micros;
            self.commit(begin + offset);
        }
    }

    /// Most requests go to a tenth of the disk.
    fn place(&mut self) -> u64 {
        let share = self.random.share();
        let place = if self.random.happens(0.7) { 0.3 + 0.1 * share } else { share };
        (place * 0.99 * self.sectors as f64) as u64 / 8 * 8
    }

    /// A commit of the journal: a sequential write, then a flush.
    fn commit(&mut self, arrival: Micros) {
        let sectors = (self.random.magnitude(8.0, 256.0) as u32).next_multiple_of(8);
        let position = self.sectors / 2 + self.journal;
        self.journal = (self.journal + u64::from(sectors)) % 262_144;
        let write = Request {
            operation: Operation::Write,
            origin: Origin::Small,
            position,
            sectors,
            merged: sectors / 64,
            arrival,
        };
        let flush =
            Request { operation: Operation::Flush, sectors: 0, merged: 0, arrival: arrival + 500, ..write };
        self.arrivals.extend([write, flush]);
        self.has_writes = false;
    }

    /// The chunks of a job in this second. Stripes of one round are issued together on all disks.
    fn add_chunks(&mut self, load: &SecondLoad, number: usize, job: &Job, begin: Micros) {
        let chunk = f64::from(CHUNK_SECTORS) * 512.0;
        debug_assert!(chunk == MIB);
        let chunks = job.chunks(load.second, chunk);
        if chunks.is_empty() && !load.is_hashed {
            return;
        }
        let mut shared = Random::of(load.seed, &[OF_TIMES, number as u64, load.second]);
        let is_spread = load.is_hashed && job.disks.len() > 1;
        let chunks = match is_spread {
            true => 0..self.random.count(job.bytes(load.second) / chunk),
            false => chunks,
        };
        let count = chunks.end - chunks.start;
        for (turn, chunk) in chunks.enumerate() {
            let within = (turn as f64 + shared.share()) / count as f64;
            let jitter_us = self.random.wait(400.0);
            let arrival = (begin + (within * SECOND as f64 + jitter_us) as Micros).min(begin + SECOND - 1);
            // Objects of 4 MiB, or a file that is contiguous for 256 MiB.
            let (place, offset) = match is_spread {
                true => {
                    self.hashed += 1;
                    (self.hashed / 4, self.hashed % 4)
                }
                false => (chunk / 256, chunk % 256),
            };
            let base = Random::of(load.seed, &[OF_PLACES, number as u64, load.disk, place]).share();
            let position =
                (base * 0.9 * self.sectors as f64) as u64 / 8 * 8 + offset * u64::from(CHUNK_SECTORS);
            let operation = if job.is_write { Operation::Write } else { Operation::Read };
            let request = Request {
                operation,
                origin: Origin::Stream,
                position,
                sectors: CHUNK_SECTORS,
                merged: 7,
                arrival,
            };
            if job.is_buffered {
                self.add_dirty(load.second, request);
            } else {
                self.arrivals.push(request);
            }
        }
    }

    fn add_dirty(&mut self, second: u64, request: Request) {
        self.has_writes = true;
        self.dirty_sectors += u64::from(request.sectors);
        self.dirty.push_back((second, Request { origin: Origin::WriteBack, ..request }));
    }

    fn write_back(&mut self, second: u64, begin: Micros) {
        let at = begin + self.random.below(50_000) as Micros;
        let first = self.arrivals.len();
        while let Some(&(since, request)) = self.dirty.front() {
            if since + DIRTY_SECONDS > second && self.dirty_sectors < MOST_DIRTY {
                break;
            }
            self.dirty.pop_front();
            self.dirty_sectors -= u64::from(request.sectors);
            self.arrivals.push(Request { arrival: at, ..request });
        }
        self.arrivals[first..].sort_by_key(|request| request.position);
    }

    fn hog_request(&mut self, arrival: Micros) -> Request {
        let is_read = self.random.happens(0.7);
        Request {
            operation: if is_read { Operation::Read } else { Operation::Write },
            origin: Origin::Hog,
            position: self.place(),
            sectors: 256,
            merged: 0,
            arrival,
        }
    }

    /// Serves requests up to this time.
    pub(super) fn run_until(&mut self, until: Micros) {
        loop {
            let arrival = self.arrivals.get(self.next).map(|request| request.arrival);
            let completion = match &self.drive {
                Drive::Hdd(hdd) => hdd.next_completion(),
                Drive::Flash(flash) => flash.next_completion(),
            };
            let is_completion = completion.is_some_and(|done| arrival.is_none_or(|arrival| done <= arrival));
            let next = if is_completion { completion } else { arrival };
            if next.is_none_or(|next| next > until) {
                break;
            }
            if is_completion {
                self.complete();
            } else {
                let request = self.arrivals[self.next];
                self.next += 1;
                self.submit(request);
            }
        }
        self.counters.account(until);
    }

    fn submit(&mut self, request: Request) {
        let limit = self.limit(request.origin);
        let queue = &mut self.queues[request.origin as usize];
        if queue.in_flight >= limit {
            // Clients that wait longer than this time out and retry on another replica.
            if queue.waiting.len() < MOST_WAITING {
                queue.waiting.push_back(request);
            }
            return;
        }
        self.start(request);
    }

    fn start(&mut self, request: Request) {
        let fault = self.fault.as_ref();
        let is_merged = match &mut self.drive {
            Drive::Hdd(hdd) => hdd.offer(request, fault, &mut self.random),
            Drive::Flash(flash) => {
                flash.offer(request, fault, &mut self.random);
                false
            }
        };
        if !is_merged {
            self.counters.arrive(request.arrival);
            self.queues[request.origin as usize].in_flight += 1;
        }
    }

    fn complete(&mut self) {
        let fault = self.fault.as_ref();
        let done = match &mut self.drive {
            Drive::Hdd(hdd) => hdd.complete(fault, &mut self.random),
            Drive::Flash(flash) => flash.complete(),
        };
        let Some((request, finish)) = done else { return };
        self.counters.complete(&request, finish);
        let queue = &mut self.queues[request.origin as usize];
        queue.in_flight -= 1;
        if let Some(waiting) = queue.waiting.pop_front() {
            self.start(Request { arrival: finish, ..waiting });
        } else if request.origin == Origin::Hog && fault.is_some_and(|fault| fault.is_on(finish)) {
            let next = self.hog_request(finish);
            self.start(next);
        }
    }
}
