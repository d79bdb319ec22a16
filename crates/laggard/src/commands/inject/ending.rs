//! `laggard inject undo` and `recover`.

use std::path::Path;

use clap::Args;
use laggard_lab::undo::{self, RevertOutcome, Selection};

use crate::commands::lab::explained;
use crate::failure::{Done, Outcome, tell};

/// Revert a fault before its time is over.
#[derive(Args)]
pub(crate) struct Undo {
    /// The id that `inject apply` has printed.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// Revert all active faults, also those that a guard watches.
    #[arg(long)]
    all: bool,
}

/// Revert the faults of killed processes, or after a reboot: those that no guard watches.
#[derive(Args)]
pub(crate) struct Recover {}

impl Undo {
    pub(crate) fn run(self, folder: &Path) -> Outcome {
        let selection = self.id.as_deref().map_or(Selection::All, Selection::Id);
        report(&undo::revert(folder, selection).map_err(explained)?)
    }
}

impl Recover {
    pub(crate) fn run(self, folder: &Path) -> Outcome {
        report(&undo::revert(folder, Selection::Orphans).map_err(explained)?)
    }
}

fn report(outcomes: &[RevertOutcome]) -> Outcome {
    if outcomes.is_empty() {
        tell("nothing to revert");
    }
    for RevertOutcome { id, fault, nodes, error } in outcomes {
        let result = error.as_ref().map_or_else(|| "reverted".into(), |why| format!("not reverted: {why}"));
        tell(format_args!("{id} {fault} {}: {result}", nodes.join(", ")));
    }
    let is_healthy = outcomes.iter().all(|outcome| outcome.error.is_none());
    Ok(if is_healthy { Done::Well } else { Done::WithErrors })
}
