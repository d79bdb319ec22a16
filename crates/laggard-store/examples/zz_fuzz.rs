#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::unwrap_used)]
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::RawTable;
use laggard_store::{Dataset, Origin, Recorder, Selection, recover};
use std::ops::ControlFlow;
use std::path::Path;
const TAIL: &str = "fs1-20261115T000005Z.disk.arrow";
fn valid() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let origin = Origin { host: "fs1".into(), every: None, wraps_at_32_bits: false, source: "fuzz".into() };
    let mut recorder = Recorder::open(folder.path(), origin).unwrap();
    let start = Timestamp::from_basic("20261115T000005Z").unwrap().micros();
    for second in 0..4 {
        let mut rows = RawTable::new(Schema::named("disk").unwrap());
        for device in 0..=second {
            let component = rows.number(&format!("fs1:sd{device}"));
            rows.push_counts(
                Timestamp::from_micros(start + second * 1_000_000),
                Some(Uptime::from_micros(second)),
                component,
                &[second as u64 * 7, 1 << 40],
            );
        }
        recorder.append(&rows).unwrap();
        recorder.flush().unwrap();
    }
    std::fs::read(folder.path().join(TAIL)).unwrap()
}
fn rows(folder: &Path) -> (usize, usize) {
    let mut n = 0;
    let p = Dataset::in_folder(folder)
        .scan(&Selection::default(), &mut |_, piece| {
            n += piece.to_table().len();
            ControlFlow::Continue(())
        })
        .unwrap();
    (n, p.len())
}
fn main() {
    let secs: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    std::panic::set_hook(Box::new(|i| {
        println!("PANIC {i}");
    }));
    let valid = valid();
    println!("tail {} bytes", valid.len());
    let mut x = std::env::args().nth(2).map_or(88172645463325252u64, |s| s.parse().unwrap());
    let mut rnd = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let began = std::time::Instant::now();
    let mut n = 0u64;
    let mut stats = std::collections::BTreeMap::new();
    // a sealed file, to be broken too
    let sealed = {
        std::fs::write(folder.path().join(TAIL), &valid).unwrap();
        recover(folder.path(), "fs1").unwrap();
        let f = folder.path().join(TAIL.replace("arrow", "parquet"));
        let b = std::fs::read(&f).unwrap();
        std::fs::remove_file(f).unwrap();
        b
    };
    println!("sealed {} bytes", sealed.len());
    while began.elapsed().as_secs() < secs {
        n += 1;
        let is_sealed = n % 2 == 0;
        let mut t = if is_sealed { sealed.clone() } else { valid.clone() };
        for _ in 0..1 + rnd() % 4 {
            if t.is_empty() {
                break;
            }
            let p = (rnd() as usize) % t.len();
            match rnd() % 8 {
                0 => t.truncate(p),
                1 => {
                    let e = (p + 8).min(t.len());
                    let v = [0u8, 0xff, 0x7f, 0x80][rnd() as usize % 4];
                    t[p..e].fill(v)
                }
                2 => {
                    let v = rnd().to_le_bytes();
                    let e = (p + 4).min(t.len());
                    let l = e - p;
                    t[p..e].copy_from_slice(&v[..l])
                }
                _ => t[p] ^= 1 << (rnd() % 8),
            }
        }
        std::fs::write(
            folder.path().join(if is_sealed { TAIL.replace("arrow", "parquet") } else { TAIL.into() }),
            &t,
        )
        .unwrap();
        let s = std::time::Instant::now();
        let r = rows(folder.path());
        *stats.entry((is_sealed, r)).or_insert(0) += 1;
        if !is_sealed {
            for o in recover(folder.path(), "fs1").unwrap() {
                drop(o.map_err(|e| e.to_string()));
            }
            rows(folder.path());
        }
        if s.elapsed().as_millis() > 200 {
            println!("slow {:?}", s.elapsed());
            std::fs::write(format!("/tmp/slow-{n}"), &t).unwrap();
        }
        for f in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(f.unwrap().path()).unwrap();
        }
    }
    println!("{n} {stats:?}");
}
