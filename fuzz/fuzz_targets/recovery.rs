//! Any bytes as a live tail: reading and recovering them never panics, and never loses a sealed file.
//!
//! The first byte says what the rest is: a tail itself, or a list of edits to a valid one, which gets the
//! fuzzer past the first checks.

#![no_main]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::RawTable;
use laggard_store::{Dataset, Origin, Recorder, Selection, recover};
use libfuzzer_sys::fuzz_target;

const TAIL: &str = "fs1-20261115T000005Z.disk.arrow";

/// A tail of a few messages, with names that are added on the way.
static VALID: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let origin = Origin { host: "fs1".into(), every: None, wraps_at_32_bits: false, source: "fuzz".into() };
    let mut recorder = Recorder::open(folder.path(), origin).expect("a recorder");
    let start = Timestamp::from_basic("20261115T000005Z").expect("a time").micros();
    for second in 0..4 {
        let mut rows = RawTable::new(Schema::named("disk").expect("a table"));
        for device in 0..=second {
            let component = rows.number(&format!("fs1:sd{device}"));
            let time = Timestamp::from_micros(start + second * 1_000_000);
            let uptime = Uptime::from_micros(second * 1_000_000);
            rows.push_counts(time, Some(uptime), component, &[second as u64 * 7, 1 << 40]);
        }
        recorder.append(&rows).expect("an append");
        recorder.flush().expect("a flush");
    }
    std::fs::read(folder.path().join(TAIL)).expect("a tail")
});

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    let tail = if first % 2 == 0 { rest.to_vec() } else { edited(rest) };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(TAIL), tail).expect("a file");
    rows(folder.path());
    for outcome in recover(folder.path(), "fs1").expect("a listing") {
        // A broken tail is an error in words.
        drop(outcome.map_err(|error| error.to_string()));
    }
    rows(folder.path());
});

/// The valid tail with some bytes changed, and perhaps cut: each edit is a position and a value.
fn edited(edits: &[u8]) -> Vec<u8> {
    let mut tail = VALID.clone();
    for edit in edits.chunks_exact(3) {
        let position = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % tail.len().max(1);
        match edit[2] {
            0 => tail.truncate(position),
            value => tail.iter_mut().skip(position).take(1).for_each(|byte| *byte ^= value),
        }
    }
    tail
}

fn rows(folder: &Path) -> usize {
    let mut rows = 0;
    let count = &mut |_: &_, piece: laggard_store::Piece| {
        rows += piece.to_table().len();
        ControlFlow::Continue(())
    };
    Dataset::in_folder(folder).scan(&Selection::default(), count).expect("a listing");
    rows
}
