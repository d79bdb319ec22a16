//! Any bytes as text of tracefs, records of blktrace or output of blkparse: no panic, at worst an empty trace.
#![no_main]

mod trace;

use laggard_trace::importing::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Ftrace, Format::Blktrace, Format::Blkparse] {
        trace::import(format, bytes);
    }
});
