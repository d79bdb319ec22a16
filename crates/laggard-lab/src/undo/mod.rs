//! Applies planned faults and reverts them in any case.
//! In: a [`PlannedFault`](crate::faults::PlannedFault). Out: a fault that is applied and verified, later reverted and
//! verified. Always: the steps that revert a fault are on disk before the first node is changed ([`Journal`]); a separate
//! process reverts it when the controller dies or its time is over ([`guard`]).
//!
//! Faults on hosts of a lab are also in the lab's own journal, so that everything that uses the lab knows about them.

pub mod guard;
mod journal;
mod operations;

pub(crate) use guard::Guard;
pub(crate) use journal::Event;
pub use journal::{ActiveFault, Journal, Phase};
pub(crate) use operations::{ATTEMPTS, apply, revert_some};
pub use operations::{
    RevertOutcome, Selection, active_faults, apply_in_lab, faults_of, revert, revert_all_in_lab,
    revert_in_lab,
};
