//! From suspects to causes.
//! In: suspects and what all metrics say of them. Out: causes by weight of evidence.
//! Always: thin evidence is called unknown.

mod advice;
pub mod cause;
pub mod checklist;
pub mod explain;
pub mod facts;
pub mod label;
mod merge;
pub mod peers;
pub mod pictures;
mod telling;
pub mod weigh;
