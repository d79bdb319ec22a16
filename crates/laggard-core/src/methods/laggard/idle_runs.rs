//! Times in which a device had no request while its peers worked.
//! In: the requests of each member at each instant. Out: [`IdleRun`]s that chance does not explain.
//! Always: where several members rest at the same time, the rest of none counts; begin and end are those of the run, wherever
//! windows begin; a member that was not in regular use otherwise has no run.

use crate::model::time::{Span, Timestamp};

/// A member that usually has this many requests in the time of a run did not get none by chance.
const FEWEST_EXPECTED: f64 = 30.0;
/// A shorter run may be a pause between two jobs.
const SHORTEST: Span = Span::from_seconds(20);
const FEWEST_STEPS: u32 = 4;
/// The other members have to work in this share of them.
const WORKING_SHARE: f64 = 0.9;
/// A run this many times as long as any other one of the group is not how the group works.
const LONGEST_RATIO: i64 = 3;
/// A member is in regular use if it works in this share of the other steps in which its peers do, and if these are at
/// least this share of the run.
const REGULAR_SHARE: f64 = 0.9;
const KNOWN_SHARE: f64 = 0.25;

/// The idle runs of the members of a group.
pub(super) struct IdleRuns {
    members: Vec<Member>,
}

#[derive(Clone, Default)]
struct Member {
    open: Option<Run>,
    /// The longest idle time so far.
    longest: Span,
    /// Steps in which the member worked, and those of its ended runs.
    worked: u32,
    rested: u32,
    /// Requests in the steps in which the member worked, and those of its peers' median in the same steps.
    own: f64,
    peers: f64,
}

#[derive(Clone, Copy)]
struct Run {
    begin: Timestamp,
    end: Timestamp,
    /// Steps in which the peers worked, and the requests of their median in these.
    steps: u32,
    peers: f64,
    idle: Span,
}

/// A member had no request in this time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct IdleRun {
    pub(super) member: usize,
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
    /// The time of the steps in which its peers worked.
    pub(super) idle: Span,
}

impl IdleRuns {
    pub(super) fn new(members: usize) -> IdleRuns {
        IdleRuns { members: vec![Member::default(); members] }
    }

    /// Adds the requests per second of each member, NaN where it has no sample. Returns the runs that ended before.
    pub(super) fn push(
        &mut self,
        instant: Timestamp,
        step: Span,
        requests: &[f64],
        is_used: &[bool],
        scratch: &mut Vec<f64>,
    ) -> Vec<IdleRun> {
        let counted = || requests.iter().zip(is_used).filter(|(rate, used)| !rate.is_nan() && **used);
        let all = counted().count() as f64;
        let working = counted().filter(|(rate, _)| **rate > 0.0).count() as f64;
        // One member may rest, and is not one of the others.
        let do_others_work = all >= 3.0 && working >= WORKING_SHARE * (all - 1.0);
        let median = super::ratio::median(requests, scratch).unwrap_or(0.0) * step.seconds();
        let mut ended = Vec::new();
        for (at, rate) in requests.iter().enumerate().filter(|(at, rate)| !rate.is_nan() && is_used[*at]) {
            if *rate > 0.0 {
                ended.extend(self.end(at));
                let member = &mut self.members[at];
                member.worked += 1;
                member.own += rate * step.seconds();
                member.peers += median;
            } else if do_others_work {
                self.members[at].rest(instant, step, median);
            }
        }
        ended
    }

    /// Ends all open runs.
    pub(super) fn finish(&mut self) -> Vec<IdleRun> {
        (0..self.members.len()).filter_map(|member| self.end(member)).collect()
    }

    fn end(&mut self, at: usize) -> Option<IdleRun> {
        let run = self.members[at].open.take()?;
        let others = self.members.iter().filter_map(|member| member.open).map(|run| run.idle);
        let longest = self.members.iter().map(|member| member.longest).chain(others).max();
        let member = &mut self.members[at];
        let is_regular = f64::from(member.worked) >= REGULAR_SHARE * f64::from(member.worked + member.rested)
            && f64::from(member.worked) >= KNOWN_SHARE * f64::from(run.steps);
        member.longest = member.longest.max(run.idle);
        member.rested += run.steps;
        let expected = run.peers * member.own / member.peers.max(1.0);
        let is_long = run.idle >= SHORTEST && run.steps >= FEWEST_STEPS;
        let is_unlike = longest.is_none_or(|longest| run.idle >= longest * LONGEST_RATIO);
        (is_long && is_unlike && is_regular && expected >= FEWEST_EXPECTED).then_some(IdleRun {
            member: at,
            begin: run.begin,
            end: run.end,
            idle: run.idle,
        })
    }
}

impl Member {
    fn rest(&mut self, instant: Timestamp, step: Span, median: f64) {
        let none = Run { begin: instant - step, end: instant, steps: 0, peers: 0.0, idle: Span::ZERO };
        let run = self.open.get_or_insert(none);
        run.end = instant;
        run.steps += 1;
        run.peers += median;
        run.idle = run.idle + step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Span = Span::from_seconds(5);

    /// The runs of four members with these requests per second at each of `steps` steps.
    fn runs(steps: i64, requests: impl Fn(i64) -> [f64; 4]) -> Vec<(usize, i64, i64)> {
        let mut runs = IdleRuns::new(4);
        let mut ended = Vec::new();
        for n in 1..=steps {
            let instant = Timestamp::from_seconds(5 * n);
            ended.extend(runs.push(instant, STEP, &requests(n), &[true; 4], &mut Vec::new()));
        }
        ended.extend(runs.finish());
        let seconds = |time: Timestamp| time.micros() / 1_000_000;
        ended.iter().map(|run| (run.member, seconds(run.begin), seconds(run.end))).collect()
    }

    #[test]
    fn a_disk_that_rests_while_all_others_work_is_found_to_the_step() {
        let rests = |n: i64| if (7..17).contains(&n) { 0.0 } else { 50.0 };
        assert_eq!(runs(40, |n| [50.0, 50.0, rests(n), 50.0]), [(2, 30, 80)]);
        assert_eq!(runs(16, |n| [50.0, 50.0, rests(n), 50.0]), [(2, 30, 80)], "to the end");
    }

    #[test]
    fn members_that_rest_in_turns_or_together_are_not_found() {
        let in_turns = |n: i64, at: i64| if n / 10 % 4 == at { 0.0 } else { 50.0 };
        let first = runs(80, |n| [0, 1, 2, 3].map(|at| in_turns(n, at)));
        assert!(first.len() <= 1, "{first:?}");
        let together = |n: i64| if (7..27).contains(&n) { 0.0 } else { 50.0 };
        assert_eq!(runs(40, |n| [50.0, together(n), together(n), 50.0]), []);
    }

    #[test]
    fn a_spare_that_worked_once_is_not_in_regular_use() {
        let once = |n: i64| if n < 4 { 50.0 } else { 0.0 };
        assert_eq!(runs(60, |n| [50.0, 50.0, once(n), 50.0]), []);
    }

    #[test]
    fn a_disk_with_few_requests_rests_by_chance() {
        let rare = |n: i64| if n % 30 == 0 { 0.2 } else { 0.0 };
        assert_eq!(runs(400, |n| [50.0, 50.0, rare(n), 50.0]), []);
    }
}
