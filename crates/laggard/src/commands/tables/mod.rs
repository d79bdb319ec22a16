//! `laggard tables`: the contents of a dataset.

mod contents;
mod facts;

use clap::Args;
use laggard_core::model::component::natural_order;
use laggard_core::model::time::{Span, Timestamp};
use laggard_store::Dataset;
use serde::Serialize;

use contents::{Contents, Missing, contents};

use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::output;

/// Show the contents of a dataset: hosts, tables, components, time span, gaps, sample counts.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard tables data
  laggard tables data --components
  laggard tables data --facts
  laggard tables s3://bucket/prefix --json")]
pub(crate) struct Tables {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// Print one line per component instead of one per table.
    #[arg(long)]
    components: bool,
    /// Print what was recorded about each host: block devices, network interfaces, listening TCP ports.
    #[arg(long, conflicts_with = "components")]
    facts: bool,
    /// Print JSON, including components, gaps and facts.
    #[arg(long)]
    json: bool,
}

impl Tables {
    pub(crate) fn run(self) -> Outcome {
        let dataset = open(&self.dataset)?;
        if self.json {
            let (tables, problems) = contents(&dataset)?;
            not_empty(&tables, problems)?;
            let (hosts, unread) = dataset.facts(Timestamp::MAX)?;
            unread.iter().for_each(tell);
            let hosts = facts::document(&hosts);
            output::json(&Document { schema: "laggard.tables/1", tables: &tables, hosts })?;
            return Ok(done(problems + unread.len()));
        }
        if self.facts { self.facts(&dataset) } else { overview(&dataset, self.components) }
    }

    fn facts(&self, dataset: &Dataset) -> Outcome {
        let (hosts, problems) = dataset.facts(Timestamp::MAX)?;
        problems.iter().for_each(tell);
        if hosts.is_empty() && problems.is_empty() {
            let why = "only `laggard record` records them, from /sys";
            anyhow::bail!(TooPoor(format!("{}: has no facts about its hosts: {why}", self.dataset)));
        }
        output::print(&facts::lines(&hosts))?;
        Ok(done(problems.len()))
    }
}

/// Opens a dataset that must exist.
pub(crate) fn open(location: &str) -> anyhow::Result<Dataset> {
    if !location.contains("://") && !std::path::Path::new(location).is_dir() {
        anyhow::bail!(
            "{location}: no such folder: create a dataset with `laggard record` or `laggard import`"
        );
    }
    Ok(Dataset::open(location)?)
}

pub(crate) fn overview(dataset: &Dataset, components: bool) -> Outcome {
    let (tables, problems) = contents(dataset)?;
    not_empty(&tables, problems)?;
    if components {
        output::print(&component_lines(&tables))?;
    } else {
        output::print(&table_lines(&tables))?;
    }
    Ok(done(problems))
}

fn not_empty(tables: &[Contents], problems: usize) -> Result<(), TooPoor> {
    if tables.is_empty() && problems == 0 { Err(empty()) } else { Ok(()) }
}

pub(crate) fn empty() -> TooPoor {
    TooPoor("the dataset is empty: fill it with `laggard record` or `laggard import`".into())
}

fn done(problems: usize) -> Done {
    if problems == 0 { Done::Well } else { Done::WithErrors }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tables: &'a [Contents],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<facts::Host<'a>>,
}

fn table_lines(tables: &[Contents]) -> comfy_table::Table {
    let heading =
        ["host", "table", "every", "first", "last", "components", "samples", "missing", "gaps", "size", ""];
    let mut lines = output::table(&heading, &[5, 6, 7, 8, 9]);
    for t in tables {
        lines.add_row([
            t.host.clone(),
            t.table.into(),
            t.every.to_string(),
            whole_second(t.first),
            whole_second(t.last),
            t.components.len().to_string(),
            t.samples.to_string(),
            t.missing.to_string(),
            longest(&t.gaps),
            output::bytes(t.bytes),
            if t.live { "live" } else { "" }.into(),
        ]);
    }
    lines
}

/// `2, longest 1m30s`.
fn longest(gaps: &[Missing]) -> String {
    match gaps.iter().map(|g| g.to - g.from).max() {
        None => "none".into(),
        Some(longest) => format!("{}, longest {longest}", gaps.len()),
    }
}

fn component_lines(tables: &[Contents]) -> comfy_table::Table {
    let mut lines = output::table(&["component", "table", "rows", "first", "last"], &[2]);
    for t in tables {
        let mut components: Vec<_> = t.components.iter().collect();
        components.sort_by_key(|(name, _)| natural_order(name));
        for (name, c) in components {
            let (rows, first, last) = (c.rows.to_string(), whole_second(c.first), whole_second(c.last));
            lines.add_row([name.to_string(), t.table.into(), rows, first, last]);
        }
    }
    lines
}

fn whole_second(time: Timestamp) -> String {
    time.floor(Span::SECOND).to_string()
}
