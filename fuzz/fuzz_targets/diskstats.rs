//! Any bytes as `/proc/diskstats`: no panic, and never more rows than lines.
#![no_main]

use laggard_core::model::time::{Timestamp, Uptime};
use laggard_sources::live::clock::Moment;
use laggard_sources::live::diskstats::Disks;
use laggard_sources::live::selection::Selection;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| {
    let at = Moment { time: Timestamp::from_micros(0), uptime: Uptime::from_micros(0) };
    let mut disks = Disks::new("oss3", Selection::default());
    for part in [content, &content[content.len() / 2..]] {
        let _ = disks.parse(part, at);
        assert!(disks.table().len() <= part.split(|&byte| byte == b'\n').count());
    }
});
