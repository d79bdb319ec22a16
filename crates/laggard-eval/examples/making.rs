//! How long scenarios take to make, without being written: `cargo run --release -p laggard-eval --example making`.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use laggard_eval::simulate::Scenario;
use laggard_eval::simulate::settings::{Pair, SettingError, pair};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

const SCENARIOS: [(&str, &[&str]); 6] = [
    ("testbench", &["workload=ddw", "fault=disk-busy"]),
    ("testbench", &["workload=postmark", "fault=disk-busy"]),
    ("intrepid-day", &["every=15s", "groups=1"]),
    ("intrepid-study", &["days=3"]),
    ("intrepid-day", &["every=1s", "groups=4"]),
    ("scale", &["components=10000"]),
];

fn main() -> Result<(), SettingError> {
    for (name, settings) in SCENARIOS {
        let pairs: Vec<Pair> = settings.iter().map(|text| pair(text)).collect::<Result<_, _>>()?;
        let scenario = Scenario::parse(name, &pairs, 1)?;
        let began = Instant::now();
        let rows: usize = scenario.days().map(|day| rows(&day)).sum();
        println!("{name} {}: {rows} rows in {:.2} s", settings.join(" "), began.elapsed().as_secs_f64());
    }
    Ok(())
}

fn rows(day: &laggard_eval::simulate::Day) -> usize {
    let of_host = |host: usize| {
        let mut rows = 0;
        day.rows(host, &mut |table| rows += table.len());
        rows
    };
    (0..day.hosts().len()).into_par_iter().map(of_host).sum()
}
