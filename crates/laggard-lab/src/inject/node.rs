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
                return Ok(Place::Here.command(&[&["ssh"], &options[..], &["--", to, &line]].concat()));
            }
        };
        Ok(place.command(words))
    }

    /// Runs a script of the shell on the node, for so long at the most. It stops at the first command that fails.
    pub fn run(&self, script: &str, limit: Duration) -> Result<Ran, LabError> {
        // Through standard input: a word of a command line has its limit at 128 KiB.
        let whole = "script=$(cat); exec < /dev/null; eval \"$script\"";
        let mut command = self.command(&["sh", "-euc", whole])?;
        running::run(command.stdin(Stdio::piped()), script, limit)
            .map_err(|error| LabError::Program { command: format!("a script on {}", self.name), told: error })
    }

    /// The same for a script that must succeed; what it printed.
    pub fn read(&self, script: &str, limit: Duration) -> Result<String, LabError> {
        let ran = self.run(script, limit)?;
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

    #[test]
    fn what_a_script_says_is_told_when_it_fails() {
        let error = node().read("echo why >&2; false; true", Duration::from_secs(10)).unwrap_err();
        assert!(error.to_string().ends_with("failed: why"), "{error}");
    }
}
