//! Any bytes as a trace of strace, fio, DFTracer or Recorder, or as lines of the paper: no panic, at worst an empty trace.
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
