//! File systems that a lab can run, a data file each.
//! In: a name. Out: an [`Adapter`]: how to start, create, mount, check and stop, as scripts of the shell.
//! Always: a script runs inside one host, and fails with its first command that does.
//!
//! An adapter that is `like` another one says only what is different. Besides those of this folder, any file that ends
//! in `.toml` can be named by its path.
//!
//! Scripts find in their environment: `FIRST`, the address of the first server; `OTHERS`, those of the others;
//! `SERVERS`, all of them; `COUNT`, how many; `REDUNDANCY`; `ADDRESS`, the host's own; `BRICK`, the folder of a
//! server's disk; `MOUNTPOINT`, where clients mount; `TRUE_PEERS`, `yes` or empty: whether caches and
//! such shall be set so that every server does the same work. And the adapter's own `vars`, which a campaign may set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::machine::LabError;
use crate::machine::needs::Tool;
use crate::plan::file::LabFile;

/// How to run a file system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub description: String,
    /// How few servers it can do with.
    pub least_servers: usize,
    /// Whether a machine may do without it: nobody is asked to install what it needs, but those who name it.
    #[serde(default)]
    pub is_extra: bool,
    /// Functions of the shell: a script that uses one of them has them all in front.
    #[serde(default)]
    pub functions: String,
    /// Programs that must be there.
    pub needs: Vec<Tool>,
    /// Folders of the machine that every host needs for itself.
    pub private: Vec<String>,
    /// The ports of its connections; none: all.
    pub ports: Vec<u16>,
    /// The programs that run in a server.
    pub daemons: Vec<String>,
    /// Where its logs are, in each host.
    pub logs: Vec<String>,
    /// Starts the daemons of a server; in every server.
    pub start: String,
    /// Creates the file system; in the first server.
    pub create: String,
    /// Mounts it; in every client.
    pub mount: String,
    /// Starts what has ended of a server's daemons; in that server.
    pub revive: String,
    /// Fails unless all is well; in the first server.
    pub health: String,
    /// Ends it in good order; in the first server.
    pub stop: String,
    /// Why a lab cannot run it; none: it can.
    pub no_lab: Option<String>,
    /// Values that its scripts find in their environment, unless others are given.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// What its nodes are there for.
    #[serde(default)]
    pub roles: Vec<String>,
    /// The rules by which its logs are read.
    pub rules: Option<String>,
    /// Mounts it anew, with no lazy unmount; in a client.
    pub remount: Option<String>,
    /// Starts what a healed fault has ended, and what mends the file system; in the first server.
    pub repair: Option<String>,
    /// Fails unless nothing is left to mend; in the first server.
    pub healed: Option<String>,
    /// Says which version it is; in the first server.
    pub versions: Option<String>,
    /// Its own check.
    pub fsck: Option<FsckScripts>,
    /// The file it was read from; none: it is one of ours.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// The check that a file system brings along.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FsckScripts {
    /// Where it runs.
    pub on: Where,
    /// Checks, or begins to.
    pub run: String,
    /// Says how far it is, if it goes on by itself.
    pub status: Option<String>,
    /// Ends it.
    pub stop: Option<String>,
    /// In what `status` says, when it is over.
    pub done_regex: Option<String>,
    /// In what it says, when it has mended something.
    pub repaired_regex: Option<String>,
    /// In what it says, when something is wrong.
    pub error_regex: Option<String>,
    /// In what it says, when one more failure would be too many.
    pub degraded_regex: Option<String>,
    /// How far it can come, in order.
    #[serde(default)]
    pub stages: Vec<Stage>,
}

/// A stage of a check, and the lines of its own words that it is known by.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// What it is called.
    pub name: String,
    /// In what the check says, when it was there; `^` is the beginning of a line.
    pub regex: String,
}

/// Where a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    /// In the first server.
    First,
    /// In the first client.
    Client,
}

const FILES: [&str; 7] = [
    include_str!("gluster-dispersed.toml"),
    include_str!("gluster-replicated.toml"),
    include_str!("gluster-sharded.toml"),
    include_str!("moosefs.toml"),
    include_str!("lustre.toml"),
    include_str!("beegfs.toml"),
    include_str!("ceph.toml"),
];

impl Adapter {
    /// The adapter of that name, or of the file of that path.
    pub fn named(name: &str) -> Result<Adapter, LabError> {
        if name.ends_with(".toml") {
            return Adapter::of_file(Path::new(name));
        }
        let adapters = read()?;
        let names: Vec<String> = adapters.iter().map(|adapter| adapter.name.clone()).collect();
        let found = adapters.into_iter().find(|adapter| adapter.name == name);
        found.ok_or_else(|| {
            LabError::Input(format!("no file system is called {name:?}; there is {}", names.join(", ")))
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

    /// What it is found by again: its name, or its file.
    pub fn handle(&self) -> String {
        self.file.as_ref().map_or_else(|| self.name.clone(), |file| file.display().to_string())
    }

    /// Fails where a lab cannot run it.
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

/// All adapters that a machine for labs should be able to run; extras are found by their names.
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
    let mut tables: Vec<toml::Table> = vec![];
    for text in FILES {
        let own: toml::Table = toml::from_str(text).map_err(unreadable)?;
        let table = completed(own, &tables)?;
        tables.push(table);
    }
    Ok(tables)
}

/// What an adapter does not say itself it has from the one that it is `like`, of those before it.
fn completed(mut own: toml::Table, before: &[toml::Table]) -> Result<toml::Table, LabError> {
    let Some(like) = own.remove("like") else { return Ok(own) };
    let base = before.iter().find(|table| table.get("name") == Some(&like));
    let mut whole =
        base.ok_or_else(|| LabError::Input(format!("no adapter before is called {like}")))?.clone();
    whole.extend(own);
    Ok(whole)
}

fn unreadable(error: toml::de::Error) -> LabError {
    LabError::Input(error.to_string())
}

#[cfg(test)]
mod tests;
