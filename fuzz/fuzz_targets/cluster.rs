//! Any text as a cluster file, and any text as the output of gluster.
#![no_main]

use laggard_core::model::cluster::{ClusterFile, Inventory};
use laggard_sources::discover::gluster;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(file) = ClusterFile::parse(text) {
        Inventory::new(&file, &[]);
    }
    let _ = gluster::cluster(text, Some(text));
});
