//! The cost of sealing the previous day when a recorder starts.

use std::process::Command;

use laggard_store::Recorder;

use crate::day::{ORDINARY, SECONDS, Server};
use crate::load::{CONNECTIONS, DEVICES};
use crate::outcome::Outcome;
use crate::record::record;
use crate::scale::Scale;
use crate::tables::{self, Tables};
use crate::{bytes, process, tools};

const HOST: &str = "oss1";
const MOST_MEMORY_MIB: f64 = 64.0;

/// Leaves the tails of a day, as a recorder that was killed before midnight, and starts a recorder that seals them.
pub(crate) fn measure(scale: Scale) -> anyhow::Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let seconds = scale.of(SECONDS, 600);
    leave_tails(folder.path(), seconds)?;
    let tail = bytes::of_folder(folder.path(), ".arrow")?;
    let mut command = Command::new(tools::laggard());
    let spent = process::run(record(&mut command, folder.path(), 2).args(["--host", HOST]))?;
    let left = bytes::of_folder(folder.path(), ".arrow")?;
    anyhow::ensure!(left == 0, "the day's tail was not sealed: {left} bytes are left");
    let sealed = bytes::of_folder(folder.path(), ".parquet")?;
    let mut outcome = Outcome::new(&["samples", "tails", "sealed", "CPU", "CPU per sample", "most memory"]);
    let cpu = spent.cpu.as_secs_f64();
    let (samples, each) = (seconds.to_string(), format!("{:.0} us", cpu * 1e6 / seconds as f64));
    let [tail, sealed, most] = [tail, sealed, spent.peak_bytes].map(bytes::shown);
    outcome.line(&[&samples, &tail, &sealed, &format!("{cpu:.1} s"), &each, &most]);
    let fits = spent.peak_bytes as f64 / bytes::MIB <= MOST_MEMORY_MIB;
    outcome.goal(&format!("under {MOST_MEMORY_MIB} MiB"), fits, &most);
    outcome.remark(format_args!("{DEVICES} devices and {CONNECTIONS} connections of the model"));
    Ok(outcome)
}

fn leave_tails(folder: &std::path::Path, seconds: u64) -> anyhow::Result<()> {
    let (mut server, mut tables) =
        (Server::new(DEVICES, ORDINARY, 1), Tables::new(HOST, DEVICES, CONNECTIONS));
    let mut recorder = Recorder::open(folder, tables::origin(HOST))?;
    for second in 0..seconds {
        server.tick();
        tables.clear();
        tables.add(&server);
        tables.each().try_for_each(|table| recorder.append(table))?;
        if second % 5 == 4 {
            recorder.flush()?;
        }
    }
    recorder.flush()?;
    Ok(())
}
