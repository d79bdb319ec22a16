//! The arm of a disk, which determines when a request is done.

use std::time::Duration;

use super::fault::DiskFault;
use super::model::DiskModel;
use laggard_core::model::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Read {
        offset: u64,
        bytes: u64,
    },
    Write {
        offset: u64,
        bytes: u64,
    },
    /// All written data must be on the platter.
    Flush,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// On the clock of the caller.
    pub(super) at: Duration,
    pub(super) succeeds: bool,
}

/// An arm, which serves one request after the other.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    model: DiskModel,
    fault: DiskFault,
    random: Random,
    /// When all accepted requests are done.
    free_at: Duration,
    position: u64,
    next_stall: Option<Duration>,
}

impl Arm {
    /// An idle arm at the first byte.
    pub(super) fn new(model: DiskModel, seed: u64) -> Arm {
        let random = Random::of(seed, &[model.size_mib]);
        Arm {
            model,
            fault: DiskFault::default(),
            random,
            free_at: Duration::ZERO,
            position: 0,
            next_stall: None,
        }
    }

    pub(super) fn set_fault(&mut self, now: Duration, fault: DiskFault) {
        self.fault = fault.within_bounds();
        self.next_stall = None;
        self.plan_stall(now);
    }

    pub(super) fn fault(&self) -> &DiskFault {
        &self.fault
    }

    /// Accepts a request. `now` must not run backwards.
    pub(super) fn serve(&mut self, now: Duration, request: Request) -> Answer {
        if self.fault.disconnected {
            return Answer { at: now, succeeds: false };
        }
        match request {
            Request::Flush => Answer { at: self.free_at.max(now), succeeds: true },
            Request::Read { offset, bytes } => {
                let at = self.work(now, offset, bytes, self.fault.slow_reads_us);
                Answer { at, succeeds: !self.fault.is_bad(offset, bytes) }
            }
            Request::Write { offset, bytes } => {
                let on_platter = self.work(now, offset, bytes, self.fault.slow_writes_us);
                let succeeds = !self.fault.is_bad(offset, bytes);
                let ahead = if succeeds { self.model.cache_span() } else { Duration::ZERO };
                Answer { at: on_platter.saturating_sub(ahead).max(now + self.overhead()), succeeds }
            }
        }
    }

    /// Occupies the arm; returns when it is done.
    fn work(&mut self, now: Duration, offset: u64, bytes: u64, more_us: u64) -> Duration {
        let begin = self.after_stalls(self.free_at.max(now));
        let is_shared = self.fault.neighbour > 0.0;
        // Another load has left the arm somewhere.
        let from = if is_shared {
            self.random.below(self.model.size_bytes() as usize) as u64
        } else {
            self.position
        };
        let moving = self.model.seek(from, offset) + self.model.transfer(bytes);
        let own = (self.overhead() + moving).mul_f64(self.random.factor(self.model.jitter));
        let taken = self.fault.neighbour / (1.0 - self.fault.neighbour);
        let neighbours = own.mul_f64(taken * self.neighbour_burst());
        self.position = offset + bytes;
        self.free_at = begin + own + neighbours + Duration::from_micros(more_us);
        self.free_at
    }

    /// The other load comes in bursts; 1 on average.
    fn neighbour_burst(&mut self) -> f64 {
        if self.fault.neighbour > 0.0 { self.random.between(0.5, 1.5) } else { 1.0 }
    }

    fn overhead(&self) -> Duration {
        Duration::from_micros(self.model.overhead_us)
    }

    /// A request that would begin within a stall begins at its end.
    fn after_stalls(&mut self, mut begin: Duration) -> Duration {
        while let (Some(stall), Some(stalls)) = (self.next_stall, self.fault.stalls)
            && stall <= begin
        {
            let end = stall + Duration::from_millis(stalls.lasting_ms);
            begin = begin.max(end);
            self.plan_stall(end);
        }
        begin
    }

    fn plan_stall(&mut self, after: Duration) {
        let Some(stalls) = self.fault.stalls else { return };
        let wait = self.random.wait(stalls.every_ms as f64 / 1000.0).max(0.001);
        self.next_stall = Some(after + Duration::from_secs_f64(wait));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disks::fault::Stalls;
    use crate::disks::model::Flavour;
    use proptest::prelude::*;

    fn steady() -> DiskModel {
        DiskModel { jitter: 0.0, ..DiskModel::default() }
    }

    /// Reads 64 KiB `requests` times in a row; returns how long they took.
    fn stream(arm: &mut Arm, requests: u64, start: Duration) -> Duration {
        let mut now = start;
        for number in 0..requests {
            now = arm.serve(now, Request::Read { offset: number << 16, bytes: 1 << 16 }).at;
        }
        now - start
    }

    #[test]
    fn a_stream_runs_at_the_bandwidth() {
        let mut arm = Arm::new(DiskModel { overhead_us: 0, ..steady() }, 1);
        let seconds = stream(&mut arm, 1000, Duration::ZERO).as_secs_f64();
        let rate = 1000.0 * 65536.0 / seconds / 1e6;
        assert!((rate - 15.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn a_load_that_takes_half_of_the_arm_at_least_halves_the_throughput() {
        let alone = stream(&mut Arm::new(steady(), 1), 500, Duration::ZERO);
        let mut shared = Arm::new(steady(), 1);
        shared.set_fault(Duration::ZERO, DiskFault { neighbour: 0.5, ..DiskFault::default() });
        assert!(stream(&mut shared, 500, Duration::ZERO) > alone * 2);
    }

    #[test]
    fn after_a_revert_the_arm_is_as_fast_as_before() {
        let mut arm = Arm::new(steady(), 1);
        let before = stream(&mut arm, 100, Duration::ZERO);
        let stalls = Some(Stalls { every_ms: 10, lasting_ms: 500 });
        arm.set_fault(before, DiskFault { stalls, slow_reads_us: 9_000, ..DiskFault::default() });
        let faulty = stream(&mut arm, 100, before);
        assert!(faulty > before * 2, "{faulty:?} {before:?}");
        arm.set_fault(before + faulty, DiskFault::default());
        arm.position = 0;
        assert_eq!(stream(&mut arm, 100, before + faulty), before);
    }

    #[test]
    fn slow_writes_do_not_affect_reads() {
        let mut arm = Arm::new(steady(), 1);
        let healthy = arm.clone().serve(Duration::ZERO, Request::Read { offset: 0, bytes: 4096 });
        arm.set_fault(Duration::ZERO, DiskFault { slow_writes_us: 50_000, ..DiskFault::default() });
        assert_eq!(arm.clone().serve(Duration::ZERO, Request::Read { offset: 0, bytes: 4096 }), healthy);
        assert!(arm.serve(Duration::ZERO, Request::Write { offset: 0, bytes: 4096 }).at.as_millis() >= 50);
    }

    #[test]
    fn a_write_cache_answers_immediately_until_it_is_full_and_a_flush_waits_for_the_platter() {
        let mut arm = Arm::new(DiskModel { write_cache_kib: 1024, ..steady() }, 1);
        let ats: Vec<Duration> = (0..32)
            .map(|n| arm.serve(Duration::ZERO, Request::Write { offset: n << 16, bytes: 1 << 16 }).at)
            .collect();
        assert_eq!(ats[0], Duration::from_micros(300));
        assert!(ats[31] > Duration::from_millis(50), "{:?}", ats[31]);
        let flushed = arm.serve(Duration::ZERO, Request::Flush).at;
        assert!(flushed > ats[31] + Duration::from_millis(60));
    }

    #[test]
    fn a_disconnected_disk_fails_immediately_and_a_bad_sector_after_its_time() {
        let mut arm = Arm::new(steady(), 1);
        arm.set_fault(Duration::ZERO, DiskFault::all_bad());
        let answer = arm.serve(Duration::ZERO, Request::Read { offset: 0, bytes: 4096 });
        assert!(!answer.succeeds && answer.at > Duration::ZERO);
        arm.set_fault(Duration::ZERO, DiskFault { disconnected: true, ..DiskFault::default() });
        let answer = arm.serve(Duration::from_secs(9), Request::Flush);
        assert_eq!(answer, Answer { at: Duration::from_secs(9), succeeds: false });
    }

    fn requests() -> impl Strategy<Value = Vec<(u64, u64, u64, bool)>> {
        proptest::collection::vec((0..20_000_u64, 0..2048_u64, 1..256_u64, any::<bool>()), 1..80)
    }

    fn play(arm: &mut Arm, requests: &[(u64, u64, u64, bool)]) -> Vec<(Duration, Answer)> {
        let mut now = Duration::ZERO;
        let serve = |&(wait_us, place, pages, is_read): &(u64, u64, u64, bool)| {
            now += Duration::from_micros(wait_us);
            let (offset, bytes) = (place << 18, pages << 12);
            let request =
                if is_read { Request::Read { offset, bytes } } else { Request::Write { offset, bytes } };
            (now, arm.serve(now, request))
        };
        requests.iter().map(serve).collect()
    }

    proptest! {
        #[test]
        fn no_answer_precedes_its_request_and_a_seed_determines_the_answers(
            asked in requests(), seed in any::<u64>(), share in 0.0..1.0_f64, cache in 0..4096_u64,
        ) {
            let model = DiskModel { write_cache_kib: cache, ..DiskModel::default() };
            let make = || {
                let mut arm = Arm::new(model.clone(), seed);
                let stalls = Some(Stalls { every_ms: 40, lasting_ms: 20 });
                arm.set_fault(Duration::ZERO, DiskFault { neighbour: share, stalls, ..DiskFault::default() });
                arm
            };
            let answers = play(&mut make(), &asked);
            prop_assert!(answers.iter().all(|(now, answer)| answer.at > *now && answer.succeeds));
            prop_assert_eq!(answers, play(&mut make(), &asked));
        }

        #[test]
        fn without_a_cache_answers_come_in_order_and_take_at_least_the_transfer(asked in requests()) {
            let flavours = [Flavour::Rotational, Flavour::Flash];
            for flavour in flavours {
                let model = DiskModel { flavour, jitter: 0.0, ..DiskModel::default() };
                let answers = play(&mut Arm::new(model.clone(), 1), &asked);
                let mut last = Duration::ZERO;
                for ((_, answer), (_, _, pages, _)) in answers.iter().zip(&asked) {
                    prop_assert!(answer.at >= last + model.transfer(pages << 12));
                    last = answer.at;
                }
            }
        }

        #[test]
        fn a_slower_disk_is_never_faster(asked in requests(), more in 1..50_000_u64) {
            let model = DiskModel { jitter: 0.0, ..DiskModel::default() };
            let healthy = play(&mut Arm::new(model.clone(), 1), &asked);
            let mut arm = Arm::new(model, 1);
            arm.set_fault(Duration::ZERO, DiskFault { slow_reads_us: more, slow_writes_us: more, ..DiskFault::default() });
            let slow = play(&mut arm, &asked);
            prop_assert!(healthy.iter().zip(&slow).all(|(a, b)| b.1.at > a.1.at));
        }
    }
}
