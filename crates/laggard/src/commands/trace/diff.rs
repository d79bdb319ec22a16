//! `laggard trace diff`: two traces, figure by figure.

use std::path::PathBuf;

use clap::Args;
use laggard_trace::report::difference::{Change, Difference, Row, compare};

use super::opening::{self, Whose};
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// Compare two traces, figure by figure and layer by layer: did the change help?
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace diff before.ltr after.ltr
  laggard trace diff before.ltr after.ltr --every-figure
  laggard trace diff before.ltr after.ltr --json | jq .mended")]
pub struct Diff {
    /// The first trace.
    #[arg(value_name = "A.ltr")]
    before: PathBuf,
    /// The second one.
    #[arg(value_name = "B.ltr")]
    after: PathBuf,
    /// What figures are to be.
    #[arg(long = "ref", value_name = "REF.toml")]
    reference: Option<PathBuf>,
    /// Also figures that did not move.
    #[arg(long)]
    every_figure: bool,
    #[command(flatten)]
    whose: Whose,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

impl Diff {
    pub fn run(self) -> Outcome {
        let options = self.whose.options();
        let reference = opening::reference(self.reference.as_ref())?;
        let before = opening::characteristics(&self.before, &options)?;
        let after = opening::characteristics(&self.after, &options)?;
        let difference = compare(&before, &after, &reference);
        if self.json {
            output::json(&difference)?;
        } else {
            self.print(&difference)?;
        }
        Ok(Done::Well)
    }

    fn print(&self, difference: &Difference) -> anyhow::Result<()> {
        let mut table = output::table(&["layer", "figure", "before", "after", ""], &[2, 3]);
        for row in difference.rows.iter().filter(|row| self.every_figure || row.change != Change::Same) {
            table.add_row(cells(row));
        }
        output::print(&table)?;
        tell(format_args!(
            "{:.3} s before, {:.3} s after",
            difference.before_seconds, difference.after_seconds
        ));
        for (what, rules) in [("no longer found", &difference.mended), ("newly found", &difference.new)] {
            if !rules.is_empty() {
                tell(format_args!("{what}: {}", rules.join(", ")));
            }
        }
        Ok(())
    }
}

fn cells(row: &Row) -> Vec<String> {
    let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), output::short);
    vec![
        row.layer.name().to_owned(),
        row.metric.name().to_owned(),
        value(row.before),
        value(row.after),
        row.change.name().to_owned(),
    ]
}
