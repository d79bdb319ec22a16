//! Any bytes as iostat's text and JSON: at worst an error.
#![no_main]

use laggard_sources::iostat;
use laggard_sources::sink::MemorySink;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = iostat::text::read(&mut &bytes[..], "oss1", &mut MemorySink::default());
    let _ = iostat::json::read(&mut &bytes[..], "oss1", &mut MemorySink::default());
});
