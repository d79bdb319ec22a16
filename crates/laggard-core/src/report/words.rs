//! The sentences that all forms share: severity, time, what was compared, and how far it can be relied on.

use super::number::{count, instant, quantity, span, times};
use super::untrusted_text::{listed, together};
use super::{Report, limit_texts};
use crate::diagnosis::detection_limit::DetectionLimit;
use crate::diagnosis::{Cause, Evidence, Suspect};
use crate::model::metric::{Aspect, Harm, MetricId};
use crate::model::time::Span;

/// Ratios below this are not worth a number: the suspect differs in another way, such as by jitter.
const WORTH_A_NUMBER: f64 = 1.05;
/// Mild faults need about this long to stand out from chance.
const LONG_ENOUGH: Span = Span::from_seconds(3600);

/// Times of one suspect that are listed.
const MOST_TIMES: usize = 4;

/// `4.1 times slower than its 11 peers`.
pub fn how_bad(suspect: &Suspect) -> String {
    let peers = peers(suspect.peer_count);
    let first = suspect.evidence.first();
    if let Some(first) = first.filter(|_| is_lost(suspect)) {
        return format!("{}absent or idle while {peers} are in use", many(first));
    }
    if let Some(share) = first.and_then(|first| share(first, &peers)) {
        return share;
    }
    if let Some(first) = first.filter(|first| first.value.is_none()) {
        return format!("{}without samples, unlike {peers}", many(first));
    }
    if suspect.severity.is_infinite() {
        return format!("far {} than {peers}", comparative(suspect));
    }
    if suspect.severity >= WORTH_A_NUMBER {
        return format!("{} times {} than {peers}", times(suspect.severity), comparative(suspect));
    }
    first.and_then(|first| beside_zero(first, &peers)).unwrap_or_else(|| format!("unlike {peers}"))
}

/// `72 of its 72 components `, where several show it.
fn many(evidence: &Evidence) -> String {
    match evidence.components {
        0 | 1 => String::new(),
        several => format!("{several} of its {} components ", evidence.held),
    }
}

/// Shares are shown as such, not as ratios: that of the peers may be 0.
fn share(evidence: &Evidence, peers: &str) -> Option<String> {
    let (own, others) = (quantity(evidence.value, evidence.unit), quantity(evidence.peers, evidence.unit));
    let state = match evidence.metric {
        id if id.is_loss() => {
            return Some(format!("{own} of its segments are retransmitted, of {peers} {others}"));
        }
        MetricId::Absence => "absent",
        MetricId::Disconnection => "without a connection",
        MetricId::Idleness => "idle",
        MetricId::Activity => "in use",
        _ => return None,
    };
    Some(format!("{}{state} {own} of the time, {peers} {others}", many(evidence)))
}

/// `throughput 18.2 B/s, that of its 767 peers 0 B/s`: where one of both is 0, there is no ratio.
fn beside_zero(evidence: &Evidence, peers: &str) -> Option<String> {
    let (own, others) = (evidence.value?, evidence.peers?);
    let shown = |value| quantity(Some(value), evidence.unit);
    ((own == 0.0) != (others == 0.0))
        .then(|| format!("{} {}, that of {peers} {}", evidence.metric, shown(own), shown(others)))
}

fn peers(count: usize) -> String {
    match count {
        0 => "its peers".into(),
        1 => "its only peer".into(),
        count => format!("its {count} peers"),
    }
}

/// Without samples, or without requests, for most of the time, by the strongest evidence.
fn is_lost(suspect: &Suspect) -> bool {
    let is_zero = |evidence: &Evidence| match evidence.metric {
        MetricId::Absence | MetricId::Idleness | MetricId::Disconnection => {
            evidence.value.is_none_or(|percent| percent > 50.0)
        }
        _ => evidence.value.unwrap_or(0.0) == 0.0,
    };
    let is_zero = suspect.evidence.first().is_some_and(is_zero);
    is_zero && matches!(suspect.cause, Cause::ServerDown | Cause::LostAttachment)
}

fn comparative(suspect: &Suspect) -> &'static str {
    let Some(evidence) = suspect.evidence.first() else { return "worse" };
    let metric = evidence.metric.metric();
    match (metric.aspect, metric.id) {
        _ if metric.is_share_of_time() => "worse",
        (Aspect::Latency, _) | (_, MetricId::Rtt | MetricId::PathRtt | MetricId::SocketRtt) => "slower",
        (Aspect::Queue, MetricId::Util) => "busier",
        (Aspect::Queue, _) => "more backed up",
        (Aspect::Congestion, _) if metric.harm == Harm::Down => "more throttled",
        (Aspect::Congestion, _) => "more congested",
        (Aspect::Errors, _) => "more error-prone",
        (Aspect::Throughput, _) if evidence.value < evidence.peers => "less active",
        (Aspect::Throughput, _) => "more active",
    }
}

/// When it began, and whether it continues.
pub fn when(suspect: &Suspect) -> String {
    let Suspect { since_uncertainty_seconds, until_uncertainty_seconds, step, .. } = *suspect;
    let since = instant(suspect.since) + &uncertain(since_uncertainty_seconds, step);
    let until = instant(suspect.until) + &uncertain(until_uncertainty_seconds, step);
    let length = together(&span(suspect.until - suspect.since));
    if !suspect.other_times.is_empty() {
        let others = suspect.other_times.iter().map(|other| {
            let until = if other.is_ongoing { "the end".into() } else { instant(other.until) };
            format!("{} to {until}", instant(other.since))
        });
        let others: Vec<String> = others.collect();
        format!("from {since} to {until}, for {length}; also from {}", listed(&others, MOST_TIMES))
    } else {
        once(suspect, [&since, &until, &length])
    }
}

/// Nothing is known about the time before the recording, unless the method was trained.
fn once(suspect: &Suspect, [since, until, length]: [&str; 3]) -> String {
    match (suspect.is_from_begin, suspect.is_ongoing) {
        (true, true) => {
            format!("for the whole recording, since {since} or earlier, for {length}{}", before(suspect))
        }
        (true, false) => {
            format!(
                "from the beginning of the recording or earlier to {until}, for {length}{}",
                before(suspect)
            )
        }
        (false, true) => {
            format!("since {since}, for {length}, and ongoing at the end of the recording{}", before(suspect))
        }
        (false, false) => {
            let rest = before(suspect);
            format!("from {since} to {until}, for {length}; over before the end of the recording{rest}")
        }
    }
}

/// `; 1.5 times its peers' value in training`
fn before(suspect: &Suspect) -> String {
    let usual = suspect.usual_ratio;
    usual.map_or(String::new(), |usual| match usual == 1.0 {
        true => "; like its peers in training".into(),
        false => format!("; {} times its peers' value in training already", times(usual)),
    })
}

/// ` ± 1 min`; nothing where a time is known to the step.
fn uncertain(seconds: f64, step: Span) -> String {
    let uncertainty = Span::from_seconds(seconds.round() as i64);
    if uncertainty <= step { String::new() } else { format!(" ± {}", together(&span(uncertainty))) }
}

/// The components compared, the time and the method; without a full stop.
pub fn compared(report: &Report) -> String {
    let groups = report.groups.len();
    let evaluated = report.groups.iter().filter(|group| group.is_evaluated).count();
    let of = if evaluated == groups {
        count(groups, "peer group")
    } else {
        format!("{evaluated} of {groups} peer groups")
    };
    let components = count(report.members(true), "component");
    format!("{components} in {of}, {}, by method {}", time(report), report.method)
}

/// `2026-11-15T08:00:00Z to 2026-11-15T12:30:00Z (4 h 30 min)`.
fn time(report: &Report) -> String {
    match (report.from, report.to) {
        (Some(from), Some(to)) => {
            format!("{} to {} ({})", instant(from), instant(to), together(&span(to - from)))
        }
        _ => "over no time".into(),
    }
}

/// The result in one line.
pub fn verdict(report: &Report) -> String {
    let components = count(report.members(true), "component");
    match report.suspects.len() {
        0 if report.members(true) == 0 => "Cannot tell: nothing could be evaluated".into(),
        0 if !report.can_tell() => {
            let (compared, in_use) = report.disks_in_use();
            match in_use {
                0 => "Cannot tell: no disk was in use".into(),
                _ => format!("Cannot tell: {compared} of {} in use could be compared", count(in_use, "disk")),
            }
        }
        0 => format!("No suspects among {components}"),
        suspects => format!("{} among {components}", count(suspects, "suspect")),
    }
}

/// How far "no suspects" can be relied on, a sentence each.
pub fn certainty(report: &Report) -> Vec<String> {
    if !report.can_tell() {
        return vec![
            "Too few components could be compared: this does not show that the system is healthy.".into(),
        ];
    }
    let mut sentences = vec!["No component differed from its peers for long enough to be blamed.".into()];
    sentences.extend(detection_limits(report));
    let left_out = report.members(false);
    if left_out > 0 {
        sentences.push(format!(
            "Not covered: {} in groups that could not be evaluated.",
            count(left_out, "component")
        ));
    }
    if !report.warnings.is_empty() {
        sentences.push("The warnings limit it further.".into());
    }
    sentences.push("A fault that all peers share does not show in a comparison of peers.".into());
    sentences
}

/// The slowdowns that would have been found, as far as they were measured.
fn detection_limits(report: &Report) -> Vec<String> {
    let limits: Vec<DetectionLimit> = report.detection_limits.iter().map(|one| one.limit).collect();
    let mut sentences = limit_texts::sentences(&limits);
    let sampled = limits.first().filter(|limit| limit.disks < limit.all_disks);
    if sentences.is_empty() {
        let length = report.from.zip(report.to).map(|(from, to)| to - from);
        if let Some(length) = length.filter(|length| *length < LONG_ENOUGH) {
            let length = together(&span(length));
            sentences.push(format!("Only {length} were evaluated: mild faults need hours to stand out."));
        }
        sentences.push("`laggard power` measures which slowdowns would have been found.".into());
    }
    if let Some(DetectionLimit { disks, all_disks, .. }) = sampled {
        let all = count(*all_disks, "disk");
        sentences
            .push(format!("To save time, this was measured on {disks} of {all}; `laggard power` uses all."));
    }
    sentences
}
