//! Clients and servers, and the links between them, where no cluster file states them.
//! Servers have the disks that move the data; clients have none, or hardly use them.

use std::collections::{BTreeMap, BTreeSet};

use super::gap::divided;
use crate::model::cluster::{Inventory, PeerGroup};
use crate::model::component::{Container, Kind, REMOTE_HOST};
use crate::model::metric::MetricId;
use crate::tables::summary::Summary;

/// The disks of a client move less than this share of what those of a server do.
const CLIENT_RATIO: f64 = 10.0;
/// Bytes per second that do not count.
const NEGLIGIBLE: f64 = 1000.0;
/// Fewer hosts are not a role.
const FEWEST_HOSTS: usize = 2;

pub(super) fn assign(inventory: &mut Inventory, summary: &Summary) {
    let clients = clients(inventory, summary);
    if clients.is_empty() {
        return;
    }
    let served: BTreeSet<String> =
        remotes(inventory, |host| clients.contains(host)).into_values().flatten().collect();
    let addresses = addresses(inventory, &clients, &served);
    for component in &mut inventory.components {
        if component.kind == Kind::SERVER && clients.contains(&component.host) {
            component.kind = Kind::CLIENT;
        }
        if component.kind == Kind::LINK
            && clients.contains(&component.host)
            && let Some(address) = remote(&component.recorded)
        {
            let server = addresses.get(address).map_or(address, String::as_str).to_owned();
            if addresses.contains_key(address) && !component.attributes.contains_key(REMOTE_HOST) {
                component.name = crate::model::component::link(&component.host, &server);
            }
            component.attributes.insert("client".into(), component.host.clone());
            component.attributes.insert(Container::Server.as_str().into(), server);
        }
    }
    let groups = std::mem::take(&mut inventory.groups);
    for group in groups {
        let mut parts: BTreeMap<(Kind, &'static str), Vec<usize>> = BTreeMap::new();
        for member in group.members {
            let component = &inventory.components[member];
            let role = role(
                &component.kind,
                clients.contains(&component.host),
                remote(&component.recorded),
                &served,
            );
            parts.entry((component.kind.clone(), role)).or_default().push(member);
        }
        inventory.groups.extend(parts.into_iter().map(|((kind, role), members)| {
            let name = if role.is_empty() { group.name.clone() } else { format!("{kind} role={role}") };
            PeerGroup { name, kind, members }
        }));
    }
    inventory.groups.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
}

fn role(kind: &Kind, is_client: bool, remote: Option<&str>, served: &BTreeSet<String>) -> &'static str {
    match kind.as_str() {
        "nic" if is_client => "client",
        "nic" => "server",
        "link" if is_client => "to-server",
        "link" if remote.is_some_and(|remote| served.contains(remote)) => "between-servers",
        "link" => "to-client",
        _ => "",
    }
}

/// `198.18.1.3` of `client1>198.18.1.3`.
fn remote(recorded: &str) -> Option<&str> {
    recorded.split_once('>').map(|(_, remote)| remote)
}

/// Hosts whose disks move hardly anything, compared with those of the others.
fn clients(inventory: &Inventory, summary: &Summary) -> BTreeSet<String> {
    let mut levels: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    for component in &inventory.components {
        let level = levels.entry(&component.host).or_default();
        if component.class.is_some() {
            let moved = summary.mean(MetricId::Throughput, &component.recorded, 0..summary.buckets);
            *level = Some(level.unwrap_or(0.0) + moved.unwrap_or(0.0));
        }
    }
    let named = |host: &&str| (*host).to_owned();
    let without: BTreeSet<String> =
        levels.iter().filter(|(_, level)| level.is_none()).map(|(h, _)| named(h)).collect();
    let with: Vec<(&str, f64)> = levels.iter().filter_map(|(host, level)| Some((*host, (*level)?))).collect();
    if with.len() < FEWEST_HOSTS {
        return BTreeSet::new();
    }
    let values: Vec<f64> = with.iter().map(|(_, level)| (level + NEGLIGIBLE).ln()).collect();
    let idle = divided(&values, CLIENT_RATIO.ln(), FEWEST_HOSTS)
        .filter(|(lower, higher)| lower.len() > FEWEST_HOSTS && higher.len() >= FEWEST_HOSTS)
        .map(|(lower, _)| lower.into_iter().map(|at| with[at].0.to_owned()).collect::<BTreeSet<String>>());
    without.into_iter().chain(idle.into_iter().flatten()).collect()
}

/// The remote addresses of the links of some hosts.
fn remotes(inventory: &Inventory, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, BTreeSet<String>> {
    let mut remotes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let links = inventory.components.iter().filter(|c| c.kind == Kind::LINK && is_wanted(&c.host));
    for (host, remote) in links.filter_map(|c| Some((&c.host, remote(&c.recorded)?))) {
        remotes.entry(host.clone()).or_default().insert(remote.to_owned());
    }
    remotes
}

/// The server behind each of the `served` addresses, which clients use: the host that recorded this address. Without recorded
/// addresses, of servers that all talk to each other, each talks to all addresses but its own.
fn addresses(
    inventory: &Inventory,
    clients: &BTreeSet<String>,
    served: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let links = inventory.components.iter().filter(|component| component.kind == Kind::LINK);
    let known: BTreeMap<String, String> = links
        .filter_map(|link| {
            Some((remote(&link.recorded)?.to_owned(), link.attributes.get(REMOTE_HOST)?.clone()))
        })
        .collect();
    if !known.is_empty() {
        return known;
    }
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut is_ambiguous = false;
    for (server, remotes) in remotes(inventory, |host| !clients.contains(host)) {
        let missing: Vec<&String> = served.difference(&remotes).collect();
        if let [own] = missing[..] {
            is_ambiguous |= found.insert(own.clone(), server).is_some();
        }
    }
    if is_ambiguous { BTreeMap::new() } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};

    #[test]
    fn a_server_is_behind_the_address_that_it_does_not_talk_to() {
        let mut recorded = Vec::new();
        let mut link = |host: &str, remote: &str| {
            recorded.push(Recorded { name: format!("{host}>{remote}"), kind: Kind::LINK, host: host.into() });
        };
        for n in 1..=3 {
            link("c1", &format!("10.0.0.{n}"));
            (1..=3).filter(|m| *m != n).for_each(|m| link(&format!("s{n}"), &format!("10.0.0.{m}")));
            link(&format!("s{n}"), "10.0.1.1");
        }
        let inventory = Inventory::new(&ClusterFile::default(), &recorded);
        let clients = BTreeSet::from(["c1".to_owned()]);
        let served = (1..=3).map(|n| format!("10.0.0.{n}")).collect();
        let expected = (1..=3).map(|n| (format!("10.0.0.{n}"), format!("s{n}"))).collect();
        assert_eq!(addresses(&inventory, &clients, &served), expected);
    }
}
