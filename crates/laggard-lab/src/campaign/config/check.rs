//! Resolves every name of the campaign file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;

use super::place::Place;
use super::sections::{File, FsckTable, MatrixTable, TimeoutsTable};
use super::times::Time;
use super::{Config, safety};
use crate::filesystems::Adapter;
use crate::inject::Fault;
use crate::lab_file::contents::LabFile;
use crate::machine::LabError;
use crate::runner::case_plan::{Check, FaultPlan, Fsck, Load, Steps, System, Task, Timeouts};
use crate::runner::template;
use laggard_core::model::time::Span;

/// PFault waited 5 to 30 s before it checked (section 5).
const DELAY: Duration = Duration::from_secs(10);
const FSCK_TIMEOUT: Duration = Duration::from_secs(600);
const LEAD: Duration = Duration::from_secs(30);

pub(super) fn config(file: File, text: &str, folder: &Path) -> Result<Config, LabError> {
    let place = Place { text };
    let name = file.campaign.name.get_ref().clone();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_plain) {
        let error = format!("{name:?} is not a name: use letters, digits, dashes");
        return Err(place.wrong(file.campaign.name.span(), "campaign.name", error));
    }
    let mut files = vec![];
    let adapter = adapter(&place, &file.target.adapter, folder, &mut files)?;
    let lab = file.lab.map(|lab| lab_file(&place, lab, folder, &adapter, &mut files)).transpose()?;
    if lab.is_some() != file.node.is_empty() {
        return Err(LabError::Input("give either a [lab], or every [[node]] of an existing system".into()));
    }
    let system = lab.map_or_else(|| System::Nodes(file.node), System::NewLab);
    if system.client().is_none() {
        return Err(LabError::Input("no client: a campaign needs a node that uses the file system".into()));
    }
    let campaign = file.campaign;
    let known = template::names(&file.target.vars);
    let has_lab = system.new_lab().is_some();
    let load = Load {
        workload: campaign.load,
        every: Span::from_seconds(1),
        settle: Duration::ZERO,
        lead: or(campaign.lead, LEAD),
    };
    let mut config = Config {
        name,
        seed: campaign.seed,
        repeats: campaign.repeats.max(1),
        order: campaign.order,
        out: campaign.out,
        stop_on: campaign.stop_on,
        faults: BTreeMap::new(),
        node_sets: BTreeMap::new(),
        chosen: vec![],
        has_control: file.matrix.include_control,
        steps: Steps {
            seed: campaign.seed,
            system,
            adapter,
            vars: file.target.vars,
            age: None,
            init: None,
            load: campaign.record.then_some(load),
            hold: or(file.fsck.delay, DELAY),
            probes: true,
            diagnose: true,
            fsck: Some(fsck(&place, file.fsck, &known)?),
            checks: BTreeMap::new(),
            repair: true,
            recovery: Duration::ZERO,
            labels: false,
            safety: safety::safety(&place, file.safety, has_lab, &known)?,
            timeouts: timeouts(&place, &file.timeouts)?,
        },
        text: text.to_owned(),
        files,
    };
    config.mark_nodes();
    let task = |key: &str, cmd: &Spanned<String>, timeout: Time, quiet: Option<Time>| {
        template::check(cmd.get_ref(), &known)
            .map_err(|error| place.wrong(cmd.span(), &format!("{key}.cmd"), error))?;
        Ok::<Task, LabError>(Task {
            cmd: cmd.get_ref().clone(),
            timeout: timeout.0,
            quiet: quiet.map(|time| time.0),
        })
    };
    let of =
        |key: &str, table: &super::sections::TaskTable| task(key, &table.cmd, table.timeout, table.quiet);
    config.steps.age = file.workload.age.as_ref().map(|table| of("workload.age", table)).transpose()?;
    config.steps.init = Some(of("workload.init", &file.workload.init)?);
    for (name, table) in &file.check {
        let task = task(&format!("check.{name}"), &table.cmd, table.timeout, table.quiet)?;
        let check = Check { task, fresh_mount: table.fresh_mount, drop_caches: table.drop_caches };
        config.steps.checks.insert(name.clone(), check);
    }
    for table in &file.fault {
        let (id, plan) = fault(&place, table, config.steps.safety.max_hold)?;
        config.faults.insert(id, plan);
    }
    matrix(&place, &file.matrix, &mut config)?;
    Ok(config)
}

fn or(time: Option<Time>, default: Duration) -> Duration {
    time.map_or(default, |time| time.0)
}

fn timeouts(place: &Place, table: &TimeoutsTable) -> Result<Timeouts, LabError> {
    let default = Timeouts::default();
    let positive = |key: &str, time: &Option<Spanned<Time>>, default: Duration| match time {
        Some(time) if time.get_ref().0.is_zero() => {
            Err(place.wrong(time.span(), &format!("timeouts.{key}"), "must be longer than 0 s"))
        }
        Some(time) => Ok(time.get_ref().0),
        None => Ok(default),
    };
    Ok(Timeouts {
        setup: positive("setup", &table.setup, default.setup)?,
        case: positive("case", &table.case, default.case)?,
        term_grace: or(table.term_grace, default.term_grace),
        kill_grace: or(table.kill_grace, default.kill_grace),
        revert: or(table.revert, default.revert),
        healthy: or(table.healthy, default.healthy),
        mount: or(table.mount, default.mount),
    })
}

/// A built-in adapter, or a file relative to the campaign file.
fn adapter(
    place: &Place,
    name: &Spanned<String>,
    folder: &Path,
    files: &mut Vec<(PathBuf, String)>,
) -> Result<Adapter, LabError> {
    let wrong = |error: LabError| place.wrong(name.span(), "target.adapter", error);
    if !name.get_ref().ends_with(".toml") {
        return Adapter::named(name.get_ref()).map_err(wrong);
    }
    let path = beside(folder, name.get_ref());
    files.push(named_file(&path).map_err(wrong)?);
    Adapter::named(&path.display().to_string()).map_err(wrong)
}

/// A file that a campaign names: at that path, or beside the campaign file, where a run keeps its copy.
fn beside(folder: &Path, name: &str) -> PathBuf {
    let said = folder.join(name);
    let kept = Path::new(name).file_name().map(|file| folder.join(file));
    kept.filter(|kept| !said.exists() && kept.exists()).unwrap_or(said)
}

fn named_file(path: &Path) -> Result<(PathBuf, String), LabError> {
    let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
    Ok((path.file_name().unwrap_or_default().into(), text))
}

fn lab_file(
    place: &Place,
    lab: Spanned<toml::Value>,
    folder: &Path,
    adapter: &Adapter,
    files: &mut Vec<(PathBuf, String)>,
) -> Result<LabFile, LabError> {
    let span = lab.span();
    let wrong = |error: String| place.wrong(span.clone(), "lab", error);
    let text = match lab.into_inner() {
        toml::Value::String(name) => {
            let file = named_file(&beside(folder, &name)).map_err(|error| wrong(error.to_string()))?;
            let text = file.1.clone();
            files.push(file);
            text
        }
        value => toml::to_string(&value).map_err(|error| wrong(error.to_string()))?,
    };
    let mut file = LabFile::parse(&text).map_err(|error| wrong(error.to_string()))?;
    if file.filesystem.as_ref().is_some_and(|name| *name != adapter.name && *name != adapter.handle()) {
        return Err(wrong(format!("its file system differs from target.adapter, {}", adapter.name)));
    }
    adapter.check_lab().map_err(|error| wrong(error.to_string()))?;
    let servers = file.servers.count;
    if servers < adapter.least_servers {
        let (name, least) = (&adapter.name, adapter.least_servers);
        return Err(wrong(format!("{name} needs at least {least} servers, the lab has {servers}")));
    }
    // A rule of GlusterFS; others have no such number.
    if adapter.create.contains("$REDUNDANCY") && file.redundancy * 2 >= servers {
        let error =
            format!("redundancy = {}: it must be less than half of the {servers} servers", file.redundancy);
        return Err(wrong(error));
    }
    file.filesystem = Some(adapter.handle());
    Ok(file)
}

fn fsck(place: &Place, table: FsckTable, known: &[String]) -> Result<Fsck, LabError> {
    if let Some(run) = &table.run {
        template::check(run.get_ref(), known).map_err(|error| place.wrong(run.span(), "fsck.run", error))?;
    }
    Ok(Fsck { timeout: or(table.timeout, FSCK_TIMEOUT), run: table.run.map(Spanned::into_inner) })
}

/// The keys that are not ours are parameters of the fault model.
fn fault(
    place: &Place,
    table: &Spanned<toml::Table>,
    longest: Duration,
) -> Result<(String, FaultPlan), LabError> {
    let mut left = table.get_ref().clone();
    let mut text = |key: &str| match left.remove(key) {
        Some(toml::Value::String(text)) => Some(text),
        Some(other) => Some(other.to_string()),
        None => None,
    };
    let lacks = |key: &str| place.wrong(table.span(), "fault", format!("has no {key}"));
    let id = text("id").ok_or_else(|| lacks("id"))?;
    let model = text("model").ok_or_else(|| lacks("model"))?;
    let hold = text("hold");
    let ttl = text("ttl");
    let key = format!("fault.{id}");
    if hold.as_deref().is_some_and(|hold| hold != "phase") {
        return Err(place.wrong(table.span(), &key, "hold: only \"phase\", until the revert phase"));
    }
    let ttl = match ttl {
        Some(ttl) => Time::try_from(ttl).map_err(|error| place.wrong(table.span(), &key, error))?.0,
        None => longest,
    };
    if ttl > longest {
        let error = format!("{} s exceed safety.max_hold, {} s", ttl.as_secs(), longest.as_secs());
        return Err(place.wrong(table.span(), &format!("{key}.ttl"), error));
    }
    let parameter = |(key, value): (String, toml::Value)| match value {
        toml::Value::String(text) => (key, text),
        other => (key, other.to_string()),
    };
    let parameters: BTreeMap<String, String> = left.into_iter().map(parameter).collect();
    let fault = Fault::parse(&model, &parameters).map_err(|error| place.wrong(table.span(), &key, error))?;
    Ok((id, FaultPlan { fault, ttl }))
}

fn matrix(place: &Place, table: &MatrixTable, config: &mut Config) -> Result<(), LabError> {
    let nodes = config.steps.system.node_names();
    for (set, names) in &table.nodes {
        let key = format!("matrix.nodes.{set}");
        for name in names {
            if !nodes.contains(name.get_ref()) {
                let error =
                    format!("there is no node {:?}; expected one of {}", name.get_ref(), nodes.join(", "));
                return Err(place.wrong(name.span(), &key, error));
            }
            let node = config.steps.system.nodes().iter().find(|node| node.name == *name.get_ref());
            if let Some(folder) = node.and_then(|node| config.forbids(node)) {
                let error = format!(
                    "{:?} has its brick below {}, which safety.forbid names",
                    name.get_ref(),
                    folder.display()
                );
                return Err(place.wrong(name.span(), &key, error));
            }
        }
        let span = names.first().map_or(0..0, Spanned::span);
        if names.is_empty() || names.len() > config.steps.safety.max_faults {
            let (count, most) = (names.len(), config.steps.safety.max_faults);
            let error = format!("{count} nodes, expected 1 to {most} (safety.max_faults)");
            return Err(place.wrong(span, &key, error));
        }
        let names = names.iter().map(|name| name.get_ref().clone()).collect();
        config.node_sets.insert(set.clone(), names);
    }
    let ids: Vec<&str> = config.faults.keys().map(String::as_str).collect();
    for id in &table.faults {
        if !config.faults.contains_key(id.get_ref()) {
            let there = ids.join(", ");
            let error = format!("there is no fault with the id {:?}; expected one of {there}", id.get_ref());
            return Err(place.wrong(id.span(), "matrix.faults", error));
        }
    }
    config.chosen = table.faults.iter().map(|id| id.get_ref().clone()).collect();
    Ok(())
}
