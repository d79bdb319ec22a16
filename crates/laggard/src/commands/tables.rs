//! `laggard tables`: what is in a dataset.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use clap::Args;
use laggard_core::model::component::{Kind, natural_order};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::coverage::Coverage;
use laggard_core::tables::rhythm::Rhythm;
use laggard_store::dataset::Dataset;
use laggard_store::error::{Problem, StoreError};
use laggard_store::name::State;
use laggard_store::segment::Segment;
use laggard_store::selection::{Selection, Wanted};
use laggard_store::tabulate::rhythm;
use serde::Serialize;

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
            not_empty(&tables, problems)?;
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
    Ok(Dataset::open(location)?)
}

/// Prints what is in a dataset.
pub fn overview(dataset: &Dataset, components: bool) -> Outcome {
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

/// A dataset without any sample.
pub fn empty() -> TooPoor {
    TooPoor("the dataset is empty: fill it with `laggard record` or `laggard import`".into())
}

/// A dataset of which nothing is left to work with: it has no sample, or nothing of it could be read.
pub fn nothing_to_read(problems: &[Problem]) -> anyhow::Error {
    match problems {
        [] => empty().into(),
        [only] => anyhow::anyhow!("nothing of the dataset can be read: {only}"),
        [first, others @ ..] => {
            anyhow::anyhow!("nothing of the dataset can be read: {first}; and {} files more", others.len())
        }
    }
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
    gaps: Vec<Missing>,
    bytes: u64,
    live: bool,
    components: BTreeMap<String, Rows>,
}

/// A time without samples, between two with.
#[derive(Debug, Serialize)]
struct Missing {
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
        let mut account = Account::new(&segments);
        for segment in &segments {
            if let Err(error) = account.add(segment) {
                tell(error);
                problems += 1;
            }
        }
        tables.extend(account.contents(&segments));
    }
    tables.sort_by_key(|t| natural_order(&t.host));
    Ok((tables, problems))
}

/// Adds up the segments of one host and table.
struct Account {
    rows: u64,
    coverage: Coverage,
    components: BTreeMap<Arc<str>, Rows>,
    every: Span,
}

impl Account {
    fn new(segments: &[Segment]) -> Account {
        let rhythms = segments.iter().filter_map(|segment| rhythm(segment).ok());
        let rhythm = rhythms.max_by_key(|r| r.every).unwrap_or(Rhythm::on_grid(Span::SECOND));
        Account { rows: 0, coverage: Coverage::new(rhythm), components: BTreeMap::new(), every: rhythm.every }
    }

    fn add(&mut self, segment: &Segment) -> Result<(), StoreError> {
        let wanted = Wanted { table: segment.table, columns: Some(Vec::new()) };
        let keys = Selection { tables: vec![wanted], ..Selection::default() };
        let _ = segment.scan(&keys, &mut |_, piece| {
            self.rows += piece.len() as u64;
            self.coverage.add(piece.time());
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
        let first = self.components.values().map(|c| c.first).min()?;
        let last = self.components.values().map(|c| c.last).max()?;
        // The recorder accounts for itself when there is something to say.
        let is_regular = segments[0].table.kind != Kind::RECORDER;
        let gaps = if is_regular { self.coverage.gaps() } else { Vec::new() };
        Some(Contents {
            host: segments[0].host.clone(),
            table: segments[0].table.name,
            every: self.every,
            first,
            last,
            rows: self.rows,
            samples: self.coverage.samples(),
            missing: gaps.iter().map(|gap| self.coverage.missing(*gap)).sum(),
            gaps: gaps.iter().map(|gap| Missing { from: gap.from, to: gap.to }).collect(),
            bytes: segments.iter().map(|s| s.bytes).sum(),
            live: segments.iter().any(|s| s.state == State::Live),
            components: self.components.into_iter().map(|(name, rows)| (name.to_string(), rows)).collect(),
        })
    }
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
