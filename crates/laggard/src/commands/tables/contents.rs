//! The contents of a dataset: per host and table the time span, gaps, samples and components.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use laggard_core::model::component::{Kind, natural_order};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::coverage::Coverage;
use laggard_core::tables::schedule::SamplingSchedule;
use laggard_store::tabulate::rhythm;
use laggard_store::{Dataset, Segment, Selection, State, StoreError, Wanted};
use serde::Serialize;

use crate::failure::tell;

/// One table of one host over all its segments.
#[derive(Debug, Serialize)]
pub(crate) struct Contents {
    pub(crate) host: String,
    pub(crate) table: &'static str,
    pub(crate) every: Span,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    pub(crate) rows: u64,
    /// Instants with a sample of at least one component.
    pub(crate) samples: u64,
    /// Instants without any sample.
    pub(crate) missing: u64,
    pub(crate) gaps: Vec<Missing>,
    pub(crate) bytes: u64,
    pub(crate) live: bool,
    pub(crate) components: BTreeMap<String, Rows>,
}

/// A gap between two samples.
#[derive(Debug, Serialize)]
pub(crate) struct Missing {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Rows {
    pub(crate) rows: u64,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
}

/// The contents of a dataset, and the number of files that could not be read. Prints the errors of these.
pub(crate) fn contents(dataset: &Dataset) -> anyhow::Result<(Vec<Contents>, usize)> {
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

/// Sums up the segments of one host and table.
struct Account {
    rows: u64,
    coverage: Coverage,
    components: BTreeMap<Arc<str>, Rows>,
    every: Span,
}

impl Account {
    fn new(segments: &[Segment]) -> Account {
        let schedules = segments.iter().filter_map(|segment| rhythm(segment).ok());
        let schedule = schedules.max_by_key(|r| r.every).unwrap_or(SamplingSchedule::on_grid(Span::SECOND));
        Account {
            rows: 0,
            coverage: Coverage::new(schedule),
            components: BTreeMap::new(),
            every: schedule.every,
        }
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
        // The recorder writes rows about itself only on change, which is not a gap.
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
