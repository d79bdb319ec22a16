//! The file that describes a campaign.
//! In: TOML. Out: a [`Config`] in which every name means something. Always: a mistake is told with its key and line.

mod check;
mod safety;
mod tables;
mod times;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::filesystems::Adapter;
use crate::inject::{Fault, Node};
use crate::machine::LabError;
use crate::plan::file::LabFile;

pub use safety::{Safety, StopIf};
pub use tables::{Order, StopOn};
pub use times::Timeouts;

/// A campaign.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it is called.
    pub name: String,
    /// What all choices follow from.
    pub seed: u64,
    /// How often each cell.
    pub repeats: u32,
    /// In which order.
    pub order: Order,
    /// Where runs go.
    pub out: PathBuf,
    /// What ends it early.
    pub stop_on: StopOn,
    /// What is recorded and diagnosed; none: nothing.
    pub record: Option<Recording>,
    /// How the file system is run.
    pub adapter: Adapter,
    /// Values for commands and scripts.
    pub vars: BTreeMap<String, String>,
    /// The lab to build for each cell; none: [`Config::nodes`] are there already.
    pub lab: Option<LabFile>,
    /// Nodes that are there already.
    pub nodes: Vec<Node>,
    /// Makes the file system look used.
    pub age: Option<Task>,
    /// Writes what is checked later.
    pub init: Task,
    /// What is done with the fault there, by name.
    pub checks: BTreeMap<String, Check>,
    /// The file system's own check.
    pub fsck: Fsck,
    /// What goes wrong, by name.
    pub faults: BTreeMap<String, FaultPlan>,
    /// To whom, by name.
    pub node_sets: BTreeMap<String, Vec<String>>,
    /// Which of the faults, in order.
    pub chosen: Vec<String>,
    /// Whether there is a cell without a fault.
    pub has_control: bool,
    /// What must not happen.
    pub safety: Safety,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// The file itself.
    pub text: String,
    /// Files that it names, of a lab or an adapter: their names, and what is in them.
    pub files: Vec<(PathBuf, String)>,
}

/// A command and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// For the shell, with variables in braces.
    pub cmd: String,
    /// After which it hangs.
    pub timeout: Duration,
    /// Without a sign of life.
    pub quiet: Option<Duration>,
}

/// A task that is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What is done.
    pub task: Task,
    /// Whether clients mount anew before.
    pub fresh_mount: bool,
    /// Whether caches are dropped before.
    pub drop_caches: bool,
}

/// When the file system checks itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fsck {
    /// From the fault on.
    pub delay: Duration,
    /// After which it hangs.
    pub timeout: Duration,
    /// Instead of the adapter's own.
    pub run: Option<String>,
}

/// A fault that is planned.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    /// What it is.
    pub model: Fault,
    /// How long it may stand.
    pub ttl: Duration,
}

/// What is recorded during each cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// What the clients do meanwhile, by the name of a lab's workload.
    pub load: String,
    /// Before the fault.
    pub lead: Duration,
}

impl Config {
    /// Reads a campaign file.
    pub fn read(path: &Path) -> Result<Config, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Config::parse(&text, folder).map_err(|error| LabError::Input(format!("{}: {error}", path.display())))
    }

    /// Reads a campaign from text; a lab file is named from that folder on.
    pub fn parse(text: &str, folder: &Path) -> Result<Config, LabError> {
        check::config(tables::File::parse(text)?, text, folder)
    }

    /// The names of all nodes.
    pub fn node_names(&self) -> Vec<String> {
        match &self.lab {
            Some(lab) => lab.hosts().into_iter().map(|host| host.name).collect(),
            None => self.nodes.iter().map(|node| node.name.clone()).collect(),
        }
    }

    /// The node whose programs use the file system.
    pub fn client(&self) -> Option<String> {
        match &self.lab {
            Some(lab) => lab.hosts().into_iter().find(|host| !host.is_server()).map(|host| host.name),
            None => self.nodes.iter().find(|node| node.role == "client").map(|node| node.name.clone()),
        }
    }

    /// Checks whose `ok` says little: what they read may come from memory.
    pub fn warm_checks(&self) -> Vec<&str> {
        let is_warm = |check: &&Check| !check.fresh_mount || !check.drop_caches;
        let reads = |name: &str| name.contains("read");
        let warm = self.checks.iter().filter(|(name, check)| reads(name) && is_warm(check));
        warm.map(|(name, _)| name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::SMALL;
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new(".")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let config = parse(SMALL).unwrap();
        assert_eq!((config.order, config.stop_on), (Order::Shuffled, StopOn::Dirty));
        assert!(config.has_control && config.checks["read"].fresh_mount && config.checks["read"].drop_caches);
        assert_eq!(config.client().as_deref(), Some("c1"));
        assert_eq!(config.faults["cut"].ttl, Duration::from_secs(300));
        assert_eq!(config.warm_checks(), [""; 0]);
    }

    #[test]
    fn a_check_without_a_fresh_mount_is_told_to_be_warm() {
        let warm = SMALL.replace("timeout = \"30s\"", "timeout = \"30s\"\nfresh_mount = false");
        assert_eq!(parse(&warm).unwrap().warm_checks(), ["read"]);
    }

    #[test]
    fn mistakes_are_told_with_key_and_line() {
        let wrong = |from: &str, to: &str| parse(&SMALL.replacen(from, to, 1)).unwrap_err();
        let told = wrong("faults = [\"cut\"]", "faults = [\"cot\"]");
        assert_eq!(told, "line 26: matrix.faults: no fault has the id \"cot\"; there is cut");
        let told = wrong("ONE = [\"s2\"]", "ONE = [\"s9\"]");
        assert_eq!(told, "line 25: matrix.nodes.ONE: no node is called \"s9\"; there are s1, s2, s3, c1");
        let told = wrong("{mnt}/v --manifest", "{mnd}/v --manifest");
        assert!(told.contains("check.read.cmd: nothing is called {mnd}; there are"), "{told}");
        let told = wrong("repeats = 2", "repeats = 2\ncolour = 1");
        assert!(told.contains("line 6") && told.contains("unknown field `colour`"), "{told}");
        let told = wrong("model = \"partition\"", "model = \"fire\"");
        assert!(told.contains("fault.cut: no fault is called \"fire\""), "{told}");
        let told = wrong("timeout = \"30s\"", "timeout = \"soon\"");
        assert!(told.contains("line 18") && told.contains("soon"), "{told}");
        let told = wrong("timeout = \"30s\"", "timeout = 30");
        assert!(
            told.contains("line 18") && told.contains("expected a length of time, like \"10s\""),
            "{told}"
        );
        let told = wrong("redundancy = 1", "redundancy = 3");
        assert!(told.ends_with("lab: redundancy = 3: it must be less than half of the 3 servers"), "{told}");
        let told = wrong("servers = { count = 3", "servers = { count = 2");
        assert!(told.ends_with("lab: gluster-dispersed needs at least 3 servers, there are 2"), "{told}");
        let told = wrong("adapter = \"gluster-dispersed\"", "adapter = \"zfs\"");
        assert!(told.contains("target.adapter: no file system is called \"zfs\""), "{told}");
        let told = wrong("ttl = \"5m\"", "ttl = \"5h\"");
        assert!(told.contains("fault.cut.ttl") && told.contains("safety.max_hold"), "{told}");
        let told = wrong("faults = [\"cut\"]", "faults = [\"cut\"]\n[safety]\nmax_faults = 2");
        assert!(told.contains("matrix.nodes.ALL: 3 nodes") && told.contains("safety.max_faults"), "{told}");
    }

    #[test]
    fn what_must_not_happen_is_read_and_mistakes_in_it_are_told_with_key_and_line() {
        let with = |lines: &str| parse(&format!("{SMALL}{lines}"));
        let wrong = |lines: &str| with(lines).unwrap_err();
        let told = wrong("[safety]\nforbid = [\"swap\",\n\"sda\"]");
        assert!(
            told.starts_with("line 29: safety.forbid: \"sda\" is none of /, swap, controller-iface"),
            "{told}"
        );
        let told = wrong("[safety]\nrequire_marker = \".mine\"");
        assert_eq!(
            told,
            "line 28: safety.require_marker: hosts of a lab carry \".laggard-target\", and no other"
        );
        let told = wrong("[safety]\nstop_if = [ { cmd = \"true\", every = \"1ms\" } ]");
        assert_eq!(told, "line 28: safety.stop_if.every: is too often: at the most every 200 ms");
        let told = wrong("[safety]\nstop_if = [ { cmd = \"ls {nowhere}\" } ]");
        assert!(told.starts_with("line 28: safety.stop_if.cmd: nothing is called {nowhere}"), "{told}");
        let told = wrong("[timeouts]\nsetup = \"0s\"");
        assert!(told.starts_with("line 28: timeouts.setup: no time at all"), "{told}");
        let told = wrong("[timeouts]\nset_up = \"5m\"");
        assert!(told.contains("line 28") && told.contains("unknown field `set_up`"), "{told}");
        let good = "[safety]\nforbid = [\"/\", \"/home\"]\nstop_if = [ { cmd = \"true\" } ]\n\
                    [timeouts]\nsetup = \"2m\"\ncell = \"9m\"";
        let config = with(good).unwrap();
        assert_eq!(config.safety.forbidden, [PathBuf::from("/home")]);
        assert_eq!(config.safety.stop_if, [StopIf { cmd: "true".into(), every: Duration::from_secs(5) }]);
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        assert_eq!((config.timeouts.setup, config.timeouts.cell), (minutes(2), minutes(9)));
    }

    /// The same on two nodes that are there.
    fn on_nodes(safety: &str) -> Result<Config, String> {
        let (before, rest) = SMALL.split_once("[lab]").unwrap();
        let (_, rest) = rest.split_once("[target]").unwrap();
        let rest = rest.replace("\"s1\", \"s2\", \"s3\"", "\"s2\"");
        let node = |name: &str, role: &str| {
            format!("[[node]]\nname = '{name}'\nrole = '{role}'\nexec = 'local'\nbrick = '/bricks/{name}'\n")
        };
        parse(&format!("{before}[target]{rest}{}{}{safety}", node("s2", "storage"), node("c1", "client")))
    }

    #[test]
    fn nodes_have_the_marker_that_is_asked_for_and_are_not_where_it_is_forbidden() {
        let config = on_nodes("[safety]\nrequire_marker = '.mine'").unwrap();
        assert_eq!(config.nodes[0].marker(), Path::new("/bricks/s2/.mine"));
        assert_eq!(config.hurt().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["s2"]);
        let told = on_nodes("[safety]\nforbid = ['/bricks']").unwrap_err();
        assert!(
            told.contains("matrix.nodes.") && told.contains("below /bricks, which safety.forbid names"),
            "{told}"
        );
    }

    #[test]
    fn files_that_a_campaign_names_are_found_again_beside_its_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (near, far) = (folder.path().join("run"), folder.path().join("parts"));
        for path in [&near, &far] {
            std::fs::create_dir(path).unwrap();
        }
        std::fs::write(far.join("mine.toml"), "name = 'mine'\nlike = 'gluster-dispersed'").unwrap();
        let text = SMALL.replace("\"gluster-dispersed\"", "\"parts/mine.toml\"");
        let config = Config::parse(&text, folder.path()).unwrap();
        assert_eq!((config.adapter.name.as_str(), config.files.len()), ("mine", 1));
        for (name, text) in &config.files {
            std::fs::write(near.join(name), text).unwrap();
        }
        assert_eq!(Config::parse(&text, &near).unwrap().adapter.name, "mine");
        let told = Config::parse(&text, Path::new("/nowhere")).unwrap_err().to_string();
        assert!(told.contains("target.adapter: /nowhere/parts/mine.toml: No such file"), "{told}");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
