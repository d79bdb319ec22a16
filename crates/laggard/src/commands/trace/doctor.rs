//! `laggard trace doctor`: checks whether this host supports recording.

use clap::Args;
use laggard_trace::capture::doctor::{self, Check};

use crate::failure::{Done, Lacking, Outcome};
use crate::output;

/// Check the requirements of `trace record`, and show how to get what is missing.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> Outcome {
        let checks = doctor::checks();
        if self.json {
            output::json(&checks)?;
        } else {
            print(&checks)?;
        }
        if doctor::is_impossible(&checks) {
            let missing = checks.iter().filter(|check| check.is_needed && !check.is_there);
            let names: Vec<&str> = missing.map(|check| check.what.as_str()).collect();
            return Err(Lacking(format!("recording is impossible without: {}", names.join(", "))).into());
        }
        Ok(Done::Well)
    }
}

fn print(checks: &[Check]) -> anyhow::Result<()> {
    let mut table = output::table(&["requirement", "available", "found", "remedy"], &[]);
    for check in checks {
        let there = match (check.is_there, check.is_needed) {
            (true, _) => "yes",
            (false, true) => "no",
            (false, false) => "no (optional)",
        };
        table.add_row([&check.what, there, &check.found, &check.remedy]);
    }
    Ok(output::print(&table)?)
}
