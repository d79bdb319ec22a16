//! The load of a run, second by second: jobs with their progress, and rates of small requests. Hosts are simulated from it
//! independently of each other.

use laggard_core::model::random::Random;

use super::fault::{Fault, FaultKind};
use super::hardware::Machines;
use super::jobs::{Client, Job, checkpoints, maintenance};
use super::load::{SmallLoad, common, pareto};
use super::request::SECOND;

/// The settings that shape the load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LoadSettings {
    pub seed: u64,
    pub seconds: u64,
    pub second_of_day: u64,
    /// 1 is usual.
    pub load: f64,
    pub is_hashed: bool,
    pub has_maintenance: bool,
}

pub(super) struct Plan {
    pub settings: LoadSettings,
    pub machines: Machines,
    pub faults: Vec<Fault>,
    /// By their begin.
    pub jobs: Vec<Job>,
    /// The factor of storms on small requests, by server and second.
    storms: Vec<Vec<f32>>,
    /// The share of each client in the small requests.
    pub shares: Vec<f64>,
    /// The rhythm that all small requests share.
    pub common: Vec<f32>,
    /// Small requests per second, by server and second.
    pub small: Vec<Vec<f32>>,
    /// The used share of a server's link, by server and second.
    pub utilization: Vec<Vec<f32>>,
}

/// Many small requests for one directory, whose entries are on one server, or for all.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Storm {
    pub begin: u64,
    pub end: u64,
    pub server: Option<usize>,
    pub factor: f64,
}

const OF_STORMS: u64 = 131;
const OF_SHARES: u64 = 132;
/// Mean bytes of a small request.
pub(super) const SMALL_BYTES: f64 = 22_000.0;
pub(super) const READ_SHARE: f64 = 0.6;
/// Until clients use other paths.
const FAILOVER_SECONDS: u64 = 10;
pub(super) const ROUND_TRIP_US: f64 = 160.0;

pub(super) fn storms(machines: &Machines, settings: &LoadSettings) -> Vec<Storm> {
    let mut random = Random::of(settings.seed, &[OF_STORMS]);
    let hours = settings.seconds as f64 / 3600.0;
    let count = random.count(hours * (0.5 + 0.1 * machines.servers.len() as f64));
    let storm = |_| {
        let begin = random.below(settings.seconds as usize) as u64;
        let length = pareto(5.0, 1.5, &mut random).min(300.0) as u64;
        let is_local = random.happens(0.6);
        let server = is_local.then(|| random.below(machines.servers.len()));
        Storm { begin, end: begin + length, server, factor: random.magnitude(1.5, 5.0) }
    };
    (0..count).map(storm).collect()
}

fn storm_factors(machines: &Machines, settings: &LoadSettings) -> Vec<Vec<f32>> {
    let mut factors = vec![vec![1.0; settings.seconds as usize]; machines.servers.len()];
    for storm in storms(machines, settings) {
        for (server, factors) in factors.iter_mut().enumerate() {
            if storm.server.is_none_or(|of| of == server) {
                let end = storm.end.min(settings.seconds) as usize;
                let during = &mut factors[storm.begin as usize..end];
                during.iter_mut().for_each(|factor| *factor *= storm.factor as f32);
            }
        }
    }
    factors
}

fn shares(machines: &Machines, seed: u64) -> Vec<f64> {
    let count = machines.clients.len();
    let share = |client: usize| Random::of(seed, &[OF_SHARES, client as u64]).factor(0.4) / count as f64;
    (0..count).map(share).collect()
}

struct Active {
    job: usize,
    client: Option<usize>,
}

impl Plan {
    pub(super) fn new(settings: &LoadSettings, machines: &Machines, faults: &[Fault]) -> Plan {
        let LoadSettings { seed, seconds, second_of_day, load, has_maintenance, .. } = *settings;
        let mut waiting = checkpoints(machines, seed, seconds, load);
        if has_maintenance {
            waiting.extend(maintenance(machines, seed, seconds, second_of_day));
        }
        waiting.sort_by_key(|job| std::cmp::Reverse(job.begin));
        let servers = machines.servers.len();
        let mut plan = Plan {
            settings: settings.clone(),
            machines: machines.clone(),
            faults: faults.to_vec(),
            jobs: Vec::new(),
            storms: storm_factors(machines, settings),
            shares: shares(machines, seed),
            common: common(seed, seconds, second_of_day),
            small: vec![Vec::with_capacity(seconds as usize); servers],
            utilization: vec![Vec::with_capacity(seconds as usize); servers],
        };
        plan.add_small();
        plan.run_jobs(waiting);
        plan.jobs.retain(|job| job.moved.len() > 1);
        plan
    }

    fn add_small(&mut self) {
        for server in 0..self.machines.servers.len() {
            let disks = self.machines.disks_of(server);
            let mut loads: Vec<SmallLoad> = disks.clone().map(|disk| self.small_load(disk)).collect();
            for second in 0..self.settings.seconds {
                let rates = disks.clone().zip(&mut loads);
                let sum: f64 = rates.map(|(disk, load)| self.small_rate(load, disk, second)).sum();
                self.small[server].push(sum as f32);
            }
        }
    }

    pub(super) fn small_load(&self, disk: usize) -> SmallLoad {
        let (base, _) = self.machines.device(disk).model.usual_load();
        SmallLoad::new(self.settings.seed, disk as u64, base * self.settings.load)
    }

    /// Small requests per second for a disk; 0 while it is gone.
    pub(super) fn small_rate(&self, load: &mut SmallLoad, disk: usize, second: u64) -> f64 {
        let (server, time) = (self.machines.data[disk].0, second * SECOND);
        let mut rate = load.rate(second, f64::from(self.common[second as usize]));
        rate *= f64::from(self.storms[server][second as usize]);
        for fault in self.faults.iter().filter(|fault| fault.is_on(time)) {
            if fault.kind == FaultKind::HotSpot && fault.disk == disk {
                rate *= fault.magnitude;
            }
        }
        if self.is_gone(disk, time) { 0.0 } else { rate }
    }

    pub(super) fn is_gone(&self, disk: usize, time: u64) -> bool {
        let server = self.machines.data[disk].0;
        self.faults.iter().any(|fault| {
            let is_its =
                if fault.kind == FaultKind::LostDisk { fault.disk == disk } else { fault.server == server };
            is_its && fault.is_gone(time)
        })
    }

    /// The traffic of files that a server can handle: as its link allows, and its processors.
    fn capacity(&self, server: usize, time: u64) -> f64 {
        let is_its =
            |fault: &&Fault| fault.kind == FaultKind::CpuHog && fault.server == server && fault.is_on(time);
        let taken: f64 = self.faults.iter().filter(is_its).map(|fault| fault.magnitude).sum();
        self.link(server, time) * (1.0 - taken)
    }

    /// The speed of a server's link for file traffic.
    pub(super) fn link(&self, server: usize, time: u64) -> f64 {
        let mut link = self.machines.link;
        for fault in self.faults.iter().filter(|fault| fault.server == server && fault.is_on(time)) {
            match fault.kind {
                FaultKind::SlowLink => link /= fault.magnitude,
                FaultKind::NetworkHog => link *= 1.0 - fault.magnitude,
                _ => {}
            }
        }
        link.max(1e5)
    }

    /// The probability that a packet from or to a server is lost.
    pub(super) fn loss(&self, server: usize, time: u64) -> f64 {
        let is_its = |fault: &&Fault| {
            fault.kind == FaultKind::PacketLoss && fault.server == server && fault.is_on(time)
        };
        self.faults.iter().filter(is_its).map(|fault| fault.magnitude).sum()
    }

    /// Every job makes as much progress as its slowest disk, link and connection allow.
    fn run_jobs(&mut self, mut waiting: Vec<Job>) {
        let settings = self.settings.clone();
        let machines = self.machines.clone();
        let mut clients = Client::all(machines.clients.len(), settings.seed);
        let mut active: Vec<Active> = Vec::new();
        let mut streams = vec![0_usize; machines.data.len()];
        let mut limits = vec![f64::INFINITY; machines.data.len()];
        for second in 0..settings.seconds {
            let mut is_changed = second == 0;
            let mut begin = |job: Job, plan: &mut Plan| {
                job.disks.clone().for_each(|disk| streams[disk] += 1);
                active.push(Active { job: plan.jobs.len(), client: job.client });
                plan.jobs.push(job);
                is_changed = true;
            };
            while waiting.last().is_some_and(|job| job.begin <= second) {
                if let Some(job) = waiting.pop() {
                    begin(Job { begin: second, ..job }, self);
                }
            }
            for client in &mut clients {
                if let Some(job) = client.start(second, &machines, settings.load) {
                    begin(job, self);
                }
            }
            if is_changed {
                for (disk, limit) in limits.iter_mut().enumerate() {
                    *limit = machines.device(disk).model.stream_bandwidth(streams[disk].saturating_sub(1));
                }
            }
            self.advance(second, &active, &limits);
            let is_over = |active: &Active| {
                let job = &self.jobs[active.job];
                job.moved.last().is_some_and(|&moved| moved >= job.volume)
            };
            for over in active.extract_if(.., |active| is_over(active)) {
                let job = &self.jobs[over.job];
                job.disks.clone().for_each(|disk| streams[disk] -= 1);
                limits.fill(0.0);
                let is_stream = job.kind == super::jobs::JobKind::Stream;
                if let Some(client) = over.client.filter(|_| is_stream) {
                    clients[client].end(second, settings.second_of_day);
                }
            }
            if limits.first() == Some(&0.0) {
                for (disk, limit) in limits.iter_mut().enumerate() {
                    *limit = machines.device(disk).model.stream_bandwidth(streams[disk].saturating_sub(1));
                }
            }
        }
    }

    fn advance(&mut self, second: u64, active: &[Active], limits: &[f64]) {
        let time = second * SECOND;
        let servers = self.machines.servers.len();
        let gone: Vec<bool> = match self.faults.iter().any(|fault| fault.is_gone(time)) {
            true => (0..limits.len()).map(|disk| self.is_gone(disk, time)).collect(),
            false => Vec::new(),
        };
        let is_failing_over = !gone.is_empty()
            && self.faults.iter().any(|fault| {
                fault.is_gone(time) && fault.begin <= time && time < fault.begin + FAILOVER_SECONDS * SECOND
            });
        let mut used: Vec<f64> =
            (0..servers).map(|server| f64::from(self.small[server][second as usize]) * SMALL_BYTES).collect();
        for one in active {
            let job = &self.jobs[one.job];
            let is_here = |disk: &usize| gone.get(*disk) != Some(&true);
            let all = job.disks.len() as f64;
            let present =
                if gone.is_empty() { all } else { job.disks.clone().filter(is_here).count() as f64 };
            let mut rate = job.wanted * all / present.max(1.0);
            let mut least = f64::INFINITY;
            for disk in job.disks.clone().filter(is_here) {
                least = least.min(limits[disk]);
            }
            let mut open = 1.0;
            for fault in self.faults.iter().filter(|fault| fault.is_on(time)) {
                let disks = self.machines.disks_of(fault.server);
                let shared = disks.start.max(job.disks.start)..disks.end.min(job.disks.end);
                if shared.is_empty() {
                    continue;
                }
                let flows = active.len().max(1) as f64;
                if fault.kind.is_of_disk() && job.disks.contains(&fault.disk) {
                    let pace = fault.pace(time);
                    open *= 1.0 - pace.frozen;
                    // Hashed objects wait for a disk only with the share that it holds of them.
                    let weight = if self.settings.is_hashed { 1.0 / all } else { 1.0 };
                    least = least.min(limits[fault.disk] / (1.0 + (pace.slowness - 1.0) * weight));
                } else if !fault.kind.is_of_disk() && one.client.is_some() {
                    least = least.min(self.capacity(fault.server, time) / flows / shared.len() as f64);
                    let loss = self.loss(fault.server, time);
                    if loss > 0.0 {
                        least = least.min(lossy_rate(loss) / shared.len() as f64);
                    }
                }
            }
            rate = rate.min(least) * open;
            if is_failing_over && job.disks.len() > 1 {
                rate = 0.0;
            }
            if one.client.is_some() {
                for (server, used) in used.iter_mut().enumerate() {
                    let disks = self.machines.disks_of(server);
                    let shared = disks.start.max(job.disks.start)..disks.end.min(job.disks.end);
                    *used += rate * shared.len() as f64;
                }
            }
            let job = &mut self.jobs[one.job];
            let moved = job.moved.last().copied().unwrap_or(0.0);
            job.moved.push(moved + rate);
        }
        for (server, used) in used.into_iter().enumerate() {
            let share = (used / self.link(server, time)).min(1.0);
            self.utilization[server].push(share as f32);
        }
    }
}

/// The rate of a connection that loses packets: the window that loss allows (Mathis et al., 1997), and timeouts of
/// 200 ms where a retransmission is lost again.
fn lossy_rate(loss: f64) -> f64 {
    let window = 1.22 / loss.sqrt();
    let segment_us = ROUND_TRIP_US / window + 200_000.0 * loss * (2.0 * loss + 0.002);
    1448.0 / segment_us * 1e6
}
