//! What a campaign would do, without doing it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use super::config::{Check, Config};
use super::run;
use crate::runner::case::{self, Cell};

/// What a campaign would do.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The cells, in order.
    pub cells: Vec<Cell>,
    /// What would be run, in order, with names for what is not known yet.
    pub commands: Vec<(String, String)>,
    /// What could be hurt.
    pub blast_radius: Vec<String>,
    /// How long one cell takes at the most, by its timeouts.
    pub cell_at_most_s: f64,
    /// How long one took in the mean, where some have been played.
    pub cell_mean_s: Option<f64>,
    /// What to know before.
    pub warnings: Vec<String>,
}

/// What it takes to take a lab down.
const DOWN: Duration = Duration::from_secs(60);

impl Plan {
    /// The plan of a campaign.
    pub fn of(config: &Config) -> Plan {
        let cells = case::of(config);
        Plan {
            commands: commands(config),
            blast_radius: blast_radius(config, &cells),
            cell_at_most_s: at_most(config).as_secs_f64(),
            cell_mean_s: mean(config, &cells),
            warnings: warnings(config),
            cells,
        }
    }

    /// For people to read.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{} cells, in this order:", self.cells.len());
        for cell in &self.cells {
            let hurt = if cell.hurt.is_empty() { "nobody".into() } else { cell.hurt.join(", ") };
            let _ = writeln!(text, "  {:<40} hurts {hurt} (seed {})", cell.name(), cell.seed);
        }
        let _ = writeln!(text, "\nIn each of them:");
        for (what, command) in &self.commands {
            let _ = writeln!(text, "  {what}");
            command.lines().for_each(|line| _ = writeln!(text, "      {line}"));
        }
        let _ = writeln!(text, "\nWhat could be hurt:");
        self.blast_radius.iter().for_each(|line| _ = writeln!(text, "  {line}"));
        let count = self.cells.len() as f64;
        let _ = writeln!(
            text,
            "\nA cell takes {} at the most, all of them {}: if everything hangs.",
            time(self.cell_at_most_s),
            time(self.cell_at_most_s * count)
        );
        let _ = match self.cell_mean_s {
            Some(mean) => writeln!(
                text,
                "Those played so far took {}: about {} for all.",
                time(mean),
                time(mean * count)
            ),
            None => writeln!(
                text,
                "How long they take if nothing hangs is known after the first: `--cell` plays one."
            ),
        };
        self.warnings.iter().for_each(|line| _ = writeln!(text, "warning: {line}"));
        text
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn commands(config: &Config) -> Vec<(String, String)> {
    let adapter = &config.adapter;
    let mut commands = vec![];
    let mut add = |what: &str, command: &str| commands.push((what.to_owned(), command.trim().to_owned()));
    let client = config.client().unwrap_or_default();
    match &config.lab {
        Some(lab) => {
            let (servers, clients) = (lab.servers.count, lab.clients.count);
            add(
                "setup",
                &format!("a lab {} of {servers} servers and {clients} clients, {}", lab.name, adapter.name),
            );
        }
        None => add("setup", "the nodes are there; the file system must be well:"),
    }
    add("  healthy, on the first server", &adapter.health);
    config.age.iter().for_each(|task| add(&format!("age, on {client}"), &task.cmd));
    add(&format!("init, on {client}"), &config.init.cmd);
    let fsck = config.fsck.run.as_ref().or(adapter.fsck.as_ref().map(|fsck| &fsck.run));
    add("fsck, before and with the fault", fsck.map_or("the adapter has none", |run| run));
    for (name, Check { task, fresh_mount, drop_caches }) in &config.checks {
        let fresh = if *fresh_mount { ", mounted anew" } else { "" };
        let dropped = if *drop_caches { ", caches dropped" } else { "" };
        add(&format!("check.{name}, on {client}{fresh}{dropped}"), &task.cmd);
    }
    add("repair, once the fault is taken away", adapter.repair.as_deref().unwrap_or("nothing"));
    commands
}

fn blast_radius(config: &Config, cells: &[Cell]) -> Vec<String> {
    let hurt: BTreeSet<&String> = cells.iter().flat_map(|cell| &cell.hurt).collect();
    let mut lines = vec![match &config.lab {
        Some(lab) => {
            format!("nothing outside of the lab {}: its namespaces, virtual disks and links", lab.name)
        }
        None => "the nodes that are named, as far as they carry the marker".into(),
    }];
    let most = cells.iter().map(|cell| cell.hurt.len()).max().unwrap_or(0);
    lines.push(format!(
        "up to {most} nodes at once, of {}",
        hurt.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
    ));
    for (id, plan) in config.faults.iter().filter(|(id, _)| config.chosen.contains(id)) {
        let json = serde_json::to_string(&plan.model).unwrap_or_default();
        lines.push(format!("{id}: {json}, for {} s at the most", plan.ttl.as_secs()));
    }
    for stop in &config.safety.stop_if {
        lines.push(format!(
            "all ends, healed, as soon as this fails, every {:.1} s: {}",
            stop.every.as_secs_f64(),
            stop.cmd
        ));
    }
    if config.checks.values().any(|check| check.drop_caches) {
        lines.push("the page caches of all nodes are dropped; of a lab they are the machine's".into());
    }
    lines
}

fn at_most(config: &Config) -> Duration {
    let times = config.timeouts;
    let grace = times.term_grace + times.kill_grace * 2;
    let checks: Duration = config.checks.values().map(|check| check.task.timeout + times.mount + grace).sum();
    let read = config.checks.get("read").map_or(Duration::ZERO, |check| check.task.timeout + times.mount);
    let workloads = config.age.as_ref().map_or(Duration::ZERO, |task| task.timeout) + config.init.timeout;
    let fsck = (config.fsck.timeout + grace) * 2 + config.fsck.delay;
    let recording = config.record.as_ref().map_or(Duration::ZERO, |record| record.lead);
    let steps = workloads + fsck + checks * 2 + recording + times.healthy;
    // What is given up early is still healed.
    (times.setup + steps).min(times.cell) + times.heal + times.healthy + read + DOWN
}

fn mean(config: &Config, cells: &[Cell]) -> Option<f64> {
    let run = run::folder(config);
    let took: Vec<f64> = cells
        .iter()
        .filter_map(|cell| run::read(&run::cell_folder(&run, cell)))
        .map(|result| result.took_s)
        .collect();
    (!took.is_empty()).then(|| took.iter().sum::<f64>() / took.len() as f64)
}

fn warnings(config: &Config) -> Vec<String> {
    let mut warnings = vec![];
    let warm = config.warm_checks().join(", ");
    if !warm.is_empty() {
        warnings.push(run::warm_warning(&warm));
    }
    if !config.has_control {
        warnings.push("matrix.include_control = false: nothing tells what the steps alone do".into());
    }
    if config.repeats < 3 {
        warnings.push(format!("repeats = {}: the paper has 3", config.repeats));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SMALL, config};
    use super::*;
    use std::path::Path;

    #[test]
    fn a_plan_tells_cells_commands_and_what_could_be_hurt() {
        let text = Plan::of(&config()).text();
        for told in [
            "6 cells, in this order:",
            "cut/ALL/1",
            "hurts s1, s2, s3",
            "hurts nobody",
            "laggard work verify",
            "nothing outside of the lab c-small",
            "up to 3 nodes at once, of s1, s2, s3",
            "300 s at the most",
            "repeats = 2: the paper has 3",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
    }

    #[test]
    fn file_systems_that_no_lab_runs_can_be_planned_for_real_hosts() {
        let nodes: String = [("m1", "meta"), ("s1", "storage"), ("c1", "client")]
            .iter()
            .enumerate()
            .map(|(n, (name, role))| {
                format!("[[node]]\nname = '{name}'\nrole = '{role}'\nexec = 'ssh:root@{name}'\naddresses = ['10.9.0.{n}']\nbrick = '/mnt/ost'\n")
            })
            .collect();
        for adapter in ["lustre", "beegfs", "ceph"] {
            let (before, rest) = SMALL.split_once("[lab]").unwrap();
            let (_, rest) = rest.split_once("[target]").unwrap();
            let text = format!("{before}\n[target]{rest}\n{nodes}")
                .replace("gluster-dispersed", adapter)
                .replace("\"s1\", \"s2\", \"s3\"", "\"m1\", \"s1\"")
                .replace("ONE = [\"s2\"]", "ONE = [\"s1\"]");
            let config = Config::parse(&text, Path::new(".")).unwrap();
            let plan = Plan::of(&config);
            assert!(plan.commands.iter().any(|(what, run)| what.starts_with("fsck") && run.len() > 20));
            assert!(plan.text().contains("the nodes that are named, as far as they carry the marker"));
        }
    }

    #[test]
    fn a_lab_of_such_a_file_system_is_refused() {
        let error = Config::parse(&SMALL.replace("gluster-dispersed", "lustre"), Path::new(".")).unwrap_err();
        assert!(error.to_string().contains("a lab cannot run lustre"), "{error}");
    }
}
