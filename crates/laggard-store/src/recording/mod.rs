//! Recording: rows are appended to live tails, and the tails of the day before are sealed in the background.
//! In: rows of one host. Out: live tails and sealed segments. Always: at most one recorder per host and folder.

pub(crate) mod facts_writer;
pub mod recorder;
pub(crate) mod recover;
mod sealer;
pub(crate) mod writer_thread;
