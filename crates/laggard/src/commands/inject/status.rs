//! `laggard inject status`.

use std::path::Path;

use clap::Args;
use laggard_core::model::time::Span;
use laggard_lab::inject::{self, Phase, Standing};
use serde::Serialize;

use crate::commands::lab::explained;
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// List the faults that stand, and how much of their time is left.
#[derive(Args)]
pub struct Status {
    /// As JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    model: String,
    nodes: std::collections::BTreeMap<String, Phase>,
    seconds_left: u64,
    is_guarded: bool,
    journal: std::path::PathBuf,
}

impl Row {
    fn of((standing, is_guarded): (Standing, bool)) -> Row {
        Row {
            model: standing.deed.model.name().into(),
            seconds_left: standing.left().unwrap_or_default().as_secs(),
            id: standing.deed.id,
            nodes: standing.phases,
            is_guarded,
            journal: standing.journal,
        }
    }
}

impl Status {
    pub fn run(self, folder: &Path) -> Outcome {
        let rows: Vec<Row> = inject::standing(folder).map_err(explained)?.into_iter().map(Row::of).collect();
        if self.json {
            output::json(&rows)?;
            return Ok(Done::Well);
        }
        if rows.is_empty() {
            tell("no fault stands");
            return Ok(Done::Well);
        }
        let mut table = output::table(&["id", "fault", "nodes", "left", "guarded"], &[]);
        for row in &rows {
            let nodes: Vec<&str> = row.nodes.keys().map(String::as_str).collect();
            let left = Span::from_seconds(i64::try_from(row.seconds_left).unwrap_or(i64::MAX)).to_string();
            let guarded = if row.is_guarded { "yes" } else { "no" };
            table.add_row([&row.id, &row.model, &nodes.join(" "), &left, guarded]);
        }
        output::print(&table)?;
        tell_orphans(folder);
        Ok(Done::Well)
    }
}

/// Says what to do where something stands that nobody watches.
pub fn tell_orphans(folder: &Path) {
    if let Err(error) = inject::refuse_orphans(folder) {
        tell(error.to_string().trim_start_matches("refused: "));
    }
}
