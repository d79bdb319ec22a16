//! One host of a fleet, simulated from the plan of the load.

use laggard_core::model::component;
use laggard_core::model::random::Random;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::RawTable;

use super::disk::{Disk, SecondLoad};
use super::fault::{Fault, FaultKind};
use super::hardware::{Device, Role, Server, client_address, server_address};
use super::jobs::Job;
use super::load::SmallLoad;
use super::network::{HostNetwork, Link, Traffic};
use super::plan::{Plan, READ_SHARE, SMALL_BYTES};
use super::recorder::Recorder;
use super::request::SECOND;
use super::{Fleet, Moment};

pub(super) struct Host<'a> {
    fleet: &'a Fleet,
    plan: &'a Plan,
    machine: &'a Server,
    /// The number of the server, or else of the client.
    server: Option<usize>,
    client: usize,
    random: Random,
    recorder: Recorder,
    disks: Vec<HostDisk<'a>>,
    network: HostNetwork,
    links: Vec<Link>,
    hog: Option<Link>,
    pressure_us: [f64; 6],
    busy_us: Vec<u64>,
    tables: Tables,
    /// When it was booted, in microseconds since the begin of the recording.
    booted_us: i64,
}

struct HostDisk<'a> {
    device: &'a Device,
    name: String,
    disk: Disk,
    small: SmallLoad,
}

struct Tables {
    disk: RawTable,
    net: RawTable,
    tcp: RawTable,
    pressure: RawTable,
    link: RawTable,
    recorder: RawTable,
}

const OF_HOSTS: u64 = 161;
const OF_TRAFFIC: u64 = 163;
const ROWS_PER_PIECE: usize = 64 * 1024;
/// Requests per second of a system disk.
const SYSTEM_RATE: f64 = 1.5;
/// Share of small reads that the page cache answers.
const HITS: f64 = 0.7;
const BUFFER_BYTES: f64 = 512e3;
const OUTSIDER: &str = "198.18.200.1";

impl<'a> Host<'a> {
    pub(super) fn new(fleet: &'a Fleet, plan: &'a Plan, number: usize) -> Host<'a> {
        let (servers, clients) = (&plan.machines.servers, &plan.machines.clients);
        let server = (number < servers.len()).then_some(number);
        let client = number.saturating_sub(servers.len());
        let machine = if server.is_some() { &servers[number] } else { &clients[client] };
        let mut random = Random::of(fleet.seed, &[OF_HOSTS, number as u64]);
        let fault_of = |device: &Device| {
            let is_its = |fault: &&Fault| fault.kind.is_of_disk() && Some(fault.disk) == device.number;
            plan.faults.iter().find(is_its).cloned()
        };
        let disk = |(index, device): (usize, &'a Device)| {
            let key = (number * 1000 + index) as u64;
            let small = match device.number {
                Some(disk) => plan.small_load(disk),
                None => SmallLoad::new(fleet.seed ^ 0x5a, key, SYSTEM_RATE),
            };
            HostDisk {
                device,
                name: component::attachment(&machine.name, &device.name),
                disk: Disk::new(device, fault_of(device), Random::of(fleet.seed, &[OF_HOSTS, key, 1])),
                small,
            }
        };
        let disks: Vec<HostDisk> = machine.devices.iter().enumerate().map(disk).collect();
        let remotes: Vec<String> = match server {
            Some(_) => (0..clients.len()).map(client_address).collect(),
            None => (0..servers.len()).map(server_address).collect(),
        };
        let mut link = |remote: &String| Link::new(component::link(&machine.name, remote), &mut random);
        let links = remotes.iter().map(&mut link).collect();
        let has_hog = plan
            .faults
            .iter()
            .any(|fault| fault.kind == FaultKind::NetworkHog && Some(fault.server) == server);
        let hog = has_hog.then(|| link(&OUTSIDER.into()));
        let booted_us = -(random.between(5.0, 300.0) * 86_400e6) as i64;
        Host {
            fleet,
            plan,
            machine,
            server,
            client,
            recorder: Recorder::new(fleet.seed, number as u64),
            busy_us: disks.iter().map(|disk| disk.disk.counters.busy_us()).collect(),
            disks,
            network: HostNetwork::default(),
            links,
            hog,
            pressure_us: [0.0; 6],
            tables: Tables::new(),
            booted_us,
            random,
        }
    }

    fn fault(&self, kind: FaultKind, second: u64) -> Option<&Fault> {
        let is_its = |fault: &&Fault| {
            fault.kind == kind && Some(fault.server) == self.server && fault.is_on(second * SECOND)
        };
        self.plan.faults.iter().find(is_its)
    }

    fn magnitude(&self, kind: FaultKind, second: u64) -> f64 {
        self.fault(kind, second).map_or(0.0, |fault| fault.magnitude)
    }

    /// True if the host itself is down or not installed yet.
    fn is_down(&self, second: u64) -> bool {
        self.plan.faults.iter().any(|fault| {
            !fault.kind.is_of_disk() && Some(fault.server) == self.server && fault.is_gone(second * SECOND)
        })
    }

    pub(super) fn run(mut self, sink: &mut dyn FnMut(RawTable)) {
        let every = self.fleet.every_seconds();
        let mut was_down = false;
        let (mut next_job, mut running) = (0, Vec::new());
        for second in 0..self.plan.settings.seconds {
            while self.plan.jobs.get(next_job).is_some_and(|job| job.begin <= second) {
                running.push(next_job);
                next_job += 1;
            }
            running.retain(|&job: &usize| self.plan.jobs[job].end() > second);
            let is_down = self.is_down(second);
            if was_down && !is_down {
                self.restart(second);
            }
            was_down = is_down;
            if is_down {
                continue;
            }
            let plan = self.plan;
            let jobs: Vec<(usize, &Job)> = running.iter().map(|&job| (job, &plan.jobs[job])).collect();
            self.load_disks(second, &jobs);
            self.step_network(second, &jobs);
            if second.is_multiple_of(every) {
                self.sample(second);
                if self.tables.disk.len() > ROWS_PER_PIECE || self.tables.link.len() > ROWS_PER_PIECE {
                    self.tables.hand_out(sink);
                }
            }
            let end = (second + 1) * SECOND - 1;
            self.disks.iter_mut().for_each(|disk| disk.disk.run_until(end));
            self.step_pressure(second);
        }
        self.tables.hand_out(sink);
    }

    /// A host that comes up again counts from 0.
    fn restart(&mut self, second: u64) {
        self.booted_us = (second * SECOND) as i64 - 40_000_000;
        self.disks.iter_mut().for_each(|disk| disk.disk.restart(second * SECOND));
        self.busy_us.fill(0);
        self.network = HostNetwork::default();
        self.pressure_us = [0.0; 6];
        self.recorder = Recorder::new(self.fleet.seed, second);
        for link in &mut self.links {
            *link = Link::new(std::mem::take(&mut link.name), &mut self.random);
        }
    }

    fn load_disks(&mut self, second: u64, jobs: &[(usize, &Job)]) {
        let memory = self.magnitude(FaultKind::MemoryPressure, second);
        let plan = self.plan;
        for host_disk in &mut self.disks {
            let HostDisk { device, disk, small, .. } = host_disk;
            if matches!(device.role, Role::Idle | Role::Stacked) {
                continue;
            }
            let (rate, read_share, hits, paging, mine): (f64, f64, f64, f64, Vec<(usize, &Job)>) =
                match device.number {
                    Some(number) => {
                        let rate = plan.small_rate(small, number, second);
                        let is_gone = plan.is_gone(number, second * SECOND);
                        let is_mine = |(_, job): &&(usize, &Job)| !is_gone && job.disks.contains(&number);
                        let mine = jobs.iter().filter(is_mine).copied().collect();
                        (rate, READ_SHARE, HITS * (1.0 - memory), 0.0, mine)
                    }
                    None => (small.rate(second, 1.0), 0.1, 0.0, memory * 80.0, Vec::new()),
                };
            let load = SecondLoad {
                second,
                small: rate,
                read_share,
                hits,
                paging,
                jobs: &mine,
                is_hashed: plan.settings.is_hashed,
                seed: plan.settings.seed,
                disk: device.number.unwrap_or(usize::MAX) as u64,
            };
            disk.load(&load);
        }
    }

    /// Bytes per second that a server sends to a client, and receives from it.
    fn traffic(&self, server: usize, client: usize, second: u64, jobs: &[(usize, &Job)]) -> (f64, f64) {
        let plan = self.plan;
        let disks = plan.machines.disks_of(server);
        let (mut down, mut up) = (0.0, 0.0);
        for (_, job) in jobs.iter().filter(|(_, job)| job.client == Some(client)) {
            let shared = disks.end.min(job.disks.end).saturating_sub(disks.start.max(job.disks.start));
            let bytes = job.bytes(second) * shared as f64;
            *(if job.is_write { &mut up } else { &mut down }) += bytes;
        }
        let key = [OF_TRAFFIC, server as u64, client as u64, second];
        let requests = f64::from(plan.small[server][second as usize]) * plan.shares[client];
        let small = Random::of(self.fleet.seed, &key).count(requests) as f64 * SMALL_BYTES;
        let request = 200.0 * requests;
        (down + READ_SHARE * small + request, up + (1.0 - READ_SHARE) * small + request)
    }

    fn step_network(&mut self, second: u64, jobs: &[(usize, &Job)]) {
        let time = second * SECOND;
        let mut links = std::mem::take(&mut self.links);
        for (number, link) in links.iter_mut().enumerate() {
            let (server, client) = self.server.map_or((number, self.client), |server| (server, number));
            let is_up = !self
                .plan
                .faults
                .iter()
                .any(|fault| fault.server == server && !fault.kind.is_of_disk() && fault.is_gone(time));
            let (down, up) = if is_up { self.traffic(server, client, second, jobs) } else { (0.0, 0.0) };
            let (sent, received) = if self.server.is_some() { (down, up) } else { (up, down) };
            let utilization = f64::from(self.plan.utilization[server][second as usize]);
            let buffer_us = 1e6 * BUFFER_BYTES / self.plan.link(server, time);
            let loss = self.plan.loss(server, time);
            let traffic = Traffic { sent, received, loss, utilization, buffer_us };
            link.step(&traffic, &mut self.network, &mut self.random);
        }
        self.links = links;
        let share = self.magnitude(FaultKind::NetworkHog, second);
        if let Some(hog) = &mut self.hog {
            let bytes = share * self.plan.machines.link * self.random.factor(0.05);
            let traffic = Traffic { sent: bytes, utilization: share, ..Traffic::default() };
            hog.step(&traffic, &mut self.network, &mut self.random);
        }
        self.network.chatter(&mut self.random);
    }

    fn step_pressure(&mut self, second: u64) {
        let mut idle = 1.0;
        for (host_disk, before) in self.disks.iter().zip(&mut self.busy_us) {
            let busy = host_disk.disk.counters.busy_us();
            idle *= 1.0 - ((busy - *before) as f64 / SECOND as f64).min(1.0);
            *before = busy;
        }
        let waiting = 0.9 * (1.0 - idle);
        let cpu_hog = self.magnitude(FaultKind::CpuHog, second);
        let memory = self.magnitude(FaultKind::MemoryPressure, second);
        let work = self
            .server
            .map_or(0.02, |server| 0.2 * f64::from(self.plan.utilization[server][second as usize]));
        let noise = self.random.factor(0.4);
        let cpu = ((0.01 + work) * noise + cpu_hog).min(0.99);
        let memory = (memory * 0.4 * noise).min(0.99);
        let seconds = [waiting, waiting * 0.7, memory, memory * 0.4, cpu, cpu * 0.1];
        for (total, share) in self.pressure_us.iter_mut().zip(seconds) {
            *total += share * SECOND as f64;
        }
    }

    fn sample(&mut self, second: u64) {
        let loss = self.magnitude(FaultKind::SampleLoss, second);
        let Some(late_us) = self.recorder.tick(loss) else { return };
        let at = second * SECOND + late_us;
        let time = self.fleet.start.micros() + at as i64 + self.recorder.clock_error_us(second);
        let moment = (Timestamp::from_micros(time), Some(Uptime::from_micros(at as i64 - self.booted_us)));
        let is_old = self.fleet.is_old_kernel;
        for host_disk in &mut self.disks {
            host_disk.disk.run_until(at);
        }
        let system = self.disks[0].disk.counters.stacked_row(is_old);
        for HostDisk { device, name, disk, .. } in &self.disks {
            let is_gone = device.number.is_some_and(|number| self.plan.is_gone(number, at));
            let row = if device.role == Role::Stacked { system } else { disk.counters.row(is_old) };
            if !is_gone {
                push(&mut self.tables.disk, moment, name, &row);
            }
        }
        let name = component::nic(&self.machine.name, "eth0");
        push(&mut self.tables.net, moment, &name, &self.network.net_row());
        push(&mut self.tables.tcp, moment, &self.machine.name, &self.network.tcp_row(&self.links));
        push(&mut self.tables.pressure, moment, &self.machine.name, &self.pressure_us.map(|us| us as u64));
        if self.fleet.has_links {
            for link in &self.links {
                push(&mut self.tables.link, moment, &link.name, &link.row());
            }
            if let Some(hog) =
                self.hog.as_ref().filter(|_| self.fault(FaultKind::NetworkHog, second).is_some())
            {
                push(&mut self.tables.link, moment, &hog.name, &hog.row());
            }
        }
        if second.is_multiple_of(60) {
            let name = component::recorder(&self.machine.name, "clock");
            push(&mut self.tables.recorder, moment, &name, &self.recorder.row());
        }
    }
}

impl Tables {
    fn new() -> Tables {
        let table = |name| RawTable::new(Schema::named(name).expect("the recorder's tables exist"));
        Tables {
            disk: table("disk"),
            net: table("net"),
            tcp: table("tcp"),
            pressure: table("pressure"),
            link: table("link"),
            recorder: table("recorder"),
        }
    }

    fn hand_out(&mut self, sink: &mut dyn FnMut(RawTable)) {
        let Tables { disk, net, tcp, pressure, link, recorder } = std::mem::replace(self, Tables::new());
        let filled = [disk, net, tcp, pressure, link, recorder].into_iter().filter(|table| !table.is_empty());
        filled.for_each(sink);
    }
}

fn push(table: &mut RawTable, (time, uptime): Moment, name: &str, row: &[u64]) {
    let number = table.number(name);
    table.push_counts(time, uptime, number, row);
}
