//! What can go wrong, by name and parameters.

mod given;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::LabError;
use given::Given;

/// A fault, not yet of any node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Model {
    /// The disk below a brick fails.
    DevFail {
        /// By which way.
        mechanism: Mechanism,
    },
    /// What is on a brick is not what was written.
    Inconsist {
        /// What is changed.
        how: How,
        /// Of a hundred files, how many are lost.
        delete_pct: u32,
        /// Of a hundred files, how many have other bytes.
        corrupt_pct: u32,
        /// At most so many bytes of each.
        corrupt_max_bytes: u64,
        /// Whether the disk's own file system is checked afterwards, so that only the one above is inconsistent.
        local_fsck: bool,
    },
    /// Single bits of files are others, on no two nodes at the same place.
    Bitflip {
        /// In how many of a hundred files.
        pct: u32,
        /// How many bits of each.
        bits: u32,
        /// Files are cut into pieces of so many bytes, and each piece is of one node.
        chunk: u64,
        /// Of so many pieces a node has one; none: as many as there are bricks.
        modulus: Option<u64>,
        /// Which; none: its place among the bricks.
        index: Option<u64>,
    },
    /// Nodes do not reach each other.
    Partition {
        /// By which way.
        #[serde(default)]
        mechanism: Cut,
        /// The link that goes down; none: the one with the node's address.
        #[serde(default)]
        link: Option<String>,
        /// Who does not reach whom.
        mode: Mode,
        /// Which packets of a one-way partition are lost.
        lost: Side,
        /// Names or roles of those who are not reached; none: all.
        peers: Vec<String>,
    },
    /// A fault of the lab: something is slow, not broken.
    Slow {
        /// Its name.
        fault: String,
    },
    /// The disk of a lab's host is slower.
    SlowDisk {
        /// How many times as long it takes; or
        factor: Option<f64>,
        /// how many bytes a second it is left with.
        bytes_per_second: Option<u64>,
    },
    /// A brick has no room.
    Full {
        /// Bytes that are left.
        leave: u64,
    },
    /// Daemons are killed.
    Kill {
        /// Their programs; none: all daemons of the lab's file system.
        processes: Vec<String>,
        /// What starts them again; none: what the node or the lab says.
        restart: Option<String>,
    },
    /// Daemons stand still.
    Pause {
        /// Their programs; none: all daemons of the lab's file system.
        processes: Vec<String>,
    },
}

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// The first that the node has.
    Auto,
    /// The virtual disk of a lab's host answers every request with an error.
    Disk,
    /// The brick's disk is a file in another file system, and that one is told to shut itself down.
    NestedLoop,
    /// The disk's file system is told to shut itself down, without a last write to its log.
    FsShutdown,
}

/// How a node is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// Packets are dropped.
    #[default]
    Nft,
    /// Its link goes down.
    LinkDown,
}

/// How a brick becomes inconsistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Files are lost or changed.
    Files,
    /// The brick's own file system is damaged.
    Meta,
}

/// Who does not reach whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Each target reaches nobody.
    Isolate,
    /// The targets reach each other, and nobody else.
    Split,
    /// Packets of one direction are lost, between each target and all others.
    OneWay,
}

/// Which packets of a one-way partition are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Those that come in.
    In,
    /// Those that go out.
    Out,
}

/// What there is, for lists: name, parameters with their defaults, and what it does.
pub const MODELS: [(&str, &str, &str); 9] = [
    (
        "dev-fail",
        "mechanism=auto|disk|nested-loop|fs-shutdown|brick-kill|pause",
        "the disk below a brick fails",
    ),
    (
        "inconsist",
        "how=files|meta delete_pct=10 corrupt_pct=10 corrupt_max_bytes=200 local_fsck=true",
        "files of a brick, or what its own file system knows of them, are lost or others",
    ),
    (
        "bitflip",
        "pct=10 bits=1 chunk=4K modulus=BRICKS index=PLACE",
        "single bits of files are others, on no two nodes at the same place",
    ),
    (
        "partition",
        "mechanism=nft|link-down mode=isolate|split|one-way lost=in|out peers=NAME,ROLE,... link=NAME",
        "packets are lost, or a link is down",
    ),
    ("full", "leave=16M", "a brick has no room"),
    ("kill", "process=NAME,... restart=SCRIPT", "daemons are killed"),
    ("pause", "process=NAME,...", "daemons stand still"),
    ("slow-dev", "factor=5 or write_bps=1M", "the disk of a lab's host is slower"),
    ("slow-net", "", "the link of a lab's host has a tenth of its speed"),
];

impl Model {
    /// The model of that name, with parameters; each fault of the lab is one too.
    pub fn parse(name: &str, parameters: &BTreeMap<String, String>) -> Result<Model, LabError> {
        let mut given = Given::new(name, parameters);
        let model = given.model()?;
        match given.left.keys().next() {
            None => Ok(model),
            Some(key) => Err(LabError::Input(format!("{name} has no parameter {key:?}: {}", known(name)))),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Model::DevFail { .. } => "dev-fail",
            Model::Inconsist { .. } => "inconsist",
            Model::Bitflip { .. } => "bitflip",
            Model::Partition { .. } => "partition",
            Model::Slow { fault } => fault,
            Model::SlowDisk { .. } => "slow-dev",
            Model::Full { .. } => "full",
            Model::Kill { .. } => "kill",
            Model::Pause { .. } => "pause",
        }
    }
}

fn known(name: &str) -> String {
    let found = MODELS.iter().find(|(model, ..)| *model == name);
    found.map_or_else(|| "it has none".into(), |(_, parameters, _)| format!("it has {parameters}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, parameters: &[(&str, &str)]) -> Result<Model, String> {
        let parameters = parameters.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Model::parse(name, &parameters).map_err(|error| error.to_string())
    }

    #[test]
    fn a_model_has_the_papers_numbers_unless_others_are_given() {
        let Ok(Model::Inconsist { delete_pct, corrupt_max_bytes, .. }) =
            parse("inconsist", &[("delete_pct", "5")])
        else {
            panic!("no model");
        };
        assert_eq!((delete_pct, corrupt_max_bytes), (5, 200));
        assert_eq!(parse("full", &[("leave", "64K")]), Ok(Model::Full { leave: 65536 }));
        assert_eq!(parse("dev-fail", &[("mechanism", "brick-kill")]), parse("kill", &[]));
        assert_eq!(parse("slow-net", &[]), parse("slow-link", &[]));
        let slow = |factor, bytes_per_second| Ok(Model::SlowDisk { factor, bytes_per_second });
        assert_eq!(parse("slow-dev", &[]), slow(Some(5.0), None));
        assert_eq!(parse("slow-dev", &[("write_bps", "1M")]), slow(None, Some(1 << 20)));
    }

    #[test]
    fn what_is_not_known_is_told_with_what_is() {
        let told = |name, parameters: &[(&str, &str)]| parse(name, parameters).unwrap_err();
        assert!(told("fire", &[]).contains("there are dev-fail, inconsist,"));
        assert!(told("partition", &[("mod", "x")]).contains("no parameter \"mod\": it has mechanism=nft|"));
        assert!(
            told("partition", &[("mode", "x")]).starts_with("partition, parameter mode: unknown variant")
        );
        assert!(told("inconsist", &[("delete_pct", "101")]).contains("up to 100"));
        assert!(told("full", &[("leave", "x")]).contains("is no size"));
        for factor in ["1", "101", "x", "NaN"] {
            assert!(told("slow-dev", &[("factor", factor)]).contains("more than 1, and 100 at the most"));
        }
        assert!(told("slow-dev", &[("factor", "2"), ("write_bps", "1M")]).contains("either this or"));
        assert!(told("disk-busy", &[("x", "1")]).ends_with("it has none"));
    }
}
