//! The test bench, modelled and real.
//!
//! [`simulate`] holds seeded models of striped storage systems that make recordings with ground truth: no host is
//! touched, no file is written. [`scoring`] judges methods by that truth.
//!
//! [`lab`] builds a real storage system on one machine: hosts in namespaces ([`plan`]), with virtual [`disks`] and a
//! file system ([`filesystems`]), and takes all of it away again ([`manifest`], [`machine`]). On it run [`workloads`]
//! and [`faults`], and [`experiments`] record them. [`inject`] hurts nodes of any system, for a time. [`work`] is work
//! that can be checked, and a [`campaign`] finds out what a file system and its own checker make of faults.
//! [`logs`] tells what logs say of a fault.

pub mod machine;

pub mod disks;

pub mod plan;

pub mod manifest;

pub mod filesystems;

pub mod lab;

pub mod workloads;

pub mod faults;

pub mod runner;

pub mod experiments;

pub mod inject;

pub mod work;

pub mod campaign;
