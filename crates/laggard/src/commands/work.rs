//! `laggard work`: verifiable workloads.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use laggard_lab::verifiable_files::age::{self, Ageing, Operation};
use laggard_lab::verifiable_files::block_manifest::WorkManifest;
use laggard_lab::verifiable_files::rw::{self, Rounds};
use laggard_lab::verifiable_files::tally::Tally;
use laggard_lab::verifiable_files::verify;
use laggard_lab::verifiable_files::write::{self, Sizes, Sync, Writing};

use crate::arguments::size;
use crate::failure::{Done, Outcome};
use crate::output;

/// Write files with known content, and verify that a file system kept them.
///
/// The manifest holds the path, the size and a checksum of every 4 KiB block; keep it outside the file system under test.
/// Exit status 1: a file differs from what was written, or could not be read or written.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard work age --dir /mnt/v/old --files 500 --bytes 200M
  laggard work write --dir /mnt/v/data --files 200 --size 4k..4M --manifest m.json
  laggard work verify --dir /mnt/v/data --manifest m.json
  laggard work rw --dir /mnt/v/scratch --files 50 --sync each --json")]
pub(crate) struct Work {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a file system look used: create, copy, archive and remove files.
    Age {
        #[command(flatten)]
        common: Common,
        /// Number of files.
        #[arg(long, value_name = "N", default_value_t = 500)]
        files: u64,
        /// Approximate total size.
        #[arg(long, value_name = "SIZE", default_value = "200M", value_parser = size)]
        bytes: u64,
        /// Operations, each on a fifth of the files.
        #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "copy,tar,rm", value_parser = operation)]
        ops: Vec<Operation>,
    },
    /// Write files and a manifest of their blocks.
    Write {
        #[command(flatten)]
        common: Common,
        /// Number of files.
        #[arg(long, value_name = "N", default_value_t = 200)]
        files: u64,
        /// Range of file sizes.
        #[arg(long, value_name = "RANGE", default_value = "4k..4M", value_parser = sizes)]
        size: Sizes,
        /// Percentage of files that are written twice, to distinguish stale data from corrupt data.
        #[arg(long, value_name = "PERCENT", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=100))]
        rewrite: u64,
        /// The manifest to write.
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
        /// Number of files.
        #[arg(long, value_name = "N", default_value_t = 50)]
        files: u64,
        /// Range of file sizes.
        #[arg(long, value_name = "RANGE", default_value = "4k..256k", value_parser = sizes)]
        size: Sizes,
        /// none: data may stay in caches; each: fsync every file.
        #[arg(long, value_name = "WHEN", default_value = "none", value_parser = sync)]
        sync: Sync,
    },
}

#[derive(Args)]
struct Common {
    /// The folder to work in.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// Seed of sizes and contents.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the result as one line of JSON.
    #[arg(long)]
    json: bool,
}

impl Work {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Age { common, files, bytes, ops } => {
                let ageing = Ageing { files, bytes, operations: ops, seed: common.seed };
                finish(age::age(&common.dir, &ageing), common.json)
            }
            Command::Write { common, files, size, rewrite, manifest } => {
                let writing = Writing { files, sizes: size, rewrite_percent: rewrite, seed: common.seed };
                finish(write::write(&common.dir, &writing, &manifest)?, common.json)
            }
            Command::Verify { common, manifest } => {
                finish(verify::verify(&common.dir, &WorkManifest::read(&manifest)?), common.json)
            }
            Command::Rw { common, files, size, sync } => {
                let rounds = Rounds { files, sizes: size, sync, seed: common.seed };
                finish(rw::run(&common.dir, &rounds), common.json)
            }
        }
    }
}

fn finish(tally: Tally, json: bool) -> Outcome {
    use std::io::Write as _;
    let verdict = tally.verdict();
    let mut out = output::stdout();
    if json {
        writeln!(out, "{}", serde_json::to_string(&verdict)?)?;
    } else {
        let tally = &verdict.tally;
        writeln!(out, "{}: {} of {} files are ok", verdict.short(), tally.ok, tally.total)?;
        for example in &tally.examples {
            writeln!(out, "  {}: {}", example.path, example.what)?;
        }
    }
    out.flush()?;
    Ok(if verdict.outcome.is_ok() { Done::Well } else { Done::WithSuspects })
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
