//! Any bytes as each of sadf's formats: at worst an error.
#![no_main]

use laggard_sources::sadf;
use laggard_sources::sink::MemorySink;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sadf::json::read(&mut &bytes[..], &mut MemorySink::default());
    let _ = sadf::csv::read(&mut &bytes[..], &mut MemorySink::default());
    let _ = sadf::xml::read(&mut &bytes[..], &mut MemorySink::default());
});
