//! Watched as a stream: who is named, how soon, and how often wrongly.
//! In: judgements. Out: [`Alarms`], and figures made of them. Always: a component is a false alarm once, however often
//! it is named; a gap in the recording is no time.

use std::collections::BTreeMap;

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::MetricScores;
use laggard_core::scores::Window;
use serde::Serialize;

use super::confusion::{Confusion, share};
use super::covered::Covered;
use super::truth::Truth;
use laggard_core::model::metric::MetricId;

/// Of each trouble that was told: when first, and of which component.
pub type Told = BTreeMap<usize, (Timestamp, usize)>;

/// Who was called faulty.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    /// Troubles.
    pub told: Told,
    /// Components that were named though they were in no trouble, and when first.
    pub mistaken: BTreeMap<usize, Timestamp>,
    /// Of each component, metric and length of windows: the last time in which it was called faulty without a pause.
    spells: BTreeMap<(usize, MetricId, Span), Spell>,
}

/// Faulty windows one after the other.
#[derive(Clone, Copy, Debug)]
struct Spell {
    /// The end of the first.
    told: Timestamp,
    /// The end of the last.
    until: Timestamp,
}

/// Who is named after some time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Look {
    /// After how much data; nothing: all of it.
    pub after: Option<Span>,
    /// How many troubles are known.
    pub labelled: usize,
    /// How many of them were told.
    pub named: usize,
    /// The share of them.
    pub recall: Option<f64>,
    /// How many components were named though they were in no trouble.
    pub false_alarms: usize,
}

/// How soon troubles are told, in time with samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// Half of the troubles were told after this; nothing: fewer than half were told.
    pub median: Option<Span>,
    /// All were told after this; nothing: not all were.
    pub worst: Option<Span>,
}

/// How good a method is at watching.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamFigures {
    /// After more and more data.
    pub looks: Vec<Look>,
    /// Over the full span, one alarm a component at most.
    pub false_alarms_per_1000_component_days: f64,
    /// How soon, in the look that tells it first.
    pub delay: Delay,
    /// Components over the full span: Matthews' correlation coefficient.
    pub component_mcc: Option<f64>,
}

impl Alarms {
    /// Takes what was said of a group.
    pub fn take(&mut self, truth: &Truth, members: &[usize], judgement: &MetricScores) {
        for judged in &judgement.windows {
            for (&component, _) in members.iter().zip(&judged.scores).filter(|(_, verdict)| verdict.is_faulty)
            {
                let told = self.told_since(component, judgement.metric.id, &judged.window);
                let mut is_right = false;
                for (number, trouble) in truth.of(component).filter(|(_, t)| t.label.overlaps(&judged.window))
                {
                    is_right = true;
                    // Whoever was called faulty before it began tells of something else.
                    if trouble.label.begin.is_some_and(|begin| told <= begin) {
                        continue;
                    }
                    hear(&mut self.told, number, (judged.window.end(), component));
                }
                if !is_right {
                    let first = self.mistaken.entry(component).or_insert(judged.window.end());
                    *first = (*first).min(judged.window.end());
                }
            }
        }
    }

    /// Since when a component has been called faulty, as it is in this window.
    fn told_since(&mut self, component: usize, metric: MetricId, window: &Window) -> Timestamp {
        let spell = self.spells.entry((component, metric, window.length));
        let new = Spell { told: window.end(), until: window.end() };
        let spell = spell.and_modify(|spell| {
            *spell = if window.start <= spell.until { Spell { until: window.end(), ..*spell } } else { new };
        });
        spell.or_insert(new).told
    }

    /// Who was named.
    pub fn look(&self, truth: &Truth, after: Option<Span>) -> Look {
        let (labelled, named) = (truth.troubles.len(), self.told.len());
        let recall = share(named as u64, labelled as u64);
        Look { after, labelled, named, recall, false_alarms: self.mistaken.len() }
    }

    /// Components named or not, against troubled or not.
    pub fn by_component(&self, truth: &Truth, covered: &Covered) -> Confusion {
        let told: std::collections::BTreeSet<usize> =
            self.told.keys().flat_map(|&trouble| truth.troubles[trouble].members.iter().copied()).collect();
        let mut confusion = Confusion::default();
        for component in covered.sampled_components() {
            let is_true = truth.is_ever_in_trouble(component);
            let is_said = told.contains(&component) || self.mistaken.contains_key(&component);
            confusion.count(is_said, is_true);
        }
        confusion
    }
}

/// Keeps what was told first of a trouble.
pub fn hear(told: &mut Told, trouble: usize, first: (Timestamp, usize)) {
    told.entry(trouble).and_modify(|known| *known = (*known).min(first)).or_insert(first);
}

impl Delay {
    /// Of troubles that were told.
    pub fn new(told: &Told, truth: &Truth, covered: &Covered) -> Delay {
        let since = |(&trouble, &(end, component)): (&usize, &(Timestamp, usize))| {
            let begin = truth.troubles[trouble].label.begin.unwrap_or(Timestamp::MIN);
            Some(covered.between(covered.group(component)?, begin, end))
        };
        let mut delays: Vec<Span> = told.iter().filter_map(since).collect();
        delays.sort_unstable();
        let all = truth.troubles.len();
        let of = |number: usize| delays.get(number).copied().filter(|_| all > 0);
        Delay { median: of(all.saturating_sub(1) / 2), worst: of(all.saturating_sub(1)) }
    }
}

/// False alarms as a rate.
pub fn per_1000_days(alarms: usize, component_days: f64) -> f64 {
    if component_days > 0.0 { 1000.0 * alarms as f64 / component_days } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::labels::parse;
    use crate::scoring::testing::{inventory, table};
    use laggard_core::model::metric::Metric;
    use laggard_core::scores::{MemberScore, ScoredWindow};

    /// Windows of a minute, with the members that are called faulty in each.
    fn judgement(faulty: &[&[usize]]) -> MetricScores {
        let verdict =
            |is_faulty| MemberScore { score: 1.0, threshold: 1.0, is_anomalous: is_faulty, is_faulty };
        let windows = faulty.iter().enumerate().map(|(number, faulty)| ScoredWindow {
            window: Window {
                start: Timestamp::from_seconds(60 * number as i64),
                length: Span::from_seconds(60),
            },
            scores: (0..4).map(|member| verdict(faulty.contains(&member))).collect(),
        });
        MetricScores { metric: Metric::named("await").unwrap(), windows: windows.collect() }
    }

    #[test]
    fn who_is_named_when_and_who_wrongly() {
        let inventory = inventory(&["a:1", "a:2", "a:3", "a:4"]);
        let text = "component,begin,end,cause\na:1,,,\na:2,1970-01-01T00:02:00Z,,\n";
        let (truth, _) = Truth::new(&inventory, &parse(text).unwrap());
        let mut covered = Covered::new(&inventory);
        covered.take(&[table(&["a:1", "a:2", "a:3", "a:4"], 15, &[[1.0; 20]; 4])]);
        let mut alarms = Alarms::default();
        alarms.take(&truth, &[0, 1, 2, 3], &judgement(&[&[0, 1], &[2], &[0, 2], &[1, 2], &[1]]));
        let look = alarms.look(&truth, None);
        assert_eq!((look.named, look.labelled, look.false_alarms), (2, 2, 2));
        let delay = Delay::new(&alarms.told, &truth, &covered);
        assert_eq!(
            (delay.median, delay.worst),
            (Some(Span::from_seconds(60)), Some(Span::from_seconds(120)))
        );
        let components = alarms.by_component(&truth, &covered);
        assert_eq!(
            (components.true_positives, components.false_positives, components.true_negatives),
            (2, 1, 1)
        );
    }

    #[test]
    fn who_was_called_faulty_before_tells_of_something_else() {
        let inventory = inventory(&["a:1", "a:2", "a:3", "a:4"]);
        let text = "component,begin,end,cause\na:1,1970-01-01T00:02:00Z,,\na:2,1970-01-01T00:02:00Z,,\n";
        let (truth, _) = Truth::new(&inventory, &parse(text).unwrap());
        let mut alarms = Alarms::default();
        alarms.take(&truth, &[0, 1, 2, 3], &judgement(&[&[], &[0, 1], &[0], &[0, 1], &[], &[0]]));
        let told: Vec<i64> = alarms.told.values().map(|(at, _)| at.micros() / 1_000_000).collect();
        assert_eq!(told, [360, 240]);
    }

    #[test]
    fn what_is_never_told_has_no_worst_delay() {
        let inventory = inventory(&["a:1", "a:2", "a:3", "a:4"]);
        let (truth, _) =
            Truth::new(&inventory, &parse("component,begin,end,cause\na:1,,,\na:2,,,\n").unwrap());
        let mut covered = Covered::new(&inventory);
        covered.take(&[table(&["a:1", "a:2", "a:3", "a:4"], 15, &[[1.0; 8]; 4])]);
        let mut alarms = Alarms::default();
        alarms.take(&truth, &[0, 1, 2, 3], &judgement(&[&[0]]));
        let delay = Delay::new(&alarms.told, &truth, &covered);
        assert_eq!((delay.median, delay.worst), (Some(Span::from_seconds(60)), None));
    }

    #[test]
    fn alarms_are_a_rate_over_component_days() {
        assert_eq!(per_1000_days(2, 500.0), 4.0);
        assert_eq!(per_1000_days(2, 0.0), 0.0);
    }
}
