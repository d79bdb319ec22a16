//! Any bytes as what strace, fio, DFTracer and Recorder write, and as the paper's lines: a trace at worst empty.
#![no_main]

mod trace;

use laggard_trace::importing::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use Format::{FioIolog, FioLat, Paper, Pfw, RecorderText, Strace};
    for format in [Strace, FioLat, FioIolog, Paper, Pfw, RecorderText] {
        trace::import(format, bytes);
    }
});
