//! Runs many cases, one after the other. Cases that are finished are not run again.

use std::time::{Duration, Instant};

use super::result::CaseResult;
use crate::machine::LabError;

/// Progress of a queue.
pub enum Event<'a> {
    Begin {
        name: &'a str,
        /// From 1 on, counting those that were finished before.
        number: usize,
        total: usize,
        /// An estimate for all that are left, this one included.
        remaining: Option<Duration>,
    },
    End(&'a CaseResult),
    Progress(&'a str),
    Warning(&'a str),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Finished by an earlier run.
    pub before: usize,
    /// Finished now.
    pub now: usize,
    /// Cases without a usable result, or that left something behind.
    pub failed: usize,
    pub is_cut_short: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CaseEnd {
    pub is_finished: bool,
    pub is_failed: bool,
    /// No other case is run.
    pub is_last: bool,
}

/// Runs the cases that are not finished. `each` is the time of a case, if it is known before.
pub(crate) fn run_all<C>(
    cases: &[C],
    name: impl Fn(&C) -> String,
    is_finished: impl Fn(&C) -> bool,
    each: Option<Duration>,
    notify: &dyn Fn(Event),
    mut run: impl FnMut(&C) -> Result<CaseEnd, LabError>,
) -> Result<Summary, LabError> {
    let (finished, left): (Vec<&C>, Vec<&C>) = cases.iter().partition(|case| is_finished(case));
    let mut summary = Summary { before: finished.len(), ..Summary::default() };
    let begin = Instant::now();
    for (index, case) in left.iter().enumerate() {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let each = each.or_else(|| (index > 0).then(|| begin.elapsed() / count(index)));
        let remaining = each.map(|each| each * count(left.len() - index));
        let number = finished.len() + index + 1;
        notify(Event::Begin { name: &name(case), number, total: cases.len(), remaining });
        let end = run(case)?;
        summary.now += usize::from(end.is_finished);
        summary.failed += usize::from(end.is_failed);
        summary.is_cut_short = end.is_last;
        if end.is_last {
            break;
        }
    }
    Ok(summary)
}
