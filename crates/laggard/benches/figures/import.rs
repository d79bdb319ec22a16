//! The speed of importing sa files, compared with `sadf` printing the disks of the same file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::day::{ORDINARY, Server};
use crate::load::DEVICES;
use crate::outcome::Outcome;
use crate::process::{self, Spent};
use crate::scale::Scale;
use crate::{bytes, sa_file, tools};

const FILE_BYTES: u64 = 1 << 30;
const TIMES_AS_FAST: f64 = 8.0;
const MOST_MEMORY_MIB: f64 = 200.0;
const RUNS: usize = 3;

/// One file of 1 GiB, so one thread.
pub(crate) fn measure(scale: Scale) -> anyhow::Result<Outcome> {
    let sadf = tools::program("sadf")?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("sa");
    let samples = write(&file, scale.of(FILE_BYTES, 1 << 22))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let dataset = folder.path().join(run.to_string());
        ours.push(process::run(
            Command::new(tools::laggard()).arg("import").arg(&file).arg("-o").arg(&dataset),
        )?);
        std::fs::remove_dir_all(dataset)?;
        theirs.push(process::run(Command::new(&sadf).arg("-d").arg(&file).args(["--", "-d"]))?);
    }
    Ok(outcome(bytes::of_file(&file)?, samples, &ours, &theirs))
}

/// Writes a file of about this size; returns the number of samples.
fn write(path: &Path, size: u64) -> anyhow::Result<u64> {
    let mut server = Server::new(DEVICES, ORDINARY, 1);
    let mut file = sa_file::SaFile::begin(BufWriter::new(File::create(path)?), DEVICES)?;
    let (mut samples, mut written) = (0, 0);
    while written < size {
        server.tick();
        written += file.add(&server)? as u64;
        samples += 1;
    }
    file.finish()?;
    Ok(samples)
}

fn outcome(size: u64, samples: u64, ours: &[Spent], theirs: &[Spent]) -> Outcome {
    let mut outcome = Outcome::new(&["", "wall", "CPU", "MiB of file per CPU second", "most memory"]);
    let mut line = |what: &str, runs: &[Spent]| {
        let (wall, cpu) = (middle(runs, |s| s.wall), middle(runs, |s| s.cpu));
        let speed = format!("{:.0}", size as f64 / bytes::MIB / cpu.as_secs_f64());
        outcome.line(&[what, &seconds(wall), &seconds(cpu), &speed, &bytes::shown(most_memory(runs))]);
    };
    line("`laggard import FILE -o DIR`", ours);
    line("`sadf -d FILE -- -d`", theirs);
    let ratio =
        |of: fn(&Spent) -> Duration| middle(theirs, of).as_secs_f64() / middle(ours, of).as_secs_f64();
    let (wall, cpu) = (ratio(|s| s.wall), ratio(|s| s.cpu));
    let goal = format!("{TIMES_AS_FAST} times as fast");
    outcome.goal(&goal, wall >= TIMES_AS_FAST, &format!("{wall:.1} times by wall, {cpu:.1} by CPU"));
    let fits = most_memory(ours) as f64 / bytes::MIB <= MOST_MEMORY_MIB;
    outcome.goal(&format!("under {MOST_MEMORY_MIB} MiB"), fits, &bytes::shown(most_memory(ours)));
    let size = bytes::shown(size);
    outcome.remark(format_args!(
        "{size}, {samples} samples of {DEVICES} devices; the median of {RUNS} runs each"
    ));
    outcome
}

fn middle(runs: &[Spent], of: impl Fn(&Spent) -> Duration) -> Duration {
    let mut times: Vec<Duration> = runs.iter().map(of).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn most_memory(runs: &[Spent]) -> u64 {
    runs.iter().map(|spent| spent.peak_bytes).max().unwrap_or(0)
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}
