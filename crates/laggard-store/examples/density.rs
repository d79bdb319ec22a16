//! Measures how small and how fast a dataset is, on counters like those of a busy storage server.
//!
//! `cargo run --release -p laggard-store --example density -- [devices] [minutes] [seconds a flush] [folder]`
//!
//! Also writes `density.sa`, the same samples in the layout of sysstat's disk records, for `xz -1` to press.

#![allow(clippy::print_stdout, reason = "an example speaks to its user")]

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp, Uptime};
use laggard_core::samples::RawTable;
use laggard_store::{Dataset, Origin, Recorder, Selection, State, Wanted};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (devices, minutes, flush) = (number(0, 72), number(1, 60), number(2, 5));
    let folder = arguments.get(3).map_or(std::env::temp_dir().join("laggard-density"), PathBuf::from);
    let _ = std::fs::remove_dir_all(&folder);
    let values = record(&folder, devices, minutes * 60, flush)?;
    read(&folder, values)?;
    Ok(())
}

/// Records and seals; gives the number of values.
fn record(folder: &Path, devices: u64, seconds: u64, flush: u64) -> Result<u64, Failure> {
    let every = Some(Span::SECOND);
    let origin = Origin { host: "oss1".into(), every, wraps_at_32_bits: false, source: "density".into() };
    let mut server = Server::new(devices);
    let mut recorder = Recorder::open(folder, origin)?;
    let mut foreign = BufWriter::new(std::fs::File::create(folder.join("density.sa"))?);
    let (mut append_seconds, mut ticks) = (0.0, 0);
    for second in 0..seconds {
        let rows = server.tick(second);
        write_foreign(&mut foreign, &rows)?;
        let began = Instant::now();
        recorder.append(&rows)?;
        if second % flush == flush - 1 {
            recorder.flush()?;
        }
        append_seconds += began.elapsed().as_secs_f64();
        ticks += 1;
    }
    foreign.flush()?;
    recorder.flush()?;
    let values = ticks * devices * Schema::named("disk").map_or(0, |disk| disk.columns.len() as u64);
    println!("append and flush: {:.1} us a tick", append_seconds * 1e6 / ticks as f64);
    show_size(folder, "live tail", State::Live, values)?;
    println!("memory: {}", memory());
    let began = Instant::now();
    for outcome in recorder.close() {
        outcome?;
    }
    println!("seal: {:.2} s; memory: {}", began.elapsed().as_secs_f64(), memory());
    show_size(folder, "sealed", State::Sealed, values)?;
    Ok(values)
}

fn show_size(folder: &Path, what: &str, state: State, values: u64) -> Result<(), Failure> {
    let segments = Dataset::in_folder(folder).segments()?.segments;
    let bytes: u64 = segments.iter().filter(|s| s.state == state).map(|s| s.bytes).sum();
    println!("{what}: {bytes} bytes, {:.3} bytes a value", bytes as f64 / values as f64);
    Ok(())
}

fn read(folder: &Path, values: u64) -> Result<(), Failure> {
    let disk = Schema::named("disk").ok_or("no table disk")?;
    let four =
        ["reads", "writes", "read_ms", "write_ms"].iter().filter_map(|name| disk.position(name)).collect();
    for (what, columns) in [("four counters", Some(four)), ("all counters", None)] {
        let tables = vec![Wanted { table: disk, columns }];
        let (mut counters, mut sum) = (0_u64, 0_u64);
        let began = Instant::now();
        Dataset::in_folder(folder).scan(&Selection { tables, ..Selection::default() }, &mut |_, piece| {
            for column in (0..disk.columns.len()).filter_map(|column| piece.counts(column)) {
                counters += column.len() as u64;
                sum = sum.wrapping_add(column[0]);
            }
            ControlFlow::Continue(())
        })?;
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "scan {what}: {counters} in {seconds:.3} s, {:.1} million a second",
            counters as f64 / seconds / 1e6
        );
    }
    println!("values: {values}; memory: {}", memory());
    Ok(())
}

/// Resident memory, now and at most.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let wanted = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    wanted.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}

/// A server whose devices serve jobs that come and go.
struct Server {
    devices: Vec<Device>,
    random: Random,
}

#[derive(Clone, Default)]
struct Device {
    name: String,
    counters: [u64; 17],
    /// Requests a second: reads, writes.
    load: [f64; 2],
    remaining: u64,
}

struct Random(u64);

impl Random {
    /// From 0 up to 1 (xorshift64*).
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About `mean`, spread as counts of independent events are.
    fn count(&mut self, mean: f64) -> u64 {
        let spread = (0..4).map(|_| self.next()).sum::<f64>() - 2.0;
        (mean + spread * (3.0 * mean).sqrt()).round().max(0.0) as u64
    }
}

impl Server {
    fn new(devices: u64) -> Self {
        let mut random = Random(0x5eed_1234_5678_9abc);
        let device = |number: u64| {
            let mut device = Device { name: format!("oss1:dm-{number}"), ..Device::default() };
            for counter in [0, 2, 3, 4, 6, 7, 9, 10] {
                device.counters[counter] = (random.next() * 4e9) as u64;
            }
            device
        };
        let devices = (0..devices).map(device).collect();
        Server { devices, random }
    }

    fn tick(&mut self, second: u64) -> RawTable {
        let Some(disk) = Schema::named("disk") else { unreachable!("disk is a table") };
        let mut rows = RawTable::new(disk);
        let start: i64 = 1_794_700_805_000_000;
        let late = (self.random.next() * 200.0) as i64;
        let time = Timestamp::from_micros(start + second as i64 * 1_000_000 + late);
        let uptime = Uptime::from_micros(5_000_000_000 + second as i64 * 1_000_000 + late);
        for device in &mut self.devices {
            device.serve(&mut self.random);
            let component = rows.number(&device.name);
            rows.push_counts(time, Some(uptime), component, &device.counters);
        }
        rows
    }
}

impl Device {
    fn serve(&mut self, random: &mut Random) {
        if self.remaining == 0 {
            let is_busy = random.next() < 0.6;
            let level = if is_busy { 10_f64.powf(random.next() * 3.0) } else { 0.2 };
            let share = random.next();
            self.load = [level * share, level * (1.0 - share)];
            self.remaining = 20 + (random.next() * 600.0) as u64;
        }
        self.remaining -= 1;
        let mut weighted = 0;
        for (load, at) in self.load.into_iter().zip([0, 4]) {
            let requests = random.count(load);
            let sectors = (0..requests.min(16))
                .map(|_| if random.next() < 0.8 { 2048 } else { 8 + 8 * (random.next() * 60.0) as u64 });
            let sectors = sectors.sum::<u64>() * requests / requests.clamp(1, 16);
            let ms = (requests as f64 * (2.0 + 6.0 * random.next())) as u64;
            self.counters[at] += requests;
            self.counters[at + 1] += (requests as f64 * 0.1 * random.next()) as u64;
            self.counters[at + 2] += sectors;
            self.counters[at + 3] += ms;
            weighted += ms;
        }
        self.counters[8] = weighted / 1000;
        self.counters[9] += weighted.min(990 + (random.next() * 10.0) as u64);
        self.counters[10] += weighted;
        if random.next() < 0.03 {
            self.counters[15] += 1;
            self.counters[16] += (random.next() * 20.0) as u64;
        }
    }
}

/// As sysstat lays out a record of disks: a header, then for each device the sums of both directions.
fn write_foreign(file: &mut impl Write, rows: &RawTable) -> std::io::Result<()> {
    let count = |column: usize, row: usize| rows.counts(column).map_or(0, |values| values[row]);
    let Some(&time) = rows.time.first() else { return Ok(()) };
    file.write_all(&((time / 10_000) as u64).to_le_bytes())?;
    file.write_all(&((time / 1_000_000) as u64).to_le_bytes())?;
    file.write_all(&[0; 16])?;
    for row in 0..rows.len() {
        for value in [count(0, row) + count(4, row), 0, 0, count(2, row), count(6, row), count(13, row)] {
            file.write_all(&value.to_le_bytes())?;
        }
        for value in
            [count(3, row), count(7, row), count(9, row), count(10, row), count(14, row), 253, row as u64, 0]
        {
            file.write_all(&(value as u32).to_le_bytes())?;
        }
    }
    Ok(())
}
