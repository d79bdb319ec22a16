//! What can be done to which node, and what is missing where it cannot.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::node::{Exec, Node};
use super::running::quoted;

/// Whether something can be done to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Availability {
    /// The model.
    pub model: &'static str,
    /// By which way.
    pub mechanism: &'static str,
    /// The node.
    pub node: String,
    /// Why not; none: it can.
    pub why_not: Option<String>,
}

/// What a mechanism needs of a node.
struct Mechanism {
    model: &'static str,
    name: &'static str,
    needs: &'static [Need],
}

#[derive(Clone, Copy)]
enum Need {
    /// A program, and the Debian package that has it.
    Program(&'static str, &'static str),
    /// One of two will do.
    Either(&'static str, &'static str, &'static str),
    Brick,
    Lab,
    NoLab,
    Server,
}

use Need::{Brick, Either, Lab, NoLab, Program, Server};

const MECHANISMS: [Mechanism; 12] = [
    Mechanism { model: "dev-fail", name: "disk", needs: &[Brick, Lab] },
    Mechanism {
        model: "dev-fail",
        name: "fs-shutdown",
        needs: &[Brick, Either("perl", "xfs_io", "perl-base"), Program("findmnt", "util-linux")],
    },
    Mechanism {
        model: "dev-fail",
        name: "nested-loop",
        needs: &[
            Brick,
            NoLab,
            Either("perl", "xfs_io", "perl-base"),
            Program("losetup", "mount"),
            Program("findmnt", "util-linux"),
        ],
    },
    Mechanism {
        model: "inconsist",
        name: "meta",
        needs: &[
            Brick,
            Program("perl", "perl-base"),
            Program("findmnt", "util-linux"),
            Either("debugfs", "xfs_db", "e2fsprogs xfsprogs"),
            Either("e2image", "xfs_copy", "e2fsprogs xfsprogs"),
            Either("e2fsck", "xfs_repair", "e2fsprogs xfsprogs"),
        ],
    },
    Mechanism { model: "bitflip", name: "files", needs: &[Brick, Program("od", "coreutils")] },
    Mechanism { model: "partition", name: "link-down", needs: &[Program("ip", "iproute2")] },
    Mechanism {
        model: "inconsist",
        name: "files",
        needs: &[Brick, Program("cmp", "diffutils"), Program("find", "findutils")],
    },
    Mechanism {
        model: "partition",
        name: "nft",
        needs: &[
            Program("nft", "nftables"),
            Program("tc", "iproute2"),
            Program("bash", "bash"),
            Program("timeout", "coreutils"),
        ],
    },
    Mechanism { model: "full", name: "fallocate", needs: &[Brick, Program("fallocate", "util-linux")] },
    Mechanism { model: "kill", name: "signal", needs: &[Program("pgrep", "procps")] },
    Mechanism { model: "pause", name: "signal", needs: &[Program("pgrep", "procps")] },
    Mechanism { model: "slow", name: "lab", needs: &[Server, Lab] },
];

/// Every mechanism on every node.
pub fn doctor(nodes: &[Node]) -> Vec<Availability> {
    let programs = programs();
    nodes.iter().flat_map(|node| of_node(node, &programs)).collect()
}

fn of_node(node: &Node, programs: &BTreeSet<&'static str>) -> Vec<Availability> {
    let facts = look(node, programs);
    let of = |mechanism: &Mechanism| Availability {
        model: mechanism.model,
        mechanism: mechanism.name,
        node: node.name.clone(),
        why_not: match &facts {
            Err(why) => Some(why.clone()),
            Ok(there) => mechanism.needs.iter().find_map(|need| need.lacks(node, there)),
        },
    };
    MECHANISMS.iter().map(of).collect()
}

/// The programs that are there, and that the marker is.
fn look(node: &Node, programs: &BTreeSet<&'static str>) -> Result<BTreeSet<String>, String> {
    let marker = node.marker().display().to_string();
    let words: Vec<&str> = programs.iter().copied().collect();
    let script = format!(
        "PATH=$PATH:/usr/sbin:/sbin\nif [ -f {} ]; then echo marker; fi\n\
         for name in {}; do if command -v $name > /dev/null; then echo $name; fi; done",
        quoted(&marker),
        words.join(" ")
    );
    let told = node.read(&script, Duration::from_secs(15)).map_err(|error| error.to_string())?;
    let there: BTreeSet<String> = told.split_whitespace().map(str::to_owned).collect();
    if there.contains("marker") { Ok(there) } else { Err(format!("the marker {marker} is missing")) }
}

fn programs() -> BTreeSet<&'static str> {
    let needs = MECHANISMS.iter().flat_map(|mechanism| mechanism.needs);
    let names = |need: &Need| match need {
        Program(name, _) => vec![*name],
        Either(one, other, _) => vec![*one, *other],
        Brick | Lab | NoLab | Server => vec![],
    };
    needs.flat_map(names).collect()
}

impl Need {
    fn lacks(&self, node: &Node, there: &BTreeSet<String>) -> Option<String> {
        let is_lab = matches!(node.exec, Exec::Lab { .. });
        match self {
            Program(name, package) => {
                (!there.contains(*name)).then(|| format!("{name} is missing: apt-get install {package}"))
            }
            Either(one, other, package) => (!there.contains(*one) && !there.contains(*other))
                .then(|| format!("neither {one} nor {other} is there: apt-get install {package}")),
            Brick => node.brick.is_none().then(|| "it has no brick".into()),
            Lab => (!is_lab).then(|| "only hosts of a lab have it".into()),
            NoLab => is_lab.then(|| "hosts of a lab have virtual disks".into()),
            Server => node.brick.is_none().then(|| "it is no server".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::node;

    #[test]
    fn what_is_missing_is_told_with_what_to_install() {
        let there = ["marker", "perl"].map(str::to_owned).into();
        let node = Node { brick: Some("/b".into()), ..node() };
        let lacks = |need: Need| need.lacks(&node, &there).unwrap_or_default();
        assert_eq!(lacks(Program("nft", "nftables")), "nft is missing: apt-get install nftables");
        assert_eq!(lacks(Either("perl", "xfs_io", "perl-base")), "");
        assert!(lacks(Lab).contains("only hosts of a lab") && lacks(Brick).is_empty());
    }

    #[test]
    fn a_node_without_the_marker_can_have_nothing_done_to_it() {
        let told = doctor(&[node()]);
        assert_eq!(told.len(), MECHANISMS.len());
        assert!(told.iter().all(|each| each.why_not.as_ref().unwrap().contains("marker")), "{told:?}");
    }
}
