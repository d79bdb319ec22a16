//! The size of a recording, compared with `xz -1` of sadc's file of the same samples.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use laggard_store::Recorder;

use crate::day::{BUSY, ORDINARY, SECONDS, Server};
use crate::load::{DEVICES, Load};
use crate::outcome::Outcome;
use crate::record::record;
use crate::scale::Scale;
use crate::tables::{self, Tables};
use crate::{bytes, process, sa_file, tools};

const MOST_OF_XZ: f64 = 0.5;
const HOST: &str = "oss1";

/// The activities that sadc records: only those that laggard reads.
const ACTIVITIES: &str =
    "A_NULL,A_DISK,A_NET_DEV,A_NET_EDEV,A_NET_TCP,A_NET_ETCP,A_PSI_CPU,A_PSI_IO,A_PSI_MEM";

/// The tables that sadc also records. sadc does not record links, sockets and the recorder itself.
const SHARED: [&str; 4] = [".disk.parquet", ".net.parquet", ".tcp.parquet", ".pressure.parquet"];

/// Two modelled days, imported and recorded, and some minutes of this host.
pub(crate) fn measure(scale: Scale) -> anyhow::Result<Outcome> {
    tools::program("xz")?;
    let heading = ["samples", "sa file", "`xz -1` of it", "dataset", "made by", "dataset to xz"];
    let mut outcome = Outcome::new(&heading);
    let seconds = scale.of(SECONDS, 600);
    modelled(&format!("{seconds} s of an ordinary day"), seconds, ORDINARY, &mut outcome)?;
    modelled(&format!("{seconds} s of a busy day"), seconds, BUSY, &mut outcome)?;
    if let Err(error) = real(scale, &mut outcome) {
        outcome.remark(format_args!("no real samples: {error:#}"));
    }
    outcome.remark("a recording also has separate reads and writes, merges, flushes and requests in flight");
    Ok(outcome)
}

fn modelled(what: &str, seconds: u64, idle: f64, outcome: &mut Outcome) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (sa, recorded) = (folder.path().join("sa"), folder.path().join("recorded"));
    let tail = write_twice(Server::new(DEVICES, idle, 1), &sa, &recorded, seconds)?;
    let xz = compressed(&sa)?;
    compare(outcome, what, &sa, xz, "`import`", &import(&sa, folder.path())?)?;
    compare(outcome, what, &sa, xz, "`record`", &recorded)?;
    outcome.remark(format_args!("{what}: the live tail, before it was sealed: {}", bytes::shown(tail)));
    Ok(())
}

/// Writes the same samples in both formats; returns the size of the recorder's tail.
fn write_twice(mut server: Server, sa: &Path, recorded: &Path, seconds: u64) -> anyhow::Result<u64> {
    let mut tables = Tables::new(HOST, DEVICES, 0);
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

/// Some minutes of this host, recorded by laggard, by sadc with its defaults, and by sadc with only the activities
/// that laggard reads.
fn real(scale: Scale, outcome: &mut Outcome) -> anyhow::Result<()> {
    tools::ensure_root()?;
    let sadc = tools::sadc()?;
    let folder = tempfile::tempdir()?;
    let samples = scale.of(600, 20);
    let [narrow, wide, recorded] = ["narrow", "wide", "recorded"].map(|name| folder.path().join(name));
    let start = |activities, file| {
        let arguments = ["-S", activities, "1", &samples.to_string()];
        process::start(Command::new(&sadc).args(arguments).arg(file))
    };
    let load = Load::start()?;
    let sadcs = [start(ACTIVITIES, &narrow)?, start("DISK", &wide)?];
    let laggard = process::start(record(&mut Command::new(tools::laggard()), &recorded, samples))?;
    sadcs.into_iter().chain([laggard]).try_for_each(|running| running.finish().map(drop))?;
    load.stop()?;
    for (file, what) in [(narrow, "the same activities"), (wide, "`sadc -S DISK`")] {
        let (what, xz) = (format!("{samples} s of this host, {what}"), compressed(&file)?);
        compare(outcome, &what, &file, xz, "`import`", &import(&file, folder.path())?)?;
        compare(outcome, &what, &file, xz, "`record`", &recorded)?;
    }
    Ok(())
}

fn import(sa: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let dataset = folder.join(format!("{}.dataset", sa.file_name().unwrap_or_default().to_string_lossy()));
    process::run(Command::new(tools::laggard()).arg("import").arg(sa).arg("-o").arg(&dataset))?;
    Ok(dataset)
}

/// The size of a file after `xz -1`, in bytes.
fn compressed(file: &Path) -> anyhow::Result<u64> {
    let compressed = file.with_extension("xz");
    let xz =
        Command::new("xz").args(["-1", "--stdout"]).arg(file).stdout(File::create(&compressed)?).status()?;
    anyhow::ensure!(xz.success(), "xz: {xz}");
    bytes::of_file(&compressed)
}

fn compare(
    outcome: &mut Outcome,
    what: &str,
    sa: &Path,
    xz: u64,
    how: &str,
    dataset: &Path,
) -> anyhow::Result<()> {
    let ours = SHARED.iter().map(|ending| bytes::of_folder(dataset, ending)).sum::<anyhow::Result<u64>>()?;
    let ratio = ours as f64 / xz as f64;
    let [sa, xz, ours] = [bytes::of_file(sa)?, xz, ours].map(bytes::shown);
    outcome.line(&[what, &sa, &xz, &ours, how, &format!("{ratio:.2}")]);
    outcome.goal(
        &format!("at most {MOST_OF_XZ} of xz, {what}, {how}"),
        ratio <= MOST_OF_XZ,
        &format!("{ratio:.2}"),
    );
    Ok(())
}
