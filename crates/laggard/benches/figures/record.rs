//! What recording costs, against sadc on the same host at the same time.

use std::path::Path;
use std::process::Command;

use anyhow::Context;
use laggard_store::{Dataset, Recorder};

use crate::day::{SECONDS, Server};
use crate::load::{CONNECTIONS, DEVICES, Load};
use crate::outcome::Outcome;
use crate::process::{self, Spent};
use crate::scale::Scale;
use crate::tables::{self, Tables};
use crate::{bytes, tools};

const MOST_MEMORY_MIB: f64 = 20.0;

/// As in the issue: 72 devices, 200 connections, a sample a second.
pub fn measure(scale: Scale) -> anyhow::Result<Outcome> {
    tools::ensure_root()?;
    let sadc = tools::sadc()?;
    let folder = tempfile::tempdir()?;
    let samples = scale.of(600, 20);
    let load = Load::start()?;
    let mut command = Command::new(tools::laggard());
    let laggard = process::start(record(&mut command, folder.path(), samples).arg("--loopback"))?;
    let mut command = Command::new(sadc);
    let arguments = ["-S", "DISK", "1", &samples.to_string()];
    let sadc = process::start(command.args(arguments).arg(folder.path().join("sa")))?;
    let (sadc, laggard) = (sadc.finish()?, laggard.finish()?);
    load.stop()?;
    check(folder.path())?;
    let sealing = seal_a_day(scale)?;
    Ok(outcome(samples, laggard, sadc, scale.of(SECONDS, 600), sealing))
}

fn record<'c>(command: &'c mut Command, folder: &Path, seconds: u64) -> &'c mut Command {
    command.args(["record", "--quiet", "--every", "1s", "--for", &format!("{seconds}s"), "-o"]).arg(folder)
}

fn outcome(samples: u64, laggard: Spent, sadc: Spent, day: u64, sealing: Spent) -> Outcome {
    let micros = |spent: Spent, samples: u64| spent.cpu.as_secs_f64() * 1e6 / samples as f64;
    let mut outcome = Outcome::new(&["", "samples", "CPU a sample", "most memory"]);
    let mut line = |what: &str, spent: Spent, samples: u64| {
        let each = format!("{:.0} us", micros(spent, samples));
        outcome.line(&[what, &samples.to_string(), &each, &bytes::shown(spent.peak_bytes)]);
    };
    line("`laggard record`, sealing included", laggard, samples);
    line("`sadc -S DISK`", sadc, samples);
    line("`laggard record` that seals a day's tail meanwhile", sealing, day);
    let ratio = micros(laggard, samples) / micros(sadc, samples);
    outcome.goal("no more CPU than sadc", ratio <= 1.0, &format!("{ratio:.2} of sadc's"));
    let most = laggard.peak_bytes.max(sealing.peak_bytes);
    let fits = most as f64 / bytes::MIB <= MOST_MEMORY_MIB;
    outcome.goal(&format!("under {MOST_MEMORY_MIB} MiB"), fits, &bytes::shown(most));
    outcome.remark(format_args!("{DEVICES} loop devices, {CONNECTIONS} connections (both ends are seen)"));
    outcome
}

/// That what was to be seen was seen.
fn check(folder: &Path) -> anyhow::Result<()> {
    for (table, least) in [("disk", DEVICES), ("socket", 2 * CONNECTIONS)] {
        let segments = Dataset::in_folder(folder).segments()?.segments;
        let segment = segments.iter().find(|s| s.table.name == table);
        let seen = segment.with_context(|| format!("nothing was recorded of {table}"))?.components()?.len();
        anyhow::ensure!(seen >= least, "{seen} components of {table} were recorded, expected {least}");
    }
    Ok(())
}

/// Leaves a day's tails, as a recorder does that was killed before midnight, and lets the next one seal them.
fn seal_a_day(scale: Scale) -> anyhow::Result<Spent> {
    let folder = tempfile::tempdir()?;
    let (host, sockets) = ("oss1", 2 * CONNECTIONS);
    let (mut server, mut tables) = (Server::new(DEVICES, 1), Tables::new(host, DEVICES, sockets));
    let mut recorder = Recorder::open(folder.path(), tables::origin(host))?;
    for second in 0..scale.of(SECONDS, 600) {
        server.tick();
        tables.clear();
        tables.add(&server);
        tables.each().try_for_each(|table| recorder.append(table))?;
        if second % 5 == 4 {
            recorder.flush()?;
        }
    }
    recorder.flush()?;
    drop(recorder);
    let mut command = Command::new(tools::laggard());
    let spent = process::run(record(&mut command, folder.path(), 2).args(["--host", host]))?;
    let left = bytes::of_folder(folder.path(), ".arrow")?;
    anyhow::ensure!(left == 0, "the day's tail was not sealed: {left} bytes are left");
    Ok(spent)
}
