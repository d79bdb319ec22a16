//! Causes by weight of evidence.
//! In: [`Facts`]. Out: causes, most likely first. Always: where evidence is thin, the cause is unknown.
//!
//! Each cause is weighed by itself, so that a secondary effect does not win because it was checked first
//! (FAST '10, section 14).

use super::calibration::CALIBRATION;
use super::causes::Cause;
use super::confidence::{HIGHEST, Support};
use super::facts::Facts;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct WeighedCause {
    pub(super) cause: Cause,
    /// From 0 to 1.
    pub(super) confidence: f64,
    pub(super) because: &'static str,
}

/// The weight of an unknown cause.
const DOUBT: f64 = 0.35;
/// A cause that is right less often than one in five is not worth naming.
const THIN: f64 = 0.2;

/// The causes that fit, most likely first. There is always one: unknown, if nothing fits.
pub(super) fn weigh(facts: &Facts) -> Vec<WeighedCause> {
    let weights = weights(facts);
    let first = confidence(facts, &weights);
    let others = weights.iter().skip(1).map(|(_, weight, _)| weight).sum::<f64>() + DOUBT;
    let weighed = |(rank, &(cause, weight, because)): (usize, &(Cause, f64, &'static str))| {
        // The causes share the rest by weight, each with at most the confidence of the leading one.
        let confidence = if rank == 0 { first } else { first.min((1.0 - first) * weight / others) };
        WeighedCause { cause, confidence, because }
    };
    let mut causes: Vec<WeighedCause> = weights.iter().enumerate().map(weighed).collect();
    if first < THIN {
        let (_, because) = Cause::Unknown.weigh(facts);
        let rest = 1.0 - causes.iter().map(|cause| cause.confidence).sum::<f64>();
        let confidence = rest.min(HIGHEST);
        causes.insert(0, WeighedCause { cause: Cause::Unknown, confidence, because });
    }
    causes
}

/// Of the leading cause. That a component is healthy is not calibrated: its confidence is its share of all weights.
fn confidence(facts: &Facts, weights: &Weights) -> f64 {
    let all: f64 = weights.iter().map(|(_, weight, _)| weight).sum::<f64>() + DOUBT;
    let share = weights.first().map_or(0.0, |(_, weight, _)| weight / all);
    support(facts, weights).map_or(share, |support| CALIBRATION.confidence(&support))
}

/// The evidence for the leading fault; nothing if no fault fits, or load fits better.
pub(super) fn leading(facts: &Facts) -> Option<Support> {
    support(facts, &weights(facts))
}

/// The weights of the causes that fit, and why they do; the largest first.
type Weights = Vec<(Cause, f64, &'static str)>;

fn weights(facts: &Facts) -> Weights {
    let weighed = |cause: Cause| {
        let (weight, because) = cause.weigh(facts);
        (cause, weight, because)
    };
    let mut weights: Weights =
        Cause::ALL.into_iter().map(weighed).filter(|(_, weight, _)| *weight > 0.0).collect();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weights
}

fn support(facts: &Facts, weights: &Weights) -> Option<Support> {
    let &(cause, weight, _) = weights.first().filter(|(cause, ..)| cause.is_fault())?;
    let next = weights.iter().skip(1).find(|(other, ..)| other.is_fault());
    let lead = weight - next.map_or(0.0, |(_, weight, _)| *weight);
    Some(Support { cause, lead, strength: facts.strengths.highest() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::facts::Strengths;
    use crate::model::component::Container;

    fn facts(container: Option<Container>, is_lun: bool, has_network: bool, strengths: Strengths) -> Facts {
        Facts {
            affected: [0].into(),
            held: 1,
            share: 0.6,
            container,
            network_share: None,
            keeps_connections: false,
            may_be_disconnected: false,
            has_network,
            load: None,
            is_lun,
            strengths,
            evidence: Vec::new(),
        }
    }

    fn cause(container: Option<Container>, is_lun: bool, strengths: Strengths) -> Cause {
        weigh(&facts(container, is_lun, true, strengths))[0].cause
    }

    #[test]
    fn the_four_faults_of_the_paper_are_distinguished() {
        let none = Strengths::default();
        assert_eq!(
            cause(None, false, Strengths { latency: 3.0, more_disk_traffic: 3.0, ..none }),
            Cause::DiskHog
        );
        assert_eq!(
            cause(None, false, Strengths { latency: 16.0, more_disk_traffic: 1.9, ..none }),
            Cause::DiskHog
        );
        assert_eq!(cause(None, false, Strengths { latency: 3.0, ..none }), Cause::DiskBusy);
        assert_eq!(
            cause(None, false, Strengths { more_received: 3.0, congestion: 2.0, ..none }),
            Cause::NetworkHog
        );
        assert_eq!(cause(None, false, Strengths { congestion: 3.0, ..none }), Cause::PacketLoss);
    }

    #[test]
    fn a_slow_disk_that_shows_in_windows_is_a_slow_disk() {
        let strengths = Strengths { latency: 2.0, congestion: 3.0, ..Strengths::default() };
        assert_eq!(cause(None, false, strengths), Cause::DiskBusy);
    }

    #[test]
    fn a_container_of_luns_is_recognised_by_what_they_share() {
        let slow = Strengths { latency: 4.0, ..Strengths::default() };
        let lost = Strengths { absence: 3.0, ..Strengths::default() };
        assert_eq!(cause(Some(Container::Array), true, slow), Cause::ArrayJitter);
        assert_eq!(cause(Some(Container::Controller), true, lost), Cause::ControllerTrouble);
        assert_eq!(cause(Some(Container::Server), true, lost), Cause::ServerDown);
        assert_eq!(cause(None, true, lost), Cause::LostAttachment);
        assert_eq!(cause(None, true, slow), Cause::SlowLun);
    }

    #[test]
    fn a_servers_own_jobs_are_not_a_fault() {
        let active = Strengths { activity: 4.0, ..Strengths::default() };
        assert_eq!(cause(Some(Container::Server), true, active), Cause::WorkloadSkew);
        assert_eq!(cause(None, true, active), Cause::ReroutedLoad);
    }

    #[test]
    fn the_reason_of_an_alternative_is_about_that_alternative() {
        let hog = Strengths { latency: 3.0, more_disk_traffic: 3.0, ..Strengths::default() };
        let weighed = weigh(&facts(None, false, true, hog));
        let busy = weighed.iter().find(|other| other.cause == Cause::DiskBusy).unwrap();
        assert_eq!(busy.because, "it is slow; but it also moves more data than its peers");
        let alone = weigh(&facts(None, false, false, hog));
        assert_eq!(
            alone[0].because,
            "its disk moves more data than its peers'; its network was not recorded"
        );
    }

    #[test]
    fn thin_evidence_is_unknown() {
        assert_eq!(cause(None, false, Strengths::default()), Cause::Unknown);
        // Two causes explain a little equally well.
        let both = Strengths { cpu: 1.3, memory: 1.3, ..Strengths::default() };
        assert_eq!(cause(None, false, both), Cause::Unknown);
    }

    #[test]
    fn the_confidences_of_all_causes_are_at_most_one_and_the_leading_one_is_the_highest() {
        for more_disk_traffic in [0.0, 1.2, 2.0, 4.0, 9.0] {
            for latency in [0.0, 1.2, 2.0, 4.0, 9.0] {
                let strengths = Strengths { latency, more_disk_traffic, ..Strengths::default() };
                let weighed = weigh(&facts(None, false, false, strengths));
                let known: Vec<f64> = weighed
                    .iter()
                    .filter(|other| other.cause != Cause::Unknown)
                    .map(|other| other.confidence)
                    .collect();
                assert!(weighed.iter().map(|other| other.confidence).sum::<f64>() <= 1.0 + 1e-9);
                assert!(known.iter().all(|confidence| *confidence <= known[0]), "{weighed:?}");
            }
        }
    }
}
