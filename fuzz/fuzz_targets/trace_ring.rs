//! Any bytes as a page of the kernel's ring buffer, and any text as the description of its records: no panic, and never
//! more records than words.
#![no_main]

use std::path::Path;

use laggard_trace::capture::raw::{Decoder, Format, Header, Page, Tasks};
use libfuzzer_sys::fuzz_target;

const KNOWN: [&str; 3] = [
    include_str!("../../crates/laggard-trace/tests/fixtures/capture/sys_enter_pread64.format"),
    include_str!("../../crates/laggard-trace/tests/fixtures/capture/block_rq_issue.format"),
    include_str!("../../crates/laggard-trace/tests/fixtures/capture/task_newtask.format"),
];

fuzz_target!(|content: &[u8]| {
    let mut decoder = Decoder::default();
    for text in KNOWN {
        decoder.learn(&Format::parse(text).expect("a format of our own"));
    }
    // The bytes before the first zero are a description, the rest a page.
    let (text, bytes) = content.split_at(content.iter().position(|byte| *byte == 0).unwrap_or(0));
    let text = String::from_utf8_lossy(text);
    let _ = Format::parse(&text).map(|format| decoder.learn(&format));
    let header = Header::parse(&text).unwrap_or_default();
    let mut tasks = Tasks::new(Path::new("/nowhere"));
    let Ok(page) = Page::open(bytes, header) else { return };
    let records = page.inspect(|(time, record)| drop(decoder.read(record, *time, 0, &mut tasks))).count();
    assert!(records <= bytes.len() / 4);
});
