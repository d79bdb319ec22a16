//! How what was recorded maps to components, and which components are peers.
//!
//! In: the text of a cluster file, or none, and what was recorded. Out: [`Inventory`]. Always: every recorded
//! component is accounted for, as a member of one peer group or as ignored.

mod file;
mod inventory;
mod pattern;

pub use file::{Attribute, ClusterError, ClusterFile, Ignore, Rule};
pub use inventory::{Component, Inventory, PeerGroup, Recorded, Unmatched};
pub use pattern::{Pattern, PatternError};

/// A group smaller than this is never judged: with two, nobody can say which one is the odd one.
pub const FEWEST_PEERS: usize = 3;
