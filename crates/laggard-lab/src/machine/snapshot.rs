//! The state of the machine that a case could leave changed.

use std::collections::BTreeSet;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cgroup;
use super::place::Place;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    things: BTreeSet<String>,
}

impl Snapshot {
    pub(crate) fn take() -> Snapshot {
        let mut things = BTreeSet::new();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        // Source, mount point and type; the options may change.
        let mount = |line: &str| line.split(' ').take(3).collect::<Vec<_>>().join(" ");
        things.extend(mounts.lines().map(|line| format!("mount {}", mount(line))));
        things.extend(names("/sys/class/net").map(|name| format!("interface {name}")));
        things.extend(names("/sys/block").filter_map(|name| backing(&name)));
        things.extend(names("/run/laggard-lab").map(|name| format!("lab {name}")));
        let printed = |words: &[&str]| Place::Here.run(words).unwrap_or_default();
        things.extend(printed(&["nft", "list", "tables"]).lines().map(|line| format!("nft {line}")));
        things.extend(printed(&["ip", "route"]).lines().map(|line| format!("route {line}")));
        things.extend(printed(&["tc", "qdisc"]).lines().map(|line| format!("tc {}", qdisc(line))));
        for root in cgroup::ROOTS.into_iter().chain(["/sys/fs/cgroup/memory"]) {
            let groups = names(root).filter(|name| name.starts_with("laggard"));
            things.extend(groups.map(|name| format!("cgroup {root}/{name}")));
        }
        Snapshot { things }
    }

    pub(crate) fn read(path: &Path) -> Option<Snapshot> {
        serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
    }

    /// Additions since (`+`), and removals (`-`).
    pub(crate) fn difference(&self, later: &Snapshot) -> Vec<String> {
        let new = later.things.difference(&self.things).map(|thing| format!("+ {thing}"));
        // Control groups of other processes come and go, and a case removes only its own.
        let is_reported = |thing: &&String| !thing.starts_with("cgroup ");
        let gone =
            self.things.difference(&later.things).filter(is_reported).map(|thing| format!("- {thing}"));
        new.chain(gone).collect()
    }
}

fn names(folder: &str) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

fn backing(device: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/sys/block/{device}/loop/backing_file")).ok()?;
    // The number of the device may change.
    Some(format!("loop over {}", text.trim()))
}

/// Without handles, which the kernel numbers.
fn qdisc(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.iter().filter(|word| !word.ends_with(':')).copied().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_and_removals_are_reported() {
        let of = |things: &[&str]| Snapshot { things: things.iter().map(|t| (*t).to_owned()).collect() };
        assert_eq!(of(&["a", "b"]).difference(&of(&["b", "c"])), ["+ c", "- a"]);
        assert!(of(&["a"]).difference(&of(&["a"])).is_empty());
        assert_eq!(of(&["cgroup a"]).difference(&of(&["cgroup b"])), ["+ cgroup b"]);
        assert!(Snapshot::take().things.iter().any(|thing| thing == "interface lo"));
    }
}
