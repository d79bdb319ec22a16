//! Detection limits: which slowdowns of a disk a diagnosis of this recording would report.
//! In: a recording and a method. Out: [`Power`]. Always: the pipeline is used as it is; the recording is read once if its
//! tables fit into memory; the same seed gives the same trials, whatever the number of threads.

mod memory_recording;
mod sample;
mod used_groups;

mod cases;
mod plan;
mod trials;

mod candidates;

mod limits;

mod brief;
mod measure;
mod overlays;

mod page;

pub use brief::diagnose_with_limits;
pub use limits::{Cell, DetectionTime, GroupPower, OverlayResult, Power};
pub use measure::{PowerError, PowerSettings, Progress, measure};
pub use overlays::{Open, check_with_overlays};
pub use page::page;
