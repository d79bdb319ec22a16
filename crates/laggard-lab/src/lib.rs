//! Real storage systems on one machine, and faults in them. Everything here needs root.
//!
//! A [lab](setup) is a storage system on one machine: hosts in namespaces ([`lab_file`]) with virtual [`disks`] and a file system
//! ([`filesystems`]). [`faults`] is the registry of all faults, [`undo`] applies and reverts them, and [`inject`] injects
//! them into the [`nodes`] of any system for a limited time. [`runner`] runs cases: [`experiments`] record [`workloads`]
//! with a fault, and a [`campaign`] tests how a file system and its fsck handle faults, with [`verifiable_files`].

pub mod machine;

pub mod disks;

pub mod lab_file;

pub mod lab_manifest;

pub mod filesystems;

pub mod setup;

pub mod nodes;

pub mod faults;

pub mod undo;

pub mod inject;

pub mod workloads;

pub mod verifiable_files;

pub mod runner;

pub mod experiments;

pub mod campaign;

#[cfg(test)]
mod testing;
