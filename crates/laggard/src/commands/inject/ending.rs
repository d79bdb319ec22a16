//! `laggard inject undo` and `recover`.

use std::path::Path;

use clap::Args;
use laggard_lab::inject::{self, Finding, Which};

use crate::commands::lab::explained;
use crate::failure::{Done, Outcome, tell};

/// Undo a fault before its time is over.
#[derive(Args)]
pub struct Undo {
    /// Which, as `inject apply` has printed it.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// All that stand, also those that a guard watches.
    #[arg(long)]
    all: bool,
}

/// Undo what was left behind: its controller and its guard were killed, or the machine was.
#[derive(Args)]
pub struct Recover {}

impl Undo {
    pub fn run(self, folder: &Path) -> Outcome {
        let which = self.id.as_deref().map_or(Which::All, Which::Id);
        report(&inject::undo(folder, which).map_err(explained)?)
    }
}

impl Recover {
    pub fn run(self, folder: &Path) -> Outcome {
        report(&inject::undo(folder, Which::Orphans).map_err(explained)?)
    }
}

fn report(findings: &[Finding]) -> Outcome {
    if findings.is_empty() {
        tell("nothing to undo");
    }
    for finding in findings {
        let Finding { id, model, nodes, complaint } = finding;
        let outcome = complaint.as_ref().map_or_else(|| "undone".into(), |why| format!("not undone: {why}"));
        tell(format_args!("{id} {model} {}: {outcome}", nodes.join(", ")));
    }
    let is_well = findings.iter().all(|finding| finding.complaint.is_none());
    Ok(if is_well { Done::Well } else { Done::WithErrors })
}
