//! `laggard inject status`.

use std::path::Path;

use clap::Args;
use laggard_core::model::time::Span;
use laggard_lab::inject;
use laggard_lab::undo::{self, ActiveFault, Phase};
use serde::Serialize;

use crate::commands::lab::explained;
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// List the active faults, with the time that is left.
#[derive(Args)]
pub(crate) struct Status {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    model: String,
    nodes: std::collections::BTreeMap<String, Phase>,
    /// None: until it is reverted.
    seconds_left: Option<u64>,
    is_guarded: bool,
    journal: std::path::PathBuf,
}

impl Row {
    fn of((active, is_guarded): (ActiveFault, bool)) -> Row {
        let left = active.left().unwrap_or_default().as_secs();
        Row {
            model: active.planned.fault.name().into(),
            seconds_left: active.planned.ttl().map(|_| left),
            id: active.planned.id,
            nodes: active.phases,
            is_guarded,
            journal: active.journal,
        }
    }
}

impl Status {
    pub(crate) fn run(self, folder: &Path) -> Outcome {
        let rows: Vec<Row> =
            undo::active_faults(folder).map_err(explained)?.into_iter().map(Row::of).collect();
        if self.json {
            output::json(&rows)?;
            return Ok(Done::Well);
        }
        if rows.is_empty() {
            tell("no fault is active");
            return Ok(Done::Well);
        }
        let mut table = output::table(&["id", "fault", "nodes", "left", "guarded"], &[]);
        for row in &rows {
            let nodes: Vec<&str> = row.nodes.keys().map(String::as_str).collect();
            let span = |seconds| Span::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX)).to_string();
            let left = row.seconds_left.map_or_else(String::new, span);
            let guarded = if row.is_guarded { "yes" } else { "no" };
            table.add_row([&row.id, &row.model, &nodes.join(" "), &left, guarded]);
        }
        output::print(&table)?;
        warn_of_orphans(folder);
        Ok(Done::Well)
    }
}

/// Says what to do about active faults without a guard.
pub(crate) fn warn_of_orphans(folder: &Path) {
    if let Err(error) = inject::refuse_orphans(folder) {
        tell(error.to_string().trim_start_matches("refused: "));
    }
}
