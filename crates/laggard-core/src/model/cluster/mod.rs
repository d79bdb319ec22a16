//! Maps recorded names to components and peer groups.
//! In: the text of a cluster file, or none, and the recorded names. Out: [`Inventory`]. Always: every recorded component is
//! either a member of one peer group or ignored.

mod file;
mod inventory;
mod pattern;

pub use file::{Attribute, ClusterError, ClusterFile, Ignore, Rule};
pub use inventory::{Component, Inventory, PeerGroup, Recorded, Unmatched};
pub use pattern::{Pattern, PatternError};

/// A comparison needs at least 3 peers: of two that differ, either may be the anomalous one.
pub const FEWEST_PEERS: usize = 3;
