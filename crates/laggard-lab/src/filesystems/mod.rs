//! File systems that a lab can run, a data file each.
//! In: a name. Out: an [`Adapter`]: how to start, create, mount, check and stop, as scripts of the shell.
//! Always: a script runs inside one host, and fails with its first command that does.
//!
//! Scripts find in their environment: `FIRST`, the address of the first server; `OTHERS`, those of the others;
//! `SERVERS`, all of them; `COUNT`, how many; `REDUNDANCY`; `ADDRESS`, the host's own; `BRICK`, the folder of a
//! server's disk; `MOUNTPOINT`, where clients mount; `TRUE_PEERS`, `yes` or empty: whether caches and
//! such shall be set so that every server does the same work.

use serde::Deserialize;

use crate::machine::LabError;
use crate::machine::needs::Tool;

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
}

const FILES: [&str; 3] = [
    include_str!("gluster-dispersed.toml"),
    include_str!("gluster-sharded.toml"),
    include_str!("moosefs.toml"),
];

impl Adapter {
    /// The adapter of that name.
    pub fn named(name: &str) -> Result<Adapter, LabError> {
        let adapters = read()?;
        let names: Vec<String> = adapters.iter().map(|adapter| adapter.name.clone()).collect();
        let found = adapters.into_iter().find(|adapter| adapter.name == name);
        found.ok_or_else(|| {
            LabError::Input(format!("no file system is called {name:?}; there is {}", names.join(", ")))
        })
    }
}

/// All adapters that a machine for labs should be able to run; extras are found by their names.
pub fn all() -> Result<Vec<Adapter>, LabError> {
    let mut adapters = read()?;
    adapters.retain(|adapter| !adapter.is_extra);
    Ok(adapters)
}

fn read() -> Result<Vec<Adapter>, LabError> {
    let parse = |text: &&str| toml::from_str(text).map_err(|error| LabError::Input(error.to_string()));
    FILES.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_adapter_can_be_read_and_an_unknown_one_is_told() {
        assert_eq!(read().unwrap().len(), FILES.len());
        assert!(Adapter::named("gluster-dispersed").is_ok());
        let error = Adapter::named("lustre").unwrap_err().to_string();
        assert_eq!(
            error,
            "no file system is called \"lustre\"; there is gluster-dispersed, gluster-sharded, moosefs"
        );
    }

    #[test]
    fn nobody_is_asked_to_install_an_extra() {
        assert!(Adapter::named("moosefs").unwrap().is_extra);
        let names: Vec<String> = all().unwrap().into_iter().map(|adapter| adapter.name).collect();
        assert_eq!(names, ["gluster-dispersed", "gluster-sharded"]);
    }

    #[test]
    fn the_scripts_of_every_adapter_are_sound_for_the_shell() {
        for adapter in read().unwrap() {
            let Adapter { start, create, mount, revive, health, stop, .. } = &adapter;
            for script in [start, create, mount, revive, health, stop] {
                let status = std::process::Command::new("sh").args(["-nc", script]).status().unwrap();
                assert!(status.success(), "{}: {script}", adapter.name);
            }
            assert!(!adapter.daemons.is_empty() && !adapter.logs.is_empty());
        }
    }
}
