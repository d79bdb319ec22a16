//! Maps recorded names to components and peer groups.
//! In: the text of a cluster file, or none, and the recorded names. Out: [`Inventory`]. Always: every recorded component is
//! a member of one
//! peer group, ignored, or left out because of its class.

mod file;
mod inventory;
mod left_out;
mod pattern;
mod recorded;

pub use file::{Attribute, ClusterError, ClusterFile, Ignore, Rule};
pub use inventory::{Component, Inventory, PeerGroup, Unmatched};
pub use left_out::{LeftOut, LeftOutReason};
pub use pattern::{Pattern, PatternError};
pub use recorded::Recorded;

/// A comparison needs at least 3 peers: of two that differ, either may be the anomalous one.
pub const FEWEST_PEERS: usize = 3;
