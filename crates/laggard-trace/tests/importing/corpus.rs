//! Tests on real traces, if their folder exists.

use std::collections::BTreeMap;
use std::path::PathBuf;

use laggard_trace::importing::FileOutcome;
use laggard_trace::model::{Flags, Kind, Layer, Op, Trace};

use super::support::{concurrency, content, imported, reads_and_writes, requests};

fn corpus(part: &str) -> Option<PathBuf> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("LAGGARD_CORPUS").map_or_else(default, PathBuf::from).join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("no corpus at {}: nothing compared", folder.display());
    None
}

fn files(folder: &str, names: &[&str]) -> Option<(Trace, Vec<FileOutcome>)> {
    let folder = corpus(folder)?;
    let files: Vec<_> = names.iter().map(|name| (*name, content(&folder.join(name)))).collect();
    Some(imported(&files))
}

#[test]
fn one_workload_is_the_same_in_the_logs_of_fio_strace_and_ftrace() {
    let Some((fio, _)) = files("traces/runA", &["fio_lat.1.log", "fio_lat.2.log"]) else { return };
    assert_eq!(reads_and_writes(&fio, Layer::App), (900, 240));
    let (strace, outcomes) = files("traces/runA", &["strace.txt"]).unwrap();
    assert!(outcomes[0].first_dropped.is_none());
    let direct = requests(&strace, Layer::Sys);
    let of = |op: Op, size: u64| direct.iter().filter(|call| call.op == op && call.done == size).count();
    assert_eq!((of(Op::Read, 4096), of(Op::Write, 131072)), (900, 240));
    let (ftrace, outcomes) = files("traces/runA", &["ftrace_trace.txt"]).unwrap();
    assert_eq!((outcomes[0].counters.dropped, outcomes[0].counters.unmatched_begin), (0, 0));
    assert_eq!(reads_and_writes(&ftrace, Layer::Sys), (0, 240));
    assert_eq!(reads_and_writes(&ftrace, Layer::Blk), (900, 240));
    assert_eq!(reads_and_writes(&ftrace, Layer::Dev), (900, 240));
    // The same requests: offsets of all writes, as the application and the system calls have them.
    let offsets = |trace: &Trace, layer: Layer| {
        let mut offsets: Vec<i64> =
            requests(trace, layer).iter().filter(|one| one.op == Op::Write).map(|one| one.offset).collect();
        offsets.sort_unstable();
        offsets
    };
    assert_eq!(offsets(&fio, Layer::App), offsets(&ftrace, Layer::Sys));
    assert_eq!(offsets(&fio, Layer::App), offsets(&strace, Layer::Sys));
}

#[test]
fn binary_records_of_blktrace_equal_the_output_of_blkparse() {
    let Some((binary, outcomes)) = files("traces/runB", &["loop6.blktrace.0", "loop6.blktrace.1"]) else {
        return;
    };
    assert!(outcomes.iter().all(|outcome| outcome.cut_short.is_none() && outcome.counters.dropped == 0));
    let (text, outcomes) = files("traces/runB", &["blkparse.txt"]).unwrap();
    assert_eq!(outcomes[0].counters.dropped, 0, "{:?}", outcomes[0].first_dropped);
    // blkparse counts from its first record.
    let plain = |trace: &Trace, layer: Layer| {
        let all = requests(trace, layer);
        let first = all[0].at(Kind::Admit).unwrap();
        let since = |time: Option<u64>| time.map(|time| time - first);
        all.iter().map(|one| (one.t.map(since), one.op, one.offset, one.nbytes, one.tid)).collect::<Vec<_>>()
    };
    for layer in [Layer::Blk, Layer::Dev] {
        assert_eq!(plain(&binary, layer), plain(&text, layer), "{layer}");
    }
    // As the summary of blkparse counts them.
    assert_eq!(reads_and_writes(&text, Layer::Blk), (900, 244));
}

#[test]
fn darshan_segments_equal_the_output_of_its_own_parser() {
    let names = [
        "hdf5_diagonal_write_half_ranks_dxt",
        "sample-dxt-simple",
        "treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1",
    ];
    for name in names {
        let Some((trace, outcomes)) = files("darshan", &[&format!("{name}.darshan")]) else { return };
        assert!(outcomes[0].cut_short.is_none(), "{name}: {:?}", outcomes[0].cut_short);
        let printed =
            String::from_utf8(content(&corpus("darshan").unwrap().join(format!("{name}.dxt-parser.txt"))))
                .unwrap();
        assert_eq!(segments(&trace), printed_segments(&printed), "{name}");
    }
}

/// The number of occurrences of each segment: module, rank, operation, offset, length, begin and end to a tenth of a millisecond.
type Segments = BTreeMap<(String, u32, String, i64, u64, i64, i64), u32>;

fn segments(trace: &Trace) -> Segments {
    let mut segments = Segments::new();
    let begin = requests(trace, Layer::Sys)
        .iter()
        .chain(&requests(trace, Layer::Mpiio))
        .filter_map(|one| one.at(Kind::Admit))
        .min();
    // Jobs begin at a whole second.
    let job = begin.unwrap_or(0) / 1_000_000_000 * 1_000_000_000;
    for (layer, module) in [(Layer::Sys, "X_POSIX"), (Layer::Mpiio, "X_MPIIO")] {
        for one in requests(trace, layer) {
            let tenth = |time: Option<u64>| ((time.unwrap() - job) as f64 / 1e5).round() as i64;
            let (begin, end) = (tenth(one.at(Kind::Admit)), tenth(one.at(Kind::Callback)));
            let key = (module.into(), one.tgid, one.op.name().into(), one.offset, one.nbytes, begin, end);
            *segments.entry(key).or_default() += 1;
        }
    }
    segments
}

fn printed_segments(text: &str) -> Segments {
    let mut segments = Segments::new();
    for line in text.lines().filter(|line| line.starts_with(" X_")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let tenth = |word: &str| (word.parse::<f64>().unwrap() * 1e4).round() as i64;
        let key = (
            words[0].to_owned(),
            words[1].parse().unwrap(),
            words[2].to_owned(),
            words[4].parse().unwrap(),
            words[5].parse().unwrap(),
            tenth(words[6]),
            tenth(words[7]),
        );
        *segments.entry(key).or_default() += 1;
    }
    assert!(!segments.is_empty());
    segments
}

#[test]
fn a_darshan_log_without_tracing_is_an_error() {
    let Some((trace, outcomes)) = files("darshan", &["empty_log.darshan"]) else { return };
    assert!(outcomes[0].cut_short.as_ref().unwrap().to_string().contains("extended tracing (DXT)"));
    assert!(trace.events.is_empty());
}

#[test]
fn asynchronous_reads_on_one_descriptor_are_served_one_at_a_time() {
    let Some((trace, outcomes)) = files("lab-traces", &["c1.ftrace.txt.gz"]) else { return };
    let counters = &outcomes[0].counters;
    assert_eq!((counters.read, counters.lost, counters.dropped, counters.unmatched_end), (90252, 0, 0, 0));
    let (aio, sys) = (requests(&trace, Layer::Aio), requests(&trace, Layer::Sys));
    assert_eq!(aio.len(), 9810);
    assert_eq!(sys.iter().filter(|call| call.parent.is_some()).count(), 9810);
    let is_fio = |event: &laggard_trace::model::Event| trace.names.comm(event.comm) == "fio";
    let (most, average) = concurrency(&trace, Layer::Aio, is_fio);
    assert_eq!(most, 16);
    assert!((15.0..15.1).contains(&average), "{average}");
    assert_eq!(concurrency(&trace, Layer::Sys, is_fio).0, 1);
    // All queued requests completed, split or not.
    let (blk, dev) = (requests(&trace, Layer::Blk), requests(&trace, Layer::Dev));
    assert_eq!((blk.len(), dev.len()), (10125, 10129));
    assert!(blk.iter().chain(&dev).all(|one| one.at(Kind::Callback).is_some() && one.is_ordered()));
    assert!(dev.iter().all(|one| one.parent.is_some()));
}

#[test]
fn a_request_reissued_to_a_busy_device_is_one_request() {
    let Some((trace, _)) = files("lab-traces", &["c1b.ftrace.txt.gz"]) else { return };
    let dev = requests(&trace, Layer::Dev);
    assert_eq!(dev.len(), 39949);
    assert_eq!(dev.iter().filter(|one| one.flags.has(Flags::REQUEUED)).count(), 1973);
    assert_eq!(trace.edges.len(), 36);
}

#[test]
fn the_daemons_of_glusterfs_are_distinguished_from_the_application() {
    let Some((trace, _)) = files("lab-traces", &["c3off.ftrace.txt.gz"]) else { return };
    let fuse = requests(&trace, Layer::Fuse);
    let writes: Vec<_> = fuse.iter().filter(|one| one.op == Op::Write).collect();
    assert_eq!(writes.len(), 1024);
    assert!(writes.iter().all(|one| one.parent.is_some() && one.nbytes == 65536 && one.offset >= 0));
    // Every write is also a write of the server and a message of the client.
    let offsets = |all: &mut dyn Iterator<Item = i64>| {
        let mut all: Vec<i64> = all.collect();
        all.sort_unstable();
        all
    };
    let pfss = requests(&trace, Layer::Pfss);
    let served = offsets(&mut pfss.iter().filter(|one| one.op == Op::Write).map(|one| one.offset));
    assert_eq!(offsets(&mut writes.iter().map(|one| one.offset)), served);
    assert_eq!(trace.edges.len(), 1024);
    let idle = 1.0 - concurrency(&trace, Layer::Pfss, |event| event.op == Op::Write).1;
    assert!(idle > 0.9, "{idle}");
}
