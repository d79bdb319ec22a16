//! `laggard cluster`: components and their peer groups.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use laggard_core::model::cluster::{Component, FEWEST_PEERS, Inventory, LeftOut};
use laggard_core::model::component::natural_order;
use laggard_core::model::device::DeviceClass;
use laggard_core::model::time::Timestamp;
use laggard_sources::discover::gluster;
use laggard_store::dataset_recording::{by_host, cluster_file, recorded_components};
use serde::Serialize;

use super::tables;
use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;

/// Discover or check components and their peer groups.
#[derive(Args)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Write a cluster file from the configuration of the file system.
    ///
    /// Runs `gluster volume info --xml` and `gluster volume status all detail --xml`, or reads their saved output.
    #[command(after_help = "\
Examples:
  laggard cluster discover > cluster.toml
  laggard cluster discover --info info.xml --status status.xml -o cluster.toml")]
    Discover(Discover),
    /// List the peer groups of a dataset, and components and rules that match nothing.
    #[command(after_help = "\
Examples:
  laggard cluster check data
  laggard cluster check data --cluster cluster.toml --members")]
    Check(Check),
}

#[derive(Args)]
struct Discover {
    /// The saved output of `gluster volume info --xml`.
    #[arg(long, value_name = "FILE")]
    info: Option<PathBuf>,
    /// The saved output of `gluster volume status all detail --xml`.
    #[arg(long, value_name = "FILE", requires = "info")]
    status: Option<PathBuf>,
    /// The cluster file to write. Default: standard output.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct Check {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// The cluster file. Default: cluster.toml in the dataset, if it exists.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// List the members of every group, with their attributes.
    #[arg(long)]
    members: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Cluster {
    pub(crate) fn run(self) -> Outcome {
        match self.action {
            Action::Discover(discover) => discover.run(),
            Action::Check(check) => check.run(),
        }
    }
}

impl Discover {
    fn run(self) -> Outcome {
        let (info, status) = match &self.info {
            Some(info) => (read(info)?, self.status.as_deref().map(read).transpose()?),
            None => (run_command(gluster::INFO_COMMAND)?, run_command(gluster::STATUS_COMMAND).ok()),
        };
        let named = || self.info.as_ref().map_or("gluster".into(), |path| path.display().to_string());
        let text = gluster::cluster(&info, status.as_deref()).with_context(named)?.to_toml();
        match &self.out {
            Some(path) => std::fs::write(path, text).with_context(|| path.display().to_string())?,
            None => std::io::Write::write_all(&mut output::stdout(), text.as_bytes())?,
        }
        Ok(Done::Well)
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn run_command(command: &str) -> anyhow::Result<String> {
    let mut words = command.split(' ');
    let program = words.next().expect("a command has a first word");
    let next = "run this on a server of the volume, or pass the saved output with --info";
    let answer = Command::new(program).args(words).output();
    let answer = answer.map_err(|error| Lacking(format!("`{command}`: {error}: {next}")))?;
    if !answer.status.success() {
        let said =
            [answer.stderr, answer.stdout].map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
        bail!(Lacking(format!("`{command}`: {}: {next}", said.join(" ").trim())));
    }
    Ok(String::from_utf8_lossy(&answer.stdout).into_owned())
}

impl Check {
    fn run(self) -> Outcome {
        let dataset = tables::open(&self.dataset)?;
        let file = cluster_file(&dataset, self.cluster.as_deref())?;
        let (recorded, mut problems) = recorded_components(&dataset)?;
        let (facts, unread) = dataset.facts(Timestamp::MAX)?;
        problems.extend(unread);
        if recorded.is_empty() && problems.is_empty() {
            bail!(tables::empty());
        }
        let inventory = Inventory::with_facts(&file, &recorded, &by_host(&facts));
        if self.json {
            output::json(&document(&inventory))?;
        } else {
            self.print(&inventory)?;
        }
        problems.iter().for_each(tell);
        Ok(if problems.is_empty() { Done::Well } else { Done::WithErrors })
    }

    fn print(&self, inventory: &Inventory) -> anyhow::Result<()> {
        output::print(&groups(inventory))?;
        if self.members {
            std::io::Write::write_all(&mut output::stdout(), b"\n")?;
            output::print(&members(inventory))?;
        }
        for remark in remarks(inventory) {
            tell(remark);
        }
        Ok(())
    }
}

fn groups(inventory: &Inventory) -> comfy_table::Table {
    let mut lines = output::table(&["peer group", "members", "evaluated", "for example"], &[1]);
    let mut groups: Vec<_> = inventory.groups.iter().collect();
    groups.sort_by_key(|group| natural_order(&group.name));
    for group in groups {
        let evaluated =
            if group.is_evaluated() { "yes".into() } else { format!("no: fewer than {FEWEST_PEERS}") };
        let mut names: Vec<&str> =
            group.members.iter().map(|&m| inventory.components[m].name.as_str()).collect();
        names.sort_by_key(|name| natural_order(name));
        let example = names.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        lines.add_row([group.name.clone(), group.members.len().to_string(), evaluated, example]);
    }
    lines
}

fn members(inventory: &Inventory) -> comfy_table::Table {
    let mut lines = output::table(&["component", "kind", "recorded as", "attributes", "peer group"], &[]);
    for group in &inventory.groups {
        for &member in &group.members {
            let c = &inventory.components[member];
            let attributes: Vec<String> = c.attributes.iter().map(|(a, v)| format!("{a}={v}")).collect();
            let kind = c.kind.to_string();
            lines.add_row([
                c.name.clone(),
                kind,
                c.recorded.clone(),
                attributes.join(" "),
                group.name.clone(),
            ]);
        }
    }
    lines
}

/// Components and rules that match nothing, each with the next step.
fn remarks(inventory: &Inventory) -> Vec<String> {
    let ignored = inventory.ignored.iter().map(|(name, reason)| match reason.as_str() {
        "" => format!("ignored: {name}"),
        reason => format!("ignored: {name} ({reason})"),
    });
    let left_out = left_out_lines(inventory);
    let unruled = inventory.unruled.iter().map(|&c| {
        format!(
            "orphan: {} matches no [[component]] rule: add one, or an [[ignore]] rule",
            inventory.components[c].recorded
        )
    });
    let unmatched = inventory.unmatched.iter().map(|u| {
        format!(
            "orphan: [[{}]] {:?} matches no recorded component: check its spelling, and whether its host was recorded",
            u.section, u.pattern
        )
    });
    let unknown = inventory
        .unknown_attributes
        .iter()
        .map(|a| format!("group_by names {a:?}, which no component has: check its spelling"));
    let twice = inventory
        .twice
        .iter()
        .map(|name| format!("two components are named {name}: give their rules distinct names"));
    ignored.chain(left_out).chain(unruled).chain(unmatched).chain(unknown).chain(twice).collect()
}

/// One line for each class of devices that are not peers of disks.
fn left_out_lines(inventory: &Inventory) -> Vec<String> {
    let mut classes: BTreeMap<DeviceClass, Vec<&LeftOut>> = BTreeMap::new();
    for one in &inventory.left_out {
        classes.entry(one.class).or_default().push(one);
    }
    let line = |(class, devices): (&DeviceClass, &Vec<&LeftOut>)| {
        let example = devices.iter().take(3).map(|one| format!("{} ({one})", one.name));
        let example = example.collect::<Vec<_>>().join(", ");
        let number = output::count(devices.len() as u64, "device");
        let more = if devices.len() > 3 { ", ..." } else { "" };
        format!("left out: {number} of class {class}: {example}{more}")
    };
    classes.iter().map(line).collect()
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    groups: Vec<Group<'a>>,
    components: &'a [Component],
    ignored: Vec<Ignored<'a>>,
    left_out: Vec<NotCompared<'a>>,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    kind: &'a str,
    #[serde(rename = "judged")]
    is_evaluated: bool,
    members: Vec<&'a str>,
}

#[derive(Serialize)]
struct Ignored<'a> {
    name: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct NotCompared<'a> {
    name: &'a str,
    class: DeviceClass,
    reason: String,
}

fn document(inventory: &Inventory) -> Document<'_> {
    let name = |&member: &usize| inventory.components[member].name.as_str();
    let groups = inventory.groups.iter().map(|g| Group {
        name: &g.name,
        kind: g.kind.as_str(),
        is_evaluated: g.is_evaluated(),
        members: g.members.iter().map(name).collect(),
    });
    Document {
        schema: "laggard.cluster/1",
        groups: groups.collect(),
        components: &inventory.components,
        ignored: inventory.ignored.iter().map(|(name, reason)| Ignored { name, reason }).collect(),
        left_out: inventory
            .left_out
            .iter()
            .map(|one| NotCompared { name: &one.name, class: one.class, reason: one.to_string() })
            .collect(),
        remarks: remarks(inventory),
    }
}
