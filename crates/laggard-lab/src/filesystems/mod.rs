//! File systems that a lab or a campaign can use. Each is one data file in this folder; the build finds it there.
//! In: a name. Out: an [`Adapter`]: shell scripts that start, create, mount, check and stop the file system.
//! Always: a script runs on one host, and fails with its first command that fails.
//!
//! An adapter that is `like` another one contains only the differences. Any other file that ends in `.toml` can be named
//! by its path.
//!
//! Variables of scripts: `FIRST`, the address of the first server; `OTHERS`, those of the others; `SERVERS`, all of them;
//! `COUNT`, their number; `REDUNDANCY`; `ADDRESS`, that of the host; `BRICK`, the mount point of a server's disk;
//! `MOUNTPOINT`, that of clients; `TRUE_PEERS`, `yes` if caches must be configured so that all servers do the same work,
//! else empty. And the adapter's own `vars`, which a campaign may override.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::lab_file::contents::LabFile;
use crate::machine::LabError;
use crate::machine::needs::Tool;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    pub name: String,
    pub description: String,
    pub least_servers: usize,
    /// `lab doctor` does not require its programs.
    #[serde(default)]
    pub is_extra: bool,
    /// Shell functions; a script that uses one is preceded by all of them.
    #[serde(default)]
    pub functions: String,
    pub needs: Vec<Tool>,
    /// Folders of which every host needs its own.
    pub private: Vec<String>,
    /// The ports of its connections; empty: all.
    pub ports: Vec<u16>,
    pub daemons: Vec<String>,
    /// Folders of its logs.
    pub logs: Vec<String>,
    /// Starts the daemons; on every server.
    pub start: String,
    /// Creates the file system; on the first server.
    pub create: String,
    /// Mounts it; on every client.
    pub mount: String,
    /// Starts daemons that have ended; on their server.
    pub revive: String,
    /// Fails unless the file system is healthy; on the first server.
    pub health: String,
    /// Stops it; on the first server.
    pub stop: String,
    /// Why a lab cannot run it.
    pub no_lab: Option<String>,
    /// Default values of additional variables.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// Roles of nodes.
    #[serde(default)]
    pub roles: Vec<String>,
    /// The rules of `laggard logs` for its logs.
    pub rules: Option<String>,
    /// Remounts it without a lazy unmount; on a client.
    pub remount: Option<String>,
    /// Restarts what the fault has ended, and starts the repair; on the first server.
    pub repair: Option<String>,
    /// Fails unless the repair is complete; on the first server.
    pub healed: Option<String>,
    /// Prints the version; on the first server.
    pub versions: Option<String>,
    pub fsck: Option<FsckScripts>,
    /// The file it was read from; none: built in.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// A file system's own check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FsckScripts {
    pub on: Where,
    /// Runs the check, or starts it.
    pub run: String,
    /// Prints the status of a check that runs in the background.
    pub status: Option<String>,
    pub stop: Option<String>,
    /// In the status of a finished check.
    pub done_regex: Option<String>,
    /// In the output if something was repaired.
    pub repaired_regex: Option<String>,
    /// In the output if something is wrong.
    pub error_regex: Option<String>,
    /// In the output if redundancy is lost.
    pub degraded_regex: Option<String>,
    /// In order.
    #[serde(default)]
    pub stages: Vec<Stage>,
}

/// A stage of a check, and its pattern.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    pub name: String,
    /// In the output of the check; `^` is the beginning of a line.
    pub regex: String,
}

/// Where a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    /// On the first server.
    First,
    /// On the first client.
    Client,
}

/// The data files of this folder, in the order of their names: see `build.rs`.
const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/filesystems.rs"));

impl Adapter {
    /// A built-in adapter, or one from a file.
    pub fn named(name: &str) -> Result<Adapter, LabError> {
        if name.ends_with(".toml") {
            return Adapter::of_file(Path::new(name));
        }
        let adapters = read()?;
        let names: Vec<String> = adapters.iter().map(|adapter| adapter.name.clone()).collect();
        let found = adapters.into_iter().find(|adapter| adapter.name == name);
        found.ok_or_else(|| {
            LabError::Input(format!("there is no file system {name:?}; expected one of {}", names.join(", ")))
        })
    }

    fn of_file(path: &Path) -> Result<Adapter, LabError> {
        let wrong = |error: &dyn std::fmt::Display| LabError::Input(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
        let own: toml::Table = toml::from_str(&text).map_err(|error| wrong(&error))?;
        let whole = completed(own, &tables()?).map_err(|error| wrong(&error))?;
        let adapter = adapter(whole).map_err(|error| wrong(&error))?;
        let file = std::path::absolute(path).map_err(LabError::at(path))?;
        Ok(Adapter { file: Some(file), ..adapter })
    }

    fn scripts_mut(&mut self) -> Vec<&mut String> {
        let Adapter { start, create, mount, revive, health, stop, remount, repair, healed, versions, .. } =
            self;
        let optional = [remount, repair, healed, versions].into_iter().flatten();
        let of_fsck = self.fsck.iter_mut().flat_map(|fsck| {
            [Some(&mut fsck.run), fsck.status.as_mut(), fsck.stop.as_mut()].into_iter().flatten()
        });
        [start, create, mount, revive, health, stop].into_iter().chain(optional).chain(of_fsck).collect()
    }

    /// Its name, or its file: [`Adapter::named`] accepts both.
    pub fn handle(&self) -> String {
        self.file.as_ref().map_or_else(|| self.name.clone(), |file| file.display().to_string())
    }

    pub fn check_lab(&self) -> Result<(), LabError> {
        match &self.no_lab {
            Some(why) => Err(LabError::Input(format!("a lab cannot run {}: {why}", self.name))),
            None => Ok(()),
        }
    }
}

/// The variables of all scripts, described above.
pub(crate) fn variables(
    servers: &[String],
    address: String,
    brick: String,
    mountpoint: String,
    lab: Option<&LabFile>,
) -> Vec<(&'static str, String)> {
    vec![
        ("FIRST", servers.first().cloned().unwrap_or_default()),
        ("OTHERS", servers.get(1..).unwrap_or_default().join(" ")),
        ("SERVERS", servers.join(" ")),
        ("COUNT", servers.len().to_string()),
        ("REDUNDANCY", lab.map_or(0, |lab| lab.redundancy).to_string()),
        ("ADDRESS", address),
        ("BRICK", brick),
        ("MOUNTPOINT", mountpoint),
        ("TRUE_PEERS", if lab.is_some_and(|lab| lab.true_peers) { "yes" } else { "" }.to_owned()),
    ]
}

/// All adapters that `lab doctor` checks.
pub fn all() -> Result<Vec<Adapter>, LabError> {
    let mut adapters = read()?;
    adapters.retain(|adapter| !adapter.is_extra);
    Ok(adapters)
}

fn read() -> Result<Vec<Adapter>, LabError> {
    tables()?.into_iter().map(|table| adapter(table).map_err(unreadable)).collect()
}

fn adapter(table: toml::Table) -> Result<Adapter, toml::de::Error> {
    let mut adapter: Adapter = table.try_into()?;
    let functions = adapter.functions.clone();
    let names: Vec<&str> = functions.lines().filter_map(|line| Some(line.split_once("() {")?.0)).collect();
    for script in adapter.scripts_mut() {
        let uses = |name: &&str| {
            script.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == *name)
        };
        if names.iter().any(uses) {
            *script = format!("{functions}{script}");
        }
    }
    Ok(adapter)
}

fn tables() -> Result<Vec<toml::Table>, LabError> {
    let own: Vec<toml::Table> =
        FILES.iter().map(|text| toml::from_str(text).map_err(unreadable)).collect::<Result<_, _>>()?;
    own.iter().map(|table| completed(table.clone(), &own)).collect()
}

/// Takes what an adapter does not contain from the one that it is `like`.
fn completed(mut own: toml::Table, all: &[toml::Table]) -> Result<toml::Table, LabError> {
    let Some(like) = own.remove("like") else { return Ok(own) };
    let base = all.iter().find(|table| table.get("name") == Some(&like) && !table.contains_key("like"));
    let mut whole = base.ok_or_else(|| LabError::Input(format!("like: there is no adapter {like}")))?.clone();
    whole.extend(own);
    Ok(whole)
}

fn unreadable(error: toml::de::Error) -> LabError {
    LabError::Input(error.to_string())
}

#[cfg(test)]
mod tests;
