//! `laggard trace diff`: compares two traces.

use std::path::PathBuf;

use clap::Args;
use laggard_trace::difference::{Change, Difference, Row, compare};
use laggard_trace::findings::RuleId;
use laggard_trace::model::Layer;

use super::opening::{self, ScopeArgs};
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// Compare two traces metric by metric: did the change help?
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace diff before.ltr after.ltr
  laggard trace diff before.ltr after.ltr --all-metrics
  laggard trace diff before.ltr after.ltr --json | jq .fixed")]
pub(crate) struct Diff {
    /// The first trace.
    #[arg(value_name = "A.ltr")]
    before: PathBuf,
    /// The second trace.
    #[arg(value_name = "B.ltr")]
    after: PathBuf,
    /// Expected values.
    #[arg(long = "ref", value_name = "REF.toml")]
    reference: Option<PathBuf>,
    /// Include metrics that did not change.
    #[arg(long)]
    all_metrics: bool,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Diff {
    pub(crate) fn run(self) -> Outcome {
        let options = self.scope.options();
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
        let mut table = output::table(&["layer", "metric", "before", "after", ""], &[2, 3]);
        let [before, after] = [true, false].map(|is_before| only(difference, is_before));
        for row in &difference.rows {
            let is_in_both = !before.contains(&row.layer) && !after.contains(&row.layer);
            if is_in_both && (self.all_metrics || row.change != Change::Same) {
                table.add_row(cells(row));
            }
        }
        output::print(&table)?;
        for (when, layers) in [("before", before), ("after", after)] {
            if !layers.is_empty() {
                let names: Vec<&str> = layers.iter().map(|layer| layer.name()).collect();
                tell(format_args!("only {when}: {} (--json has their metrics)", names.join(", ")));
            }
        }
        tell(format_args!(
            "{:.3} s before, {:.3} s after",
            difference.before_seconds, difference.after_seconds
        ));
        for (what, rules) in [("no longer found", &difference.fixed), ("newly found", &difference.new)] {
            if !rules.is_empty() {
                let rules: Vec<String> = rules.iter().map(RuleId::to_string).collect();
                tell(format_args!("{what}: {}", rules.join(", ")));
            }
        }
        Ok(())
    }
}

/// Layers that are in one of the traces only.
fn only(difference: &Difference, is_before: bool) -> Vec<Layer> {
    let side = |row: &Row| if is_before { row.after } else { row.before };
    let mut layers: Vec<Layer> = difference.rows.iter().map(|row| row.layer).collect();
    layers.dedup();
    layers.retain(|layer| {
        difference.rows.iter().filter(|row| row.layer == *layer).all(|row| side(row).is_none())
    });
    layers
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
