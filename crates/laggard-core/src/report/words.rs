//! The sentences that every rendering shares: how bad, since when, what was compared, how sure.

use super::foreign::together;
use super::number::{count, instant, quantity, span, times};
use super::{Evidence, Group, Report, Suspect};
use crate::diagnosis::cause::Cause;
use crate::model::metric::{Aspect, Harm, MetricId};
use crate::model::time::Span;

/// Ratios below this are not worth a number: the suspect differs in another way, such as by jitter.
const WORTH_A_NUMBER: f64 = 1.05;
/// Mild trouble needs about this long to stand out from chance.
const LONG_ENOUGH: Span = Span::from_seconds(3600);

/// `4.1 times slower than its 11 peers`.
pub fn how_bad(suspect: &Suspect) -> String {
    let peers = peers(suspect.peer_count);
    let first = suspect.evidence.first();
    if let Some(first) = first.filter(|_| is_silent(suspect)) {
        return format!("{}silent while {peers} are at work", many(first));
    }
    if let Some(share) = first.and_then(|first| share(first, &peers)) {
        return share;
    }
    if let Some(first) = first.filter(|first| first.value.is_none()) {
        return format!("{}without samples, unlike {peers}", many(first));
    }
    if suspect.severity.is_infinite() {
        return format!("{} beyond measure compared with {peers}", comparative(suspect));
    }
    if suspect.severity >= WORTH_A_NUMBER {
        return format!("{} times {} than {peers}", times(suspect.severity), comparative(suspect));
    }
    first.and_then(|first| beside_nothing(first, &peers)).unwrap_or_else(|| format!("unlike {peers}"))
}

/// `72 of its 72 components `, where several say so.
fn many(evidence: &Evidence) -> String {
    match evidence.components {
        0 | 1 => String::new(),
        several => format!("{several} of its {} components ", evidence.held),
    }
}

/// What is a share of something is told as such: that of the peers may be none.
fn share(evidence: &Evidence, peers: &str) -> Option<String> {
    let (own, others) = (quantity(evidence.value, evidence.unit), quantity(evidence.peers, evidence.unit));
    let state = match evidence.metric {
        MetricId::LinkLoss | MetricId::Loss => {
            return Some(format!("{own} of its segments are sent again, of {peers} {others}"));
        }
        MetricId::Absence => "absent",
        MetricId::Idleness => "idle",
        MetricId::Activity => "at work",
        _ => return None,
    };
    Some(format!("{}{state} {own} of the time, {peers} {others}", many(evidence)))
}

/// `throughput 18.2 B/s, that of its 767 peers 0 B/s`: where one of both is nothing there is no ratio.
fn beside_nothing(evidence: &Evidence, peers: &str) -> Option<String> {
    let (own, others) = (evidence.value?, evidence.peers?);
    let told = |value| quantity(Some(value), evidence.unit);
    ((own == 0.0) != (others == 0.0))
        .then(|| format!("{} {}, that of {peers} {}", evidence.metric, told(own), told(others)))
}

fn peers(count: usize) -> String {
    match count {
        0 => "its peers".into(),
        1 => "its only peer".into(),
        count => format!("its {count} peers"),
    }
}

/// Without samples, or without work, for most of the time, in what speaks most clearly.
fn is_silent(suspect: &Suspect) -> bool {
    let is_nothing = |evidence: &Evidence| match evidence.metric {
        MetricId::Absence | MetricId::Idleness => evidence.value.is_none_or(|percent| percent > 50.0),
        _ => evidence.value.unwrap_or(0.0) == 0.0,
    };
    let nothing = suspect.evidence.first().is_some_and(is_nothing);
    nothing && matches!(suspect.cause, Cause::ServerDown | Cause::LostAttachment)
}

fn comparative(suspect: &Suspect) -> &'static str {
    let Some(evidence) = suspect.evidence.first() else { return "worse" };
    let metric = evidence.metric.metric();
    match (metric.aspect, metric.id) {
        _ if !metric.is_recorded() => "worse",
        (Aspect::Latency, _) | (_, MetricId::Rtt | MetricId::SocketRtt) => "slower",
        (Aspect::Queue, MetricId::Util) => "busier",
        (Aspect::Queue, _) => "more backed up",
        (Aspect::Congestion, _) if metric.harm == Harm::Down => "more throttled",
        (Aspect::Congestion, _) => "more congested",
        (Aspect::Errors, _) => "more error-prone",
        (Aspect::Throughput, _) if evidence.value < evidence.peers => "less active",
        (Aspect::Throughput, _) => "more active",
    }
}

/// When it began and whether it goes on.
pub fn when(suspect: &Suspect) -> String {
    let (since, length) = (instant(suspect.since), together(&span(suspect.until - suspect.since)));
    if suspect.is_ongoing {
        format!("since {since}, for {length}, and still so at the end of the recording")
    } else {
        format!("from {since} to {}, for {length}; over by the end of the recording", instant(suspect.until))
    }
}

/// A cause in plain words: `disk busy`.
pub fn cause(cause: Cause) -> String {
    match cause {
        Cause::SlowLun => "slow LUN".into(),
        Cause::Unknown => "cause unknown".into(),
        cause => cause.as_str().replace('-', " "),
    }
}

/// What a cause means, in a clause.
pub fn meaning(cause: Cause) -> &'static str {
    match cause {
        Cause::DiskHog => "another process on the same host uses the disk",
        Cause::DiskBusy => "the device is slow, or kept busy by someone whom this host cannot see",
        Cause::NetworkHog => "other traffic uses the host's network",
        Cause::PacketLoss => "packets to or from the host are lost",
        Cause::LostAttachment => "the host no longer reaches the device, or no longer uses it",
        Cause::ReroutedLoad => "it carries the load of another one",
        Cause::ServerDown => "the host is down, or its recorder is",
        Cause::ControllerTrouble => "a storage controller is in trouble, and all that hangs on it with it",
        Cause::ArrayJitter => {
            "many LUNs of one array jitter, as when a drawer of disks fails again and again"
        }
        Cause::SlowLun => "one LUN is slower than its peers, whoever asks it",
        Cause::WorkloadSkew => "it is asked to do more than its peers, and is not to blame",
        Cause::Unknown => "it is unlike its peers, and the evidence does not say why",
    }
}

/// What was compared, over which time, by which method; without a full stop.
pub fn compared(report: &Report) -> String {
    let groups = report.groups.len();
    let judged = report.groups.iter().filter(|group| group.judged).count();
    let of = if judged == groups {
        count(groups, "peer group")
    } else {
        format!("{judged} of {groups} peer groups")
    };
    let who = count(members(report, true), "component");
    format!("{who} in {of}, {}, by method {}", looked_at(report), report.method)
}

/// The stretch of time: `2026-11-15T08:00:00Z to 2026-11-15T12:30:00Z (4 h 30 min)`.
pub fn looked_at(report: &Report) -> String {
    match (report.from, report.to) {
        (Some(from), Some(to)) => {
            format!("{} to {} ({})", instant(from), instant(to), together(&span(to - from)))
        }
        _ => "over no time".into(),
    }
}

/// How many components are in groups that were compared, or in those that were not.
pub fn members(report: &Report, judged: bool) -> usize {
    let groups = report.groups.iter().filter(|group: &&Group| group.judged == judged);
    groups.fold(0, |sum, group| sum.saturating_add(group.members))
}

/// Whether anyone was compared at all.
pub fn is_judged(report: &Report) -> bool {
    members(report, true) > 0
}

/// Who stands out, in one line.
pub fn verdict(report: &Report) -> String {
    let judged = members(report, true);
    match report.suspects.len() {
        0 if !is_judged(report) => "Nothing could be judged".into(),
        0 => format!("No suspects among {}", count(judged, "component")),
        suspects => format!("{} among {}", count(suspects, "suspect"), count(judged, "component")),
    }
}

/// How far "no suspects" can be relied on, a sentence each.
pub fn certainty(report: &Report) -> Vec<String> {
    if !is_judged(report) {
        return vec![
            "No two components could be compared, so this says nothing about the system's health.".into(),
        ];
    }
    let mut sentences = vec!["Nobody behaved unlike its peers for long enough to be blamed.".into()];
    let left_out = members(report, false);
    if left_out > 0 {
        sentences.push(format!(
            "Not covered: {} in groups that could not be judged.",
            count(left_out, "component")
        ));
    }
    if let Some(length) = report.from.zip(report.to).map(|(from, to)| to - from).filter(|l| *l < LONG_ENOUGH)
    {
        sentences.push(format!(
            "Only {} were looked at: mild trouble needs hours to stand out.",
            together(&span(length))
        ));
    }
    if !report.warnings.is_empty() {
        sentences.push("The warnings limit it further.".into());
    }
    sentences.push("Trouble that all peers share does not show in a comparison of peers.".into());
    sentences
}
