//! `laggard work`: work whose every byte can be checked.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use laggard_lab::work::age::{self, Ageing, Operation};
use laggard_lab::work::manifest::WorkManifest;
use laggard_lab::work::rw::{self, Rounds};
use laggard_lab::work::tally::Tally;
use laggard_lab::work::verify;
use laggard_lab::work::write::{self, Sizes, Sync, Writing};

use crate::arguments::size;
use crate::failure::{Done, Outcome};
use crate::output;

/// Write files whose every block is known, and find out whether a file system kept them.
///
/// The manifest holds the path, the size and a sum of every 4 KiB block; keep it outside of the file system that is
/// checked. Exit status 1: something is not as it was written, or met an error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard work age --dir /mnt/v/old --files 500 --bytes 200M
  laggard work write --dir /mnt/v/data --files 200 --size 4k..4M --manifest m.json
  laggard work verify --dir /mnt/v/data --manifest m.json
  laggard work rw --dir /mnt/v/scratch --files 50 --sync each --json")]
pub struct Work {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a file system look used: make, copy, pack and remove files.
    Age {
        #[command(flatten)]
        common: Common,
        /// How many files.
        #[arg(long, value_name = "N", default_value_t = 500)]
        files: u64,
        /// How many bytes they have together, about.
        #[arg(long, value_name = "SIZE", default_value = "200M", value_parser = size)]
        bytes: u64,
        /// What happens to a fifth of them, in turn.
        #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "copy,tar,rm", value_parser = operation)]
        ops: Vec<Operation>,
    },
    /// Write files, and the manifest of their blocks.
    Write {
        #[command(flatten)]
        common: Common,
        /// How many files.
        #[arg(long, value_name = "N", default_value_t = 200)]
        files: u64,
        /// How large they are: from, to.
        #[arg(long, value_name = "RANGE", default_value = "4k..4M", value_parser = sizes)]
        size: Sizes,
        /// Of 100 files, so many are written twice, so that old data can be told from wrong data.
        #[arg(long, value_name = "PERCENT", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=100))]
        rewrite: u64,
        /// Where the manifest goes.
        #[arg(long, value_name = "FILE")]
        manifest: PathBuf,
    },
    /// Compare files with the manifest: corrupt, short, misplaced, stale, missing, extra.
    Verify {
        #[command(flatten)]
        common: Common,
        /// The manifest.
        #[arg(long, value_name = "FILE")]
        manifest: PathBuf,
    },
    /// Write files, read them back, remove them.
    Rw {
        #[command(flatten)]
        common: Common,
        /// How many files.
        #[arg(long, value_name = "N", default_value_t = 50)]
        files: u64,
        /// How large they are: from, to.
        #[arg(long, value_name = "RANGE", default_value = "4k..256k", value_parser = sizes)]
        size: Sizes,
        /// none: the system may keep data in memory; each: every file is on disk when it is closed.
        #[arg(long, value_name = "WHEN", default_value = "none", value_parser = sync)]
        sync: Sync,
    },
}

#[derive(Args)]
struct Common {
    /// The folder to work in.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// What sizes and contents follow from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// End with one line of JSON.
    #[arg(long)]
    json: bool,
}

impl Work {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Age { common, files, bytes, ops } => {
                let ageing = Ageing { files, bytes, operations: ops, seed: common.seed };
                told(age::age(&common.dir, &ageing), common.json)
            }
            Command::Write { common, files, size, rewrite, manifest } => {
                let writing = Writing { files, sizes: size, rewrite_percent: rewrite, seed: common.seed };
                told(write::write(&common.dir, &writing, &manifest)?, common.json)
            }
            Command::Verify { common, manifest } => {
                told(verify::verify(&common.dir, &WorkManifest::read(&manifest)?), common.json)
            }
            Command::Rw { common, files, size, sync } => {
                let rounds = Rounds { files, sizes: size, sync, seed: common.seed };
                told(rw::run(&common.dir, &rounds), common.json)
            }
        }
    }
}

fn told(tally: Tally, json: bool) -> Outcome {
    use std::io::Write as _;
    let verdict = tally.verdict();
    let mut out = output::stdout();
    if json {
        // One line: whoever reads it takes the last.
        writeln!(out, "{}", serde_json::to_string(&verdict)?)?;
    } else {
        let tally = &verdict.tally;
        writeln!(out, "{}: {} of {} files are well", verdict.short(), tally.ok, tally.total)?;
        for example in &tally.examples {
            writeln!(out, "  {}: {}", example.path, example.what)?;
        }
    }
    out.flush()?;
    Ok(if verdict.outcome.is_well() { Done::Well } else { Done::WithSuspects })
}

fn operation(name: &str) -> Result<Operation, String> {
    Operation::named(name).map_err(|error| error.to_string())
}

fn sizes(text: &str) -> Result<Sizes, String> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let sizes = Sizes { least: size(least)?, most: size(most)? };
    if sizes.least > sizes.most { Err(format!("{text:?}: write the smaller size first")) } else { Ok(sizes) }
}

fn sync(text: &str) -> Result<Sync, String> {
    match text {
        "none" => Ok(Sync::None),
        "each" => Ok(Sync::Each),
        _ => Err("expected none or each".into()),
    }
}
