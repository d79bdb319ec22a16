//! The campaign file.
//! In: TOML. Out: a [`Config`] in which every name is resolved. Always: a mistake is reported with its key and line.

mod check;
mod place;
mod safety;
mod sections;
mod times;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::machine::LabError;
use crate::runner::case_plan::{Check, FaultPlan, Steps};

pub(super) use sections::{Order, StopOn};

#[derive(Clone, Debug)]
pub struct Config {
    pub name: String,
    /// All random choices follow from it.
    pub seed: u64,
    pub repeats: u32,
    pub order: Order,
    /// Where runs go.
    pub out: PathBuf,
    pub stop_on: StopOn,
    /// By id.
    pub(crate) faults: BTreeMap<String, FaultPlan>,
    pub(crate) node_sets: BTreeMap<String, Vec<String>>,
    /// The faults to inject, in order.
    pub(crate) chosen: Vec<String>,
    /// There is a case without a fault.
    pub(crate) has_control: bool,
    pub(crate) steps: Steps,
    /// The campaign file itself.
    pub(crate) text: String,
    /// Lab and adapter files that it names: their names and contents.
    pub(crate) files: Vec<(PathBuf, String)>,
}

impl Config {
    pub fn read(path: &Path) -> Result<Config, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Config::parse(&text, folder).map_err(|error| LabError::Input(format!("{}: {error}", path.display())))
    }

    /// Files that the text names are relative to the folder.
    pub fn parse(text: &str, folder: &Path) -> Result<Config, LabError> {
        check::config(sections::File::parse(text)?, text, folder)
    }

    /// The same campaign with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Config {
        self.seed = seed;
        self.steps.seed = seed;
        self
    }

    /// Read checks that may be answered from caches.
    pub fn warm_checks(&self) -> Vec<&str> {
        let is_warm = |check: &&Check| !check.fresh_mount || !check.drop_caches;
        let reads = |name: &str| name.contains("read");
        let warm = self.steps.checks.iter().filter(|(name, check)| reads(name) && is_warm(check));
        warm.map(|(name, _)| name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::SMALL;
    use super::*;
    use crate::runner::case_plan::StopIf;
    use std::time::Duration;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new(".")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_the_file_leaves_out_has_a_default() {
        let config = parse(SMALL).unwrap();
        assert_eq!((config.order, config.stop_on), (Order::Shuffled, StopOn::Dirty));
        assert!(
            config.has_control
                && config.steps.checks["read"].fresh_mount
                && config.steps.checks["read"].drop_caches
        );
        assert_eq!(config.steps.system.client().as_deref(), Some("c1"));
        assert_eq!(config.faults["cut"].ttl, Duration::from_secs(300));
        assert_eq!(config.warm_checks(), [""; 0]);
    }

    #[test]
    fn a_check_without_a_fresh_mount_is_warm() {
        let warm = SMALL.replace("timeout = \"30s\"", "timeout = \"30s\"\nfresh_mount = false");
        assert_eq!(parse(&warm).unwrap().warm_checks(), ["read"]);
    }

    #[test]
    fn mistakes_are_reported_with_key_and_line() {
        let wrong = |from: &str, to: &str| parse(&SMALL.replacen(from, to, 1)).unwrap_err();
        let error = wrong("faults = [\"cut\"]", "faults = [\"cot\"]");
        assert_eq!(
            error,
            "line 26: matrix.faults: there is no fault with the id \"cot\"; expected one of cut"
        );
        let error = wrong("ONE = [\"s2\"]", "ONE = [\"s9\"]");
        assert_eq!(
            error,
            "line 25: matrix.nodes.ONE: there is no node \"s9\"; expected one of s1, s2, s3, c1"
        );
        let error = wrong("{mnt}/v --manifest", "{mnd}/v --manifest");
        assert!(error.contains("check.read.cmd: unknown variable {mnd}; expected one of"), "{error}");
        let error = wrong("repeats = 2", "repeats = 2\ncolour = 1");
        assert!(error.contains("line 6") && error.contains("unknown field `colour`"), "{error}");
        let error = wrong("model = \"partition\"", "model = \"fire\"");
        assert!(error.contains("fault.cut: unknown fault \"fire\""), "{error}");
        let error = wrong("timeout = \"30s\"", "timeout = \"soon\"");
        assert!(error.contains("line 18") && error.contains("soon"), "{error}");
        let error = wrong("timeout = \"30s\"", "timeout = 30");
        assert!(
            error.contains("line 18") && error.contains("expected a length of time, like \"10s\""),
            "{error}"
        );
        let error = wrong("redundancy = 1", "redundancy = 3");
        assert!(
            error.ends_with("lab: redundancy = 3: it must be less than half of the 3 servers"),
            "{error}"
        );
        let error = wrong("servers = { count = 3", "servers = { count = 2");
        assert!(error.ends_with("lab: gluster-dispersed needs at least 3 servers, the lab has 2"), "{error}");
        let error = wrong("adapter = \"gluster-dispersed\"", "adapter = \"zfs\"");
        assert!(error.contains("target.adapter: there is no file system \"zfs\""), "{error}");
        let error = wrong("ttl = \"5m\"", "ttl = \"5h\"");
        assert!(error.contains("fault.cut.ttl") && error.contains("safety.max_hold"), "{error}");
        let error = wrong("faults = [\"cut\"]", "faults = [\"cut\"]\n[safety]\nmax_faults = 2");
        assert!(
            error.contains("matrix.nodes.ALL: 3 nodes") && error.contains("safety.max_faults"),
            "{error}"
        );
    }

    #[test]
    fn safety_is_read_and_mistakes_in_it_are_reported_with_key_and_line() {
        let with = |lines: &str| parse(&format!("{SMALL}{lines}"));
        let wrong = |lines: &str| with(lines).unwrap_err();
        let error = wrong("[safety]\nforbid = [\"swap\",\n\"sda\"]");
        assert!(
            error.starts_with("line 29: safety.forbid: \"sda\" is not one of /, swap, controller-iface"),
            "{error}"
        );
        let error = wrong("[safety]\nrequire_marker = \".mine\"");
        assert_eq!(
            error,
            "line 28: safety.require_marker: hosts of a lab have the marker \".laggard-target\""
        );
        let error = wrong("[safety]\nstop_if = [ { cmd = \"true\", every = \"1ms\" } ]");
        assert_eq!(error, "line 28: safety.stop_if.every: is too short: at least 200 ms");
        let error = wrong("[safety]\nstop_if = [ { cmd = \"ls {nowhere}\" } ]");
        assert!(error.starts_with("line 28: safety.stop_if.cmd: unknown variable {nowhere}"), "{error}");
        let error = wrong("[timeouts]\nsetup = \"0s\"");
        assert!(error.starts_with("line 28: timeouts.setup: must be longer than 0 s"), "{error}");
        let error = wrong("[timeouts]\nset_up = \"5m\"");
        assert!(error.contains("line 28") && error.contains("unknown field `set_up`"), "{error}");
        let good = "[safety]\nforbid = [\"/\", \"/home\"]\nstop_if = [ { cmd = \"true\" } ]\n\
                    [timeouts]\nsetup = \"2m\"\ncase = \"9m\"";
        let config = with(good).unwrap();
        assert_eq!(config.steps.safety.forbidden, [PathBuf::from("/home")]);
        assert_eq!(
            config.steps.safety.stop_if,
            [StopIf { cmd: "true".into(), every: Duration::from_secs(5) }]
        );
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        assert_eq!((config.steps.timeouts.setup, config.steps.timeouts.case), (minutes(2), minutes(9)));
    }

    /// The same on two existing nodes.
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
    fn nodes_have_the_required_marker_and_no_brick_in_a_forbidden_folder() {
        let config = on_nodes("[safety]\nrequire_marker = '.mine'").unwrap();
        assert_eq!(config.steps.system.nodes()[0].marker(), Path::new("/bricks/s2/.mine"));
        assert!(config.node_sets.values().all(|names| names == &["s2"]));
        let error = on_nodes("[safety]\nforbid = ['/bricks']").unwrap_err();
        assert!(
            error.contains("matrix.nodes.") && error.contains("below /bricks, which safety.forbid names"),
            "{error}"
        );
    }

    #[test]
    fn files_that_a_campaign_names_are_found_beside_its_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (near, far) = (folder.path().join("run"), folder.path().join("parts"));
        for path in [&near, &far] {
            std::fs::create_dir(path).unwrap();
        }
        std::fs::write(far.join("mine.toml"), "name = 'mine'\nlike = 'gluster-dispersed'").unwrap();
        let text = SMALL.replace("\"gluster-dispersed\"", "\"parts/mine.toml\"");
        let config = Config::parse(&text, folder.path()).unwrap();
        assert_eq!((config.steps.adapter.name.as_str(), config.files.len()), ("mine", 1));
        for (name, text) in &config.files {
            std::fs::write(near.join(name), text).unwrap();
        }
        assert_eq!(Config::parse(&text, &near).unwrap().steps.adapter.name, "mine");
        let error = Config::parse(&text, Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("target.adapter: /nowhere/parts/mine.toml: No such file"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
