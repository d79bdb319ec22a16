//! Any bytes as the kernel's text, as records of blktrace and as what blkparse prints: a trace at worst empty.
#![no_main]

mod trace;

use laggard_trace::importing::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Ftrace, Format::Blktrace, Format::Blkparse] {
        trace::import(format, bytes);
    }
});
