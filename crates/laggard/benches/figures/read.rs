//! The speed of reading one metric of many components, compared with pyarrow decoding the same columns.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::Span;
use laggard_core::tables::counters::Plan;
use laggard_core::tables::grid::Grid;
use laggard_store::tabulate::Tabulator;
use laggard_store::{Dataset, Importer};
use nix::sys::resource::{UsageWho, getrusage};

use crate::day::{ORDINARY, SECONDS, Server};
use crate::outcome::Outcome;
use crate::scale::Scale;
use crate::tables::{self, Tables};
use crate::{bytes, tools};

const HOSTS: u64 = 8;
const DEVICES: usize = 96;
const EVERY_SECONDS: i64 = 15;
const RUNS: usize = 3;
const LEAST_A_SECOND: f64 = 50e6;

/// The counters of `await` in the files. Other counters that `await` can use are absent (`ios`) or constant.
const COUNTERS: [&str; 6] = ["reads", "writes", "discards", "read_ms", "write_ms", "discard_ms"];

/// `await` of 768 attachments over a day, every 15 s.
pub(crate) fn measure(scale: Scale) -> anyhow::Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let seconds = scale.of(SECONDS, 600);
    (0..HOSTS).try_for_each(|host| write(folder.path(), host, seconds))?;
    let mut runs = (0..RUNS).map(|_| read(folder.path())).collect::<anyhow::Result<Vec<Taken>>>()?;
    runs.sort_by_key(|taken| taken.cpu);
    let rows = HOSTS * DEVICES as u64 * seconds;
    let mut outcome = Outcome::new(&["", "wall", "CPU", "million counters per CPU second"]);
    line(&mut outcome, "`Tabulator::new` and `table`", &runs[RUNS / 2], rows);
    match peer(folder.path()) {
        Ok(taken) => line(&mut outcome, "`pyarrow.parquet.read_table`, 1 thread", &taken, rows),
        Err(error) => outcome.remark(format_args!("no comparison: {error:#}")),
    }
    let speed = speed(&runs[RUNS / 2], rows);
    outcome.goal(
        "50 million counters per second on one core",
        speed >= LEAST_A_SECOND,
        &format!("{:.0} million", speed / 1e6),
    );
    let size = bytes::shown(bytes::of_folder(folder.path(), ".parquet")?);
    outcome.remark(format_args!(
        "{rows} rows of {} attachments, {size}; counted: {}",
        HOSTS * DEVICES as u64,
        COUNTERS.join(", ")
    ));
    Ok(outcome)
}

struct Taken {
    wall: Duration,
    cpu: Duration,
}

fn write(folder: &Path, host: u64, seconds: u64) -> anyhow::Result<()> {
    let name = format!("oss{host}");
    let (mut server, mut tables) = (Server::new(DEVICES, ORDINARY, host), Tables::new(&name, DEVICES, 0));
    let mut importer = Importer::into(Dataset::in_folder(folder))?;
    for second in 0..seconds {
        server.tick();
        tables.add_disks(&server);
        if second % 100 == 99 || second == seconds - 1 {
            importer.add(&tables::origin(&name), tables.disk())?;
            tables.clear();
        }
    }
    importer.finish()?;
    Ok(())
}

fn read(folder: &Path) -> anyhow::Result<Taken> {
    let metric = Metric::named("await").context("await is a metric")?;
    let (began, before) = (Instant::now(), cpu_of_all_threads()?);
    let mut tabulator = Tabulator::new(&Dataset::in_folder(folder), &[metric.table], &|_| true)?;
    let every = Span::from_seconds(EVERY_SECONDS);
    let stretches = tabulator.stretches(every);
    let [stretch] = stretches.as_slice() else {
        anyhow::bail!("expected one day, found {}", stretches.len())
    };
    let table = tabulator.table(metric, Grid::covering(stretch.first + every, stretch.last, every));
    let taken = Taken { wall: began.elapsed(), cpu: cpu_of_all_threads()? - before };
    anyhow::ensure!(tabulator.problems().is_empty(), "some files could not be read");
    let (found, expected) = (table.components.len(), HOSTS as usize * DEVICES);
    anyhow::ensure!(found == expected, "{found} components were read, expected {expected}");
    // The day begins at 00:00:05, so the first instant has no previous sample.
    let missing = table.values.iter().filter(|value| value.is_nan()).count();
    anyhow::ensure!(missing <= found, "{missing} of {} values are missing", table.values.len());
    Ok(taken)
}

const SCRIPT: &str = "
import glob, sys, time
import pyarrow, pyarrow.parquet
pyarrow.set_cpu_count(1)
columns = sys.argv[2].split(',')
wall, cpu = time.perf_counter(), time.process_time()
for file in sorted(glob.glob(sys.argv[1] + '/*.disk.parquet')):
    pyarrow.parquet.read_table(file, columns=columns, use_threads=False, pre_buffer=False)
print(time.perf_counter() - wall, time.process_time() - cpu)
";

/// Decodes the same columns and discards them.
fn peer(folder: &Path) -> anyhow::Result<Taken> {
    let metric = Metric::named("await").context("await is a metric")?;
    let plan = Plan::new(metric, false);
    let columns = [&["time", "uptime", "component"], plan.columns()].concat().join(",");
    let output = Command::new(tools::python()?).args(["-c", SCRIPT]).arg(folder).arg(columns).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "pyarrow: {}", stderr.trim());
    let printed = String::from_utf8_lossy(&output.stdout);
    let seconds: Vec<f64> = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let &[wall, cpu] = seconds.as_slice() else { anyhow::bail!("pyarrow: expected two numbers: {printed}") };
    Ok(Taken { wall: Duration::from_secs_f64(wall), cpu: Duration::from_secs_f64(cpu) })
}

fn line(outcome: &mut Outcome, what: &str, taken: &Taken, rows: u64) {
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    outcome.line(&[
        what,
        &seconds(taken.wall),
        &seconds(taken.cpu),
        &format!("{:.0}", speed(taken, rows) / 1e6),
    ]);
}

fn speed(taken: &Taken, rows: u64) -> f64 {
    (rows * COUNTERS.len() as u64) as f64 / taken.cpu.as_secs_f64()
}

/// Hosts are read in parallel.
fn cpu_of_all_threads() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec().unsigned_abs(), 1000 * time.tv_usec().unsigned_abs() as u32)
    };
    Ok(micros(usage.user_time()) + micros(usage.system_time()))
}
