//! Runs cases: one fault on some nodes of a storage system. Suites of experiments and campaigns share this runner; a suite
//! is a campaign without checks.
//! In: a `case_plan::CasePlan`. Out: a `result::CaseResult`, and what the plan asks for: a journal, logs, a recording,
//! labels. Always: the fault is reverted however the case ends, what the case built is removed, and what is left behind
//! is reported.
//!
//! `phases` lists the phases of a case in order; `plan` says which of them a case has; `frame` runs a case from
//! preflight to teardown, `queue` many cases.

mod boot_monitor;
pub(crate) mod case;
pub(crate) mod case_plan;
pub(crate) mod case_schedule;
mod cluster;
mod diagnosed_recording;
pub(crate) mod files;
pub(crate) mod fsck;
mod injection;
pub(crate) mod journal;
pub(crate) mod labels;
pub(crate) mod lifecycle;
mod logs;
mod outcome;
pub(crate) mod phase;
mod phases;
pub(crate) mod queue;
pub(crate) mod result;
mod revert;
mod run;
pub(crate) mod stat;
mod stop;
pub(crate) mod target;
pub(crate) mod template;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod workers;

pub use case::Case;
pub use case_plan::Callbacks;
pub use queue::{Event, Summary};
pub use result::CaseResult;
