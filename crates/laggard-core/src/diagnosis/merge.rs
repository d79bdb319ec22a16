//! Incidents that are one, though their components have nothing else in common.

use std::collections::BTreeSet;

use crate::model::cluster::Inventory;
use crate::model::component::Kind;
use crate::suspects::blame::{Culprit, Incident};
use crate::suspects::episodes::Episode;

/// Joins what belongs together: a server's network with its disks, and the load that a lost attachment's peers took
/// over with the loss.
pub fn merge(inventory: &Inventory, episodes: &[Episode], incidents: Vec<Incident>) -> Vec<Incident> {
    let rerouted = joined(incidents, |cause, effect| is_rerouted(inventory, episodes, cause, effect));
    let mut joined = joined(rerouted, |cause, effect| is_same_server(inventory, episodes, cause, effect));
    joined.iter_mut().for_each(|incident| blame_the_common_end(inventory, episodes, incident));
    joined
}

/// Several links in trouble that have one server in common: it is not the first of them that is to blame.
fn blame_the_common_end(inventory: &Inventory, episodes: &[Episode], incident: &mut Incident) {
    let components = incident.episodes.iter().map(|&e| episodes[e].component).collect::<BTreeSet<_>>();
    let are_links = components.iter().all(|&c| inventory.components[c].kind == Kind::LINK);
    let servers = attribute(inventory, episodes, incident, "server");
    if let (true, 2.., Some(&server), 1) = (are_links, components.len(), servers.first(), servers.len()) {
        let culprit = Culprit::Container { attribute: "server".into(), value: server.into() };
        incident.culprit = culprit;
    }
}

/// Joins each incident to the first one that explains it.
fn joined(incidents: Vec<Incident>, explains: impl Fn(&Incident, &Incident) -> bool) -> Vec<Incident> {
    let mut kept: Vec<Incident> = Vec::new();
    let explainer = |effect: usize| {
        (0..incidents.len()).find(|&cause| cause != effect && explains(&incidents[cause], &incidents[effect]))
    };
    let explainers: Vec<Option<usize>> = (0..incidents.len()).map(explainer).collect();
    // A chain of explanations would need an end; only those that are not explained themselves explain.
    let is_root = |at: usize| explainers[at].is_none();
    for (at, incident) in incidents.iter().enumerate() {
        if explainers[at].is_some_and(is_root) {
            continue;
        }
        let mut whole = incident.clone();
        let effects = explainers.iter().enumerate().filter(|(_, cause)| **cause == Some(at) && is_root(at));
        for (effect, _) in effects {
            whole.episodes.extend(&incidents[effect].episodes);
            whole.begin = whole.begin.min(incidents[effect].begin);
            whole.end = whole.end.max(incidents[effect].end);
        }
        kept.push(whole);
    }
    kept
}

fn overlaps(one: &Incident, other: &Incident) -> bool {
    one.begin < other.end && other.begin < one.end
}

fn metrics<'a>(episodes: &'a [Episode], incident: &'a Incident) -> impl Iterator<Item = &'a str> {
    incident.episodes.iter().map(|&e| episodes[e].metric.name)
}

fn attribute<'a>(
    inventory: &'a Inventory,
    episodes: &'a [Episode],
    incident: &'a Incident,
    name: &'a str,
) -> BTreeSet<&'a str> {
    let components = incident.episodes.iter().map(|&e| &inventory.components[episodes[e].component]);
    components.filter_map(|component| component.attributes.get(name)).map(String::as_str).collect()
}

/// Work where the peers have none, on LUNs that another server has lost.
fn is_rerouted(inventory: &Inventory, episodes: &[Episode], cause: &Incident, effect: &Incident) -> bool {
    let is_lost = metrics(episodes, cause).any(|metric| matches!(metric, "absence" | "idleness"));
    let is_activity = metrics(episodes, effect).all(|metric| metric == "activity");
    if !is_lost || !is_activity || !overlaps(cause, effect) {
        return false;
    }
    let lost = attribute(inventory, episodes, cause, "lun");
    let taken = attribute(inventory, episodes, effect, "lun");
    !taken.is_empty() && taken.intersection(&lost).count() * 2 >= taken.len()
}

/// The network of a server whose disk is in trouble; or what shows at single links of one whose interface is.
fn is_same_server(inventory: &Inventory, episodes: &[Episode], cause: &Incident, effect: &Incident) -> bool {
    let rank = |incident: &Incident| {
        let kind = |&e: &usize| inventory.components[episodes[e].component].kind.as_str();
        incident.episodes.iter().map(|e| layer(kind(e))).min().unwrap_or(u8::MAX)
    };
    let (one, other) =
        (attribute(inventory, episodes, cause, "server"), attribute(inventory, episodes, effect, "server"));
    let is_one_server = one.len() == 1 && one == other;
    is_one_server && overlaps(cause, effect) && {
        let is_container = |incident: &Incident| matches!(incident.culprit, Culprit::Container { .. });
        let (cause_rank, effect_rank) =
            ((rank(cause), !is_container(cause)), (rank(effect), !is_container(effect)));
        effect_rank.0 > 0
            && (cause_rank < effect_rank || cause_rank == effect_rank && cause.culprit < effect.culprit)
    }
}

/// Storage comes before the network (FAST '10, section 12).
fn layer(kind: &str) -> u8 {
    match kind {
        "nic" => 1,
        "server" | "client" => 2,
        "link" => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::metric::Metric;
    use crate::model::time::Timestamp;
    use crate::suspects::blame::blame;

    #[test]
    fn links_to_one_server_are_its_trouble_and_a_single_one_is_not() {
        let file = ClusterFile::parse(
            "[[component]]\nmatch = '{c}>{s}'\nattributes = { client = '{c}', server = '{s}' }\n",
        );
        let link = |c, s| Recorded { name: format!("c{c}>s{s}"), kind: Kind::LINK, host: format!("c{c}") };
        let links: Vec<Recorded> = (0..3).flat_map(|c| (0..6).map(move |s| link(c, s))).collect();
        let inventory = Inventory::new(&file.unwrap(), &links);
        let culprits = |affected: &[&str]| {
            let is_affected = |c: &usize| affected.contains(&inventory.components[*c].name.as_str());
            let episode = |component| Episode {
                component,
                group: 0,
                metric: Metric::named("link_loss").unwrap(),
                begin: Timestamp::from_seconds(0),
                end: Timestamp::from_seconds(600),
                peak: 2.0,
                windows: 1,
                persistence: 1.0,
            };
            let all = 0..inventory.components.len();
            let episodes: Vec<Episode> = all.filter(is_affected).map(episode).collect();
            let incidents = merge(&inventory, &episodes, blame(&inventory, &episodes));
            incidents.into_iter().map(|incident| incident.culprit).collect::<Vec<_>>()
        };
        let server = Culprit::Container { attribute: "server".into(), value: "s2".into() };
        assert_eq!(culprits(&["c0>s2", "c1>s2"]), [server]);
        assert!(matches!(culprits(&["c1>s4"])[..], [Culprit::Component(_)]));
    }
}
