//! How large a recording is, against `xz -1` of sadc's file of the same samples.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use laggard_store::Recorder;

use crate::day::{SECONDS, Server};
use crate::load::{DEVICES, Load};
use crate::outcome::Outcome;
use crate::scale::Scale;
use crate::tables::{self, Tables};
use crate::{bytes, process, sa_file, tools};

const MOST_OF_XZ: f64 = 0.5;
const HOST: &str = "oss1";

/// What sadc is told to record: what laggard reads of its files, and nothing else.
const ACTIVITIES: &str =
    "A_NULL,A_DISK,A_NET_DEV,A_NET_EDEV,A_NET_TCP,A_NET_ETCP,A_PSI_CPU,A_PSI_IO,A_PSI_MEM";

/// A modelled day, recorded and imported; and some minutes of this host.
pub fn measure(scale: Scale) -> anyhow::Result<Outcome> {
    tools::program("xz")?;
    let heading = ["samples", "sa file", "`xz -1` of it", "dataset", "of", "dataset to xz"];
    let mut outcome = Outcome::new(&heading);
    let folder = tempfile::tempdir()?;
    let (sa, recorded) = (folder.path().join("sa"), folder.path().join("recorded"));
    let seconds = scale.of(SECONDS, 600);
    let tail = model(&sa, &recorded, seconds)?;
    let what = format!("{seconds} s of the model");
    compare(&mut outcome, &what, &sa, "imported", &import(&sa, folder.path())?)?;
    compare(&mut outcome, &what, &sa, "recorded (reads and writes apart, merges, flushes)", &recorded)?;
    outcome
        .remark(format_args!("the live tail of that recording before it was sealed: {}", bytes::shown(tail)));
    if let Err(error) = real(scale, &mut outcome) {
        outcome.remark(format_args!("no real samples: {error:#}"));
    }
    Ok(outcome)
}

/// Writes the same day twice; gives the size of the recorder's tail.
fn model(sa: &Path, recorded: &Path, seconds: u64) -> anyhow::Result<u64> {
    let (mut server, mut tables) = (Server::new(DEVICES, 1), Tables::new(HOST, DEVICES, 0));
    let mut file = sa_file::SaFile::begin(BufWriter::new(File::create(sa)?), DEVICES)?;
    let mut recorder = Recorder::open(recorded, tables::origin(HOST))?;
    for second in 0..seconds {
        server.tick();
        file.add(&server)?;
        tables.clear();
        tables.add(&server);
        tables.each().try_for_each(|table| recorder.append(table))?;
        if second % 5 == 4 {
            recorder.flush()?;
        }
    }
    file.finish()?;
    recorder.flush()?;
    let tail = bytes::of_folder(recorded, ".arrow")?;
    recorder.close().into_iter().try_for_each(|sealed| sealed.map(drop))?;
    Ok(tail)
}

/// Some minutes of sadc, with everything it records by default and with only what laggard reads of it.
fn real(scale: Scale, outcome: &mut Outcome) -> anyhow::Result<()> {
    tools::ensure_root()?;
    let sadc = tools::sadc()?;
    let folder = tempfile::tempdir()?;
    let samples = scale.of(600, 20).to_string();
    let load = Load::start()?;
    let (narrow, wide) = (folder.path().join("narrow"), folder.path().join("wide"));
    let start = |activities, file| {
        process::start(Command::new(&sadc).args(["-S", activities, "1", &samples]).arg(file))
    };
    let (first, second) = (start(ACTIVITIES, &narrow)?, start("DISK", &wide)?);
    first.finish()?;
    second.finish()?;
    load.stop()?;
    for (file, what) in [(narrow, "the same activities"), (wide, "`sadc -S DISK`")] {
        let what = format!("{samples} s of this host, {what}");
        compare(outcome, &what, &file, "imported", &import(&file, folder.path())?)?;
    }
    Ok(())
}

fn import(sa: &Path, folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    let dataset = folder.join(format!("{}.dataset", sa.file_name().unwrap_or_default().to_string_lossy()));
    process::run(Command::new(tools::laggard()).arg("import").arg(sa).arg("-o").arg(&dataset))?;
    Ok(dataset)
}

fn compare(outcome: &mut Outcome, what: &str, sa: &Path, how: &str, dataset: &Path) -> anyhow::Result<()> {
    let pressed = sa.with_extension("xz");
    let xz = Command::new("xz").args(["-1", "--stdout"]).arg(sa).stdout(File::create(&pressed)?).status()?;
    anyhow::ensure!(xz.success(), "xz: {xz}");
    let (sa, xz) = (bytes::of_file(sa)?, bytes::of_file(&pressed)?);
    let ours = bytes::of_folder(dataset, ".parquet")?;
    let ratio = ours as f64 / xz as f64;
    let [sa, xz, ours] = [sa, xz, ours].map(bytes::shown);
    outcome.line(&[what, &sa, &xz, &ours, how, &format!("{ratio:.2}")]);
    outcome.goal(
        &format!("at most {MOST_OF_XZ} of xz, {what}, {how}"),
        ratio <= MOST_OF_XZ,
        &format!("{ratio:.2}"),
    );
    Ok(())
}
