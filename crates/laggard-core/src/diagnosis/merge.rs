//! Incidents that are one, though their components have nothing else in common.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::model::cluster::Inventory;
use crate::model::component::{Container, Kind};
use crate::model::metric::MetricId;
use crate::suspects::blame::{Culprit, Incident};
use crate::suspects::episodes::Episode;

/// Joins what belongs together: a server's network with its disks, and the load that a lost attachment's peers took
/// over with the loss. An incident of the network that `is_independent` is no effect of a disk: it is another fault.
pub(super) fn merge(
    inventory: &Inventory,
    episodes: &[Episode],
    incidents: Vec<Incident>,
    is_independent: &dyn Fn(&Incident) -> bool,
) -> Vec<Incident> {
    let incidents = incidents
        .into_iter()
        .flat_map(|incident| separated(inventory, episodes, incident, is_independent))
        .collect();
    let rerouted = joined(inventory, episodes, incidents, &is_rerouted);
    let by_server = joined(inventory, episodes, rerouted, &|cause, effect| {
        is_same_server(cause, effect) && (cause.layer > 0 || !is_independent(effect.incident))
    });
    let named = without_addresses(inventory, episodes, by_server);
    let mut joined = without_own_links(inventory, episodes, named);
    joined.iter_mut().for_each(|incident| blame_the_common_end(inventory, episodes, incident));
    joined
}

/// The disks and the network of a server, if the network shows a fault of its own.
fn separated(
    inventory: &Inventory,
    episodes: &[Episode],
    incident: Incident,
    is_independent: &dyn Fn(&Incident) -> bool,
) -> Vec<Incident> {
    let is_disk = |&e: &usize| layer(&inventory.components[episodes[e].component].kind) == 0;
    let (disks, network): (Vec<usize>, Vec<usize>) = incident.episodes.iter().partition(|e| is_disk(e));
    let is_server =
        matches!(&incident.culprit, Culprit::Container { attribute, .. } if *attribute == Container::Server);
    let part = |of: Vec<usize>| {
        let components: BTreeSet<usize> = of.iter().map(|&e| episodes[e].component).collect();
        let culprit = match components.first() {
            Some(&one) if components.len() == 1 => Culprit::Component(one),
            _ => incident.culprit.clone(),
        };
        let begin = of.iter().map(|&e| episodes[e].begin).min().unwrap_or(incident.begin);
        let end = of.iter().map(|&e| episodes[e].end).max().unwrap_or(incident.end);
        Incident { culprit, episodes: of, begin, end }
    };
    if !is_server || disks.is_empty() || network.is_empty() {
        return vec![incident];
    }
    let network = part(network);
    if is_independent(&network) { vec![part(disks), network] } else { vec![incident] }
}

/// Several anomalous links with one server in common: the server is to blame, not the first link.
fn blame_the_common_end(inventory: &Inventory, episodes: &[Episode], incident: &mut Incident) {
    let components = incident.episodes.iter().map(|&e| episodes[e].component).collect::<BTreeSet<_>>();
    let are_links = components.iter().all(|&c| inventory.components[c].kind == Kind::LINK);
    let servers = containers(inventory, episodes, incident, Container::Server);
    if let (true, 2.., Some(&server), 1) = (are_links, components.len(), servers.first(), servers.len()) {
        let culprit = Culprit::Container { attribute: Container::Server, value: server.into() };
        incident.culprit = culprit;
    }
}

/// The data that decide whether one incident explains another.
struct Traits<'a> {
    incident: &'a Incident,
    servers: BTreeSet<&'a str>,
    luns: BTreeSet<&'a str>,
    /// The hosts that recorded the affected components.
    hosts: BTreeSet<&'a str>,
    is_link: bool,
    is_host: bool,
    /// Some connections have long round trips, or lose segments.
    has_long_trips: bool,
    has_losses: bool,
    is_lost: bool,
    is_activity: bool,
    layer: u8,
    peak: f64,
}

impl<'a> Traits<'a> {
    fn of(inventory: &'a Inventory, episodes: &'a [Episode], incident: &'a Incident) -> Traits<'a> {
        let all = || incident.episodes.iter().map(|&e| &episodes[e]);
        let kind = |episode: &Episode| &inventory.components[episode.component].kind;
        let layer = |episode: &Episode| layer(kind(episode));
        Traits {
            incident,
            servers: containers(inventory, episodes, incident, Container::Server),
            luns: containers(inventory, episodes, incident, Container::Lun),
            hosts: all().map(|episode| inventory.components[episode.component].host.as_str()).collect(),
            is_link: all().all(|episode| *kind(episode) == Kind::LINK),
            is_host: all().all(|episode| kind(episode).is_host()),
            has_long_trips: all().any(|episode| episode.metric.id.is_round_trip()),
            has_losses: all().any(|episode| episode.metric.id.is_loss()),
            is_lost: all().any(|episode| matches!(episode.metric.id, MetricId::Absence | MetricId::Idleness)),
            is_activity: all().all(|episode| episode.metric.id == MetricId::Activity),
            layer: all().map(layer).min().unwrap_or(u8::MAX),
            peak: all().map(|episode| episode.peak).fold(0.0, f64::max),
        }
    }

    fn overlaps(&self, other: &Traits<'_>) -> bool {
        self.incident.begin < other.incident.end && other.incident.begin < self.incident.end
    }

    /// They have at least half of the longer one's time in common.
    fn overlaps_mostly(&self, other: &Traits<'_>) -> bool {
        let (one, other) = (self.incident, other.incident);
        let common = one.end.min(other.end) - one.begin.max(other.begin);
        common * 2 >= (one.end - one.begin).max(other.end - other.begin)
    }

    /// The order of blame: the lower layer, a loss before components that take over its load, the one that contains more, the
    /// worse, the earlier. Names decide only where nothing else does.
    fn precedence(&self, other: &Traits<'_>) -> Ordering {
        let is_one = |traits: &Traits<'_>| matches!(traits.incident.culprit, Culprit::Component(_));
        (self.layer, self.is_activity, is_one(self))
            .cmp(&(other.layer, other.is_activity, is_one(other)))
            .then(other.peak.total_cmp(&self.peak))
            .then(self.incident.begin.cmp(&other.incident.begin))
            .then(self.incident.culprit.cmp(&other.incident.culprit))
    }
}

/// Joins each incident to the one that explains it; if that one is itself explained, to the root of it all. Who explains
/// always precedes what it explains, so there is a root.
fn joined(
    inventory: &Inventory,
    episodes: &[Episode],
    incidents: Vec<Incident>,
    explains: &dyn Fn(&Traits<'_>, &Traits<'_>) -> bool,
) -> Vec<Incident> {
    let traits: Vec<Traits<'_>> =
        incidents.iter().map(|incident| Traits::of(inventory, episodes, incident)).collect();
    let mut order: Vec<usize> = (0..traits.len()).collect();
    order.sort_by(|&one, &other| traits[one].precedence(&traits[other]));
    let mut roots: Vec<usize> = (0..traits.len()).collect();
    for (place, &effect) in order.iter().enumerate() {
        let before = order[..place].iter().find(|&&cause| explains(&traits[cause], &traits[effect]));
        roots[effect] = before.map_or(effect, |&cause| roots[cause]);
    }
    let mut whole = incidents.clone();
    for (effect, &root) in roots.iter().enumerate().filter(|(effect, root)| effect != *root) {
        let kind = |at: usize| (traits[at].layer, traits[at].is_activity);
        take(&mut whole[root], &incidents[effect], kind(root) == kind(effect));
    }
    let is_root = |(at, incident)| (roots[at] == at).then_some(incident);
    whole.into_iter().enumerate().filter_map(is_root).collect()
}

/// An incident is as long as its cause: effects may have been there for other reasons before. Of what is alike, such as
/// two links, none is the cause of the other.
fn take(whole: &mut Incident, part: &Incident, is_alike: bool) {
    whole.episodes.extend(&part.episodes);
    if is_alike {
        whole.begin = whole.begin.min(part.begin);
        whole.end = whole.end.max(part.end);
    }
}

/// The servers, LUNs, ... of the affected components.
fn containers<'a>(
    inventory: &'a Inventory,
    episodes: &'a [Episode],
    incident: &'a Incident,
    container: Container,
) -> BTreeSet<&'a str> {
    let components = incident.episodes.iter().map(|&e| &inventory.components[episodes[e].component]);
    components.filter_map(|component| component.container(container)).map(String::as_str).collect()
}

/// Work where the peers have none, on LUNs that another server has lost.
fn is_rerouted(cause: &Traits<'_>, effect: &Traits<'_>) -> bool {
    let is_taken_over = || effect.luns.intersection(&cause.luns).count() * 2 >= effect.luns.len();
    let may_be = cause.is_lost && effect.is_activity && !effect.luns.is_empty();
    may_be && cause.overlaps(effect) && is_taken_over()
}

/// The network of a server whose disk is faulty; or single links of a server whose interface is.
fn is_same_server(cause: &Traits<'_>, effect: &Traits<'_>) -> bool {
    let is_one_server = cause.servers.len() == 1 && cause.servers == effect.servers;
    is_one_server && effect.layer > 0 && cause.overlaps(effect)
}

/// Joins incidents of an address to those of the server that has the same at the same time: without a cluster file, the
/// far end of a link is known only by its address.
fn without_addresses(inventory: &Inventory, episodes: &[Episode], incidents: Vec<Incident>) -> Vec<Incident> {
    let hosts: BTreeSet<&str> =
        inventory.components.iter().map(|component| component.host.as_str()).collect();
    let traits: Vec<Traits<'_>> =
        incidents.iter().map(|incident| Traits::of(inventory, episodes, incident)).collect();
    let server_of = |address: &Traits<'_>| {
        let is_address = address.is_link && !address.servers.iter().any(|server| hosts.contains(server));
        let is_it = |server: &Traits<'_>| {
            let is_named =
                server.servers.len() == 1 && server.servers.iter().all(|name| hosts.contains(name));
            let has_the_same =
                server.has_long_trips && address.has_long_trips || server.has_losses && address.has_losses;
            is_named && has_the_same && server.overlaps_mostly(address)
        };
        if is_address { traits.iter().position(is_it) } else { None }
    };
    let servers: Vec<Option<usize>> = traits.iter().map(server_of).collect();
    absorbed(incidents, &servers)
}

/// Each incident joined to the one with the given number, if any.
fn absorbed(incidents: Vec<Incident>, into: &[Option<usize>]) -> Vec<Incident> {
    let mut whole = incidents.clone();
    for (incident, into) in incidents.iter().zip(into) {
        if let Some(into) = into {
            take(&mut whole[*into], incident, false);
        }
    }
    whole.into_iter().zip(into).filter(|(_, into)| into.is_none()).map(|(incident, _)| incident).collect()
}

/// Joins the losses of a host to those of its link: a host counts what it sends again on all its links.
fn without_own_links(inventory: &Inventory, episodes: &[Episode], incidents: Vec<Incident>) -> Vec<Incident> {
    let traits: Vec<Traits<'_>> =
        incidents.iter().map(|incident| Traits::of(inventory, episodes, incident)).collect();
    let link_of = |host: &Traits<'_>| {
        let is_it =
            |link: &Traits<'_>| link.is_link && link.overlaps(host) && host.hosts.is_subset(&link.hosts);
        if host.is_host { traits.iter().position(is_it) } else { None }
    };
    let links: Vec<Option<usize>> = traits.iter().map(link_of).collect();
    absorbed(incidents, &links)
}

/// Storage comes before the network (FAST '10, section 12).
fn layer(kind: &Kind) -> u8 {
    const LAYERS: [(Kind, u8); 4] = [(Kind::NIC, 1), (Kind::SERVER, 2), (Kind::CLIENT, 2), (Kind::LINK, 3)];
    LAYERS.iter().find(|(known, _)| known == kind).map_or(0, |(_, layer)| *layer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::metric::Metric;
    use crate::model::time::{Span, Timestamp};
    use crate::suspects::blame::blame;

    #[test]
    fn several_links_to_one_server_blame_the_server_and_a_single_one_does_not() {
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
                uncertainty: Span::ZERO,
                peak: 2.0,
                windows: 1,
                persistence: 1.0,
            };
            let all = 0..inventory.components.len();
            let episodes: Vec<Episode> = all.filter(is_affected).map(episode).collect();
            let incidents = merge(&inventory, &episodes, blame(&inventory, &episodes), &|_| false);
            incidents.into_iter().map(|incident| incident.culprit).collect::<Vec<_>>()
        };
        let server = Culprit::Container { attribute: Container::Server, value: "s2".into() };
        assert_eq!(culprits(&["c0>s2", "c1>s2"]), [server]);
        assert!(matches!(culprits(&["c1>s4"])[..], [Culprit::Component(_)]));
    }

    fn server(names: [&str; 2]) -> Inventory {
        let kinds = [
            ("s1:sda", Kind::ATTACHMENT),
            (names[0], Kind::NIC),
            (names[1], Kind::NIC),
            ("c1>s1", Kind::LINK),
        ];
        let file = ClusterFile::parse(
            "[[component]]\nmatch = 's1{rest}'\nattributes = { server = 's1' }\n\
             [[component]]\nmatch = 'c1>s1'\nattributes = { server = 's1' }\n",
        );
        let recorded = |(name, kind): (&str, Kind)| Recorded { name: name.into(), kind, host: "s1".into() };
        Inventory::new(&file.unwrap(), &kinds.map(recorded))
    }

    /// The culprits' names and begins in minutes, for components that were anomalous from a minute on, with that score.
    fn merged(inventory: &Inventory, troubles: &[(&str, i64, f64)]) -> Vec<(String, i64)> {
        let episode = |(name, minute, peak): &(&str, i64, f64)| Episode {
            component: inventory.components.iter().position(|c| c.name == *name).unwrap(),
            group: 0,
            metric: Metric::named("await").unwrap(),
            begin: Timestamp::from_seconds(60 * minute),
            end: Timestamp::from_seconds(3600),
            uncertainty: Span::ZERO,
            peak: *peak,
            windows: 1,
            persistence: 1.0,
        };
        let episodes: Vec<Episode> = troubles.iter().map(episode).collect();
        let incidents = merge(inventory, &episodes, blame(inventory, &episodes), &|_| false);
        let named = |incident: &Incident| {
            let Culprit::Component(index) = incident.culprit else { panic!("{incident:?}") };
            (inventory.components[index].name.clone(), incident.begin.micros() / 60_000_000)
        };
        incidents.iter().map(named).collect()
    }

    #[test]
    fn a_disk_is_blamed_for_its_servers_network_whichever_began_first() {
        let inventory = server(["s1/eth0", "s1/eth1"]);
        for begins in [[0, 2, 3], [0, 3, 2], [2, 0, 3], [2, 3, 0], [3, 0, 2], [3, 2, 0]] {
            let [disk, nic, link] = begins;
            let troubles = [("s1:sda", disk, 2.0), ("s1/eth0", nic, 3.0), ("c1>s1", link, 4.0)];
            assert_eq!(merged(&inventory, &troubles), [("s1:sda".to_owned(), disk)], "{begins:?}");
        }
    }

    #[test]
    fn of_two_interfaces_the_worse_is_to_blame_whatever_its_name() {
        for names in [["s1/eth0", "s1/eth1"], ["s1/eth1", "s1/eth0"]] {
            let troubles = [(names[0], 2, 4.0), (names[1], 1, 3.0)];
            assert_eq!(merged(&server(names), &troubles), [(names[0].to_owned(), 1)]);
        }
    }

    #[test]
    fn load_that_is_taken_over_begins_with_the_loss() {
        let file = ClusterFile::parse("[[component]]\nmatch = '{s}:{d}'\nattributes = { lun = '{d}' }\n");
        let recorded =
            |name: &str| Recorded { name: format!("{name}:l1"), kind: Kind::ATTACHMENT, host: name.into() };
        let inventory = Inventory::new(&file.unwrap(), &["a", "b"].map(recorded));
        let episode = |component, metric, minute: i64| Episode {
            component,
            group: 0,
            metric,
            begin: Timestamp::from_seconds(60 * minute),
            end: Timestamp::from_seconds(3600),
            uncertainty: Span::ZERO,
            peak: 2.0 + component as f64,
            windows: 1,
            persistence: 1.0,
        };
        let episodes =
            [episode(0, MetricId::Idleness.metric(), 20), episode(1, MetricId::Activity.metric(), 5)];
        let incidents = merge(&inventory, &episodes, blame(&inventory, &episodes), &|_| false);
        let [incident] = &incidents[..] else { panic!("{incidents:?}") };
        assert_eq!(incident.culprit, Culprit::Component(0));
        assert_eq!((incident.begin, incident.episodes.len()), (Timestamp::from_seconds(1200), 2));
    }
}
