//! Detection limits: which slowdowns of a disk a diagnosis of this recording would report.
//! In: a recording and a method. Out: [`Power`]. Always: the pipeline is used as it is; the recording is read once if its
//! tables fit into memory; the same seed gives the same trials, whatever the number of threads.

mod memory_recording;

mod cases;
mod trials;

mod candidates;

mod limits;
mod sentence;

mod measure;

mod page;

pub use limits::{Cell, DetectionTime, GroupPower, Limit, Power};
pub use measure::{PowerError, PowerSettings, Progress, measure};
pub use page::page;
pub use sentence::{magnitude, whole_or_span};
