//! Shows what a campaign would do, without doing it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use super::config::Config;
use super::{cases, run};
use crate::runner::case::Case;
use crate::runner::case_plan::Check;

#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// In the order in which they run.
    cases: Vec<Case>,
    /// Steps and their commands, in order, with variables.
    commands: Vec<(String, String)>,
    blast_radius: Vec<String>,
    /// The longest time of a case, by its time limits.
    case_at_most_s: f64,
    /// The mean time of the cases that are finished.
    case_mean_s: Option<f64>,
    warnings: Vec<String>,
}

/// The time to remove a lab.
const DOWN: Duration = Duration::from_secs(60);

impl Plan {
    pub fn of(config: &Config) -> Plan {
        let cases = cases::of(config);
        Plan {
            commands: commands(config),
            blast_radius: blast_radius(config, &cases),
            case_at_most_s: at_most(config).as_secs_f64(),
            case_mean_s: mean(config, &cases),
            warnings: warnings(config),
            cases,
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{} cases, in this order:", self.cases.len());
        for case in &self.cases {
            let faulted = if case.faulted.is_empty() { "no node".into() } else { case.faulted.join(", ") };
            let _ = writeln!(text, "  {:<40} fault on {faulted} (seed {})", case.name(), case.seed);
        }
        let _ = writeln!(text, "\nSteps of each case:");
        for (what, command) in &self.commands {
            let _ = writeln!(text, "  {what}");
            command.lines().for_each(|line| _ = writeln!(text, "      {line}"));
        }
        let _ = writeln!(text, "\nWhat could be affected:");
        self.blast_radius.iter().for_each(|line| _ = writeln!(text, "  {line}"));
        let count = self.cases.len() as f64;
        let _ = writeln!(
            text,
            "\nIf every step hangs, a case takes {}, all cases {}.",
            time(self.case_at_most_s),
            time(self.case_at_most_s * count)
        );
        let _ = match self.case_mean_s {
            Some(mean) => writeln!(
                text,
                "Finished cases took {} in the mean: about {} for all.",
                time(mean),
                time(mean * count)
            ),
            None => writeln!(text, "The usual time is known after the first case: `--case` runs one."),
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
    let steps = &config.steps;
    let adapter = &steps.adapter;
    let mut commands = vec![];
    let mut add = |what: &str, command: &str| commands.push((what.to_owned(), command.trim().to_owned()));
    let client = steps.system.client().unwrap_or_default();
    match steps.system.new_lab() {
        Some(lab) => {
            let (servers, clients) = (lab.servers.count, lab.clients.count);
            add(
                "setup",
                &format!("a lab {} of {servers} servers and {clients} clients, {}", lab.name, adapter.name),
            );
        }
        None => add("setup", "the nodes exist; the file system must be healthy:"),
    }
    add("  healthy, on the first server", &adapter.health);
    steps.age.iter().for_each(|task| add(&format!("age, on {client}"), &task.cmd));
    steps.init.iter().for_each(|task| add(&format!("init, on {client}"), &task.cmd));
    let own = steps.fsck.as_ref().and_then(|fsck| fsck.run.as_ref());
    let fsck = own.or(adapter.fsck.as_ref().map(|fsck| &fsck.run));
    add("fsck, before and with the fault", fsck.map_or("the adapter has none", |run| run));
    for (name, Check { task, fresh_mount, drop_caches }) in &steps.checks {
        let fresh = if *fresh_mount { ", after a remount" } else { "" };
        let dropped = if *drop_caches { ", with caches dropped" } else { "" };
        add(&format!("check.{name}, on {client}{fresh}{dropped}"), &task.cmd);
    }
    add("repair, after the revert", adapter.repair.as_deref().unwrap_or("nothing"));
    commands
}

fn blast_radius(config: &Config, cases: &[Case]) -> Vec<String> {
    let faulted: BTreeSet<&str> = cases.iter().flat_map(|case| &case.faulted).map(String::as_str).collect();
    let mut lines = vec![match config.steps.system.new_lab() {
        Some(lab) => {
            format!("nothing outside the lab {}: its namespaces, virtual disks and links", lab.name)
        }
        None => "the named nodes that have the marker".into(),
    }];
    let most = cases.iter().map(|case| case.faulted.len()).max().unwrap_or(0);
    let names = faulted.into_iter().collect::<Vec<_>>().join(", ");
    lines.push(format!("up to {most} nodes at the same time, of {names}"));
    for (id, plan) in config.faults.iter().filter(|(id, _)| config.chosen.contains(id)) {
        let json = serde_json::to_string(&plan.fault).unwrap_or_default();
        lines.push(format!("{id}: {json}, for at most {} s", plan.ttl.as_secs()));
    }
    for stop in &config.steps.safety.stop_if {
        lines.push(format!(
            "the campaign ends, with the fault reverted, when this fails, every {:.1} s: {}",
            stop.every.as_secs_f64(),
            stop.cmd
        ));
    }
    if config.steps.checks.values().any(|check| check.drop_caches) {
        lines.push("the page caches of all nodes are dropped; hosts of a lab share the machine's".into());
    }
    lines
}

fn at_most(config: &Config) -> Duration {
    let (steps, times) = (&config.steps, config.steps.timeouts);
    let grace = times.term_grace + times.kill_grace * 2;
    let checks: Duration = steps.checks.values().map(|check| check.task.timeout + times.mount + grace).sum();
    let read = steps.checks.get("read").map_or(Duration::ZERO, |check| check.task.timeout + times.mount);
    let workloads: Duration = steps.age.iter().chain(&steps.init).map(|task| task.timeout).sum();
    let fsck: Duration = steps.fsck.iter().map(|fsck| (fsck.timeout + grace) * 2).sum();
    let lead: Duration = steps.load.iter().map(|load| load.lead).sum();
    let all = times.setup + workloads + fsck + steps.hold + checks * 2 + lead + times.healthy;
    // A case that is given up is still reverted.
    all.min(times.case) + times.revert + times.healthy + read + DOWN
}

fn mean(config: &Config, cases: &[Case]) -> Option<f64> {
    let run = run::folder(config);
    let took: Vec<f64> = cases
        .iter()
        .filter_map(|case| run::read(&run::case_folder(&run, case)))
        .map(|result| result.took_s)
        .collect();
    (!took.is_empty()).then(|| took.iter().sum::<f64>() / took.len() as f64)
}

fn warnings(config: &Config) -> Vec<String> {
    let mut warnings: Vec<String> = config.warm_warning().into_iter().collect();
    if !config.has_control {
        warnings.push("matrix.include_control = false: the effect of the steps alone is not measured".into());
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
    fn a_plan_shows_cases_commands_and_what_could_be_affected() {
        let text = Plan::of(&config()).text();
        for expected in [
            "6 cases, in this order:",
            "cut/ALL/1",
            "fault on s1, s2, s3",
            "fault on no node",
            "laggard work verify",
            "nothing outside the lab c-small",
            "up to 3 nodes at the same time, of s1, s2, s3",
            "for at most 300 s",
            "repeats = 2: the paper has 3",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn file_systems_that_labs_cannot_run_can_be_planned_for_real_hosts() {
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
            assert!(plan.text().contains("the named nodes that have the marker"));
        }
    }

    #[test]
    fn a_lab_of_such_a_file_system_is_refused() {
        let error = Config::parse(&SMALL.replace("gluster-dispersed", "lustre"), Path::new(".")).unwrap_err();
        assert!(error.to_string().contains("a lab cannot run lustre"), "{error}");
    }
}
