//! Requirements of the lab on the machine.

use std::path::Path;

use super::LabError;

/// A requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    pub what: String,
    pub is_met: bool,
    /// The command that provides it.
    pub remedy: String,
}

/// A program and the Debian package that has it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub program: String,
    pub package: String,
}

const BASE: [(&str, &str); 12] = [
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("setsid", "util-linux"),
    ("taskset", "util-linux"),
    ("findmnt", "util-linux"),
    ("losetup", "mount"),
    ("mount", "mount"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("iptables", "iptables"),
    ("mkfs.xfs", "xfsprogs"),
    ("perl", "perl-base"),
];

/// Programs for injecting faults, in addition to those of a lab.
const INJECTING: [(&str, &str); 3] = [("nft", "nftables"), ("pgrep", "procps"), ("cmp", "diffutils")];

/// The programs for injecting faults.
pub fn injecting() -> Vec<Tool> {
    let tool = |(program, package): (&str, &str)| Tool { program: program.into(), package: package.into() };
    INJECTING.map(tool).into()
}

/// All requirements: those of the lab itself and these programs.
pub fn all(tools: &[Tool]) -> Vec<Need> {
    let base = BASE.iter().map(|(program, package)| tool(program, package));
    let more = tools.iter().map(|each| tool(&each.program, &each.package));
    machine().into_iter().chain(base).chain(more).collect()
}

/// Fails with the first requirement that is not met.
pub fn check(tools: &[Tool]) -> Result<(), LabError> {
    match all(tools).into_iter().find(|need| !need.is_met) {
        Some(Need { what, remedy, .. }) => Err(LabError::Lacking(format!("the lab needs {what}: {remedy}"))),
        None => Ok(()),
    }
}

fn machine() -> [Need; 4] {
    let is_root = rustix::process::geteuid().is_root();
    let there = |path: &str| Path::new(path).exists();
    [
        Need { what: "root".into(), is_met: is_root, remedy: "run it as root, with sudo".into() },
        Need { what: "FUSE".into(), is_met: there("/dev/fuse"), remedy: "modprobe fuse".into() },
        Need {
            what: "loop devices".into(),
            is_met: there("/dev/loop-control"),
            remedy: "modprobe loop".into(),
        },
        Need {
            what: "network namespaces".into(),
            is_met: there("/proc/self/ns/net"),
            remedy: "boot a kernel with CONFIG_NET_NS".into(),
        },
    ]
}

fn tool(program: &str, package: &str) -> Need {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let is_met = places.into_iter().any(|folder| folder.join(program).is_file());
    Need { what: program.into(), is_met, remedy: format!("apt-get install {package}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_comes_with_the_command_that_installs_it() {
        let tool = Tool { program: "no-such-program".into(), package: "nothing".into() };
        let need = all(&[tool]).pop().unwrap();
        assert_eq!((need.is_met, need.remedy.as_str()), (false, "apt-get install nothing"));
        assert!(all(&[]).iter().any(|need| need.what == "mount" && need.is_met));
    }
}
