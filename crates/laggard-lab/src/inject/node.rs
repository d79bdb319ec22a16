//! What is hurt: a machine, or something that looks like one, and how to run something on it.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::MARKER;
use super::running::{self, Ran};
use crate::lab::{BRICK, Lab};
use crate::machine::LabError;
use crate::machine::place::Place;

/// Where the programs of a node run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Exec {
    /// On this machine.
    Local,
    /// In a host of a lab.
    Lab {
        /// The lab's name.
        lab: String,
        /// The host's name.
        host: String,
    },
    /// In a named network namespace of this machine.
    Netns(String),
    /// In all namespaces of a process of this machine.
    Ns(u32),
    /// On another machine.
    Ssh(String),
}

/// A node of a storage system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// What it is called.
    pub name: String,
    /// What it is there for: `storage`, `client`, or whatever the configuration says.
    #[serde(default = "storage")]
    pub role: String,
    /// Where its programs run.
    pub exec: Exec,
    /// Where the disk that may be hurt is mounted, on the node.
    #[serde(default)]
    pub brick: Option<PathBuf>,
    /// By which the others reach it.
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
    /// The file on the node that makes it a target. Default: `.laggard-target` on its brick, else in `/etc/laggard`.
    #[serde(default)]
    pub marker: Option<PathBuf>,
    /// A folder of the node, not on its brick, for what is needed to undo.
    #[serde(default = "keep")]
    pub keep: PathBuf,
    /// A script that ends the daemons which use the brick. Labs know theirs.
    #[serde(default)]
    pub stop: Option<String>,
    /// A script that starts them again.
    #[serde(default)]
    pub restart: Option<String>,
    /// What ssh reads instead of its own configuration: ports, keys, names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_config: Option<PathBuf>,
}

fn storage() -> String {
    "storage".into()
}

fn keep() -> PathBuf {
    Path::new(super::FOLDER).join("kept")
}

impl Node {
    /// All hosts of a lab.
    pub fn all_of(lab: &Lab) -> Vec<Node> {
        let name = &lab.manifest.lab.name;
        let node = |host: crate::plan::host::HostPlan| Node {
            role: if host.is_server() { "storage" } else { "client" }.into(),
            exec: Exec::Lab { lab: name.clone(), host: host.name.clone() },
            brick: host.is_server().then(|| BRICK.into()),
            addresses: vec![host.address.into()],
            marker: (!host.is_server()).then(|| Path::new("/run/lab").join(MARKER)),
            // A file system in memory that goes with the host.
            keep: "/run/lab/kept".into(),
            stop: None,
            restart: None,
            ssh_config: None,
            name: host.name,
        };
        lab.hosts().into_iter().map(node).collect()
    }

    /// The file that must be there.
    pub fn marker(&self) -> PathBuf {
        let folder = self.brick.as_deref().unwrap_or(Path::new("/etc/laggard"));
        self.marker.clone().unwrap_or_else(|| folder.join(MARKER))
    }

    /// Its brick, where a fault needs one.
    pub fn brick(&self) -> Result<&str, LabError> {
        let brick = self.brick.as_deref().and_then(Path::to_str).filter(|path| path.starts_with('/'));
        let lacks = || LabError::Input(format!("{} has no brick: name a node that stores data", self.name));
        brick.ok_or_else(lacks)
    }

    /// The lab it is a host of, and its name there.
    pub fn lab(&self) -> Result<Option<(Lab, &str)>, LabError> {
        match &self.exec {
            Exec::Lab { lab, host } => Ok(Some((Lab::open(lab)?, host.as_str()))),
            _ => Ok(None),
        }
    }

    /// A command on the node, not yet started. It reads nothing.
    pub fn command(&self, words: &[&str]) -> Result<Command, LabError> {
        let place = match &self.exec {
            Exec::Local => Place::Here,
            Exec::Ns(process) => Place::Inside(*process),
            Exec::Lab { lab, host } => Lab::open(lab)?.host_place(host)?,
            Exec::Netns(name) => {
                let net = format!("--net=/run/netns/{name}");
                return Ok(Place::Here.command(&[&["nsenter", &net, "--"], words].concat()));
            }
            Exec::Ssh(to) => {
                let quoted: Vec<String> = words.iter().map(|word| running::quoted(word)).collect();
                let line = quoted.join(" ");
                let options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"];
                let config = self.ssh_config()?;
                let config = config.as_deref().map_or(vec![], |path| vec!["-F", path]);
                let words = [&["ssh"], &config[..], &options[..], &["--", to, &line]].concat();
                return Ok(Place::Here.command(&words));
            }
        };
        Ok(place.command(words))
    }

    /// Programs run in the root folder, where a relative path would mean something else.
    fn ssh_config(&self) -> Result<Option<String>, LabError> {
        let Some(path) = &self.ssh_config else { return Ok(None) };
        let (name, told) = (&self.name, path.display().to_string());
        let wrong = || LabError::Input(format!("{name}: ssh_config {told:?} is no path from the root"));
        path.is_absolute().then_some(Some(told.clone())).ok_or_else(wrong)
    }

    /// Runs a script of the shell on the node, for so long at the most. It stops at the first command that fails, and
    /// with whoever runs it.
    pub fn run(&self, script: &str, limit: Duration) -> Result<Ran, LabError> {
        self.run_within(running::WATCHED, script, limit)
    }

    /// The same for a script that must succeed; what it printed.
    pub fn read(&self, script: &str, limit: Duration) -> Result<String, LabError> {
        self.must(script, self.run(script, limit)?)
    }

    /// The same for a script that changes something: such scripts of one machine wait for each other.
    pub fn change(&self, script: &str, limit: Duration) -> Result<(), LabError> {
        let whole = [running::IN_TURN, running::WATCHED].concat();
        let ran = self.run_within(&whole, script, limit + running::LONGEST_TURN)?;
        self.must(script, ran).map(drop)
    }

    fn run_within(&self, whole: &str, script: &str, limit: Duration) -> Result<Ran, LabError> {
        let mut command = self.command(&["sh", "-uc", whole, "sh", &script.len().to_string()])?;
        running::run(command.stdin(Stdio::piped()), script, limit)
            .map_err(|error| LabError::Program { command: format!("a script on {}", self.name), told: error })
    }

    fn must(&self, script: &str, ran: Ran) -> Result<String, LabError> {
        if ran.is_well() {
            return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
        }
        let command = format!("{} on {}", running::first_line(script), self.name);
        Err(LabError::Program { command, told: ran.complaint() })
    }
}

impl fmt::Display for Exec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exec::Local => write!(out, "local"),
            Exec::Lab { lab, host } => write!(out, "lab:{lab}/{host}"),
            Exec::Netns(name) => write!(out, "netns:{name}"),
            Exec::Ns(process) => write!(out, "ns:{process}"),
            Exec::Ssh(to) => write!(out, "ssh:{to}"),
        }
    }
}

impl From<Exec> for String {
    fn from(exec: Exec) -> String {
        exec.to_string()
    }
}

impl TryFrom<String> for Exec {
    type Error = String;

    fn try_from(text: String) -> Result<Exec, String> {
        let wrong = || {
            format!(
                "{text:?} is no place to run programs: local, lab:NAME/HOST, netns:NAME, ns:PID, ssh:WHERE"
            )
        };
        let is_name = |name: &&str| !name.is_empty() && !name.starts_with('-') && !name.contains(['/', ' ']);
        match text.split_once(':') {
            None if text == "local" => Ok(Exec::Local),
            Some(("lab", rest)) => {
                let (lab, host) = rest.split_once('/').ok_or_else(wrong)?;
                let both = is_name(&lab) && is_name(&host);
                both.then(|| Exec::Lab { lab: lab.into(), host: host.into() }).ok_or_else(wrong)
            }
            Some(("netns", name)) if is_name(&name) => Ok(Exec::Netns(name.into())),
            Some(("ns", process)) => process.parse().map(Exec::Ns).map_err(|_| wrong()),
            Some(("ssh", to)) if is_name(&to) => Ok(Exec::Ssh(to.into())),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::node;

    #[test]
    fn a_place_is_read_as_it_is_written_and_nonsense_is_told() {
        for text in ["local", "lab:bench/oss1", "netns:s1", "ns:12", "ssh:root@s1"] {
            assert_eq!(Exec::try_from(text.to_owned()).unwrap().to_string(), text);
        }
        for text in ["", "lab:x", "ns:x", "ssh:", "ssh:-oProxyCommand=x", "netns:../x", "docker:x"] {
            assert!(Exec::try_from(text.to_owned()).unwrap_err().contains("is no place"), "{text}");
        }
    }

    #[test]
    fn a_long_script_runs_and_its_commands_read_nothing_of_it() {
        let script = format!("cat; : {}; echo well", "x".repeat(1 << 20));
        assert_eq!(node().read(&script, Duration::from_secs(10)).unwrap(), "well\n");
    }

    #[test]
    fn a_script_that_hangs_is_ended_with_all_that_it_started() {
        let ran = node().run("sleep 61 & sleep 62", Duration::from_millis(200)).unwrap();
        assert!(ran.is_hung && !ran.is_well());
    }

    /// A script that would go on for a minute, and ends with what it reads from.
    #[test]
    fn a_script_ends_with_whoever_runs_it_and_with_all_that_it_started() {
        use std::io::Write;
        use std::os::unix::process::CommandExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("began").display().to_string();
        let script = format!("sleep 63 & : > {file}; sleep 64; rm {file}");
        let words = ["sh", "-uc", running::WATCHED, "sh", &script.len().to_string()];
        let mut command = node().command(&words).unwrap();
        let mut child = command.stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        let mut line = child.stdin.take().unwrap();
        line.write_all(script.as_bytes()).unwrap();
        while !Path::new(&file).exists() {
            std::thread::yield_now();
        }
        drop(line);
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn scripts_that_change_something_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let step = format!("cd {}; mkdir one; sleep 0.05; rmdir one", folder.path().display());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| node().change(&step, Duration::from_secs(20)).unwrap());
            }
        });
    }

    #[test]
    fn what_a_script_says_is_told_when_it_fails() {
        let error = node().read("echo why >&2; false; true", Duration::from_secs(10)).unwrap_err();
        assert!(error.to_string().ends_with("failed: why"), "{error}");
    }
}
