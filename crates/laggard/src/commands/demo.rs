//! `laggard demo`: the first minute.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Parser};

use super::{diagnose::Diagnose, simulate::Simulate};
use crate::failure::{Done, Outcome, tell};

/// See it work: a small cluster with one fault, simulated, recorded and diagnosed.
///
/// Needs neither root nor downloads. Ten servers and ten clients read large files; from the third minute on, another
/// host loads the disk of one server.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard demo
  laggard demo --seed 7 --out demo")]
pub(crate) struct Demo {
    /// Where to keep the dataset and the page. Default: a new temporary folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Another seed makes another server faulty.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A command that is run as if it had been typed.
#[derive(Parser)]
struct Typed<A: Args> {
    #[command(flatten)]
    arguments: A,
}

fn typed<A: Args>(command: &str, words: &[&str]) -> anyhow::Result<A> {
    tell(format_args!("\n$ laggard {command} {}", words.join(" ")));
    Ok(Typed::<A>::try_parse_from([&["laggard"], words].concat())?.arguments)
}

impl Demo {
    pub(crate) fn run(self) -> Outcome {
        let folder = self.folder()?;
        let (data, page) = (folder.join("data"), folder.join("report.html"));
        let (data, page) = (shown(&data)?, shown(&page)?);
        let seed = self.seed.to_string();
        let settings =
            ["testbench", "--set", "fault=disk-busy", "--set", "workload=ddr", "--seed", &seed, "-o", data];
        tell(
            "Ten servers and ten clients read large files for ten minutes. In the third minute one server's disk",
        );
        tell(
            "becomes slow, and all clients with it, since every file is striped over all servers. Which one is it?",
        );
        typed::<Simulate>("simulate", &settings)?.run()?;
        typed::<Diagnose>("diagnose", &[data, "--html", page])?.run()?;
        tell(truth(&folder.join("data/labels.csv"))?);
        tell(format_args!(
            "\nNext steps:\n  \
             open {page}\n  \
             laggard show {data} await --component '*:sdb' --format plot\n  \
             laggard simulate testbench -o other --set fault=receive-pktloss --set workload=ddw && laggard diagnose other\n  \
             laggard record -o mine    on every server of your own; then laggard diagnose mine"
        ));
        Ok(Done::Well)
    }

    fn folder(&self) -> anyhow::Result<PathBuf> {
        match &self.out {
            Some(folder) => {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                Ok(folder.clone())
            }
            None => {
                let temporary = tempfile::Builder::new().prefix("laggard-demo-").tempdir();
                Ok(temporary.context("a temporary folder")?.keep())
            }
        }
    }
}

/// The simulated fault, for comparison: the diagnosis does not read it.
fn truth(labels: &Path) -> anyhow::Result<String> {
    let named = || labels.display().to_string();
    let text = std::fs::read_to_string(labels).with_context(named)?;
    let fields: Vec<&str> = text.lines().nth(1).unwrap_or_default().split(',').collect();
    let [component, begin, end, cause] = fields[..] else { bail!("{}: expected a label", named()) };
    Ok(format!(
        "\nThe simulated fault, which diagnose did not read: {component}, {cause}, from {begin} to {end}."
    ))
}

fn shown(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{}: not a name that can be typed", path.display()))
}
