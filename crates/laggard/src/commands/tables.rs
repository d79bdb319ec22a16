//! `laggard tables`: what is in a dataset.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use laggard_core::model::component::Kind;
use laggard_core::model::time::{Span, Timestamp};
use laggard_store::dataset::Dataset;
use laggard_store::name::State;
use laggard_store::segment::Segment;
use laggard_store::selection::{Selection, Wanted};
use laggard_store::tabulate::interval;
use serde::Serialize;

use super::show::natural;
use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::output;

/// Show what is in a dataset: hosts, tables, components, time span, gaps, sample counts.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard tables data
  laggard tables data --components
  laggard tables s3://bucket/prefix --json")]
pub struct Tables {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// One line for each component instead of each table.
    #[arg(long)]
    components: bool,
    /// As JSON, with components and gaps.
    #[arg(long)]
    json: bool,
}

impl Tables {
    pub fn run(self) -> Outcome {
        let dataset = open(&self.dataset)?;
        if self.json {
            let (tables, problems) = contents(&dataset)?;
            output::json(&Document { schema: "laggard.tables/1", tables: &tables })?;
            return Ok(done(problems));
        }
        overview(&dataset, self.components)
    }
}

/// Opens a dataset that must be there.
pub fn open(location: &str) -> anyhow::Result<Dataset> {
    if !location.contains("://") && !std::path::Path::new(location).is_dir() {
        anyhow::bail!("{location}: no such folder: make a dataset with `laggard record` or `laggard import`");
    }
    Dataset::open(location).with_context(|| location.to_string())
}

/// Prints what is in a dataset.
pub fn overview(dataset: &Dataset, components: bool) -> Outcome {
    let (tables, problems) = contents(dataset)?;
    if tables.is_empty() && problems == 0 {
        return Err(TooPoor(
            "the dataset is empty: fill it with `laggard record` or `laggard import`".into(),
        )
        .into());
    }
    if components {
        output::print(&component_lines(&tables))?;
    } else {
        output::print(&table_lines(&tables))?;
    }
    Ok(done(problems))
}

fn done(problems: usize) -> Done {
    if problems == 0 { Done::Well } else { Done::WithErrors }
}

/// One table of one host, all its segments together.
#[derive(Debug, Serialize)]
struct Contents {
    host: String,
    table: &'static str,
    every: Span,
    first: Timestamp,
    last: Timestamp,
    rows: u64,
    /// Instants at which some component was sampled.
    samples: u64,
    /// Instants at which none was.
    missing: u64,
    gaps: Vec<Gap>,
    bytes: u64,
    live: bool,
    components: BTreeMap<String, Rows>,
}

#[derive(Debug, Serialize)]
struct Gap {
    from: Timestamp,
    to: Timestamp,
}

/// What there is of one component.
#[derive(Debug, Clone, Copy, Serialize)]
struct Rows {
    rows: u64,
    first: Timestamp,
    last: Timestamp,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tables: &'a [Contents],
}

/// Everything in a dataset, and how many of its files could not be read (these were told).
fn contents(dataset: &Dataset) -> anyhow::Result<(Vec<Contents>, usize)> {
    let listing = dataset.segments()?;
    let mut problems = listing.problems.len();
    listing.problems.iter().for_each(tell);
    let mut groups: BTreeMap<(String, &'static str), Vec<Segment>> = BTreeMap::new();
    for segment in listing.segments {
        groups.entry((segment.host.clone(), segment.table.name)).or_default().push(segment);
    }
    let mut tables = Vec::new();
    for segments in groups.into_values() {
        let mut account = Account::default();
        for segment in &segments {
            if let Err(error) = account.add(segment) {
                tell(error);
                problems += 1;
            }
        }
        tables.extend(account.contents(&segments));
    }
    tables.sort_by_key(|t| natural(&t.host));
    Ok((tables, problems))
}

/// Adds up the segments of one host and table.
#[derive(Default)]
struct Account {
    rows: u64,
    instants: BTreeSet<i64>,
    components: BTreeMap<Arc<str>, Rows>,
    every: Option<Span>,
}

impl Account {
    fn add(&mut self, segment: &Segment) -> Result<(), laggard_store::error::StoreError> {
        let every = interval(segment);
        self.every = self.every.max(Some(every));
        let wanted = Wanted { table: segment.table, columns: Some(Vec::new()) };
        let keys = Selection { tables: vec![wanted], ..Selection::default() };
        let _ = segment.scan(&keys, &mut |_, piece| {
            self.rows += piece.len() as u64;
            let mut last = None;
            for &time in piece.time() {
                let instant = Timestamp::from_micros(time).nearest(every).micros();
                if last.replace(instant) != Some(instant) {
                    self.instants.insert(instant);
                }
            }
            for (number, rows) in piece.runs() {
                self.add_run(&piece.names()[number as usize], &piece.time()[rows]);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    fn add_run(&mut self, name: &Arc<str>, times: &[i64]) {
        let first = Timestamp::from_micros(times.iter().copied().min().unwrap_or(i64::MAX));
        let last = Timestamp::from_micros(times.iter().copied().max().unwrap_or(i64::MIN));
        let of = self.components.entry(name.clone()).or_insert(Rows { rows: 0, first, last });
        of.rows += times.len() as u64;
        of.first = of.first.min(first);
        of.last = of.last.max(last);
    }

    fn contents(self, segments: &[Segment]) -> Option<Contents> {
        let every = self.every?;
        let first = self.components.values().map(|c| c.first).min()?;
        let last = self.components.values().map(|c| c.last).max()?;
        // The recorder accounts for itself when there is something to say.
        let is_regular = segments[0].table.kind != Kind::RECORDER;
        let gaps = if is_regular { gaps(&self.instants, every) } else { Vec::new() };
        let missing = gaps.iter().map(|g| (g.to - g.from).micros() / every.micros() - 1).sum::<i64>();
        Some(Contents {
            host: segments[0].host.clone(),
            table: segments[0].table.name,
            every,
            first,
            last,
            rows: self.rows,
            samples: self.instants.len() as u64,
            missing: missing.unsigned_abs(),
            gaps,
            bytes: segments.iter().map(|s| s.bytes).sum(),
            live: segments.iter().any(|s| s.state == State::Live),
            components: self.components.into_iter().map(|(name, rows)| (name.to_string(), rows)).collect(),
        })
    }
}

/// Neighbouring instants with at least one missing in between.
fn gaps(instants: &BTreeSet<i64>, every: Span) -> Vec<Gap> {
    let neighbours = instants.iter().zip(instants.iter().skip(1));
    let apart = neighbours.filter(|(from, to)| *to - *from >= 2 * every.micros());
    apart
        .map(|(&from, &to)| Gap { from: Timestamp::from_micros(from), to: Timestamp::from_micros(to) })
        .collect()
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
fn longest(gaps: &[Gap]) -> String {
    match gaps.iter().map(|g| g.to - g.from).max() {
        None => "none".into(),
        Some(longest) => format!("{}, longest {longest}", gaps.len()),
    }
}

fn component_lines(tables: &[Contents]) -> comfy_table::Table {
    let mut lines = output::table(&["component", "table", "rows", "first", "last"], &[2]);
    for t in tables {
        let mut components: Vec<_> = t.components.iter().collect();
        components.sort_by_key(|(name, _)| natural(name));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_where_an_instant_is_missing() {
        let instants = BTreeSet::from([0, 1_000_000, 4_000_000, 5_000_000]);
        let gaps = gaps(&instants, Span::SECOND);
        assert_eq!(gaps.len(), 1);
        assert_eq!(longest(&gaps), "1, longest 3s");
    }
}
