//! Any bytes as a trace file, compressed or as text: records that are read can be written again.
#![no_main]

use laggard_trace::ltr::{Reader, Writer};
use laggard_trace::merging;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // As text, since a fuzzer does not compress.
    if let Ok(file) = zstd::encode_all(bytes, 1) {
        read(&file);
    }
});

fn read(file: &[u8]) {
    let Ok(mut reader) = Reader::open(file) else { return };
    let mut writer = Writer::new(Vec::new(), reader.header()).expect("memory can be written to");
    let mut records = Vec::new();
    for record in reader.by_ref() {
        writer.write(&record).expect("memory can be written to");
        records.push(record);
    }
    let again = writer.finish(reader.footer()).expect("memory can be written to");
    assert!(Reader::open(again.as_slice()).expect("the header is ours").eq(records));
    if let (Ok(mut one), Ok(two), Ok(three)) = (Reader::open(file), Reader::open(file), Reader::open(file)) {
        let requests = merging::matchable_requests(&mut one);
        let offset = merging::offset(&requests, &requests);
        let _ = merging::merge(vec![two, three], &[None, offset], Vec::new());
    }
}
