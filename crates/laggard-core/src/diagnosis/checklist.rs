//! The checklist of the test bench: the first question with the answer yes (FAST '10, sections 10.2 and 12).
//! In: [`Facts`], and the metrics that are faulty. Out: one cause. Always: single anomalous windows answer no question.

use std::collections::BTreeSet;

use super::causes::Cause;
use super::context::Context;
use super::facts::Facts;
use super::weigh::{WeighedCause, weigh};
use crate::model::metric::MetricId;
use crate::suspects::blame::Incident;
use crate::suspects::episodes::Episode;

/// The metrics among the evidence that were anomalous in k of 2k - 1 windows during the incident: only these are
/// peer-divergent (FAST '10, section 10.1). The filter's verdicts are the episodes.
pub(super) fn faulty_metrics(facts: &Facts, incident: &Incident, context: Context<'_>) -> BTreeSet<MetricId> {
    let is_then = |episode: &&Episode| episode.begin < incident.end && incident.begin < episode.end;
    let faulty: BTreeSet<(&str, MetricId)> = context
        .episodes
        .iter()
        .filter(is_then)
        .map(|episode| (context.inventory.components[episode.component].name.as_str(), episode.metric.id))
        .collect();
    let metrics = facts.evidence.iter().map(|evidence| (evidence.component.as_str(), evidence.metric));
    metrics.filter(|found| faulty.contains(found)).map(|(_, metric)| metric).collect()
}

pub(super) fn check(facts: &Facts, faulty: &BTreeSet<MetricId>) -> Vec<WeighedCause> {
    let diverges = |metric: MetricId| faulty.contains(&metric);
    let (received, sent, windows) =
        (diverges(MetricId::Rxbyt), diverges(MetricId::Txbyt), diverges(MetricId::Cwnd));
    let (cause, because) = if diverges(MetricId::RdSec) || diverges(MetricId::WrSec) {
        (Cause::DiskHog, "its disk moves other amounts of data than its peers'")
    } else if diverges(MetricId::Await) {
        (Cause::DiskBusy, "its disk's latency differs from its peers'")
    } else if received && sent || (received || sent) && !windows {
        (Cause::NetworkHog, "its interface carries other amounts of data than its peers'")
    } else if windows {
        (Cause::PacketLoss, "its congestion windows are smaller than its peers'")
    } else {
        (Cause::Unknown, "no question of the checklist has the answer yes")
    };
    vec![WeighedCause { cause, confidence: confidence(cause, facts), because }]
}

/// A checklist knows no doubt, so the confidence comes from the weight of all evidence; a cause that this does not support
/// gets what the others leave.
fn confidence(cause: Cause, facts: &Facts) -> f64 {
    let weighed = weigh(facts);
    let of_cause = weighed.iter().find(|other| other.cause == cause).map(|other| other.confidence);
    let known = weighed.iter().filter(|other| other.cause != Cause::Unknown);
    of_cause.unwrap_or_else(|| 1.0 - known.map(|other| other.confidence).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::peers::Peers;
    use crate::diagnosis::requests::Requests;
    use crate::model::cluster::{ClusterFile, Inventory, Recorded};
    use crate::model::component::Kind;
    use crate::model::metric::Metric;
    use crate::model::time::{Span, Timestamp};
    use crate::scores::{MemberScore, MetricScores, ScoredWindow, Window};
    use crate::suspects::blame::Culprit;
    use crate::suspects::episodes::Tracker;
    use crate::tables::summary::Summary;

    const WINDOW: Span = Span::from_seconds(64);
    const SHIFT: Span = Span::from_seconds(32);

    fn inventory() -> Inventory {
        let disk = |host: &str| Recorded {
            name: format!("{host}:sda"),
            kind: Kind::ATTACHMENT,
            host: host.to_owned(),
        };
        Inventory::new(&ClusterFile::default(), &["oss1", "oss2", "oss3"].map(disk))
    }

    /// Windows of the first component in one metric, anomalous where `is_anomalous`; faulty by 3 of 5.
    fn windows(metric: &str, is_anomalous: &[bool]) -> MetricScores {
        let scored = |number: usize| {
            let recent = &is_anomalous[number.saturating_sub(4)..=number];
            let own = MemberScore {
                score: if is_anomalous[number] { 4.0 } else { 0.0 },
                threshold: 1.0,
                is_anomalous: is_anomalous[number],
                is_unlikely: is_anomalous[number],
                is_faulty: recent.iter().filter(|&&is| is).count() >= 3,
            };
            let calm =
                MemberScore { score: 0.0, is_anomalous: false, is_unlikely: false, is_faulty: false, ..own };
            let window = Window { start: Timestamp::from_seconds(0) + SHIFT * number as i64, length: WINDOW };
            ScoredWindow { window, scores: vec![own, calm, calm] }
        };
        let windows = (0..is_anomalous.len()).map(scored).collect();
        MetricScores { metric: Metric::named(metric).unwrap(), windows }
    }

    fn cause(metrics: &[(&str, [bool; 8])]) -> Cause {
        let inventory = inventory();
        let mut tracker = Tracker::new(None);
        metrics.iter().for_each(|(metric, is)| tracker.take(0, &[0, 1, 2], &windows(metric, is)));
        let (begin, end) = (Timestamp::from_seconds(0), Timestamp::from_seconds(288));
        let summary = Summary::new(begin, end, Span::SECOND, 3);
        let peers = Peers::new(&inventory, &summary);
        let episodes = tracker.episodes();
        let context = Context {
            inventory: &inventory,
            episodes: &episodes,
            ordinary: &vec![BTreeSet::new(); episodes.len()],
            tracker: &tracker,
            summary: &summary,
            has_feedback: false,
            peers: &peers,
            requests: &Requests::new(begin, end, Span::SECOND, 3),
        };
        let all = (0..episodes.len()).collect();
        let incident = Incident { culprit: Culprit::Component(0), episodes: all, begin, end };
        let facts = Facts::of(&incident, context);
        check(&facts, &faulty_metrics(&facts, &incident, context))[0].cause
    }

    const CALM: [bool; 8] = [false; 8];
    const SLOW: [bool; 8] = [false, true, true, true, true, true, true, false];
    const STRAY: [bool; 8] = [false, false, true, false, false, true, false, false];

    #[test]
    fn the_first_faulty_metric_of_the_list_decides() {
        assert_eq!(cause(&[("rd_sec", SLOW), ("await", SLOW)]), Cause::DiskHog);
        assert_eq!(cause(&[("rd_sec", CALM), ("await", SLOW)]), Cause::DiskBusy);
    }

    #[test]
    fn single_anomalous_windows_answer_no_question() {
        assert_eq!(cause(&[("rd_sec", STRAY), ("await", SLOW)]), Cause::DiskBusy);
        assert_eq!(cause(&[("rd_sec", STRAY), ("wr_sec", STRAY), ("svctm", SLOW)]), Cause::Unknown);
    }
}
