//! Jobs that move large amounts of data: streams of clients, checkpoints, scrubbing, backups, rebalancing.
//! A job of a client waits for the slowest disk of its stripe, so a slow disk slows the job, and with it the load of all
//! other disks (FAST '10, section 6.1, observations 5 and 6).

use std::ops::Range;

use laggard_core::model::random::Random;

use super::hardware::Machines;
use super::load::{of_hour, pareto};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobKind {
    Stream,
    Checkpoint,
    Scrub,
    Backup,
    Rebalance,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Job {
    pub kind: JobKind,
    /// Data disks, by number.
    pub disks: Range<usize>,
    /// `None`: within the servers.
    pub client: Option<usize>,
    pub is_write: bool,
    /// True if servers acknowledge writes from memory.
    pub is_buffered: bool,
    /// The first second.
    pub begin: u64,
    /// Bytes moved on each disk after 0, 1, 2, ... seconds.
    pub moved: Vec<f64>,
    /// Wanted bytes per second on each disk.
    pub wanted: f64,
    /// Bytes to move on each disk.
    pub volume: f64,
}

impl Job {
    pub(super) fn end(&self) -> u64 {
        self.begin + self.moved.len() as u64 - 1
    }

    /// Bytes moved on each disk within a second.
    pub(super) fn bytes(&self, second: u64) -> f64 {
        let (from, to) = self.range(second);
        to - from
    }

    /// The numbers of the chunks that are moved on each disk within a second.
    pub(super) fn chunks(&self, second: u64, chunk: f64) -> Range<u64> {
        let (from, to) = self.range(second);
        (from / chunk) as u64..(to / chunk) as u64
    }

    fn range(&self, second: u64) -> (f64, f64) {
        let at = second.saturating_sub(self.begin) as usize;
        match (second >= self.begin, self.moved.get(at), self.moved.get(at + 1)) {
            (true, Some(&from), Some(&to)) => (from, to),
            _ => (0.0, 0.0),
        }
    }

    fn new(kind: JobKind, disks: Range<usize>, begin: u64, wanted: f64, seconds: f64) -> Job {
        Job {
            kind,
            disks,
            client: None,
            is_write: false,
            is_buffered: false,
            begin,
            moved: vec![0.0],
            wanted,
            volume: wanted * seconds,
        }
    }
}

const OF_BACKGROUND: u64 = 121;
const OF_CLIENTS: u64 = 122;
const OF_CHECKPOINTS: u64 = 123;
/// Chance that a disk starts to be scrubbed, per hour.
const SCRUBS_PER_HOUR: f64 = 0.01;

/// Maintenance, known before the run: scrubbing of single disks, nightly backups server by server, and rebalancing.
pub(super) fn maintenance(machines: &Machines, seed: u64, seconds: u64, second_of_day: u64) -> Vec<Job> {
    let mut random = Random::of(seed, &[OF_BACKGROUND]);
    let mut jobs = Vec::new();
    let hours = seconds as f64 / 3600.0;
    let any = |random: &mut Random| random.below(seconds as usize) as u64;
    for disk in 0..machines.data.len() {
        for _ in 0..random.count(SCRUBS_PER_HOUR * hours) {
            let wanted = 0.15 * machines.device(disk).model.stream_bandwidth(0).min(200e6);
            let length = random.between(600.0, 5400.0);
            jobs.push(Job::new(JobKind::Scrub, disk..disk + 1, any(&mut random), wanted, length));
        }
    }
    for second in 0..seconds {
        // From 01:00 on, one server every ten minutes.
        let of_day = (second_of_day + second) % 86_400;
        if of_day >= 3600 && (of_day - 3600).is_multiple_of(600) {
            let server = ((of_day - 3600) / 600) as usize;
            let disks = machines.disks_of(server);
            if server < machines.servers.len().min(18) && !disks.is_empty() {
                let wanted = 0.12 * machines.device(disks.start).model.stream_bandwidth(0).min(200e6);
                let mut job = Job::new(JobKind::Backup, disks, second, wanted, random.between(240.0, 580.0));
                job.client = machines.clients.len().checked_sub(1);
                jobs.push(job);
            }
        }
    }
    for _ in 0..random.count(0.05 * hours) {
        let (begin, length) = (any(&mut random), random.between(600.0, 3000.0));
        let source = random.below(machines.data.len());
        let wanted = 0.1 * machines.device(source).model.stream_bandwidth(0).min(200e6);
        let others = machines.data.len().saturating_sub(1).max(1) as f64;
        jobs.push(Job::new(JobKind::Rebalance, source..source + 1, begin, wanted, length));
        let all = 0..machines.data.len();
        let spread = Job::new(JobKind::Rebalance, all, begin, wanted / others, length);
        jobs.push(Job { is_write: true, is_buffered: true, ..spread });
    }
    jobs.sort_by_key(|job| job.begin);
    jobs
}

/// A client starts a job, waits for it, and starts another one after a while.
#[derive(Clone, Debug)]
pub(super) struct Client {
    number: usize,
    random: Random,
    /// `None` while its job runs.
    next: Option<f64>,
}

impl Client {
    pub(super) fn all(count: usize, seed: u64) -> Vec<Client> {
        let client = |number: usize| {
            let mut random = Random::of(seed, &[OF_CLIENTS, number as u64]);
            let next = Some(random.between(0.0, 60.0));
            Client { number, random, next }
        };
        (0..count).map(client).collect()
    }

    /// A job that begins in this second.
    pub(super) fn start(&mut self, second: u64, machines: &Machines, load: f64) -> Option<Job> {
        self.next.filter(|&next| next <= second as f64)?;
        self.next = None;
        let random = &mut self.random;
        let disks = machines.data.len();
        let (_, usual) = machines.device(0).model.usual_load();
        let mean = load * usual * disks as f64 / (0.5 * machines.clients.len() as f64);
        let wanted = mean * random.factor(0.7) / 1.28;
        let length = pareto(12.0, 1.25, random).min(7200.0);
        // Some files are striped over few disks only.
        let (scope, wanted) = match random.happens(0.12) {
            true => {
                let width = (disks / 10).max(1);
                let first = random.below(disks - width + 1);
                (first..first + width, (wanted / width as f64).min(4.0 * usual))
            }
            false => (0..disks, wanted / disks as f64),
        };
        let mut job = Job::new(JobKind::Stream, scope, second, wanted, length);
        job.client = Some(self.number);
        job.is_write = random.happens(0.45);
        job.is_buffered = job.is_write && random.happens(0.7);
        Some(job)
    }

    pub(super) fn end(&mut self, second: u64, second_of_day: u64) {
        let think = pareto(15.0, 1.3, &mut self.random) / of_hour((second_of_day + second) as f64);
        self.next = Some(second as f64 + think);
    }
}

/// Checkpoints of long computations: all disks are written as fast as possible, every ten minutes to half an hour.
pub(super) fn checkpoints(machines: &Machines, seed: u64, seconds: u64, load: f64) -> Vec<Job> {
    let clients = machines.clients.len();
    let (_, usual) = machines.device(0).model.usual_load();
    let mut jobs = Vec::new();
    for computation in 0..clients.div_ceil(6) {
        let mut random = Random::of(seed, &[OF_CHECKPOINTS, computation as u64]);
        let period = random.between(600.0, 1800.0);
        let volume = load * usual * period * random.between(0.1, 0.3) / clients.div_ceil(6) as f64;
        let mut at = random.between(0.0, period);
        while at < seconds as f64 {
            let wanted = 0.6 * machines.device(0).model.stream_bandwidth(1).min(300e6);
            let all = 0..machines.data.len();
            let mut job = Job::new(JobKind::Checkpoint, all, at as u64, wanted, volume / wanted);
            job.is_write = true;
            job.client = Some(random.below(clients.max(1)));
            jobs.push(job);
            at += period * random.between(0.95, 1.05);
        }
    }
    jobs.sort_by_key(|job| job.begin);
    jobs
}
