//! A node, and how to run scripts on it.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::script::{self, quoted};
use crate::machine::bounded::{self, Captured};
use crate::machine::place::Place;
use crate::machine::{LabError, MARKER};
use crate::setup::{BRICK, Lab};

/// The place where programs of a node run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Exec {
    /// On this machine.
    Local,
    /// In a host of a lab.
    Lab { lab: String, host: String },
    /// In a named network namespace of this machine.
    Netns(String),
    /// In all namespaces of a process of this machine.
    Ns(u32),
    /// On another machine.
    Ssh(String),
}

/// An open set: a configuration may use other words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Role(Cow<'static, str>);

impl Role {
    pub const STORAGE: Role = Role(Cow::Borrowed("storage"));
    pub const CLIENT: Role = Role(Cow::Borrowed("client"));

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Role {
    fn from(word: &str) -> Role {
        Role(word.to_owned().into())
    }
}

/// A node of a storage system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub name: String,
    #[serde(default = "storage")]
    pub role: Role,
    pub exec: Exec,
    /// The mount point, on the node, of the disk that faults may affect.
    #[serde(default)]
    pub brick: Option<PathBuf>,
    /// The addresses by which other nodes reach it.
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
    /// The file on the node that makes it a target. Default: `.laggard-target` on its brick, else in `/etc/laggard`.
    #[serde(default)]
    pub marker: Option<PathBuf>,
    /// A folder of the node, not on its brick, for the copies that a revert needs.
    #[serde(default = "keep")]
    pub keep: PathBuf,
    /// A script that stops the daemons that use the brick. A lab needs none.
    #[serde(default)]
    pub stop: Option<String>,
    /// A script that starts them again.
    #[serde(default)]
    pub restart: Option<String>,
    /// The configuration file for `ssh -F`: ports, keys, names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_config: Option<PathBuf>,
}

fn storage() -> Role {
    Role::STORAGE
}

fn keep() -> PathBuf {
    Path::new(super::FOLDER).join("kept")
}

impl Node {
    pub(crate) fn is_client(&self) -> bool {
        self.role == Role::CLIENT
    }

    /// All hosts of a lab.
    pub fn all_of(lab: &Lab) -> Vec<Node> {
        let name = &lab.manifest.lab.name;
        let node = |host: crate::lab_file::host::HostPlan| Node {
            role: if host.is_server() { Role::STORAGE } else { Role::CLIENT },
            exec: Exec::Lab { lab: name.clone(), host: host.name.clone() },
            brick: host.is_server().then(|| BRICK.into()),
            addresses: vec![host.address.into()],
            marker: (!host.is_server()).then(|| Path::new("/run/lab").join(MARKER)),
            // A file system in memory, removed with the host.
            keep: "/run/lab/kept".into(),
            stop: None,
            restart: None,
            ssh_config: None,
            name: host.name,
        };
        lab.hosts().into_iter().map(node).collect()
    }

    /// The file that must exist on the node.
    pub fn marker(&self) -> PathBuf {
        let folder = self.brick.as_deref().unwrap_or(Path::new("/etc/laggard"));
        self.marker.clone().unwrap_or_else(|| folder.join(MARKER))
    }

    /// The brick, or an error that names the node.
    pub fn brick(&self) -> Result<&str, LabError> {
        let brick = self.brick.as_deref().and_then(Path::to_str).filter(|path| path.starts_with('/'));
        let lacks = || LabError::Input(format!("{} has no brick: name a node that stores data", self.name));
        brick.ok_or_else(lacks)
    }

    /// The lab of which it is a host, and its name there.
    pub fn lab(&self) -> Result<Option<(Lab, &str)>, LabError> {
        match &self.exec {
            Exec::Lab { lab, host } => Ok(Some((Lab::open(lab)?, host.as_str()))),
            _ => Ok(None),
        }
    }

    /// A command on the node, not yet started, with an empty standard input.
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
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let line = words.join(" ");
                let options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"];
                let config = self.ssh_config()?;
                let config = config.as_deref().map_or(vec![], |path| vec!["-F", path]);
                let words = [&["ssh"], &config[..], &options[..], &["--", to, &line]].concat();
                return Ok(Place::Here.command(&words));
            }
        };
        Ok(place.command(words))
    }

    /// Programs run in the root folder, so the path must be absolute.
    fn ssh_config(&self) -> Result<Option<String>, LabError> {
        let Some(path) = &self.ssh_config else { return Ok(None) };
        let (name, text) = (&self.name, path.display().to_string());
        let wrong = || LabError::Input(format!("{name}: ssh_config {text:?} is not an absolute path"));
        path.is_absolute().then_some(Some(text.clone())).ok_or_else(wrong)
    }

    /// Runs a shell script on the node, for at most `limit`. It stops at the first command that fails, and when this
    /// process ends.
    pub fn run(&self, script: &str, limit: Duration) -> Result<Captured, LabError> {
        self.run_within(script::WATCHED, script, limit)
    }

    /// The same for a script that must succeed; returns its output.
    pub fn read(&self, script: &str, limit: Duration) -> Result<String, LabError> {
        self.must(script, self.run(script, limit)?)
    }

    /// The same for a script that changes something: on one machine, such scripts run one at a time.
    pub fn change(&self, script: &str, limit: Duration) -> Result<(), LabError> {
        let wrapper = [script::IN_TURN, script::WATCHED].concat();
        let captured = self.run_within(&wrapper, script, limit + script::LONGEST_TURN)?;
        self.must(script, captured).map(drop)
    }

    fn run_within(&self, wrapper: &str, script: &str, limit: Duration) -> Result<Captured, LabError> {
        let mut command = self.command(&["sh", "-uc", wrapper, "sh", &script.len().to_string()])?;
        bounded::capture(&mut command, Some(script), limit).map_err(|error| LabError::Program {
            command: format!("a script on {}", self.name),
            reason: error.to_string(),
        })
    }

    fn must(&self, script: &str, captured: Captured) -> Result<String, LabError> {
        if captured.is_healthy() {
            return Ok(String::from_utf8_lossy(&captured.stdout).into_owned());
        }
        let command = format!("{} on {}", script::first_line(script), self.name);
        Err(LabError::Program { command, reason: captured.complaint() })
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
                "{text:?} is not a place to run programs: expected local, lab:NAME/HOST, netns:NAME, ns:PID or ssh:WHERE"
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
    use crate::testing::node;
    use std::process::Stdio;

    #[test]
    fn places_are_parsed_as_they_are_printed_and_others_are_rejected() {
        for text in ["local", "lab:bench/oss1", "netns:s1", "ns:12", "ssh:root@s1"] {
            assert_eq!(Exec::try_from(text.to_owned()).unwrap().to_string(), text);
        }
        for text in ["", "lab:x", "ns:x", "ssh:", "ssh:-oProxyCommand=x", "netns:../x", "docker:x"] {
            assert!(Exec::try_from(text.to_owned()).unwrap_err().contains("is not a place"), "{text}");
        }
    }

    #[test]
    fn a_long_script_runs_and_its_commands_read_nothing_of_it() {
        let script = format!("cat; : {}; echo well", "x".repeat(1 << 20));
        assert_eq!(node().read(&script, Duration::from_secs(10)).unwrap(), "well\n");
    }

    #[test]
    fn a_script_that_hangs_is_killed_with_all_that_it_started() {
        let captured = node().run("sleep 61 & sleep 62", Duration::from_millis(200)).unwrap();
        assert!(captured.is_hung && !captured.is_healthy());
    }

    /// A script that would run for a minute ends when its standard input closes.
    #[test]
    fn a_script_and_its_programs_end_with_the_process_that_started_it() {
        use std::io::Write;
        use std::os::unix::process::CommandExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("began").display().to_string();
        let text = format!("sleep 63 & : > {file}; sleep 64; rm {file}");
        let words = ["sh", "-uc", script::WATCHED, "sh", &text.len().to_string()];
        let mut command = node().command(&words).unwrap();
        let mut child = command.stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        let mut line = child.stdin.take().unwrap();
        line.write_all(text.as_bytes()).unwrap();
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
    fn the_error_of_a_script_that_fails_has_its_output() {
        let error = node().read("echo why >&2; false; true", Duration::from_secs(10)).unwrap_err();
        assert!(error.to_string().ends_with("failed: why"), "{error}");
    }
}
