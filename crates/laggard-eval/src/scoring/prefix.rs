//! A method that gets only the beginning of a recording.

use laggard_core::methods::{Detector, Evaluator, GroupTables, Method, Peers, Reasoning};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::Span;
use laggard_core::scores::MetricScores;
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;

/// For each peer group, `span` counts from the first sample of that group. Gaps do not count.
pub(crate) struct Prefix {
    pub method: Box<dyn Method>,
    pub span: Span,
}

impl Method for Prefix {
    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn step(&self, recorded: Span) -> Span {
        self.method.step(recorded)
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        self.method.metrics(kind)
    }

    fn counted_length(&self, step: Span) -> Option<Span> {
        self.method.counted_length(step)
    }

    fn reasoning(&self) -> Reasoning {
        self.method.reasoning()
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector> {
        Box::new(PrefixDetector { detector: Some(self.method.detector(peers)), left: self.span })
    }

    fn evaluator(&self, groups: &[Peers]) -> Box<dyn Evaluator> {
        let left = vec![self.span; groups.len()];
        Box::new(PrefixEvaluator { evaluator: self.method.evaluator(groups), left })
    }
}

/// All groups, which share what is ordinary.
struct PrefixEvaluator {
    evaluator: Box<dyn Evaluator>,
    left: Vec<Span>,
}

impl Evaluator for PrefixEvaluator {
    fn evaluate(&mut self, groups: Vec<GroupTables>) -> Vec<Vec<MetricScores>> {
        let cut = groups.into_iter().zip(&mut self.left).map(|(group, left)| cut(group, left)).collect();
        self.evaluator.evaluate(cut)
    }

    fn finish(&mut self) -> Vec<Vec<MetricScores>> {
        self.evaluator.finish()
    }
}

/// The part of a group's tables that is still within its span.
fn cut(group: GroupTables, left: &mut Span) -> GroupTables {
    let Some(grid) = group.tables.first().map(|table| table.grid) else { return group };
    let (len, used) = within(&sampled(&group.tables), grid.step, *left);
    *left = *left + used * -1;
    if len == 0 {
        return GroupTables::default();
    }
    let rows = group.is_recorded.chunks(grid.len.max(1));
    let is_recorded = rows.flat_map(|row| row.iter().take(len).copied()).collect();
    GroupTables { tables: group.tables.iter().map(|table| begin(table, len)).collect(), is_recorded }
}

struct PrefixDetector {
    /// `None` after the span has ended.
    detector: Option<Box<dyn Detector>>,
    left: Span,
}

impl Detector for PrefixDetector {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        let (Some(detector), Some(first)) = (&mut self.detector, tables.first()) else { return Vec::new() };
        let sampled = sampled(tables);
        let (len, used) = within(&sampled, first.grid.step, self.left);
        self.left = self.left + used * -1;
        let parts: Vec<Table> = tables.iter().map(|table| begin(table, len)).collect();
        let scored = if len > 0 { detector.evaluate(&parts) } else { Vec::new() };
        let rest = if self.left < first.grid.step { self.finish() } else { Vec::new() };
        scored.into_iter().chain(rest).collect()
    }

    fn finish(&mut self) -> Vec<MetricScores> {
        self.detector.take().map(|mut detector| detector.finish()).unwrap_or_default()
    }
}

/// Marks the instants with at least one sample.
fn sampled(tables: &[Table]) -> Vec<bool> {
    let mut sampled = vec![false; tables[0].grid.len];
    for table in tables {
        for row in 0..table.components.len() {
            sampled.iter_mut().zip(table.row(row)).for_each(|(any, value)| *any |= !value.is_nan());
        }
    }
    sampled
}

/// The number of instants that fit into `left`, and the sampled time they use.
fn within(sampled: &[bool], step: Span, left: Span) -> (usize, Span) {
    let mut used = Span::ZERO;
    for (at, is_sampled) in sampled.iter().enumerate() {
        if *is_sampled && used + step > left {
            return (at, used);
        }
        used = used + step * i64::from(*is_sampled);
    }
    (sampled.len(), used)
}

fn begin(table: &Table, len: usize) -> Table {
    let rows = (0..table.components.len()).flat_map(|row| table.row(row)[..len].iter().copied());
    let grid = Grid { len, ..table.grid };
    Table { metric: table.metric, grid, components: table.components.clone(), values: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::comparison::{ComparisonMethod, ConfiguredComparison};
    use crate::scoring::testing::table;
    use laggard_core::model::time::Timestamp;

    fn ends(tables: &[Table]) -> Vec<Timestamp> {
        let configured = ConfiguredComparison {
            comparison: ComparisonMethod::Iaso,
            lengths: vec![Span::from_seconds(60)],
            scale: 1.0,
        };
        let prefix = Prefix { method: Box::new(configured), span: Span::from_seconds(150) };
        let peers = Peers {
            group: "g".into(),
            kind: Kind::ATTACHMENT,
            class: None,
            members: vec!["x".into(); 3],
            servers: vec![],
        };
        let mut detector = prefix.detector(&peers);
        let mut scored: Vec<MetricScores> =
            tables.iter().flat_map(|t| detector.evaluate(std::slice::from_ref(t))).collect();
        scored.extend(detector.finish());
        scored.iter().flat_map(|j| &j.windows).map(|w| w.window.end()).collect()
    }

    #[test]
    fn later_samples_are_ignored() {
        let names = ["a", "b", "c"];
        let at = Timestamp::from_seconds;
        let whole = [table(&names, 15, &[[1.0; 40]; 3])];
        assert_eq!(ends(&whole), [at(60), at(120)]);
        let parts = [table(&names, 15, &[[1.0; 6]; 3]), table(&names, 105, &[[1.0; 20]; 3])];
        assert_eq!(ends(&parts), ends(&whole));
    }

    #[test]
    fn a_gap_is_not_counted() {
        let names = ["a", "b", "c"];
        let at = Timestamp::from_seconds;
        let parts = [table(&names, 15, &[[1.0; 4]; 3]), table(&names, 615, &[[1.0; 20]; 3])];
        assert_eq!(ends(&parts), [at(60), at(660)]);
    }
}
