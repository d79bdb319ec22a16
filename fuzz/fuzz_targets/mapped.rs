//! A mapping file, and after the first zero byte a file to read with it: at worst an error. The file is also read with
//! a valid mapping. Parquet is not included: its library panics on damaged files, which is caught.
#![no_main]

use laggard_sources::mapped::{Mapping, csv};
use laggard_sources::sink::MemorySink;
use libfuzzer_sys::fuzz_target;

const GOOD: &str =
    "[time]\ncolumn = \"t\"\nunit = \"s\"\n[component]\ndevice = \"{d}\"\n[metrics]\nawait = \"a\"\n";

fuzz_target!(|bytes: &[u8]| {
    let cut = bytes.iter().position(|&byte| byte == 0).unwrap_or(0);
    let (mapping, content) = bytes.split_at(cut);
    let written = std::str::from_utf8(mapping).ok().and_then(|text| Mapping::read(text).ok());
    for mapping in written.into_iter().chain(Mapping::read(GOOD)) {
        let _ = csv::read(&mut &content[..], "a/b/c.csv", &mapping, &mut MemorySink::default());
    }
});
