//! A model of a day on a storage server: jobs come and go, and stripe their requests over all devices.
//! Out: the kernel's counters, second by second. Always: the same seed gives the same day.

use crate::random::Random;

/// Seconds of a day.
pub(crate) const SECONDS: u64 = 86_400;

/// 2026-11-15T00:00:05Z, the time at which a recorder begins a new file.
pub(crate) const START_SECONDS: i64 = 1_794_700_805;

/// The share of idle jobs on an ordinary day.
pub(crate) const ORDINARY: f64 = 0.35;
/// The share of idle jobs on a busy day.
pub(crate) const BUSY: f64 = 0.0;

/// The uptime of the server at the begin of the day.
const UPTIME_SECONDS: i64 = 40 * 86_400;

/// A server, at one second of its day.
pub(crate) struct Server {
    random: Random,
    idle: f64,
    job: Job,
    devices: Vec<Device>,
    second: i64,
    /// Microseconds between the instant and the sample.
    late: i64,
    pub(crate) nics: [Nic; 2],
    pub(crate) tcp: Tcp,
    pub(crate) pressure: Pressure,
}

/// A block device's counters, as the kernel keeps them: /proc/diskstats has times in milliseconds, rounded down.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    pub(crate) reads: Direction,
    pub(crate) writes: Direction,
    pub(crate) in_flight: u64,
    pub(crate) io_ms: u64,
    pub(crate) flushes: u64,
    pub(crate) flush_ns: u64,
}

/// Requests in one direction.
#[derive(Clone, Default)]
pub(crate) struct Direction {
    pub(crate) requests: u64,
    pub(crate) merged: u64,
    pub(crate) sectors: u64,
    pub(crate) ns: u64,
}

#[derive(Clone, Default)]
pub(crate) struct Nic {
    pub(crate) rx_bytes: u64,
    pub(crate) rx_packets: u64,
    pub(crate) tx_bytes: u64,
    pub(crate) tx_packets: u64,
    pub(crate) rx_multicast: u64,
}

#[derive(Clone, Default)]
pub(crate) struct Tcp {
    pub(crate) active_opens: u64,
    pub(crate) passive_opens: u64,
    pub(crate) in_segs: u64,
    pub(crate) out_segs: u64,
    pub(crate) retrans_segs: u64,
}

#[derive(Clone, Default)]
pub(crate) struct Pressure {
    pub(crate) io_some_us: u64,
    pub(crate) io_full_us: u64,
    pub(crate) cpu_some_us: u64,
}

/// The load of the clients: requests per second to each device.
struct Job {
    reads: f64,
    writes: f64,
    /// Sectors of a full request.
    sectors: u64,
    /// Pauses: seconds of work, and seconds of the whole cycle.
    working: u64,
    period: u64,
    left: u64,
}

struct Device {
    disk: Disk,
    /// Some devices are a little slower than others.
    slowness: f64,
    /// The second, of every five, in which the server writes its multi-mount protection block.
    mark: i64,
}

impl Server {
    /// `idle` is the share of idle jobs.
    pub(crate) fn new(devices: usize, idle: f64, seed: u64) -> Server {
        let mut random = Random::new(seed);
        let job = Job::new(idle, &mut random);
        let devices = (0..devices).map(|_| Device::new(&mut random)).collect();
        let nic = |random: &mut Random| Nic {
            rx_bytes: random.magnitude(1e12, 1e14) as u64,
            rx_packets: random.magnitude(1e9, 1e11) as u64,
            tx_bytes: random.magnitude(1e12, 1e14) as u64,
            tx_packets: random.magnitude(1e9, 1e11) as u64,
            rx_multicast: 1000,
        };
        let nics = [nic(&mut random), nic(&mut random)];
        let tcp = Tcp { in_segs: 1 << 33, out_segs: 1 << 34, ..Tcp::default() };
        Server { random, idle, job, devices, second: -1, late: 0, nics, tcp, pressure: Pressure::default() }
    }

    /// Advances the model by one second.
    pub(crate) fn tick(&mut self) {
        self.second += 1;
        self.late = self.random.between(40.0, 200.0) as i64;
        if self.job.left == 0 {
            self.job = Job::new(self.idle, &mut self.random);
        }
        self.job.left -= 1;
        let load = self.job.load();
        let (mut read, mut written) = (0, 0);
        for device in &mut self.devices {
            let before = device.disk.sectors();
            device.serve(self.second, load, self.job.sectors, &mut self.random);
            let after = device.disk.sectors();
            read += after.0 - before.0;
            written += after.1 - before.1;
        }
        self.carry(read * 512, written * 512);
    }

    /// Written data are received over the network, read data are sent.
    fn carry(&mut self, read: u64, written: u64) {
        let Server { random, nics, tcp, pressure, .. } = self;
        for nic in nics {
            let (data, answers) = (written / 2 / 8948, read / 2 / 8948);
            let (received, sent) =
                (data + answers / 2 + random.count(3.0), answers + data / 2 + random.count(3.0));
            nic.rx_packets += received;
            nic.tx_packets += sent;
            nic.rx_bytes += written / 2 + 66 * received;
            nic.tx_bytes += read / 2 + 66 * sent;
            nic.rx_multicast += random.count(0.1);
            tcp.in_segs += received;
            tcp.out_segs += sent;
        }
        tcp.passive_opens += random.count(0.2);
        tcp.active_opens += random.count(0.1);
        tcp.retrans_segs += random.count(0.02);
        let stalled = ((read + written) as f64 / 4e9).min(0.8) * random.between(0.7, 1.2) * 1e6;
        pressure.io_some_us += stalled as u64;
        pressure.io_full_us += (stalled * 0.6) as u64;
        pressure.cpu_some_us += random.count(800.0);
    }

    /// The devices' counters.
    pub(crate) fn disks(&self) -> impl Iterator<Item = &Disk> {
        self.devices.iter().map(|device| &device.disk)
    }

    /// The wall clock of the sample, in microseconds.
    pub(crate) fn time_us(&self) -> i64 {
        (START_SECONDS + self.second) * 1_000_000 + self.late
    }

    /// The uptime of the sample, in microseconds.
    pub(crate) fn uptime_us(&self) -> i64 {
        (UPTIME_SECONDS + self.second) * 1_000_000 + 371_000 + self.late
    }
}

impl Job {
    /// From a minute to an hour of reading, writing, both, or nothing.
    fn new(idle: f64, random: &mut Random) -> Job {
        let level = random.magnitude(3.0, 250.0);
        let (is_idle, kind) = (random.share() < idle, random.share());
        let (reads, writes) = match kind {
            _ if is_idle => (0.0, 0.0),
            kind if kind < 0.4 => (0.0, level),
            kind if kind < 0.7 => (level, 0.0),
            _ => (level * random.between(0.2, 0.8), level * random.between(0.2, 0.8)),
        };
        let sectors = [8, 256, 1024, 2048, 8192][(random.share() * 5.0) as usize];
        let period = random.magnitude(10.0, 300.0) as u64 + 1;
        let working = (period as f64 * random.between(0.3, 1.5)) as u64;
        Job { reads, writes, sectors, working, period, left: random.magnitude(60.0, 3600.0) as u64 }
    }

    /// Reads and writes of this second.
    fn load(&self) -> (f64, f64) {
        if self.left % self.period < self.working { (self.reads, self.writes) } else { (0.0, 0.0) }
    }
}

impl Device {
    fn new(random: &mut Random) -> Device {
        let direction = |random: &mut Random| Direction {
            requests: random.magnitude(1e6, 1e9) as u64,
            merged: random.magnitude(1e5, 1e8) as u64,
            sectors: random.magnitude(1e9, 1e12) as u64,
            ns: random.magnitude(1e12, 1e15) as u64,
        };
        let disk = Disk {
            reads: direction(random),
            writes: direction(random),
            io_ms: random.magnitude(1e6, 1e9) as u64,
            flushes: random.magnitude(1e4, 1e6) as u64,
            ..Disk::default()
        };
        Device { disk, slowness: random.between(0.9, 1.15), mark: (random.share() * 5.0) as i64 }
    }

    fn serve(&mut self, second: i64, load: (f64, f64), sectors: u64, random: &mut Random) {
        // A request takes a seek and a transfer; it waits longer on a busy device.
        let alone_ms = (1.0 + sectors as f64 / 700.0) * self.slowness;
        let waiting = 1.0 + ((load.0 + load.1) * alone_ms / 1000.0).min(8.0);
        let mut ns = 0;
        if load.0 > 0.0 {
            ns += self.disk.reads.serve(load.0, sectors, alone_ms * waiting, random);
        }
        if load.1 > 0.0 {
            ns += self.disk.writes.serve(load.1, sectors, alone_ms * waiting, random);
        }
        if (second + self.mark) % 5 == 0 {
            ns += self.disk.writes.mark(random);
            self.disk.flushes += 1;
            self.disk.flush_ns += nanoseconds(random.between(0.0, 1.0));
        }
        let ms = ns / NS_PER_MS;
        self.disk.io_ms += if ms < 600 { ms * 9 / 10 } else { 1000 - random.count(20.0).min(1000) };
        self.disk.in_flight = random.count(ms as f64 / 1000.0);
    }
}

impl Disk {
    fn sectors(&self) -> (u64, u64) {
        (self.reads.sectors, self.writes.sectors)
    }

    /// The total time of requests. The kernel adds up before it rounds.
    pub(crate) fn weighted_ms(&self) -> u64 {
        whole_ms(self.reads.ns + self.writes.ns + self.flush_ns)
    }

    pub(crate) fn flush_ms(&self) -> u64 {
        whole_ms(self.flush_ns)
    }
}

impl Direction {
    pub(crate) fn ms(&self) -> u64 {
        whole_ms(self.ns)
    }

    /// One small request.
    fn mark(&mut self, random: &mut Random) -> u64 {
        let ns = nanoseconds(random.between(0.1, 0.7));
        self.requests += 1;
        self.sectors += 8;
        self.ns += ns;
        ns
    }

    /// Completes about `load` requests; returns their total time in nanoseconds.
    fn serve(&mut self, load: f64, sectors: u64, each_ms: f64, random: &mut Random) -> u64 {
        let requests = random.count(load);
        // Nine of ten requests are full; the others are the begin or end of a file.
        let partial = random.count(requests as f64 * 0.1).min(requests);
        let lost = (0..partial).map(|_| 8 * (random.share() * (sectors / 8) as f64) as u64).sum::<u64>();
        let ns = nanoseconds(requests as f64 * each_ms * random.between(0.7, 1.3));
        self.requests += requests;
        self.merged += random.count(partial as f64);
        self.sectors += requests * sectors - lost;
        self.ns += ns;
        ns
    }
}

const NS_PER_MS: u64 = 1_000_000;

/// As in /proc/diskstats: 32 bits.
fn whole_ms(ns: u64) -> u64 {
    u64::from((ns / NS_PER_MS) as u32)
}

fn nanoseconds(ms: f64) -> u64 {
    (ms * NS_PER_MS as f64) as u64
}
