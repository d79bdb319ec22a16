//! What the machine is like: before a cell, and after it there must be no difference.

use std::collections::BTreeSet;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::machine::pen;
use crate::machine::place::Place;

/// What a cell could leave behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// A line for each thing.
    pub things: BTreeSet<String>,
}

impl Snapshot {
    /// How it is now.
    pub fn take() -> Snapshot {
        let mut things = BTreeSet::new();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        // What a mount is called, where it is and what it is; its options may change.
        let mount = |line: &str| line.split(' ').take(3).collect::<Vec<_>>().join(" ");
        things.extend(mounts.lines().map(|line| format!("mount {}", mount(line))));
        things.extend(names("/sys/class/net").map(|name| format!("interface {name}")));
        things.extend(names("/sys/block").filter_map(|name| backing(&name)));
        things.extend(names("/run/laggard-lab").map(|name| format!("lab {name}")));
        let printed = |words: &[&str]| Place::Here.run(words).unwrap_or_default();
        things.extend(printed(&["nft", "list", "tables"]).lines().map(|line| format!("nft {line}")));
        things.extend(printed(&["ip", "route"]).lines().map(|line| format!("route {line}")));
        things.extend(printed(&["tc", "qdisc"]).lines().map(|line| format!("tc {}", qdisc(line))));
        for root in pen::ROOTS.into_iter().chain(["/sys/fs/cgroup/memory"]) {
            let rooms = names(root).filter(|name| name.starts_with("laggard"));
            things.extend(rooms.map(|name| format!("cgroup {root}/{name}")));
        }
        Snapshot { things }
    }

    /// One that was written down.
    pub fn read(path: &Path) -> Option<Snapshot> {
        serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
    }

    /// What is different: what has come, and what has gone.
    pub fn difference(&self, later: &Snapshot) -> Vec<String> {
        let new = later.things.difference(&self.things).map(|thing| format!("+ {thing}"));
        // Control groups of others come and go, and no cell removes any but its own.
        let is_told = |thing: &&String| !thing.starts_with("cgroup ");
        let gone = self.things.difference(&later.things).filter(is_told).map(|thing| format!("- {thing}"));
        new.chain(gone).collect()
    }
}

fn names(folder: &str) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

fn backing(device: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/sys/block/{device}/loop/backing_file")).ok()?;
    // Which device it is may be another next time.
    Some(format!("loop over {}", text.trim()))
}

/// Handles are given by the kernel, in turn.
fn qdisc(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.iter().filter(|word| !word.ends_with(':')).copied().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_and_gone_is_told() {
        let of = |things: &[&str]| Snapshot { things: things.iter().map(|t| (*t).to_owned()).collect() };
        assert_eq!(of(&["a", "b"]).difference(&of(&["b", "c"])), ["+ c", "- a"]);
        assert!(of(&["a"]).difference(&of(&["a"])).is_empty());
        assert_eq!(of(&["cgroup a"]).difference(&of(&["cgroup b"])), ["+ cgroup b"]);
        assert!(Snapshot::take().things.iter().any(|thing| thing == "interface lo"));
    }
}
