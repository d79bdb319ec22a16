//! Any bytes as what strace, fio and DFTracer write, and as the paper's lines: a trace at worst empty.
#![no_main]

mod trace;

use laggard_trace::importing::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Strace, Format::FioLat, Format::FioIolog, Format::Paper, Format::Pfw] {
        trace::import(format, bytes);
    }
});
