//! Any bytes as a Darshan log: no length in it is trusted.
#![no_main]

mod trace;

use laggard_trace::importing::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| trace::import(Format::Dxt, bytes));
