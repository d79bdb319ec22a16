//! The faults that each node can have, and what is missing for the others.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use crate::faults::{FAULTS, Need};
use crate::nodes::{Exec, Node, quoted};

/// The availability of a mechanism on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Availability {
    pub model: &'static str,
    pub mechanism: &'static str,
    pub node: String,
    /// Why the mechanism is not available; none: it is.
    pub why_not: Option<String>,
}

/// Faults without a mechanism of their own, which the lab applies.
const LAB_FAULTS: (&str, &str, &[Need]) = ("lab faults", "lab", &[Need::Brick, Need::Lab]);

fn mechanisms() -> impl Iterator<Item = (&'static str, &'static str, &'static [Need])> {
    let of = |fault: &'static crate::faults::FaultEntry| {
        fault.mechanisms.iter().map(|mechanism| (fault.name, mechanism.name, mechanism.needs))
    };
    FAULTS.iter().flat_map(of).chain([LAB_FAULTS])
}

/// Every mechanism on every node.
pub fn doctor(nodes: &[Node]) -> Vec<Availability> {
    let programs = programs();
    nodes.iter().flat_map(|node| of_node(node, &programs)).collect()
}

fn of_node(node: &Node, programs: &BTreeSet<&'static str>) -> Vec<Availability> {
    let found = look(node, programs);
    let of = |(model, mechanism, needs): (_, _, &[Need])| Availability {
        model,
        mechanism,
        node: node.name.clone(),
        why_not: match &found {
            Err(why) => Some(why.clone()),
            Ok(found) => needs.iter().find_map(|need| need.lacks(node, found)),
        },
    };
    mechanisms().map(of).collect()
}

/// The programs that the node has, if it has the marker.
fn look(node: &Node, programs: &BTreeSet<&'static str>) -> Result<BTreeSet<String>, String> {
    let marker = node.marker().display().to_string();
    let words: Vec<&str> = programs.iter().copied().collect();
    let script = format!(
        "PATH=$PATH:/usr/sbin:/sbin\nif [ -f {} ]; then echo marker; fi\n\
         for name in {}; do if command -v $name > /dev/null; then echo $name; fi; done",
        quoted(&marker),
        words.join(" ")
    );
    let printed = node.read(&script, Duration::from_secs(15)).map_err(|error| error.to_string())?;
    let found: BTreeSet<String> = printed.split_whitespace().map(str::to_owned).collect();
    if found.contains("marker") { Ok(found) } else { Err(format!("the marker {marker} is missing")) }
}

fn programs() -> BTreeSet<&'static str> {
    let names = |need: &Need| match need {
        Need::Program(name, _) => vec![*name],
        Need::Either(one, other, _) => vec![*one, *other],
        Need::Brick | Need::Lab | Need::NoLab => vec![],
    };
    mechanisms().flat_map(|(_, _, needs)| needs.iter().flat_map(names)).collect()
}

impl Need {
    fn lacks(&self, node: &Node, found: &BTreeSet<String>) -> Option<String> {
        let is_lab = matches!(node.exec, Exec::Lab { .. });
        match self {
            Need::Program(name, package) => {
                (!found.contains(*name)).then(|| format!("{name} is missing: apt-get install {package}"))
            }
            Need::Either(one, other, package) => (!found.contains(*one) && !found.contains(*other))
                .then(|| format!("{one} and {other} are missing: apt-get install {package}")),
            Need::Brick => node.brick.is_none().then(|| "it has no brick".into()),
            Need::Lab => (!is_lab).then(|| "only hosts of a lab have it".into()),
            Need::NoLab => is_lab.then(|| "hosts of a lab have virtual disks".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::node;
    use Need::{Brick, Either, Lab, Program};

    #[test]
    fn a_missing_program_comes_with_the_command_that_installs_it() {
        let there = ["marker", "perl"].map(str::to_owned).into();
        let node = Node { brick: Some("/b".into()), ..node() };
        let lacks = |need: Need| need.lacks(&node, &there).unwrap_or_default();
        assert_eq!(lacks(Program("nft", "nftables")), "nft is missing: apt-get install nftables");
        assert_eq!(lacks(Either("perl", "xfs_io", "perl-base")), "");
        assert!(lacks(Lab).contains("only hosts of a lab") && lacks(Brick).is_empty());
    }

    #[test]
    fn a_node_without_the_marker_can_have_no_fault() {
        let all = doctor(&[node()]);
        assert_eq!(all.len(), mechanisms().count());
        assert!(all.iter().all(|each| each.why_not.as_ref().unwrap().contains("marker")), "{all:?}");
    }
}
