//! What clients do: a data file of scripts.
//! In: a name. Out: a [`Workload`]. Always: every client works in a folder of its own, over and over until it is
//! told to stop, and prints the time after each pass.
//!
//! Scripts find in their environment: `FOLDER`, the client's own in the file system; `MIB`, how much one pass moves;
//! `RESTLESS`, not empty if there shall be no pauses.

use serde::Deserialize;

use crate::machine::LabError;
use crate::machine::needs::Tool;
use crate::plan::file::LabFile;

/// Something that clients do.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Programs that must be there.
    pub needs: Vec<Tool>,
    /// Whether it writes through the servers' caches, where small files would live and die unseen by the disks: they
    /// write to their disks at once then.
    #[serde(default)]
    pub is_cached: bool,
    /// What is done once, before.
    pub prepare: String,
    /// What is done over and over.
    pub pass: String,
}

#[derive(Deserialize)]
struct File {
    workload: Vec<Workload>,
}

/// Between passes a client does something else for two to five seconds. Clients that never rest keep all disks busy all
/// the time; then a queue grows at whichever is slower by a hair, and nobody is like his peers.
const PAUSE: &str = "[ -n \"$RESTLESS\" ] || sleep $(shuf -i 2-4 -n 1).$(shuf -i 0-9 -n 1)";

/// How long one pass shall last on healthy disks.
const PASS_SECONDS: f64 = 2.0;

impl Workload {
    /// The workload of that name.
    pub fn named(name: &str) -> Result<Workload, LabError> {
        let workloads = all()?;
        let names: Vec<String> = workloads.iter().map(|workload| workload.name.clone()).collect();
        let found = workloads.into_iter().find(|workload| workload.name == name);
        found.ok_or_else(|| {
            LabError::Input(format!("no workload is called {name:?}; there are {}", names.join(", ")))
        })
    }

    /// The script that a client runs until it is ended.
    pub fn script(&self) -> String {
        let (prepare, pass) = (&self.prepare, &self.pass);
        format!(
            "mkdir -p \"$FOLDER\"\ncd \"$FOLDER\"\n{prepare}\nwhile :; do\n{pass}\ndate +%s.%N\n{PAUSE}\ndone"
        )
    }
}

/// How much one pass of one client moves: what its share of all disks moves in a while.
pub fn pass_mib(lab: &LabFile) -> u64 {
    let useful = lab.servers.count.saturating_sub(lab.redundancy).max(1) as f64;
    let share = lab.disk.bandwidth_mb_per_second * useful / lab.clients.count.max(1) as f64;
    let most = lab.disk.size_mib as f64 * useful / lab.clients.count.max(1) as f64 / 4.0;
    (share * PASS_SECONDS).min(most).max(4.0) as u64
}

/// All workloads.
pub fn all() -> Result<Vec<Workload>, LabError> {
    let file: File =
        toml::from_str(include_str!("paper.toml")).map_err(|error| LabError::Input(error.to_string()))?;
    Ok(file.workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_five_workloads_are_there_and_an_unknown_one_is_told() {
        let names: Vec<String> = all().unwrap().into_iter().map(|workload| workload.name).collect();
        assert_eq!(names, ["ddw", "ddr", "iozonew", "iozoner", "postmark"]);
        let error = Workload::named("iozone").unwrap_err().to_string();
        assert!(error.ends_with("there are ddw, ddr, iozonew, iozoner, postmark"), "{error}");
    }

    #[test]
    fn a_pass_is_a_clients_share_of_two_seconds_of_all_disks() {
        assert_eq!(pass_mib(&LabFile::default()), 40);
    }
}
