//! The workloads of clients: scripts in a data file.
//! In: a name. Out: a [`Workload`]. Always: every client works in its own folder, repeats until it is ended, and prints
//! the time after each pass.
//!
//! Variables of scripts: `FOLDER`, the client's folder in the file system; `MIB`, the amount of data of a pass;
//! `RESTLESS`, not empty for no pauses.

use serde::Deserialize;

use crate::lab_file::contents::LabFile;
use crate::machine::LabError;
use crate::machine::needs::Tool;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub name: String,
    pub description: String,
    pub needs: Vec<Tool>,
    /// It writes small files that would never leave the servers' caches: servers write synchronously.
    #[serde(default)]
    pub is_cached: bool,
    /// Runs once.
    pub prepare: String,
    /// Runs repeatedly.
    pub pass: String,
}

#[derive(Deserialize)]
struct File {
    workload: Vec<Workload>,
}

/// Clients pause for two to five seconds between passes. Without pauses all disks are always busy: a queue grows at the one
/// that is slightly slower, and no disk behaves like its peers.
const PAUSE: &str = "[ -n \"$RESTLESS\" ] || sleep $(shuf -i 2-4 -n 1).$(shuf -i 0-9 -n 1)";

/// The length of a pass on healthy disks.
const PASS_SECONDS: f64 = 2.0;

impl Workload {
    pub fn named(name: &str) -> Result<Workload, LabError> {
        let workloads = all()?;
        let names: Vec<String> = workloads.iter().map(|workload| workload.name.clone()).collect();
        let found = workloads.into_iter().find(|workload| workload.name == name);
        found.ok_or_else(|| {
            LabError::Input(format!("there is no workload {name:?}; expected one of {}", names.join(", ")))
        })
    }

    pub fn script(&self) -> String {
        let (prepare, pass) = (&self.prepare, &self.pass);
        format!(
            "mkdir -p \"$FOLDER\"\ncd \"$FOLDER\"\n{prepare}\nwhile :; do\n{pass}\ndate +%s.%N\n{PAUSE}\ndone"
        )
    }
}

/// The amount of data of a pass of one client: its share of what all disks move in `PASS_SECONDS`.
pub fn pass_mib(lab: &LabFile) -> u64 {
    let useful = lab.servers.count.saturating_sub(lab.redundancy).max(1) as f64;
    let share = lab.disk.bandwidth_mb_per_second * useful / lab.clients.count.max(1) as f64;
    let most = lab.disk.size_mib as f64 * useful / lab.clients.count.max(1) as f64 / 4.0;
    (share * PASS_SECONDS).min(most).max(4.0) as u64
}

pub fn all() -> Result<Vec<Workload>, LabError> {
    let file: File =
        toml::from_str(include_str!("paper.toml")).map_err(|error| LabError::Input(error.to_string()))?;
    Ok(file.workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_five_workloads_exist_and_an_unknown_one_is_reported() {
        let names: Vec<String> = all().unwrap().into_iter().map(|workload| workload.name).collect();
        assert_eq!(names, ["ddw", "ddr", "iozonew", "iozoner", "postmark"]);
        let error = Workload::named("iozone").unwrap_err().to_string();
        assert!(error.ends_with("expected one of ddw, ddr, iozonew, iozoner, postmark"), "{error}");
    }

    #[test]
    fn a_pass_is_a_clients_share_of_two_seconds_of_all_disks() {
        assert_eq!(pass_mib(&LabFile::default()), 40);
    }
}
