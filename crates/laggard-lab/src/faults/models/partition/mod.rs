//! Nodes that cannot reach each other: an nftables table of our own in the node's network. The peers are in sets whose
//! elements have a timeout, so the kernel ends the partition without any process.

mod link_down;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::faults::model::Need::Program;
use crate::faults::model::{self, Area, FaultModel, PlanContext};
use crate::faults::parameters::Parameters;
use crate::faults::steps::{Choice, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::Node;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    #[serde(default)]
    mechanism: Mechanism,
    /// The link that goes down; none: the one with the node's address.
    #[serde(default)]
    link: Option<String>,
    mode: Mode,
    /// The packets that a one-way partition drops.
    lost: Side,
    /// Names or roles of the nodes to cut off from; none: all.
    peers: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mechanism {
    /// Packets are dropped.
    #[default]
    Nft,
    LinkDown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// Each target reaches no other node.
    Isolate,
    /// The targets reach each other and no other node.
    Split,
    /// Packets of one direction are lost, between each target and all others.
    OneWay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Side {
    In,
    Out,
}

/// A peer that is reached refuses a connection to a closed port; from one that is not, no answer comes.
const IS_CUT: &str = "
probe() {
    status=0
    timeout 1 bash -c \"exec 3<>/dev/tcp/$1/9\" 2> /dev/null || status=$?
    [ $status = 124 ] || { echo \"$1 still answers\" >&2; exit 1; }
}
probes=
for peer in $peers; do probe $peer & probes=\"$probes $!\"; done
for probe in $probes; do wait $probe; done";

impl FaultModel for Partition {
    const NAME: &'static str = "partition";
    const PARAMETERS: &'static str =
        "mechanism=nft|link-down mode=isolate|split|one-way lost=in|out peers=NAME,ROLE,... link=NAME";
    const SUMMARY: &'static str = "packets are lost, or a link is down";
    const MECHANISMS: &'static [model::Mechanism] = &[
        model::Mechanism { name: "link-down", needs: &[Program("ip", "iproute2")] },
        model::Mechanism {
            name: "nft",
            needs: &[
                Program("nft", "nftables"),
                Program("tc", "iproute2"),
                Program("bash", "bash"),
                Program("timeout", "coreutils"),
            ],
        },
    ];

    fn read(parameters: &mut Parameters) -> Result<Partition, LabError> {
        let mechanism: Mechanism = parameters.word("mechanism", "nft")?;
        let mode: Mode = parameters.word("mode", "isolate")?;
        let (lost, peers) = (parameters.word("lost", "in")?, parameters.list("peers"));
        let link = parameters.take("link");
        if mechanism == Mechanism::LinkDown && (mode != Mode::Isolate || !peers.is_empty()) {
            return Err(parameters.wrong("mechanism", "a link that is down cuts a node off from all others"));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        match &link {
            Some(_) if mechanism == Mechanism::Nft => {
                Err(parameters.wrong("link", "only mechanism=link-down has it"))
            }
            Some(link) if !link.starts_with(char::is_alphanumeric) || !link.chars().all(is_plain) => {
                Err(parameters.wrong("link", format!("{link:?} is not the name of a link")))
            }
            _ => Ok(Partition { mechanism, link, mode, lost, peers }),
        }
    }

    fn plan(&self, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
        match self.mechanism {
            Mechanism::Nft => self.drop_packets(node, aim),
            Mechanism::LinkDown => link_down::plan(self.link.as_deref(), node, aim),
        }
    }

    fn affects(&self) -> &'static [Area] {
        &[Area::Network]
    }
}

impl Partition {
    fn drop_packets(&self, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
        let peers = peers(self.mode, &self.peers, node, aim)?;
        let table = format!("lgd_{}", aim.id);
        let sides: &[Side] = match self.mode {
            Mode::OneWay => &[self.lost],
            Mode::Isolate | Mode::Split => &[Side::In, Side::Out],
        };
        let exists = format!("nft list table inet {table} > /dev/null 2>&1");
        let words: Vec<String> = peers.iter().map(IpAddr::to_string).collect();
        Ok(NodeSteps {
            node: node.clone(),
            choices: vec![Choice::Cut { peers: peers.clone() }],
            apply: Step::Shell(rules(&table, &peers, sides, aim.ttl_seconds)),
            verify_applied: Step::Shell(format!("{exists}\npeers='{}'{IS_CUT}", words.join(" "))),
            revert: Step::Shell(format!("if {exists}; then nft delete table inet {table}; fi")),
            verify_reverted: Step::Shell(format!("if {exists}; then echo {table} exists >&2; exit 1; fi")),
            clean_up: None,
        })
    }
}

fn peers(mode: Mode, who: &[String], node: &Node, aim: &PlanContext) -> Result<Vec<IpAddr>, LabError> {
    let is_meant = |other: &Node| {
        who.is_empty() || who.iter().any(|word| *word == other.name || word == other.role.as_str())
    };
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
            "there is no node to cut {name} off from: no other node with an address is selected"
        )));
    }
    Ok(peers)
}

/// One transaction.
fn rules(table: &str, peers: &[IpAddr], sides: &[Side], seconds: Option<u64>) -> String {
    let mut lines = vec![format!("add table inet {table}")];
    for (set, family, kind) in [("v4", "ip", "ipv4_addr"), ("v6", "ip6", "ipv6_addr")] {
        let own = peers.iter().filter(|peer| peer.is_ipv4() == (set == "v4"));
        let timeout = seconds.map_or_else(String::new, |seconds| format!(" timeout {seconds}s"));
        let elements: Vec<String> = own.map(|peer| format!("{peer}{timeout}")).collect();
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
    use crate::testing::node;

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
        let aim =
            PlanContext { id: "a", targets: &all[..targets], all: &all, seed: 1, ttl_seconds: Some(60) };
        let who: Vec<String> = who.iter().map(|word| word.to_string()).collect();
        let peers = peers(mode, &who, &all[0], &aim).unwrap();
        peers.iter().map(IpAddr::to_string).collect()
    }

    #[test]
    fn an_isolated_node_reaches_no_other_and_targets_of_a_split_reach_each_other() {
        assert_eq!(cut(Mode::Isolate, &[], 2), ["10.0.0.2", "fd00::3"]);
        assert_eq!(cut(Mode::Split, &[], 2), ["fd00::3"]);
        assert_eq!(cut(Mode::Isolate, &["client"], 1), ["fd00::3"]);
        assert_eq!(cut(Mode::OneWay, &["s2"], 1), ["10.0.0.2"]);
    }

    #[test]
    fn elements_have_a_timeout_and_one_way_is_one_chain() {
        let peers = ["10.0.0.2".parse().unwrap(), "fd00::3".parse().unwrap()];
        let text = rules("lgd_a", &peers, &[Side::In], Some(60));
        assert!(
            text.contains("{ 10.0.0.2 timeout 60s }") && text.contains("{ fd00::3 timeout 60s }"),
            "{text}"
        );
        assert!(text.contains("input ip6 saddr @v6 drop") && !text.contains("output"), "{text}");
    }
}
