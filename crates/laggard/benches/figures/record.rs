//! The CPU time and memory of recording, compared with sadc on the same host at the same time.

use std::path::Path;
use std::process::Command;

use anyhow::Context;
use laggard_store::Dataset;

use crate::load::{CONNECTIONS, DEVICES, Load};
use crate::outcome::Outcome;
use crate::process::{self, Spent};
use crate::scale::Scale;
use crate::{bytes, tools};

/// The limit for a recorder, also while it seals.
const MOST_MEMORY_MIB: f64 = 20.0;

/// 72 devices, 200 connections, one sample per second.
pub(crate) fn measure(scale: Scale) -> anyhow::Result<Outcome> {
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
    Ok(outcome(samples, laggard, sadc))
}

pub(crate) fn record<'c>(command: &'c mut Command, folder: &Path, seconds: u64) -> &'c mut Command {
    command.args(["record", "--quiet", "--every", "1s", "--for", &format!("{seconds}s"), "-o"]).arg(folder)
}

fn outcome(samples: u64, laggard: Spent, sadc: Spent) -> Outcome {
    let micros = |spent: Spent| spent.cpu.as_secs_f64() * 1e6 / samples as f64;
    let mut outcome = Outcome::new(&["", "CPU per sample", "most memory"]);
    for (what, spent) in [("`laggard record`, start and sealing included", laggard), ("`sadc -S DISK`", sadc)]
    {
        outcome.line(&[what, &format!("{:.0} us", micros(spent)), &bytes::shown(spent.peak_bytes)]);
    }
    let ratio = micros(laggard) / micros(sadc);
    outcome.goal("no more CPU than sadc", ratio <= 1.0, &format!("{ratio:.2} of sadc's"));
    let fits = laggard.peak_bytes as f64 / bytes::MIB <= MOST_MEMORY_MIB;
    outcome.goal(&format!("under {MOST_MEMORY_MIB} MiB"), fits, &bytes::shown(laggard.peak_bytes));
    outcome.remark(format_args!(
        "{samples} samples of {DEVICES} loop devices and {CONNECTIONS} connections, at the same time"
    ));
    outcome
}

/// Checks that all devices and connections were recorded.
fn check(folder: &Path) -> anyhow::Result<()> {
    for (table, least) in [("disk", DEVICES), ("socket", CONNECTIONS)] {
        let segments = Dataset::in_folder(folder).segments()?.segments;
        let segment = segments.iter().find(|s| s.table.name == table);
        let seen = segment.with_context(|| format!("nothing was recorded of {table}"))?.components()?.len();
        anyhow::ensure!(seen >= least, "{seen} components of {table} were recorded, expected {least}");
    }
    Ok(())
}
