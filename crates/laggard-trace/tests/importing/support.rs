//! Imports into memory.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::Path;

use laggard_trace::importing::{FileOutcome, Format, Importer, Options};
use laggard_trace::ltr::Reader;
use laggard_trace::model::{Event, Kind, Layer, Op, Request, Trace};

/// The content of a file, decompressed.
pub(crate) fn content(path: &Path) -> Vec<u8> {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if !file.starts_with(&[0x1f, 0x8b]) {
        return file;
    }
    let mut content = Vec::new();
    flate2::read::MultiGzDecoder::new(file.as_slice()).read_to_end(&mut content).unwrap();
    content
}

/// Imports contents by name; the format is detected.
pub(crate) fn imported(files: &[(&str, Vec<u8>)]) -> (Trace, Vec<FileOutcome>) {
    imported_as(None, files)
}

/// Imports contents of one format.
pub(crate) fn imported_as(format: Option<Format>, files: &[(&str, Vec<u8>)]) -> (Trace, Vec<FileOutcome>) {
    let options = Options { format, host: "here".into(), is_alone: files.len() == 1, ..Options::default() };
    let mut importer = Importer::new(Vec::new(), options);
    let mut outcomes = Vec::new();
    for (name, content) in files {
        let start = &content[..content.len().min(8192)];
        outcomes.push(importer.file(name, start, &mut BufReader::new(content.as_slice())).unwrap());
    }
    let (_, file) = importer.finish().unwrap();
    (trace(&file), outcomes)
}

/// Imports lines of tracefs in a short form: `task-number time: event`, the time in microseconds.
pub(crate) fn ftrace(lines: &[&str]) -> Trace {
    let mut text = String::from("# tracer: nop\n#\n");
    for line in lines {
        let (task, rest) = line.split_once(' ').unwrap();
        let (time, event) = rest.split_once(": ").unwrap();
        let task = task.replace('(', " ( ");
        let micros: u64 = time.parse().unwrap();
        text += &format!(" {task} [000] ..... {}.{:06}: {event}\n", micros / 1_000_000, micros % 1_000_000);
    }
    let (trace, outcomes) = imported(&[("trace", text.into_bytes())]);
    assert!(outcomes[0].first_dropped.is_none(), "{:?}", outcomes[0].first_dropped);
    trace
}

pub(crate) fn trace(file: &[u8]) -> Trace {
    let mut reader = Reader::open(file).unwrap();
    let mut trace = Trace { header: reader.header().clone(), ..Trace::default() };
    for record in reader.by_ref() {
        trace.take(record);
    }
    assert_eq!(reader.damage().lines, 0, "{:?}", reader.damage().first);
    trace.footer = reader.footer();
    assert!(!trace.footer.is_cut_short);
    trace
}

/// Ordered by begin.
pub(crate) fn requests(trace: &Trace, layer: Layer) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    let mut places = HashMap::new();
    for event in trace.events.iter().filter(|event| event.layer == layer && event.kind != Kind::Mark) {
        let place = *places.entry(event.req).or_insert_with(|| {
            requests.push(Request::begun(event));
            requests.len() - 1
        });
        requests[place].cross(event);
    }
    requests
}

/// The only request of a layer.
pub(crate) fn request(trace: &Trace, layer: Layer) -> Request {
    let mut requests = requests(trace, layer);
    assert_eq!(requests.len(), 1, "{requests:?}");
    requests.remove(0)
}

/// The timestamps of a request in microseconds.
pub(crate) fn micros(request: &Request) -> [Option<u64>; 4] {
    request.t.map(|time| time.map(|ns| ns / 1000))
}

/// The number of reads and of writes in a layer.
pub(crate) fn reads_and_writes(trace: &Trace, layer: Layer) -> (usize, usize) {
    let requests = requests(trace, layer);
    let count = |op: Op| requests.iter().filter(|request| request.op == op).count();
    (count(Op::Read), count(Op::Write))
}

/// The highest and the average concurrency of a layer.
pub(crate) fn concurrency(trace: &Trace, layer: Layer, of: impl Fn(&Event) -> bool) -> (i64, f64) {
    let (mut open, mut most, mut sum, mut last, mut first) = (0i64, 0i64, 0f64, 0u64, None);
    for event in trace.events.iter().filter(|event| event.layer == layer && of(event)) {
        first.get_or_insert(event.ts_ns);
        sum += open as f64 * event.ts_ns.saturating_sub(last) as f64;
        last = event.ts_ns;
        match event.kind {
            Kind::Admit => open += 1,
            Kind::Callback => open -= 1,
            _ => {}
        }
        most = most.max(open);
    }
    (most, sum / (last - first.unwrap_or(last)).max(1) as f64)
}
