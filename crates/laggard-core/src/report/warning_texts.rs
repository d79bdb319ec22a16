//! The texts of warnings, each with what to do about it, and of the reasons why a group was not evaluated.

use super::Remark;
use super::number::{count, instant, significant, span};
use super::untrusted_text::{listed, listed_with};
use crate::diagnosis::{KnownIncident, LeftOutClass, NotCompared, NotEvaluated, SizedGroup, Warning};
use crate::model::cluster::FEWEST_PEERS;
use crate::model::device::DeviceClass;
use crate::model::time::Span;

/// Names listed at most.
const MOST_NAMED: usize = 5;

pub fn not_evaluated(reason: NotEvaluated) -> String {
    match reason {
        NotEvaluated::KindNotCompared => "the method does not compare this kind".into(),
        NotEvaluated::NoSamplesOfItsOwn => "no samples of its own were recorded".into(),
        NotEvaluated::TooFewPeers => format!("a comparison needs at least {FEWEST_PEERS} peers"),
        NotEvaluated::NoWindow => "no window could be evaluated".into(),
    }
}

/// Why devices of a class are not compared.
pub fn left_out(left_out: LeftOutClass) -> String {
    let reason = match left_out.class {
        _ if left_out.reason == NotCompared::Stacked => "they are stacked on devices that are compared",
        _ if left_out.reason == NotCompared::OtherWork => {
            "all disks of their host read where those of others write, or the other way round"
        }
        _ if left_out.reason == NotCompared::Inactive => "they did nothing, or next to nothing",
        DeviceClass::Partition => "their requests are counted with those of their disks",
        DeviceClass::MultipathPath => "their requests are counted with those of the multipath device",
        DeviceClass::DeviceMapper | DeviceClass::Md | DeviceClass::Volume => {
            "volumes are not peers of the disks below them"
        }
        DeviceClass::Loop => "loop devices are not peers of disks",
        DeviceClass::Optical => "optical drives are not peers of disks",
        DeviceClass::Floppy => "floppy drives are not peers of disks",
        _ => "memory is not a peer of disks",
    };
    reason.into()
}

/// A warning in words.
pub fn remark(warning: &Warning) -> Remark {
    let (text, next): (String, String) = match warning {
        Warning::NoWindow { groups, needed } => (
            format!("no window could be evaluated of {}", named(groups)),
            match needed {
                Some(needed) => format!("this method needs at least {}: record for longer", span(*needed)),
                None => "record for at least some minutes; with --windows, choose lengths that hold several samples and \
                         fit in the recording"
                    .into(),
            },
        ),
        Warning::TooFewPeers { groups } => (
            format!("too few peers to compare: {}", named(groups)),
            "record more hosts into one dataset, or name the peers in a cluster file (`laggard cluster check`)".into(),
        ),
        Warning::UnequalIntervals { shortest, longest } => (
            format!(
                "some hosts were recorded every {longest}, others every {shortest}: all are evaluated every {longest}"
            ),
            "record all hosts at the same interval".into(),
        ),
        Warning::Gaps { count: gaps } => (
            format!("the recording has {}", count(*gaps, "gap")),
            "`laggard tables DATASET --json` lists the gaps".into(),
        ),
        Warning::ShiftedClocks { hosts } => (
            format!("recorded at another time than the other hosts: {}", listed(&shifts(hosts), MOST_NAMED)),
            "if their clocks are wrong, set them (`chronyc tracking`) and record again; if times were read in the wrong \
             time zone, import them again"
                .into(),
        ),
        Warning::Unreadable { problem } => {
            (problem.clone(), "the rest was used; repair or remove the file".into())
        }
        Warning::SettledByFeedback { repaired, ignored } => (
            format!("feedback hides incidents of these components: {}", settled(repaired, ignored)),
            "`laggard feedback DATASET list` shows the feedback".into(),
        ),
        Warning::Untrained { method } => (
            format!("the method {method} was not trained: its thresholds come from the recording itself"),
            "`laggard train` on a calm day, then --thresholds; or --method laggard, which needs none".into(),
        ),
        Warning::NoThresholds { metrics } => (
            format!("not in the thresholds, so each group's own spread is used: {}", metrics.join(", ")),
            "`laggard train` on a calm time that is long enough and in which these metrics are not zero".into(),
        ),
        Warning::NotImported { files } => (
            format!("{} could not be read, or not to the end", count(*files as usize, "file")),
            "the messages above name them; the rest was used. `laggard import --notes` gives details".into(),
        ),
        Warning::NothingEvaluated { reason } => {
            (reason.clone(), "nothing was evaluated: this does not show that the system is healthy".into())
        }
        Warning::NotTrained { reason } => (
            format!("not trained: {reason}"),
            "with these thresholds, this metric of the group uses its own spread, as if untrained".into(),
        ),
        Warning::UselessThresholds { group, metric, useless, members, is_common, highest_score } => (
            format!(
                "group {group}, {metric}: {} at or above {}, the highest score there is, and never exceeded",
                match is_common {
                    true => "the threshold of all members is".to_owned(),
                    false => format!("the thresholds of {useless} of {} are", count(*members, "member")),
                },
                significant(*highest_score)
            ),
            format!(
                "these members are never called faulty by {metric}: train on a calmer time with --from and --to, \
                 separate unlike members in the cluster file, or lower the cushion (--set cushion=1)"
            ),
        ),
        Warning::ShortTraining { length } => (
            format!("trained on {}: what happens once a day may be missing", span(*length)),
            "train on a whole day, or on a stress test with all kinds of work".into(),
        ),
        Warning::UnknownComponents { components, compared } => (
            format!(
                "not in the training data, so compared as if untrained: {} ({} of {})",
                listed(components, MOST_NAMED),
                components.len(),
                count(*compared, "component")
            ),
            "train again with `laggard train --method laggard` once they have been in use for a day".into(),
        ),
        Warning::NotCalm { suspects } => (
            format!("the training time is not calm: {}", listed_with(&incidents(suspects), MOST_NAMED, "; ")),
            "choose a calmer time with --from and --to, or repair the fault and record again. Only these components are \
             affected: their later incidents will be reported late or not at all"
                .into(),
        ),
        Warning::CalmnessUnknown { reason } => (
            format!("could not check whether the training time was calm: {reason}"),
            "check it yourself: --html FILE".into(),
        ),
    };
    Remark { text, next }
}

fn named(groups: &[SizedGroup]) -> String {
    let name = |group: &SizedGroup| format!("{} ({})", group.name, count(group.members, "member"));
    listed(&groups.iter().map(name).collect::<Vec<_>>(), MOST_NAMED)
}

/// `oss3 (2 h later)`.
fn shifts(hosts: &[(String, Span)]) -> Vec<String> {
    let shift = |(host, by): &(String, Span)| {
        let length = span(Span::from_micros(by.micros().saturating_abs()));
        format!("{host} ({length} {})", if *by < Span::ZERO { "earlier" } else { "later" })
    };
    hosts.iter().map(shift).collect()
}

fn settled(repaired: &[String], ignored: &[String]) -> String {
    let part = |why: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{why} {}", listed(names, MOST_NAMED)))
    };
    let parts = [part("repaired:", repaired), part("ignored:", ignored)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn incidents(suspects: &[KnownIncident]) -> Vec<String> {
    let short = |one: &KnownIncident| {
        let (since, until) = (instant(one.since), instant(one.until));
        format!("{} ({}, {since} to {until})", one.component, one.cause.title())
    };
    suspects.iter().map(short).collect()
}
