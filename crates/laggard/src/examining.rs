//! A dataset, examined by a method: what `diagnose`, `train`, `rank` and `eval` have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use laggard_core::examination::{Examination, Examined};
use laggard_core::methods::Method;
use laggard_core::model::cluster::{FEWEST_PEERS, Inventory};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::suspects::feedback::Feedback;
use laggard_core::tables::Table;
use laggard_core::tables::clocks::{Apart, Presence, apart};
use laggard_core::tables::grid::Grid;
use laggard_store::dataset::Dataset;
use laggard_store::error::Problem;
use laggard_store::grids::{at_once, joined, parts, within};
use laggard_store::notebook;
use laggard_store::tabulate::{Stretch, Tabulator};

use crate::commands::{cluster, tables};
use crate::failure::{Done, TooPoor};

/// A recording that can be examined.
pub struct Recording {
    dataset: Dataset,
    /// Who was recorded, and who is whose peer.
    pub inventory: Inventory,
    /// What operators said of them, up to the end of that time.
    pub feedback: Feedback,
    /// What could not be read so far, each once.
    pub problems: Vec<Problem>,
    /// The shortest interval at which something was recorded.
    pub every: Span,
    /// The longest one.
    pub slowest: Span,
    /// How many times nothing at all was recorded in between.
    pub gaps: usize,
    covered: Vec<Covered>,
    from: Timestamp,
    to: Timestamp,
}

/// What one file has.
struct Covered {
    host: String,
    kind: Kind,
    stretch: Stretch,
}

/// Values of one metric that are worked on at once.
const VALUES_AT_ONCE: usize = 8_000_000;
/// The tables that metrics of peers are made from.
const TABLES: [&str; 4] = ["disk", "net", "link", "tcp"];

impl Recording {
    /// Looks at what a dataset holds within a time.
    pub fn open(
        dataset: Dataset,
        cluster: Option<&Path>,
        (from, to): (Timestamp, Timestamp),
    ) -> anyhow::Result<Recording> {
        let file = cluster::load(&dataset, cluster)?;
        let (recorded, problems) = cluster::recorded(&dataset)?;
        let (feedback, misread) = notebook::read(&dataset)?;
        let (covered, every, slowest) = covered(&dataset)?;
        let mut recording = Recording {
            dataset,
            inventory: Inventory::new(&file, &recorded),
            feedback: feedback.by(to),
            problems: Vec::new(),
            every,
            slowest,
            gaps: 0,
            covered,
            from,
            to,
        };
        recording.note(problems.into_iter().chain(misread));
        recording.gaps = recording.breaks();
        Ok(recording)
    }

    /// A file that is read twice is broken twice, and told once.
    fn note(&mut self, problems: impl IntoIterator<Item = Problem>) {
        let mut known: BTreeSet<String> = self.problems.iter().map(ToString::to_string).collect();
        self.problems.extend(problems.into_iter().filter(|problem| known.insert(problem.to_string())));
    }

    /// How a command ends that has used what could be read.
    pub fn done(&self) -> Done {
        if self.problems.is_empty() { Done::Well } else { Done::WithErrors }
    }

    /// Shows the tables of some metrics to a visitor, portion after portion, with the part that is done.
    pub fn visit(
        &mut self,
        metrics: &[&'static Metric],
        step: Span,
        visit: &mut dyn FnMut(&[Table], f64) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<Grid>> {
        let everything = |_: &str| true;
        let names: Vec<&str> = metrics.iter().map(|metric| metric.table).collect();
        let mut tabulator = Tabulator::new(&self.dataset, &names, &everything)?;
        let grids = self.grids(&tabulator, step);
        let all: usize = grids.iter().map(|grid| grid.len).sum();
        let (mut done, mut silence) = (0, Silence::default());
        for &grid in &grids {
            let tables = tabulator.tables(metrics, grid);
            silence.take(&tables);
            done += grid.len;
            visit(&tables, done as f64 / all as f64)?;
        }
        let problems = tabulator.into_problems();
        self.note(problems);
        self.gaps = self.breaks() + silence.times;
        Ok(grids)
    }

    fn grids(&self, tabulator: &Tabulator, step: Span) -> Vec<Grid> {
        let at_once = at_once(VALUES_AT_ONCE, tabulator.components());
        let stretches = tabulator.stretches(step);
        let grids = stretches.iter().filter_map(|s| within(*s, self.from, self.to, step));
        grids.flat_map(|grid| parts(grid, at_once)).collect()
    }

    /// How long the recording is, without its gaps.
    pub fn span(&self) -> anyhow::Result<Span> {
        let instants: usize = self.stretches(self.slowest).iter().map(|grid| grid.len).sum();
        if instants == 0 {
            return Err(self.nothing(self.slowest).into());
        }
        Ok(self.slowest * instants as i64)
    }

    /// The first and the last instant, looked at every `step`.
    pub fn ends(&self, step: Span) -> anyhow::Result<(Timestamp, Timestamp)> {
        let grids = self.stretches(step);
        let ends = grids.first().zip(grids.last()).map(|(first, last)| (first.start - step, last.end()));
        ends.ok_or_else(|| self.nothing(step).into())
    }

    fn nothing(&self, step: Span) -> TooPoor {
        let stretches = self.covered.iter().map(|covered| covered.stretch);
        let (first, last) = stretches.fold((Timestamp::MAX, Timestamp::MIN), |(first, last), stretch| {
            (first.min(stretch.first), last.max(stretch.last))
        });
        TooPoor(format!(
            "no two samples are {step} apart within that time: there are some from {first} to {last}"
        ))
    }

    /// How often no file goes on.
    fn breaks(&self) -> usize {
        self.stretches(self.slowest).len().saturating_sub(1)
    }

    /// What was recorded without a break.
    fn stretches(&self, step: Span) -> Vec<Grid> {
        let stretches = joined(self.covered.iter().map(|covered| covered.stretch), step);
        stretches.iter().filter_map(|s| within(*s, self.from, self.to, step)).collect()
    }

    /// Hosts whose clocks may be wrong.
    pub fn apart(&self) -> Vec<Apart<'_>> {
        apart(&self.presences(), self.slowest)
    }

    /// When each host was recorded, within that time.
    fn presences(&self) -> Vec<Presence<'_>> {
        let mut hosts: BTreeMap<&str, Presence> = BTreeMap::new();
        for Covered { host, stretch, .. } in &self.covered {
            let (first, last) = (stretch.first.max(self.from), stretch.last.min(self.to));
            if first <= last {
                let known = hosts.entry(host).or_insert(Presence { host, first, last });
                (known.first, known.last) = (known.first.min(first), known.last.max(last));
            }
        }
        hosts.into_values().collect()
    }

    /// Whether there are samples of such components themselves, rather than only of what they contain.
    pub fn has(&self, kind: &Kind) -> bool {
        *kind != Kind::SERVER || self.covered.iter().any(|covered| covered.kind == Kind::SERVER)
    }

    /// The peer groups, about to be watched by a method, and the metrics that it wants to see.
    pub fn examination(&self, method: &dyn Method) -> anyhow::Result<(Examination, Vec<&'static Metric>)> {
        let examination = Examination::new(&self.inventory, method);
        let metrics = examination.metrics();
        if metrics.is_empty() {
            anyhow::bail!(TooPoor(format!(
                "no peer group has {FEWEST_PEERS} members with anything to compare (`laggard cluster check` lists the \
                 groups): record more hosts into the dataset, or say in a cluster file who is whose peer"
            )));
        }
        Ok((examination, metrics))
    }

    /// Has a method judge all of it; every judgement goes to the visitor, with the part that is done.
    pub fn examine(
        &mut self,
        method: &dyn Method,
        visit: &mut dyn FnMut(Vec<Examined>, f64) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (mut examination, metrics) = self.examination(method)?;
        let step = method.step(self.slowest);
        self.visit(&metrics, step, &mut |tables, done| visit(examination.evaluate(tables), done))?;
        visit(examination.finish(), 1.0)
    }
}

/// Times in which nobody has a sample, though files go on: these only tell when they begin and end.
#[derive(Default)]
struct Silence {
    /// How many of the last instants, and how often there were too many.
    instants: usize,
    times: usize,
}

/// So many instants without samples are no gap.
const TOLERATED: usize = 3;

impl Silence {
    fn take(&mut self, tables: &[Table]) {
        let mut silent = vec![true; tables.first().map_or(0, |table| table.grid.len)];
        for row in tables.iter().flat_map(|table| (0..table.components.len()).map(|row| table.row(row))) {
            silent.iter_mut().zip(row).for_each(|(silent, value)| *silent &= value.is_nan());
            if silent.iter().all(|silent| !silent) {
                break;
            }
        }
        for silent in silent {
            self.instants = if silent { self.instants + 1 } else { 0 };
            self.times += usize::from(self.instants == TOLERATED + 1);
        }
    }
}

/// What the files of a dataset cover, and the shortest and the longest interval between samples.
fn covered(dataset: &Dataset) -> anyhow::Result<(Vec<Covered>, Span, Span)> {
    let everything = |_: &str| true;
    let tabulator = Tabulator::new(dataset, &TABLES, &everything)?;
    let Some((every, slowest, _)) = tabulator.every() else {
        return Err(tables::nothing_to_read(tabulator.problems()));
    };
    let covered = tabulator.covered().map(|(segment, stretch)| Covered {
        host: segment.host.clone(),
        kind: segment.table.kind.clone(),
        stretch,
    });
    Ok((covered.collect(), every, slowest))
}
