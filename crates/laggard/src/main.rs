//! laggard: which component holds this storage system back, why, and how do you know?
//!
//! One file per command under `commands`; this one owns the command line and the exit status.

mod bell;
mod commands;
mod failure;
mod output;
mod plot;
mod progress;
mod recording;
mod shown;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Outcome;

/// Finds the component that holds a storage system back, and shows the evidence.
///
/// laggard compares peers: striping makes healthy servers, disks and links behave alike, so the one that
/// behaves differently is the suspect. It needs no change to the file system, the applications or the kernel.
#[derive(Parser)]
#[command(name = "laggard", version, propagate_version = true, arg_required_else_help = true, after_help = AFTER)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Examples:
  laggard demo                                   see it work on this host, in a few seconds
  laggard record -o data --for 10m               record this host's disks, network and TCP links
  laggard import /var/log/sysstat/sa* -o data    bring in what sysstat has recorded
  laggard tables data                            what is in a dataset
  laggard show data await --every 15s            a metric of every disk

Exit status: 0 done, 2 usage or input error, 3 the machine lacks something, 4 data too poor to judge.";

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Demo),
    Record(commands::record::Record),
    Import(commands::import::Import),
    Tables(commands::tables::Tables),
    Show(commands::show::Show),
    Cluster(commands::cluster::Cluster),
    Metrics(commands::metrics::Metrics),
    #[command(hide = true)]
    Manual(commands::manual::Manual),
}

fn main() -> ExitCode {
    failure::hush_foreign_panics();
    let outcome = run(Arguments::parse().command);
    failure::exit_status(outcome)
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Demo(demo) => demo.run(),
        Command::Record(record) => record.run(),
        Command::Import(import) => import.run(),
        Command::Tables(tables) => tables.run(),
        Command::Show(show) => show.run(),
        Command::Cluster(cluster) => cluster.run(),
        Command::Metrics(metrics) => metrics.run(),
        Command::Manual(manual) => manual.run(),
    }
}
