//! Runs cases: one fault on some nodes of a storage system. Suites of experiments and campaigns share this runner; a suite
//! is a campaign without checks.
//! In: a `plan::CasePlan`. Out: a `result::CaseResult`, and what the plan asks for: a journal, logs, a recording,
//! labels. Always: the fault is reverted however the case ends, what the case built is removed, and what is left behind
//! is reported.
//!
//! `phases` lists the phases of a case in order; `plan` says which of them a case has; `frame` runs a case from
//! preflight to teardown, `queue` many cases.

pub(crate) mod case;
mod cluster;
pub(crate) mod files;
pub(crate) mod frame;
pub(crate) mod fsck;
mod injection;
pub(crate) mod journal;
mod kernels;
pub(crate) mod labels;
mod logs;
mod outcome;
pub(crate) mod phase;
mod phases;
pub(crate) mod plan;
pub(crate) mod queue;
mod recording;
pub(crate) mod result;
mod revert;
mod run;
pub(crate) mod schedule;
pub(crate) mod stat;
mod stop;
pub(crate) mod target;
pub(crate) mod template;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod workers;

pub use case::Case;
pub use plan::Callbacks;
pub use queue::{Event, Summary};
pub use result::CaseResult;
