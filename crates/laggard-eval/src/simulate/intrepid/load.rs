//! The load of all clients on each LUN through a day: jobs come and go, and stripe their requests over all LUNs.
//! In: a seed and a day. Out: a demand for each step. Always: no more is asked than the slowest LUN can serve, since
//! jobs wait for it.

use laggard_core::model::random::Random;

/// Requests a second to each LUN.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// Striped reads, of `sectors` each.
    pub reads: f64,
    /// Striped writes, of `sectors` each.
    pub writes: f64,
    /// Sectors of a striped request.
    pub sectors: f64,
    /// Small requests that hit any LUN.
    pub scattered: f64,
}

/// One program of many clients.
#[derive(Clone, Copy, Debug)]
struct Job {
    kind: Kind,
    /// Requests a second to each LUN while it is at work.
    level: f64,
    sectors: f64,
    /// Active seconds out of a period in seconds.
    working: u64,
    period: u64,
    begins: u64,
    ends: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Reads,
    /// Checkpoints: bursts of writes.
    Writes,
    Scattered,
}

/// Jobs that may run at a time.
const SLOTS: u64 = 3;
/// Seconds.
const DAY: u64 = 86_400;
/// The share of a LUN's time that jobs can use before they wait for it.
const MOST_BUSY: f64 = 0.85;

/// Milliseconds that a LUN needs for a striped read, a striped write (into the controller's memory), a small request.
pub(crate) fn service_ms(sectors: f64) -> [f64; 3] {
    [2.5 + sectors / 700.0, 0.8 + sectors / 1000.0, 4.0]
}

/// The demand of each step of a day, `seconds` long each, before anything goes wrong.
pub(crate) fn of_day(seconds: u64, random: &mut Random) -> Vec<Demand> {
    let background = random.magnitude(0.01, 0.2);
    let jobs: Vec<Job> = (0..SLOTS).flat_map(|_| jobs(random)).collect();
    let mut demands = vec![Demand { scattered: background, ..Demand::default() }; (DAY / seconds) as usize];
    for job in jobs {
        job.add_to(&mut demands, seconds);
    }
    demands
}

/// The jobs of a slot, with pauses in between.
fn jobs(random: &mut Random) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut begins = random.wait(2400.0) as u64;
    while begins < DAY {
        let ends = begins + random.magnitude(300.0, 14_400.0) as u64;
        jobs.push(job(begins, ends, random));
        begins = ends + random.wait(2400.0) as u64;
    }
    jobs
}

fn job(begins: u64, ends: u64, random: &mut Random) -> Job {
    let sectors = [512.0, 1024.0, 2048.0, 4096.0][random.below(4)];
    let period = random.magnitude(30.0, 1800.0) as u64 + 1;
    let (kind, level, share) = match random.share() {
        share if share < 0.35 => (Kind::Reads, random.magnitude(0.2, 40.0), random.between(0.5, 1.2)),
        share if share < 0.75 => (Kind::Writes, random.magnitude(2.0, 80.0), random.between(0.05, 0.6)),
        _ => (Kind::Scattered, random.magnitude(0.1, 6.0), random.between(0.5, 1.2)),
    };
    let working = (period as f64 * share) as u64 + 1;
    Job { kind, level, sectors, working, period, begins, ends }
}

impl Job {
    /// Adds what it asks for to each step: the part of the step in which it is at work.
    fn add_to(&self, demands: &mut [Demand], seconds: u64) {
        let from = (self.begins / seconds) as usize;
        let to = (self.ends.div_ceil(seconds) as usize).min(demands.len());
        for (step, demand) in (0..).zip(demands).take(to).skip(from) {
            let at_work = |second: &u64| {
                (self.begins..self.ends).contains(second)
                    && (second - self.begins) % self.period < self.working
            };
            let busy = (step * seconds..(step + 1) * seconds).filter(at_work).count();
            demand.add(self, busy as f64 / seconds as f64);
        }
    }
}

impl Demand {
    fn add(&mut self, job: &Job, share: f64) {
        let level = job.level * share;
        if level == 0.0 {
            return;
        }
        match job.kind {
            Kind::Scattered => self.scattered += level,
            Kind::Reads | Kind::Writes => {
                let before = self.reads + self.writes;
                self.sectors = (self.sectors * before + job.sectors * level) / (before + level);
                let of_kind = if job.kind == Kind::Reads { &mut self.reads } else { &mut self.writes };
                *of_kind += level;
            }
        }
    }

    /// The share of its time that a LUN of that slowness is busy with it.
    pub fn busy(&self, slowness: f64) -> f64 {
        let [read, write, small] = service_ms(self.sectors);
        (self.reads * read + self.writes * write + self.scattered * small) / 1000.0 * slowness
    }

    /// The load that remains when all jobs wait for a LUN of that slowness.
    pub fn behind(self, slowness: f64) -> Demand {
        let share = (MOST_BUSY / self.busy(slowness).max(1e-9)).min(1.0);
        let Demand { reads, writes, sectors, scattered } = self;
        Demand { reads: reads * share, writes: writes * share, sectors, scattered: scattered * share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_sometimes_busy_and_sometimes_idle() {
        let day = of_day(15, &mut Random::of(1, &[]));
        let busy = day.iter().filter(|demand| demand.busy(1.0) > 0.1).count();
        let idle = day.iter().filter(|demand| demand.busy(1.0) < 0.01).count();
        assert_eq!(day.len(), 5760);
        assert!(busy > 100 && idle > 100, "{busy} {idle}");
    }

    #[test]
    fn a_finer_day_asks_for_as_much() {
        let sum = |seconds: u64| {
            let day = of_day(seconds, &mut Random::of(2, &[]));
            day.iter().map(|demand| (demand.reads + demand.writes) * seconds as f64).sum::<f64>()
        };
        assert!((sum(1) / sum(15) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn jobs_wait_for_a_slow_lun() {
        let demand = Demand { reads: 100.0, writes: 0.0, sectors: 1024.0, scattered: 0.0 };
        let behind = demand.behind(4.0);
        assert!((behind.busy(4.0) - MOST_BUSY).abs() < 1e-9);
        assert_eq!(Demand { reads: 1.0, ..demand }.behind(1.0).reads, 1.0);
    }
}
