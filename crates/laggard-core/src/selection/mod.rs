//! Peer selection: which components really are peers, by what was recorded.
//! In: an [`Inventory`] and a [`Summary`] of the recording. Out: [`Selection`], with other peer groups.
//! Always: what a cluster file states is kept; a component alone is never a group of its own, since it may be the faulty
//! one.
//!
//! 1. `activity`: devices that did nothing are neither suspects nor peers, unless a cluster file says that they are: paths
//!    that should rest are peers of each other.
//! 2. `roles`: clients and servers, and the links between them, where no cluster file states them.
//! 3. `work`: hosts whose disks write where those of all others read.
//! 4. `mixtures`: groups that consist of clusters for the whole recording, such as system and data disks, or hardware
//!    generations.

mod activity;
mod gap;
mod mixtures;
mod roles;
mod work;

use crate::model::cluster::Inventory;
use crate::model::component::Kind;
use crate::tables::summary::Summary;

/// Peer groups that fit the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    pub inventory: Inventory,
    pub mixtures: Vec<Mixture>,
}

/// A peer group that consists of clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    pub group: String,
    pub kind: Kind,
    pub clusters: Vec<MixtureCluster>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MixtureCluster {
    /// The peer group's name and the difference: `attachment speed=slow`.
    pub name: String,
    /// Names of components.
    pub members: Vec<String>,
}

/// Other peer groups, where the recording shows that components are not peers. None if the groups can stay.
pub fn select(inventory: &Inventory, summary: &Summary) -> Option<Selection> {
    let mut selected = inventory.clone();
    if !inventory.is_stated {
        activity::leave_out_inactive(&mut selected, summary);
        roles::assign(&mut selected, summary);
        work::separate(&mut selected, summary);
    }
    let mixtures = mixtures::split(&mut selected, summary);
    (selected != *inventory).then_some(Selection { inventory: selected, mixtures })
}
