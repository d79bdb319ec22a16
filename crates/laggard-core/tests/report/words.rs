//! The sentences that all renderings share.

use laggard_core::diagnosis::Cause;
use laggard_core::diagnosis::Suspect;
use laggard_core::report::words::{certainty, how_bad, when};

use crate::sample;
use laggard_core::model::metric::MetricId;

fn suspect() -> Suspect {
    sample::one_suspect().suspects.remove(0)
}

#[test]
fn the_metric_chooses_the_word() {
    let mut slow = suspect();
    assert_eq!(how_bad(&slow), "4.1 times slower than its 11 peers");
    slow.evidence[0].metric = MetricId::Util;
    slow.peer_count = 0;
    assert_eq!(how_bad(&slow), "4.1 times busier than its peers");
    slow.evidence.clear();
    assert_eq!(how_bad(&slow), "4.1 times worse than its peers");
}

#[test]
fn lost_segments_are_shown_as_shares_since_the_peers_may_have_none() {
    let mut lossy = suspect();
    (lossy.evidence[0].metric, lossy.evidence[0].unit) = (MetricId::LinkLoss, "%");
    (lossy.evidence[0].value, lossy.evidence[0].peers) = (Some(3.91), Some(0.0));
    assert_eq!(how_bad(&lossy), "3.91 % of its segments are retransmitted, of its 11 peers 0 %");
}

#[test]
fn a_lost_component_has_no_ratio() {
    let mut lost = suspect();
    (lost.cause, lost.evidence[0].value, lost.severity) = (Cause::LostAttachment, None, f64::INFINITY);
    assert_eq!(how_bad(&lost), "absent or idle while its 11 peers are in use");
}

#[test]
fn shares_of_the_time_are_not_shown_as_ratios() {
    let mut lost = suspect();
    (lost.severity, lost.cause) = (f64::NAN, Cause::ControllerTrouble);
    let first = &mut lost.evidence[0];
    (first.metric, first.unit, first.value, first.peers) = (MetricId::Absence, "%", Some(100.0), Some(0.0));
    assert_eq!(how_bad(&lost), "absent 100 % of the time, its 11 peers 0 %");
    lost.cause = Cause::ServerDown;
    (lost.evidence[0].components, lost.evidence[0].held) = (72, 72);
    assert_eq!(how_bad(&lost), "72 of its 72 components absent or idle while its 11 peers are in use");
    assert_eq!(serde_json::to_value(&lost).unwrap()["severity"], serde_json::Value::Null);
}

#[test]
fn where_the_peers_are_at_zero_both_values_are_shown() {
    let mut busy = suspect();
    (busy.severity, busy.evidence[0].peers) = (f64::NAN, Some(0.0));
    assert_eq!(how_bad(&busy), "await 41.2 ms, that of its 11 peers 0 ms");
    busy.evidence[0].value = None;
    assert_eq!(how_bad(&busy), "without samples, unlike its 11 peers");
}

#[test]
fn a_ratio_near_one_is_left_out() {
    let mut jittery = suspect();
    for severity in [f64::NAN, 1.0, 0.2] {
        jittery.severity = severity;
        assert_eq!(how_bad(&jittery), "unlike its 11 peers");
    }
    jittery.severity = f64::INFINITY;
    assert_eq!(how_bad(&jittery), "far slower than its 11 peers");
}

#[test]
fn no_suspects_comes_with_its_limits() {
    assert_eq!(certainty(&sample::healthy()).len(), 3);
    assert!(certainty(&sample::only_warnings())[0].contains("does not show"));
    let mut hasty = sample::healthy();
    hasty.to = hasty.from.map(|from| from + laggard_core::model::time::Span::from_seconds(300));
    assert!(certainty(&hasty)[1].contains("Only 5\u{a0}min were evaluated"));
}

#[test]
fn a_begin_before_the_recording_and_one_within_it_are_in_other_words() {
    let mut slow = suspect();
    assert!(when(&slow).starts_with("since ") && when(&slow).ends_with("at the end of the recording"));
    slow.usual_ratio = Some(1.52);
    assert!(when(&slow).ends_with("; 1.5 times its peers' value in training already"), "{}", when(&slow));
    slow.usual_ratio = Some(1.0);
    assert!(when(&slow).ends_with("; like its peers in training"), "{}", when(&slow));
    (slow.usual_ratio, slow.is_from_begin) = (None, true);
    assert!(when(&slow).starts_with("for the whole recording, since "), "{}", when(&slow));
    assert!(when(&slow).contains(" or earlier, for "), "{}", when(&slow));
    slow.is_ongoing = false;
    assert!(when(&slow).starts_with("from the beginning of the recording or earlier to "), "{}", when(&slow));
}
