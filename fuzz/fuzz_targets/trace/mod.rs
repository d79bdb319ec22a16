//! Imports bytes and checks the trace file.

use laggard_trace::importing::{Format, Importer, Options};
use laggard_trace::ltr::Reader;
use laggard_trace::model::Record;

/// Imports bytes as one format. The result is a valid trace file, ordered by time unless the format is not sorted.
pub fn import(format: Format, bytes: &[u8]) {
    let _ = Format::detect(bytes);
    let options = Options { format: Some(format), is_alone: true, ..Options::default() };
    let mut importer = Importer::new(Vec::new(), options);
    let outcome = importer.file("trace", &bytes[..bytes.len().min(8192)], &mut &*bytes);
    assert!(outcome.is_ok(), "a given format is not detected");
    let (footer, file) = importer.finish().expect("memory can be written to");
    let mut reader = Reader::open(file.as_slice()).expect("the header is ours");
    let (mut events, mut last) = (0, 0);
    for record in reader.by_ref() {
        if let Record::Event(event) = record {
            assert!(format == Format::Ftrace || event.ts_ns >= last);
            (events, last) = (events + 1, event.ts_ns);
        }
    }
    assert_eq!((events, reader.damage().lines), (footer.events, 0));
}
