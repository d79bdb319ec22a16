//! The fewest who explain everything.
//! In: [`Episode`]s and what belongs to what. Out: [`Incident`]s. Always: every episode is explained by exactly one.
//!
//! Naming one controller is shorter than naming fifty of its LUNs, unless it has many more that are well. That is
//! taken literally: what takes fewer bits to say is the explanation.

use std::collections::{BTreeMap, BTreeSet};

use super::episodes::Episode;
use crate::model::cluster::Inventory;
use crate::model::component::{Container, Kind};
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};

/// A culprit and its episodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Incident {
    /// Who.
    pub culprit: Culprit,
    /// Indices of the episodes that it explains.
    pub episodes: Vec<usize>,
    /// Since when.
    pub begin: Timestamp,
    /// Until when.
    pub end: Timestamp,
}

/// A component, or what several have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Culprit {
    /// The index of a component in the inventory.
    Component(usize),
    /// All with that value of an attribute: `controller` `ddn19a`.
    Container { attribute: Container, value: String },
}

/// An explanation must be this many bits shorter: chance does as well once in 128 times.
const LEAST_GAIN_BITS: f64 = 7.0;
/// Fewer components than this have nothing in common but chance, unless they are all that the container holds.
const FEWEST: usize = 3;
/// Episodes that begin no later than this after others ended may have to do with each other.
const NEARBY: Span = Span::from_seconds(1800);

/// Collapses episodes to culprits. Lost components, those that take over their load, and slow ones are explained
/// apart: one who fails makes others work.
pub fn blame(inventory: &Inventory, episodes: &[Episode]) -> Vec<Incident> {
    let containers = containers(inventory);
    let of_theme = |theme: usize| (0..episodes.len()).filter(move |&e| self::theme(&episodes[e]) == theme);
    let mut incidents: Vec<Incident> = (0..THEMES)
        .flat_map(|theme| clusters(episodes, of_theme(theme).collect()))
        .flat_map(|cluster| explain(inventory, &containers, episodes, cluster))
        .collect();
    incidents.sort_by_key(|incident| (incident.begin, incident.culprit.clone()));
    incidents
}

/// Containers and their components.
type Containers<'a> = BTreeMap<(Container, &'a str), BTreeSet<usize>>;

fn containers(inventory: &Inventory) -> Containers<'_> {
    let mut containers = Containers::new();
    for (index, component) in inventory.components.iter().enumerate() {
        for container in Container::ALL {
            if let Some(value) = component.container(container) {
                containers.entry((container, value)).or_default().insert(index);
            }
        }
    }
    containers
}

const THEMES: usize = 3;

fn theme(episode: &Episode) -> usize {
    match episode.metric.id {
        MetricId::Absence | MetricId::Idleness | MetricId::Disconnection => 0,
        MetricId::Activity => 1,
        _ => 2,
    }
}

/// Episodes that overlap, directly or through others.
fn clusters(episodes: &[Episode], mut order: Vec<usize>) -> Vec<Vec<usize>> {
    order.sort_by_key(|&e| (episodes[e].begin, episodes[e].component));
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    let mut until = Timestamp::MIN;
    for episode in order {
        let begin = episodes[episode].begin;
        match clusters.last_mut() {
            Some(cluster) if begin <= until + NEARBY => cluster.push(episode),
            _ => clusters.push(vec![episode]),
        }
        until = until.max(episodes[episode].end);
    }
    clusters
}

fn explain<'a>(
    inventory: &'a Inventory,
    containers: &Containers<'a>,
    episodes: &[Episode],
    cluster: Vec<usize>,
) -> Vec<Incident> {
    let mut left: BTreeSet<usize> = cluster.into_iter().collect();
    let mut incidents = Vec::new();
    while let Some((key, explained)) = best(inventory, containers, episodes, &left) {
        left.retain(|episode| !explained.contains(episode));
        let culprit = Culprit::Container { attribute: key.0, value: key.1.to_owned() };
        incidents.push(incident(culprit, explained.into_iter().collect(), episodes));
    }
    let mut single: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for episode in left {
        single.entry(episodes[episode].component).or_default().push(episode);
    }
    for (component, of_component) in single {
        for together in clusters(episodes, of_component) {
            incidents.push(incident(Culprit::Component(component), together, episodes));
        }
    }
    incidents
}

/// The container that shortens the explanation most.
fn best<'a>(
    inventory: &'a Inventory,
    containers: &Containers<'a>,
    episodes: &[Episode],
    left: &BTreeSet<usize>,
) -> Option<((Container, &'a str), BTreeSet<usize>)> {
    let mut affected: BTreeMap<(Container, &str), BTreeSet<usize>> = BTreeMap::new();
    for &episode in left {
        for container in Container::ALL {
            if let Some(value) = inventory.components[episodes[episode].component].container(container) {
                affected.entry((container, value)).or_default().insert(episode);
            }
        }
    }
    let gains = affected.into_iter().filter_map(|(key, episodes_of)| {
        let (&key, held) = containers.get_key_value(&key)?;
        let (instant, explained) = most_concurrent(&episodes_of, episodes);
        let components = components(&explained, episodes);
        if components.len() < FEWEST && components.len() < held.len() || components.len() < 2 {
            return None;
        }
        // Beside disks that are slow, interfaces that are well mean nothing.
        let kinds: BTreeSet<&Kind> = components.iter().map(|&c| &inventory.components[c].kind).collect();
        let is_alike = |c: &&usize| kinds.contains(&inventory.components[**c].kind);
        let at_once = self::components(&at(instant, left, episodes), episodes);
        let gain = gain_bits(Counts {
            explained: components.len(),
            held: held.iter().filter(is_alike).count(),
            affected: at_once.iter().filter(is_alike).count(),
            components: inventory.components.iter().filter(|c| kinds.contains(&c.kind)).count(),
            containers: containers.len(),
        })?;
        Some((gain, key, explained))
    });
    let best = gains.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)))?;
    Some((best.1, best.2))
}

/// The instant at which most components are affected, and the episodes that overlap then: what happened on other
/// occasions is another matter.
fn most_concurrent(of_container: &BTreeSet<usize>, episodes: &[Episode]) -> (Timestamp, BTreeSet<usize>) {
    let begins: BTreeSet<Timestamp> = of_container.iter().map(|&e| episodes[e].begin).collect();
    let sets = begins.into_iter().map(|instant| (instant, at(instant, of_container, episodes)));
    sets.max_by_key(|(_, set)| components(set, episodes).len()).unwrap_or((Timestamp::MIN, BTreeSet::new()))
}

fn at(instant: Timestamp, some: &BTreeSet<usize>, episodes: &[Episode]) -> BTreeSet<usize> {
    let overlaps = |e: &&usize| episodes[**e].begin <= instant && instant < episodes[**e].end;
    some.iter().filter(overlaps).copied().collect()
}

fn components(some: &BTreeSet<usize>, episodes: &[Episode]) -> BTreeSet<usize> {
    some.iter().map(|&e| episodes[e].component).collect()
}

/// The measure of an explanation: numbers of components of the kinds that it explains.
struct Counts {
    /// Those that it explains.
    explained: usize,
    /// Those that the container holds.
    held: usize,
    /// Those that are affected at the time, wherever.
    affected: usize,
    /// All.
    components: usize,
    /// How many containers could be named.
    containers: usize,
}

/// How many bits are saved by naming a container, and which of those it holds are affected, instead of naming them among
/// all. It is sets that are named: of many that are affected anywhere, some are in one box by chance.
fn gain_bits(counts: Counts) -> Option<f64> {
    let Counts { explained, held, affected, components, containers } = counts;
    let each =
        choices_bits(components, affected) - choices_bits(components, affected.saturating_sub(explained));
    let gain = each - (containers as f64).log2() - choices_bits(held, explained);
    (gain >= LEAST_GAIN_BITS).then_some(gain)
}

/// The logarithm of the number of ways to choose some of all.
fn choices_bits(all: usize, some: usize) -> f64 {
    (0..some).map(|k| ((all - k) as f64 / (k + 1) as f64).log2()).sum()
}

fn incident(culprit: Culprit, explained: Vec<usize>, episodes: &[Episode]) -> Incident {
    let (begin, end) = span(&explained, episodes);
    Incident { culprit, episodes: explained, begin, end }
}

/// One in this many components may have had faults of its own before or after.
const STRAY: usize = 10;

/// Since when, and until when, all but a few of the affected components were.
fn span(explained: &[usize], episodes: &[Episode]) -> (Timestamp, Timestamp) {
    let mut spans: BTreeMap<usize, (Timestamp, Timestamp)> = BTreeMap::new();
    for episode in explained.iter().map(|&e| &episodes[e]) {
        let span = spans.entry(episode.component).or_insert((episode.begin, episode.end));
        *span = (span.0.min(episode.begin), span.1.max(episode.end));
    }
    let strays = spans.len() / STRAY;
    let (mut begins, mut ends): (Vec<Timestamp>, Vec<Timestamp>) = spans.into_values().unzip();
    begins.sort_unstable();
    ends.sort_unstable_by(|one, other| other.cmp(one));
    let of = |times: &[Timestamp], none| times.get(strays).copied().unwrap_or(none);
    (of(&begins, Timestamp::MIN), of(&ends, Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::metric::Metric;

    /// Arrays of two controllers with `luns` LUNs each.
    fn inventory(arrays: usize, luns: usize) -> Inventory {
        let file = ClusterFile::parse(
            "[[component]]\nmatch = 'fs{s}:a{a}c{c}l{l}'\n\
             attributes = { array = 'a{a}', controller = 'a{a}c{c}', lun = 'a{a}l{l}' }\n",
        );
        let mut recorded = Vec::new();
        for (array, lun) in (0..arrays).flat_map(|a| (0..luns).map(move |l| (a, l))) {
            let host = format!("fs{}", array * 8 + lun % 8);
            let name = format!("{host}:a{array}c{}l{lun}", lun % 2);
            recorded.push(Recorded { name, kind: Kind::ATTACHMENT, host });
        }
        Inventory::new(&file.unwrap(), &recorded)
    }

    fn episodes(
        inventory: &Inventory,
        is_affected: impl Fn(&str) -> bool,
        hours: (i64, i64),
    ) -> Vec<Episode> {
        let affected = inventory.components.iter().enumerate().filter(|(_, c)| is_affected(&c.name));
        let episode = |(component, _)| Episode {
            component,
            group: 0,
            metric: Metric::named("await").unwrap(),
            begin: Timestamp::from_seconds(3600 * hours.0),
            end: Timestamp::from_seconds(3600 * hours.1),
            uncertainty: Span::ZERO,
            peak: 2.0,
            windows: 3,
            persistence: 3.0,
        };
        affected.map(episode).collect()
    }

    fn culprits(inventory: &Inventory, episodes: &[Episode]) -> Vec<String> {
        let name = |incident: &Incident| match &incident.culprit {
            Culprit::Component(index) => inventory.components[*index].name.clone(),
            Culprit::Container { attribute, value } => format!("{} {value}", attribute.as_str()),
        };
        blame(inventory, episodes).iter().map(name).collect()
    }

    #[test]
    fn a_controller_that_takes_its_luns_down_is_one_incident() {
        let inventory = inventory(4, 48);
        let episodes = episodes(&inventory, |name| name.contains("a2c1"), (1, 5));
        assert_eq!(episodes.len(), 24);
        assert_eq!(culprits(&inventory, &episodes), ["controller a2c1"]);
    }

    #[test]
    fn some_luns_of_one_array_are_the_array() {
        let inventory = inventory(16, 72);
        let episodes = episodes(&inventory, |name| name.contains(":a5c") && name.ends_with('3'), (1, 5));
        assert!(episodes.len() < 10);
        let culprits = culprits(&inventory, &episodes);
        assert!(culprits == ["array a5"] || culprits == ["controller a5c1"], "{culprits:?}");
    }

    #[test]
    fn two_concurrent_problems_are_two() {
        let inventory = inventory(4, 48);
        let is_affected = |name: &str| name.contains("a2c1") || name == "fs3:a0c1l3";
        let episodes = episodes(&inventory, is_affected, (1, 5));
        assert_eq!(culprits(&inventory, &episodes), ["fs3:a0c1l3", "controller a2c1"]);
    }

    #[test]
    fn an_earlier_fault_does_not_move_the_begin_of_the_others() {
        let inventory = inventory(4, 48);
        let mut episodes = episodes(&inventory, |name| name.contains("a2c1"), (5, 9));
        episodes[3].begin = Timestamp::from_seconds(3600);
        episodes[7].end = Timestamp::from_seconds(12 * 3600);
        let incidents = blame(&inventory, &episodes);
        let hours = |incident: &Incident| [incident.begin, incident.end].map(|t| t.micros() / 3_600_000_000);
        assert_eq!(incidents.iter().map(hours).collect::<Vec<_>>(), [[5, 9]]);
    }

    #[test]
    fn two_disks_of_one_host_are_two_disks() {
        let inventory = inventory(4, 48);
        let is_affected = |name: &str| name == "fs3:a0c1l3" || name == "fs3:a0c1l11";
        let episodes = episodes(&inventory, is_affected, (1, 5));
        assert_eq!(culprits(&inventory, &episodes).len(), 2);
    }

    #[test]
    fn a_few_of_many_disks_are_not_the_server_while_others_have_as_many() {
        let disk = |host: usize, disk: usize| {
            let host = format!("s{host}");
            Recorded { name: format!("{host}:d{disk}"), kind: Kind::ATTACHMENT, host }
        };
        let disks: Vec<Recorded> = (0..20).flat_map(|h| (0..100).map(move |d| disk(h, d))).collect();
        let inventory = Inventory::new(&ClusterFile::default(), &disks);
        let some = ["s3:d1", "s3:d20", "s3:d70", "s1:d4", "s7:d9", "s9:d9", "s12:d0", "s15:d44"];
        let few = episodes(&inventory, |name| some.contains(&name), (1, 5));
        assert_eq!(culprits(&inventory, &few).len(), some.len());
        let many = episodes(&inventory, |name| some.contains(&name) || name.starts_with("s3:d2"), (1, 5));
        assert!(culprits(&inventory, &many).contains(&"server s3".to_owned()));
    }

    #[test]
    fn the_same_component_on_another_day_is_another_incident() {
        let inventory = inventory(2, 8);
        let mut all = episodes(&inventory, |name| name == "fs1:a0c1l1", (1, 2));
        all.extend(episodes(&inventory, |name| name == "fs1:a0c1l1", (30, 31)));
        assert_eq!(culprits(&inventory, &all).len(), 2);
    }
}
