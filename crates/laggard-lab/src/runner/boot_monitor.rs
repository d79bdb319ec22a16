//! The kernels of all nodes: detects boots and panics.

use std::collections::BTreeMap;
use std::time::Duration;

use super::target::Target;
use crate::inject::Node;
use crate::verifiable_files::outcome::Outcome;

/// The state of the kernels, by node. The hosts of a lab share the machine's.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernels {
    /// Boot ids.
    pub boots: BTreeMap<String, String>,
    last_lines: BTreeMap<String, String>,
}

/// Reads the kernel log, with the kernel's own clock, which does not step.
pub(super) const KERNEL: &str = "dmesg --time-format raw 2> /dev/null || dmesg 2> /dev/null || true";

const ASKING: Duration = Duration::from_secs(10);
const BOOT: &str = "cat /proc/sys/kernel/random/boot_id";

/// Messages of a kernel that panicked or met a bug; the last is of Lustre.
const PANICS: [&str; 7] = [
    "Kernel panic",
    "kernel BUG at",
    "BUG: unable to handle",
    "BUG: kernel NULL pointer",
    "Oops: ",
    "general protection fault",
    "LBUG",
];

impl Kernels {
    pub(super) fn of(target: &Target) -> Kernels {
        let mut kernels = Kernels::default();
        kernels.check(target);
        kernels
    }

    /// The worst event since the last check. A node that does not answer is asked again next time.
    pub(super) fn check(&mut self, target: &Target) -> Option<Outcome> {
        let all = target.nodes.iter();
        let nodes: Vec<(&str, &Node)> = match target.lab {
            Some(_) => all.take(1).map(|node| ("machine", node)).collect(),
            None => all.map(|node| (node.name.as_str(), node)).collect(),
        };
        let events = nodes.into_iter().filter_map(|(name, node)| {
            let output = node.read(&format!("{BOOT}\n{KERNEL}"), ASKING).ok()?;
            self.update(name, &output)
        });
        events.max()
    }

    fn update(&mut self, name: &str, output: &str) -> Option<Outcome> {
        let (boot, log) = output.split_once('\n').unwrap_or((output, ""));
        let was = self.boots.insert(name.to_owned(), boot.trim().to_owned());
        let last = self.last_lines.insert(name.to_owned(), last_line(log));
        let is_booted = was.is_some_and(|was| was != boot.trim());
        let has_panicked = last.is_some_and(|last| after(log, &last).any(is_panic));
        match (is_booted, has_panicked) {
            (true, _) => Some(Outcome::Reboot),
            (false, true) => Some(Outcome::Panic),
            (false, false) => None,
        }
    }
}

fn is_panic(line: &str) -> bool {
    PANICS.iter().any(|words| line.contains(words))
}

pub(super) fn last_line(text: &str) -> String {
    text.lines().next_back().unwrap_or_default().to_owned()
}

/// The lines after a line; all, if that is gone.
pub(super) fn after<'t>(text: &'t str, last: &str) -> impl Iterator<Item = &'t str> {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.iter().rposition(|line| *line == last && !last.is_empty()).map_or(0, |at| at + 1);
    lines.into_iter().skip(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_once_and_a_boot_counts_more() {
        let mut kernels = Kernels::default();
        let mut update = |output: &str| kernels.update("s1", output);
        assert_eq!(update("id-1\n[1] Kernel panic long ago\n[2] eth0 up"), None);
        assert_eq!(update("id-1\n[1] Kernel panic long ago\n[2] eth0 up\n[3] I/O error, dev loop1"), None);
        let oops = "id-1\n[2] eth0 up\n[3] I/O error, dev loop1\n[4] LustreError: 12:0:(a.c:1:f()) LBUG";
        assert_eq!((update(oops), update(oops)), (Some(Outcome::Panic), None));
        assert_eq!(update("id-2\n[0] Linux"), Some(Outcome::Reboot));
    }
}
