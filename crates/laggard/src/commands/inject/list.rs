//! `laggard inject list`.

use std::path::Path;

use clap::Args;
use laggard_lab::faults::FAULTS;
use laggard_lab::inject::{self, Availability};
use laggard_lab::lab_manifest;
use serde::Serialize;

use super::status::warn_of_orphans;
use super::targets::Nodes;
use crate::failure::{Done, Outcome};
use crate::output;

/// List the faults, and for each node whether it can have them, or what to install.
#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    nodes: Nodes,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    models: Vec<Entry>,
    nodes: Vec<Availability>,
}

#[derive(Serialize)]
struct Entry {
    model: &'static str,
    parameters: &'static str,
    what: &'static str,
}

impl List {
    pub(crate) fn run(self, folder: &Path) -> Outcome {
        let entry = |fault: &laggard_lab::faults::FaultEntry| Entry {
            model: fault.name,
            parameters: fault.parameters,
            what: fault.summary,
        };
        let listed = Listed { models: FAULTS.iter().map(entry).collect(), nodes: self.availabilities()? };
        if self.json {
            output::json(&listed)?;
            return Ok(Done::Well);
        }
        let mut table = output::table(&["fault", "effect", "parameters"], &[]);
        for Entry { model, parameters, what } in &listed.models {
            table.add_row([model, what, parameters]);
        }
        output::print(&table)?;
        if !listed.nodes.is_empty() {
            let mut table = output::table(&["node", "fault", "mechanism", "available", "why not"], &[]);
            for each in &listed.nodes {
                let why_not = each.why_not.as_deref().unwrap_or_default();
                let available = if each.why_not.is_none() { "yes" } else { "no" };
                table.add_row([&each.node, each.model, each.mechanism, available, why_not]);
            }
            output::print(&table)?;
        }
        warn_of_orphans(folder);
        Ok(Done::Well)
    }

    /// Without named nodes and without a lab, only the faults are listed.
    fn availabilities(&self) -> anyhow::Result<Vec<Availability>> {
        if self.nodes.are_default() && lab_manifest::names().is_empty() {
            return Ok(vec![]);
        }
        Ok(inject::doctor(&self.nodes.all()?))
    }
}
