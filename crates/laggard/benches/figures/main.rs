//! The measurements of docs/figures.md, each compared with another tool in the same run.
//!
//! `cargo bench -p laggard --bench figures -- [record|seal|size|import|read|logs]...` (without arguments: all).
//! `LAGGARD_FIGURES_SCALE=0.01` takes 1 % of the samples, for a quick test only.

#![allow(clippy::print_stdout, reason = "a benchmark prints its results")]

mod bytes;
mod connections;
mod day;
mod disks;
mod import;
mod load;
mod logs;
mod machine;
mod outcome;
mod process;
mod random;
mod read;
mod record;
mod sa_file;
mod scale;
mod seal;
mod size;
mod tables;
mod tools;

use outcome::Outcome;
use scale::Scale;

type Measure = fn(Scale) -> anyhow::Result<Outcome>;

const FIGURES: [(&str, Measure); 6] = [
    ("record", record::measure),
    ("seal", seal::measure),
    ("size", size::measure),
    ("import", import::measure),
    ("read", read::measure),
    ("logs", logs::measure),
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|a| a == "--bench") {
        println!("these benchmarks take minutes: run them with `cargo bench`, not with `cargo test`");
        return Ok(());
    }
    let wanted: Vec<&str> = arguments.iter().map(String::as_str).filter(|a| !a.starts_with('-')).collect();
    if let Some(unknown) = wanted.iter().find(|word| FIGURES.iter().all(|(name, _)| name != *word)) {
        anyhow::bail!("{unknown:?}: expected record, seal, size, import, read or logs");
    }
    let scale = Scale::from_environment()?;
    println!("{}\n{scale}", machine::described());
    for (name, measure) in FIGURES.iter().filter(|(name, _)| wanted.is_empty() || wanted.contains(name)) {
        println!("\n### {name}\n");
        match measure(scale) {
            Ok(outcome) => println!("{outcome}"),
            Err(error) => println!("not measured: {error:#}"),
        }
    }
    Ok(())
}
