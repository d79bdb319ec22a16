//! Peer groups, and why some of them were not evaluated.

use std::collections::BTreeMap;

use crate::model::cluster::{Inventory, LeftOutReason};
use crate::model::component::Kind;
use crate::model::device::DeviceClass;

/// A peer group in a diagnosis.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub name: String,
    pub kind: Kind,
    pub members: usize,
    /// Members that were in use.
    pub active: usize,
    /// Nothing: the group was evaluated.
    pub not_evaluated: Option<NotEvaluated>,
}

/// The reason why a group was not evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEvaluated {
    /// The method compares no metric of this kind of component.
    KindNotCompared,
    /// There are samples of what the components contain, and none of the components.
    NoSamplesOfItsOwn,
    TooFewPeers,
    /// No window had enough samples.
    NoWindow,
}

/// Why block devices are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotCompared {
    Class,
    /// They are stacked on devices of the same class, which are compared.
    Stacked,
    /// They did nothing.
    Inactive,
    /// They read where others write, or the other way round.
    OtherWork,
}

/// Block devices of one class that are not peers of disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOutClass {
    pub class: DeviceClass,
    pub devices: usize,
    pub reason: NotCompared,
}

impl LeftOutClass {
    /// One for each class and reason.
    pub(crate) fn all(inventory: &Inventory) -> Vec<LeftOutClass> {
        let mut counts: BTreeMap<(DeviceClass, NotCompared), usize> = BTreeMap::new();
        for one in &inventory.left_out {
            let reason = match one.reason {
                LeftOutReason::StackedOn(_) => NotCompared::Stacked,
                LeftOutReason::Inactive => NotCompared::Inactive,
                LeftOutReason::OtherWork => NotCompared::OtherWork,
                LeftOutReason::Class | LeftOutReason::PartitionOf(_) => NotCompared::Class,
            };
            *counts.entry((one.class, reason)).or_default() += 1;
        }
        let of = |((class, reason), devices)| LeftOutClass { class, devices, reason };
        counts.into_iter().map(of).collect()
    }
}
