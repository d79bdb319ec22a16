//! Nodes that do not reach each other: a table of packet filters of our own, in the node's network. Whom it cuts off is
//! in sets whose elements the kernel forgets when their time is over, with nobody's help.

use std::net::IpAddr;

use super::Aim;
use crate::inject::deed::{Choice, Part, Step};
use crate::inject::model::{Mode, Side};
use crate::inject::node::Node;
use crate::machine::LabError;

/// Somebody who is reached refuses a connection to a port where nobody listens; from one who is not, nothing comes.
const IS_CUT: &str = "
probe() {
    status=0
    timeout 1 bash -c \"exec 3<>/dev/tcp/$1/9\" 2> /dev/null || status=$?
    [ $status = 124 ] || { echo \"$1 still answers\" >&2; exit 1; }
}
probes=
for peer in $peers; do probe $peer & probes=\"$probes $!\"; done
for probe in $probes; do wait $probe; done";

/// Cuts a node off from others.
pub fn part(mode: Mode, lost: Side, who: &[String], node: &Node, aim: &Aim) -> Result<Part, LabError> {
    let peers = peers(mode, who, node, aim)?;
    let table = format!("lgd_{}", aim.id);
    let sides: &[Side] = match mode {
        Mode::OneWay => &[lost],
        Mode::Isolate | Mode::Split => &[Side::In, Side::Out],
    };
    let is_there = format!("nft list table inet {table} > /dev/null 2>&1");
    let words: Vec<String> = peers.iter().map(IpAddr::to_string).collect();
    let look = format!("{is_there}\npeers='{}'{IS_CUT}", words.join(" "));
    Ok(Part {
        node: node.clone(),
        choices: vec![Choice::Cut { peers: peers.clone() }],
        apply: Step::Shell(rules(&table, &peers, sides, aim.ttl_seconds)),
        verify_applied: Step::Shell(look),
        undo: Step::Shell(format!("if {is_there}; then nft delete table inet {table}; fi")),
        verify_undone: Step::Shell(format!("if {is_there}; then echo {table} is there >&2; exit 1; fi")),
        tidy: None,
    })
}

fn peers(mode: Mode, who: &[String], node: &Node, aim: &Aim) -> Result<Vec<IpAddr>, LabError> {
    let is_meant = |other: &Node| who.is_empty() || who.contains(&other.name) || who.contains(&other.role);
    let is_beside = |other: &Node| aim.targets.iter().any(|target| target.name == other.name);
    let is_cut = |other: &&Node| {
        other.name != node.name && is_meant(other) && (mode != Mode::Split || !is_beside(other))
    };
    let mut peers: Vec<IpAddr> =
        aim.all.iter().filter(is_cut).flat_map(|other| other.addresses.clone()).collect();
    peers.sort();
    peers.dedup();
    if peers.is_empty() {
        let name = &node.name;
        return Err(LabError::Input(format!(
            "there is nobody to cut {name} off from: no other node is meant that has an address"
        )));
    }
    Ok(peers)
}

/// All of it at once, or nothing.
fn rules(table: &str, peers: &[IpAddr], sides: &[Side], seconds: u64) -> String {
    let mut lines = vec![format!("add table inet {table}")];
    for (set, family, kind) in [("v4", "ip", "ipv4_addr"), ("v6", "ip6", "ipv6_addr")] {
        let own = peers.iter().filter(|peer| peer.is_ipv4() == (set == "v4"));
        let elements: Vec<String> = own.map(|peer| format!("{peer} timeout {seconds}s")).collect();
        if elements.is_empty() {
            continue;
        }
        lines.push(format!("add set inet {table} {set} {{ type {kind}; flags timeout; }}"));
        for side in sides {
            let (chain, end) = match side {
                Side::In => ("input", "saddr"),
                Side::Out => ("output", "daddr"),
            };
            lines
                .push(format!("add chain inet {table} {chain} {{ type filter hook {chain} priority -10; }}"));
            lines.push(format!("add rule inet {table} {chain} {family} {end} @{set} drop"));
        }
        lines.push(format!("add element inet {table} {set} {{ {} }}", elements.join(", ")));
    }
    format!("nft -f - <<'rules'\n{}\nrules\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::node;

    fn nodes() -> Vec<Node> {
        let of = |(name, role, address): (&str, &str, &str)| Node {
            name: name.into(),
            role: role.into(),
            addresses: vec![address.parse().unwrap()],
            ..node()
        };
        [("s1", "storage", "10.0.0.1"), ("s2", "storage", "10.0.0.2"), ("c1", "client", "fd00::3")]
            .map(of)
            .to_vec()
    }

    fn cut(mode: Mode, who: &[&str], targets: usize) -> Vec<String> {
        let all = nodes();
        let aim = Aim { id: "a", targets: &all[..targets], all: &all, seed: 1, ttl_seconds: 60 };
        let who: Vec<String> = who.iter().map(|word| word.to_string()).collect();
        let peers = peers(mode, &who, &all[0], &aim).unwrap();
        peers.iter().map(IpAddr::to_string).collect()
    }

    #[test]
    fn an_isolated_node_reaches_nobody_and_one_side_of_a_split_reaches_itself() {
        assert_eq!(cut(Mode::Isolate, &[], 2), ["10.0.0.2", "fd00::3"]);
        assert_eq!(cut(Mode::Split, &[], 2), ["fd00::3"]);
        assert_eq!(cut(Mode::Isolate, &["client"], 1), ["fd00::3"]);
        assert_eq!(cut(Mode::OneWay, &["s2"], 1), ["10.0.0.2"]);
    }

    #[test]
    fn elements_end_by_themselves_and_one_way_is_one_chain() {
        let peers = ["10.0.0.2".parse().unwrap(), "fd00::3".parse().unwrap()];
        let text = rules("lgd_a", &peers, &[Side::In], 60);
        assert!(
            text.contains("{ 10.0.0.2 timeout 60s }") && text.contains("{ fd00::3 timeout 60s }"),
            "{text}"
        );
        assert!(text.contains("input ip6 saddr @v6 drop") && !text.contains("output"), "{text}");
    }
}
