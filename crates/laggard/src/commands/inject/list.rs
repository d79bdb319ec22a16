//! `laggard inject list`.

use std::path::Path;

use clap::Args;
use laggard_lab::faults::Fault;
use laggard_lab::inject::{self, Availability, MODELS};
use laggard_lab::manifest;
use serde::Serialize;

use super::status::tell_orphans;
use super::targets::Nodes;
use crate::failure::{Done, Outcome};
use crate::output;

/// List what can go wrong, and whether it can be done to each node; where not, why, and what to install.
#[derive(Args)]
pub struct List {
    #[command(flatten)]
    nodes: Nodes,
    /// As JSON.
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
    pub fn run(self, folder: &Path) -> Outcome {
        let listed = Listed { models: models(), nodes: self.availabilities()? };
        if self.json {
            output::json(&listed)?;
            return Ok(Done::Well);
        }
        let mut table = output::table(&["fault", "what", "parameters"], &[]);
        for Entry { model, parameters, what } in &listed.models {
            table.add_row([model, what, parameters]);
        }
        output::print(&table)?;
        if !listed.nodes.is_empty() {
            let mut table = output::table(&["node", "fault", "by", "can be", "why not"], &[]);
            for each in &listed.nodes {
                let why_not = each.why_not.as_deref().unwrap_or_default();
                let can_be = if each.why_not.is_none() { "yes" } else { "no" };
                table.add_row([&each.node, each.model, each.mechanism, can_be, why_not]);
            }
            output::print(&table)?;
        }
        tell_orphans(folder);
        Ok(Done::Well)
    }

    /// Of the nodes that are named. Without any, and without a lab, there are only models.
    fn availabilities(&self) -> anyhow::Result<Vec<Availability>> {
        if self.nodes.is_silent() && manifest::names().is_empty() {
            return Ok(vec![]);
        }
        Ok(inject::doctor(&self.nodes.all()?))
    }
}

fn models() -> Vec<Entry> {
    let own = MODELS.map(|(model, parameters, what)| Entry { model, parameters, what });
    let of_lab = Fault::ALL.map(|fault| Entry {
        model: fault.as_str(),
        parameters: "",
        what: "a fault of the lab (`laggard lab fault`)",
    });
    own.into_iter().chain(of_lab).collect()
}
