//! The speed and memory use of reading and analysing a trace.
//!
//!     cargo bench -p laggard-trace --bench analysis -- [MILLIONS OF EVENTS]
//!
//! The trace is synthetic: asynchronous I/O with sixteen requests in flight, each with a system call, a request of the
//! block layer and one of the device. CPU time is measured, so that other load on the machine matters less.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs::File;
use std::io::{BufReader, BufWriter};

use laggard_trace::analysis::{Options, characterise};
use laggard_trace::findings::{RuleId, find};
use laggard_trace::ltr::{Reader, Writer};
use laggard_trace::model::{
    CommId, Event, Flags, Footer, Header, Host, HostId, Kind, Layer, LinkRule, Object, ObjectId, Op, Record,
    RequestId,
};
use laggard_trace::reference::Reference;

/// Events of one request of the top layer: four at aio, two at sys, four at blk, two at dev.
const EVENTS_EACH: u64 = 12;

fn main() {
    let millions = std::env::args().skip(1).find_map(|word| word.parse::<f64>().ok()).unwrap_or(2.0);
    let requests = (millions * 1e6) as u64 / EVENTS_EACH;
    let file = tempfile::NamedTempFile::new().unwrap();
    write(File::create(file.path()).unwrap(), requests);
    let bytes = file.path().metadata().unwrap().len();
    let begin = cpu_seconds();
    let events = Reader::open(BufReader::new(File::open(file.path()).unwrap())).unwrap().count();
    let read = cpu_seconds() - begin;
    let begin = cpu_seconds();
    let mut reader = Reader::open(BufReader::new(File::open(file.path()).unwrap())).unwrap();
    let characteristics = characterise(&mut reader, &Options::default());
    let findings = find(&characteristics, &Reference::default());
    let whole = cpu_seconds() - begin;
    assert_eq!(findings.findings.first().map(|first| first.id), Some(RuleId::T01));
    assert_eq!(characteristics.quality.events, requests * EVENTS_EACH);
    let millions = events as f64 / 1e6;
    println!("{millions:.2} million events in {:.1} MiB", bytes as f64 / 1_048_576.0);
    println!("read               {:6.2} million events per CPU second", millions / read);
    println!("read and analysed  {:6.2} million events per CPU second", millions / whole);
    println!("peak memory        {:6.1} MiB", peak_bytes() / 1_048_576.0);
}

fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn peak_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0
}

/// Events that are not yet written, by time.
type Pending = std::collections::BTreeMap<(u64, u64), Event>;

fn write(file: File, requests: u64) {
    let hosts = vec![Host { name: "bench".into(), clock: "mono".into(), ..Host::default() }];
    let header = Header { hosts, ..Header::default() };
    let mut writer = Writer::new(BufWriter::new(file), &header).unwrap();
    writer.write(&Record::Comm(CommId(1), "fio".into())).unwrap();
    for (number, object) in [
        Object::File { path: "/data/file".into(), inode: Some(7), device: None },
        Object::Device { major: 8, minor: 0 },
    ]
    .into_iter()
    .enumerate()
    {
        writer.write(&Record::Object(ObjectId(number as u32 + 1), object)).unwrap();
    }
    let mut pending = Pending::new();
    let mut random = 7u64;
    let mut serial = 0;
    for number in 0..requests {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let offset = (random >> 33) % 1_000_000 * 65_536;
        request(&mut pending, &mut serial, number, offset);
        // No earlier event follows.
        let admit = number * 160_000;
        while pending.first_key_value().is_some_and(|((ts, _), _)| *ts < admit) {
            let (_, event) = pending.pop_first().unwrap();
            writer.write(&Record::Event(event)).unwrap();
        }
    }
    for event in pending.into_values() {
        writer.write(&Record::Event(event)).unwrap();
    }
    writer.finish(Footer::default()).unwrap();
}

/// The library serves one request after the other; sixteen wait.
fn request(pending: &mut Pending, serial: &mut u64, number: u64, offset: u64) {
    let issue = (number + 16) * 160_000;
    let complt = issue + 140_000;
    let id = |layer: Layer| RequestId::new(HostId(0), layer, number + 1);
    let aio = [
        (Kind::Admit, number * 160_000),
        (Kind::Issue, issue),
        (Kind::Complt, complt),
        (Kind::Callback, complt + 9000),
    ];
    let sys = [(Kind::Admit, issue + 1), (Kind::Callback, complt - 1)];
    let blk = [
        (Kind::Admit, issue + 9000),
        (Kind::Issue, issue + 12_000),
        (Kind::Complt, complt - 9000),
        (Kind::Callback, complt - 8000),
    ];
    let dev = [(Kind::Admit, issue + 12_000), (Kind::Callback, complt - 9000)];
    let parents = [RequestId::NONE, id(Layer::Aio), id(Layer::Sys), id(Layer::Blk)];
    let layers: [(Layer, &[(Kind, u64)]); 4] =
        [(Layer::Aio, &aio), (Layer::Sys, &sys), (Layer::Blk, &blk), (Layer::Dev, &dev)];
    for ((layer, times), parent) in layers.into_iter().zip(parents) {
        for (kind, ts_ns) in times {
            *serial += 1;
            let parent = if *kind == Kind::Admit { parent } else { RequestId::NONE };
            pending.insert(
                (*ts_ns, *serial),
                Event {
                    ts_ns: *ts_ns,
                    req: id(layer),
                    parent,
                    offset: offset as i64,
                    nbytes: 65_536,
                    obj: ObjectId(if layer >= Layer::Blk { 2 } else { 1 }),
                    fd: if layer >= Layer::Blk { -1 } else { 6 },
                    tgid: 1000,
                    tid: if layer == Layer::Aio { 1000 } else { 1001 },
                    status: 0,
                    flags: Flags::DIRECT,
                    host: HostId(0),
                    comm: CommId(1),
                    layer,
                    kind: *kind,
                    op: Op::Read,
                    link: if parent.is_some() { LinkRule::Thread } else { LinkRule::None },
                },
            );
        }
    }
}
