//! The kernels of all nodes: whether one was started anew, or has given up something in despair.

use std::collections::BTreeMap;
use std::time::Duration;

use super::logs::{KERNEL, after, last_line};
use super::target::Target;
use crate::inject::Node;
use crate::work::outcome::Outcome;

/// What is known of the kernels, by node. A lab has but one: the machine's.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    /// By which nodes are known not to have been booted since.
    pub boots: BTreeMap<String, String>,
    said: BTreeMap<String, String>,
}

const ASKING: Duration = Duration::from_secs(10);
const BOOT: &str = "cat /proc/sys/kernel/random/boot_id";

/// Of a kernel that cannot go on, or of a part of it: panics, bugs, and what Lustre calls its own.
const DESPAIR: [&str; 7] = [
    "Kernel panic",
    "kernel BUG at",
    "BUG: unable to handle",
    "BUG: kernel NULL pointer",
    "Oops: ",
    "general protection fault",
    "LBUG",
];

impl Kernels {
    /// As they are now.
    pub fn of(target: &Target) -> Kernels {
        let mut kernels = Kernels::default();
        kernels.look(target);
        kernels
    }

    /// What has become of one of them since the last look, if something has: the worst. A node that does not answer is
    /// asked again next time.
    pub fn look(&mut self, target: &Target) -> Option<Outcome> {
        let all = target.nodes.iter();
        let nodes: Vec<(&str, &Node)> = match target.lab {
            Some(_) => all.take(1).map(|node| ("machine", node)).collect(),
            None => all.map(|node| (node.name.as_str(), node)).collect(),
        };
        let told = nodes.into_iter().filter_map(|(name, node)| {
            let said = node.read(&format!("{BOOT}\n{KERNEL}"), ASKING).ok()?;
            self.hear(name, &said)
        });
        told.max()
    }

    fn hear(&mut self, name: &str, said: &str) -> Option<Outcome> {
        let (boot, log) = said.split_once('\n').unwrap_or((said, ""));
        let was = self.boots.insert(name.to_owned(), boot.trim().to_owned());
        let last = self.said.insert(name.to_owned(), last_line(log));
        let is_booted = was.is_some_and(|was| was != boot.trim());
        let is_desperate = last.is_some_and(|last| after(log, &last).any(is_despair));
        match (is_booted, is_desperate) {
            (true, _) => Some(Outcome::Reboot),
            (false, true) => Some(Outcome::Panic),
            (false, false) => None,
        }
    }
}

fn is_despair(line: &str) -> bool {
    DESPAIR.iter().any(|words| line.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_once_and_a_boot_counts_more() {
        let mut kernels = Kernels::default();
        let mut hear = |said: &str| kernels.hear("s1", said);
        assert_eq!(hear("id-1\n[1] Kernel panic long ago\n[2] eth0 up"), None);
        assert_eq!(hear("id-1\n[1] Kernel panic long ago\n[2] eth0 up\n[3] I/O error, dev loop1"), None);
        let oops = "id-1\n[2] eth0 up\n[3] I/O error, dev loop1\n[4] LustreError: 12:0:(a.c:1:f()) LBUG";
        assert_eq!((hear(oops), hear(oops)), (Some(Outcome::Panic), None));
        assert_eq!(hear("id-2\n[0] Linux"), Some(Outcome::Reboot));
    }
}
