//! From the file as it is written to a campaign in which every name means something.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;

use super::safety::{self, Safety};
use super::tables::{File, FsckTable, MatrixTable, TimeoutsTable};
use super::times::{Time, Timeouts};
use super::{Check, Config, FaultPlan, Fsck, Recording, Task};
use crate::filesystems::Adapter;
use crate::inject::Fault;
use crate::machine::LabError;
use crate::plan::file::LabFile;
use crate::runner::template;

/// Where in the text something is.
pub(super) struct Place<'a> {
    text: &'a str,
}

impl Place<'_> {
    /// A mistake, with its key and line.
    pub(super) fn wrong(&self, span: Range<usize>, key: &str, what: impl std::fmt::Display) -> LabError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        LabError::Input(format!("line {}: {key}: {what}", before.matches('\n').count() + 1))
    }
}

/// PFault waited 5 to 30 s before it checked (section 5).
const DELAY: Duration = Duration::from_secs(10);
const FSCK_TIMEOUT: Duration = Duration::from_secs(600);
const LEAD: Duration = Duration::from_secs(30);

pub fn config(file: File, text: &str, folder: &Path) -> Result<Config, LabError> {
    let place = Place { text };
    let name = file.campaign.name.get_ref().clone();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_plain) {
        let told = format!("{name:?} is no name: letters, digits, dashes");
        return Err(place.wrong(file.campaign.name.span(), "campaign.name", told));
    }
    let mut files = vec![];
    let adapter = adapter(&place, &file.target.adapter, folder, &mut files)?;
    let lab = file.lab.map(|lab| lab_file(&place, lab, folder, &adapter, &mut files)).transpose()?;
    if lab.is_some() != file.node.is_empty() {
        return Err(LabError::Input(
            "name either a [lab], or every [[node]] of a system that is there".into(),
        ));
    }
    let mut config = Config {
        name,
        seed: file.campaign.seed,
        repeats: file.campaign.repeats.max(1),
        order: file.campaign.order,
        out: file.campaign.out,
        stop_on: file.campaign.stop_on,
        record: file
            .campaign
            .record
            .then(|| Recording { load: file.campaign.load, lead: or(file.campaign.lead, LEAD) }),
        adapter,
        vars: file.target.vars,
        lab,
        nodes: file.node,
        age: None,
        init: Task { cmd: String::new(), timeout: Duration::ZERO, quiet: None },
        checks: BTreeMap::new(),
        fsck: Fsck { delay: DELAY, timeout: FSCK_TIMEOUT, run: None },
        faults: BTreeMap::new(),
        node_sets: BTreeMap::new(),
        chosen: vec![],
        has_control: file.matrix.include_control,
        safety: Safety::default(),
        timeouts: timeouts(&place, &file.timeouts)?,
        text: text.to_owned(),
        files,
    };
    if config.client().is_none() {
        return Err(LabError::Input("nobody uses the file system: a campaign needs a client".into()));
    }
    let known = template::names(&config);
    config.safety = safety::safety(&place, file.safety, config.lab.is_some(), &known)?;
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
    let of = |key: &str, table: &super::tables::TaskTable| task(key, &table.cmd, table.timeout, table.quiet);
    config.age = file.workload.age.as_ref().map(|table| of("workload.age", table)).transpose()?;
    config.init = of("workload.init", &file.workload.init)?;
    for (name, table) in &file.check {
        let task = task(&format!("check.{name}"), &table.cmd, table.timeout, table.quiet)?;
        let check = Check { task, fresh_mount: table.fresh_mount, drop_caches: table.drop_caches };
        config.checks.insert(name.clone(), check);
    }
    config.fsck = fsck(&place, file.fsck, &known)?;
    for table in &file.fault {
        let (id, plan) = fault(&place, table, config.safety.max_hold)?;
        config.faults.insert(id, plan);
    }
    matrix(&place, &file.matrix, &mut config)?;
    Ok(config)
}

fn or(time: Option<Time>, default: Duration) -> Duration {
    time.map_or(default, |time| time.0)
}

fn timeouts(place: &Place, table: &TimeoutsTable) -> Result<Timeouts, LabError> {
    let seconds = Duration::from_secs;
    // One that lasts no time at all is a mistake, and ends everything.
    let some = |key: &str, time: &Option<Spanned<Time>>, default: Duration| match time {
        Some(time) if time.get_ref().0.is_zero() => Err(place.wrong(
            time.span(),
            &format!("timeouts.{key}"),
            "no time at all: nothing could ever be done",
        )),
        Some(time) => Ok(time.get_ref().0),
        None => Ok(default),
    };
    Ok(Timeouts {
        setup: some("setup", &table.setup, seconds(300))?,
        cell: some("cell", &table.cell, seconds(45 * 60))?,
        term_grace: or(table.term_grace, seconds(5)),
        kill_grace: or(table.kill_grace, seconds(10)),
        heal: or(table.heal, seconds(120)),
        healthy: or(table.healthy, seconds(180)),
        mount: or(table.mount, seconds(60)),
    })
}

/// An adapter of ours by its name, or one of a file that lies beside the campaign's.
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

/// A file that a campaign names: where it says, or beside it, as a run keeps it.
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
        return Err(wrong(format!("its file system is not that of target.adapter, {}", adapter.name)));
    }
    adapter.check_lab().map_err(|error| wrong(error.to_string()))?;
    let servers = file.servers.count;
    if servers < adapter.least_servers {
        let (name, least) = (&adapter.name, adapter.least_servers);
        return Err(wrong(format!("{name} needs at least {least} servers, there are {servers}")));
    }
    // As GlusterFS has it; others have no such number.
    if adapter.create.contains("$REDUNDANCY") && file.redundancy * 2 >= servers {
        let told =
            format!("redundancy = {}: it must be less than half of the {servers} servers", file.redundancy);
        return Err(wrong(told));
    }
    file.filesystem = Some(adapter.handle());
    Ok(file)
}

fn fsck(place: &Place, table: FsckTable, known: &[String]) -> Result<Fsck, LabError> {
    if let Some(run) = &table.run {
        template::check(run.get_ref(), known).map_err(|error| place.wrong(run.span(), "fsck.run", error))?;
    }
    Ok(Fsck {
        delay: or(table.delay, DELAY),
        timeout: or(table.timeout, FSCK_TIMEOUT),
        run: table.run.map(Spanned::into_inner),
    })
}

/// A fault: what is its own, and the rest for its model.
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
        return Err(place.wrong(
            table.span(),
            &key,
            "hold: a fault stands until the cell heals it, \"phase\"",
        ));
    }
    let ttl = match ttl {
        Some(ttl) => Time::try_from(ttl).map_err(|error| place.wrong(table.span(), &key, error))?.0,
        None => longest,
    };
    if ttl > longest {
        let told = format!("{} s are more than safety.max_hold, {} s", ttl.as_secs(), longest.as_secs());
        return Err(place.wrong(table.span(), &format!("{key}.ttl"), told));
    }
    let parameter = |(key, value): (String, toml::Value)| match value {
        toml::Value::String(text) => (key, text),
        other => (key, other.to_string()),
    };
    let parameters: BTreeMap<String, String> = left.into_iter().map(parameter).collect();
    let model = Fault::parse(&model, &parameters).map_err(|error| place.wrong(table.span(), &key, error))?;
    Ok((id, FaultPlan { model, ttl }))
}

fn matrix(place: &Place, table: &MatrixTable, config: &mut Config) -> Result<(), LabError> {
    let nodes = config.node_names();
    for (set, names) in &table.nodes {
        let key = format!("matrix.nodes.{set}");
        for name in names {
            if !nodes.contains(name.get_ref()) {
                let told = format!("no node is called {:?}; there are {}", name.get_ref(), nodes.join(", "));
                return Err(place.wrong(name.span(), &key, told));
            }
            let node = config.nodes.iter().find(|node| node.name == *name.get_ref());
            if let Some(folder) = node.and_then(|node| config.forbids(node)) {
                let told = format!(
                    "{:?} has its brick below {}, which safety.forbid names",
                    name.get_ref(),
                    folder.display()
                );
                return Err(place.wrong(name.span(), &key, told));
            }
        }
        let span = names.first().map_or(0..0, Spanned::span);
        if names.is_empty() || names.len() > config.safety.max_faults {
            let (count, most) = (names.len(), config.safety.max_faults);
            let told = format!("{count} nodes, expected 1 to {most} (safety.max_faults)");
            return Err(place.wrong(span, &key, told));
        }
        let names = names.iter().map(|name| name.get_ref().clone()).collect();
        config.node_sets.insert(set.clone(), names);
    }
    let ids: Vec<&str> = config.faults.keys().map(String::as_str).collect();
    for id in &table.faults {
        if !config.faults.contains_key(id.get_ref()) {
            let there = ids.join(", ");
            let told = format!("no fault has the id {:?}; there is {there}", id.get_ref());
            return Err(place.wrong(id.span(), "matrix.faults", told));
        }
    }
    config.chosen = table.faults.iter().map(|id| id.get_ref().clone()).collect();
    Ok(())
}
