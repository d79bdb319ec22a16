//! `laggard metrics`: the registry of metrics.

use clap::Args;
use laggard_core::model::metric::{METRICS, Metric};
use laggard_core::model::schema::Schema;
use serde::Serialize;

use crate::failure::{Done, Outcome};
use crate::output;

/// List the metrics that laggard can show and evaluate.
#[derive(Args)]
pub(crate) struct Metrics {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    metrics: &'a [Row],
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    unit: &'static str,
    of: String,
    aspect: String,
    worse: String,
    about: &'static str,
}

impl Metrics {
    pub(crate) fn run(self) -> Outcome {
        let rows: Vec<Row> = METRICS.iter().map(row).collect();
        if self.json {
            output::json(&Document { schema: "laggard.metrics/1", metrics: &rows })?;
        } else {
            output::print(&listing(&rows))?;
        }
        Ok(Done::Well)
    }
}

fn row(metric: &Metric) -> Row {
    let table = Schema::of(metric);
    Row {
        name: metric.name,
        unit: metric.unit.symbol(),
        of: table.kind.to_string(),
        aspect: format!("{:?}", metric.aspect).to_lowercase(),
        worse: format!("{:?}", metric.harm).to_lowercase(),
        about: metric.about,
    }
}

fn listing(rows: &[Row]) -> comfy_table::Table {
    let mut table = output::table(&["metric", "unit", "of", "aspect", "worse", "description"], &[]);
    for row in rows {
        table.add_row([row.name, row.unit, &row.of, &row.aspect, &row.worse, row.about]);
    }
    table
}
