//! The texts of observations, each with what to do about it.

use super::number::{count, percent, quantity, span, times};
use super::untrusted_text::listed;
use crate::diagnosis::{Difference, LoadDifference, Observation, SlowReason};
use crate::model::time::{Span, Timestamp};
use crate::selection::{Mixture, MixtureCluster};

/// Names listed at most.
const MOST_NAMED: usize = 5;

/// Text and next step.
pub(super) fn texts(observation: &Observation) -> (String, String) {
    match observation {
        Observation::TakingTurns { components, others, worst, since, until } => (
            format!(
                "{} for a while, {}; the worst: {worst}, from {since} to {until}",
                differing(components),
                if others.is_empty() {
                    "each at another time".into()
                } else {
                    format!("and so did {}", listed(others, MOST_NAMED))
                },
            ),
            format!("ordinary for this system; for details: --from {since} --to {until}"),
        ),
        Observation::OwnJobs { server, affected, held, since, until } => (
            format!(
                "{server} uses {affected} of its {held} devices while their peers rest, from {since} to {until}: its own \
                 jobs, not a fault"
            ),
            format!("if nothing should run on {server}, find out which job does"),
        ),
        Observation::UnevenLoad { component, difference, since, until } => (
            format!("{}, from {since} to {until}: uneven load, not a fault", uneven(component, *difference)),
            match difference {
                LoadDifference::Less => format!("what keeps requests from {component}? Look at the network of its host"),
                _ => format!("which job uses {component} more than its peers? It may be healthy"),
            },
        ),
        Observation::UnevenTraffic { interfaces, worst, ratio, since, until } => (
            format!(
                "{} carried other amounts than their peers, the most {worst}{}, from {since} to {until}: neither round \
                 trips nor losses suggest that this slowed anything down",
                count(interfaces.len(), "interface"),
                ratio.map(|ratio| format!(" ({} times)", times(ratio))).unwrap_or_default(),
            ),
            "no action needed; uneven traffic is usual where jobs differ".into(),
        ),
        Observation::Far { remote, links, is_all, round_trip_ms } => (
            format!(
                "round trips to {remote} take {} from the beginning and hardly vary: {}: a long way, not a fault",
                quantity(Some(*round_trip_ms), "ms"),
                match links.len() {
                    2.. if *is_all => format!("all its {} links", links.len()),
                    _ => listed(links, MOST_NAMED),
                },
            ),
            format!("no action needed if {remote} is at another site; otherwise: which way do packets take to it?"),
        ),
        Observation::UsuallyDifferent { components, metric, ratio, since, until } => (
            format!(
                "always different: {} already differed from {} peers in training (from {since} to {until}), most of all in \
                 {metric}, {} times the peers' value; compared with {} usual ratio",
                listed(components, MOST_NAMED),
                if components.len() == 1 { "its" } else { "their" },
                times(*ratio),
                if components.len() == 1 { "its" } else { "their" },
            ),
            "no action needed if other hardware or another role explains it; otherwise train again after a repair".into(),
        ),
        Observation::Unused { component, since, until } => (
            format!(
                "{component} had few or no requests or samples, most of all from {since} to {until}: uneven use or lost \
                 samples explain it"
            ),
            "no action needed, unless it should have had some: is it still part of the file system?".into(),
        ),
        Observation::Removed { components, since } => (
            format!(
                "{} left their host for good after some time without requests, the first at {since}: {}",
                count(components.len(), "device"),
                listed(components, MOST_NAMED),
            ),
            "no action needed if that was planned; otherwise, `dmesg -T` on the host shows why".into(),
        ),
        Observation::NoPeerAtWork { component } => (
            format!("{component} works while its peers rest: there is nothing to compare it with"),
            "add its true peers to the comparison: more hosts, or a cluster file (`laggard cluster check`)".into(),
        ),
        Observation::MixedGroup(Mixture { group, clusters, .. }) => (
            format!(
                "the peer group {group} consists of {} for the whole recording, which are compared separately: {}",
                count(clusters.len(), "cluster"),
                clusters.iter().map(described).collect::<Vec<_>>().join("; "),
            ),
            "if that is so by design (hardware generations, roles), state it in the cluster file: an attribute `cohort` \
             for each cluster (docs/cluster-file.md)"
                .into(),
        ),
        Observation::Slower { components, ratio, hour, reason } => (
            format!(
                "{} slower than {} by the mean of {}, the most {} ({} times): {}",
                count(components.len(), "disk"),
                if components.len() == 1 { "its peers" } else { "their peers" },
                mean_of(*hour),
                components[0],
                times(*ratio),
                slow(*reason),
            ),
            "a longer recording may show more; `laggard power` measures what would be found in this one".into(),
        ),
        Observation::Faster { components, ratio } => (
            format!(
                "{} answered up to {} times faster than their peers for a while, though not always: {}",
                count(components.len(), "disk"),
                times(*ratio),
                listed(components, MOST_NAMED),
            ),
            "requests that fail, or that a cache answers, are fast: `dmesg -T` on the host shows I/O errors".into(),
        ),
        Observation::Errors { components, metric, own, peers, hour } => (
            format!(
                "{} with more of {metric} ({}) than their peers by the mean of {}, the most {} ({} against {}): {}",
                count(components.len(), "component"),
                metric.metric().about,
                mean_of(*hour),
                components[0],
                quantity(Some(*own), metric.metric().unit.symbol()),
                quantity(Some(*peers), metric.metric().unit.symbol()),
                listed(components, MOST_NAMED),
            ),
            "`ethtool -S` and `ip -s link` on the host: errors, drops, CRC; then the cable and the switch port".into(),
        ),
        Observation::Watch { components, difference, since, until } => (
            format!(
                "{} from {} at the end of the recording, since {since}: too short a time to blame {}",
                differing_now(components),
                if components.len() == 1 { "its peers" } else { "their peers" },
                blamed(components, *difference),
            ),
            format!("look again in {}: if it continues, it is a suspect then", span(again(*until - *since))),
        ),
        Observation::Brief { components, difference, since, until } => (
            format!(
                "{} briefly, the most from {since} to {until}: too short or too uneven a time to blame {}",
                differing(components),
                blamed(components, *difference),
            ),
            format!("for details: --from {since} --to {until}, with some minutes before and after"),
        ),
        Observation::Restarts { hosts, longest, since, until } => (
            format!(
                "{} without samples for some minutes: {}; the longest time {longest}, from {since} to {until}",
                count(hosts.len(), "host"),
                listed(hosts, MOST_NAMED)
            ),
            "did they restart, or only their recorders? `last -x reboot` on them shows it".into(),
        ),
        Observation::NewHosts { hosts, since } => (
            format!("{} joined during the recording: {}", count(hosts.len(), "host"), listed(hosts, MOST_NAMED)),
            format!("nothing is known about them before {since}"),
        ),
        Observation::LostSamples { hosts, worst, share } => (
            format!(
                "{} with missing samples, the most {worst} ({}): {}",
                count(hosts.len(), "host"),
                percent(*share),
                listed(hosts, MOST_NAMED)
            ),
            "the verdicts do not depend on them; check the load and the clock of these hosts".into(),
        ),
    }
}

/// The time after which there is twice as much to see, and enough for some windows.
fn again(lasted: Span) -> Span {
    lasted.max(Span::from_seconds(300))
}

fn mean_of(hour: Option<(Timestamp, Timestamp)>) -> String {
    hour.map_or("the whole recording".into(), |(since, until)| format!("the hour from {since} to {until}"))
}

/// `it (await 12 ms, its peers 5 ms)`; of several, the worst and the names of all.
fn blamed(components: &[String], Difference { metric, own, peers }: Difference) -> String {
    let shown = |value| quantity(value, metric.metric().unit.symbol());
    let values = format!("{metric} {}, its peers {}", shown(own), shown(peers));
    match components {
        [_] => format!("it ({values})"),
        several => {
            format!("them; the worst is {} ({values}); all: {}", several[0], listed(several, MOST_NAMED))
        }
    }
}

fn differing_now(components: &[String]) -> String {
    match components {
        [only] => format!("{only} differs"),
        several => format!("{} differ", count(several.len(), "component")),
    }
}

fn differing(components: &[String]) -> String {
    match components {
        [only] => format!("{only} differed from its peers"),
        several => format!("{} differed from their peers", count(several.len(), "component")),
    }
}

fn uneven(component: &str, difference: LoadDifference) -> String {
    match difference {
        LoadDifference::More => format!("the load of {component} is higher than its peers'"),
        LoadDifference::Less => {
            format!(
                "the load of {component} is lower than its peers', and its requests take as long as theirs"
            )
        }
        LoadDifference::OtherMix => format!(
            "{component} has another share of reads and writes than its peers, and each takes as long as theirs"
        ),
        LoadDifference::LargerRequests => {
            format!(
                "the requests of {component} are several times as large as its peers', and take longer by no more"
            )
        }
    }
}

fn slow(reason: SlowReason) -> String {
    match reason {
        SlowReason::Load => "its load differs from its peers', which explains that".into(),
        SlowReason::Ordinary => "its peers differ from each other nearly as much".into(),
        SlowReason::Mild => "too mild to blame it".into(),
        SlowReason::Short { since, until } => {
            format!("most of that is from {since} to {until}, too short to blame it")
        }
        SlowReason::Uneven { since, until } => {
            format!("it comes and goes, most of all from {since} to {until}: too uneven in time to blame it")
        }
    }
}

fn described(cluster: &MixtureCluster) -> String {
    format!("{} ({}: {})", cluster.name, cluster.members.len(), listed(&cluster.members, 3))
}
