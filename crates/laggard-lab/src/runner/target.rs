//! The system that a cell is played on: a lab of its own, or nodes that are there already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::case::Cell;
use super::steps::Stage;
use super::template;
use crate::campaign::config::Config;
use crate::campaign::recovery;
use crate::filesystems::{Adapter, Where};
use crate::inject::{Exec, Node, quoted};
use crate::lab::{self, BRICK, Lab, MOUNTPOINT};
use crate::machine::{LabError, processes};

/// A system that is up.
#[derive(Debug)]
pub struct Target<'a> {
    config: &'a Config,
    /// The lab, if it is one.
    pub lab: Option<Lab>,
    /// All nodes.
    pub nodes: Vec<Node>,
}

/// A status is asked often, and must not hang.
const ASKING: Duration = Duration::from_secs(10);

impl<'a> Target<'a> {
    /// Builds the lab, in its time, or takes the nodes that are there.
    pub fn up(stage: Stage<'a>) -> Result<Target<'a>, LabError> {
        let config = stage.config;
        let Some(file) = &config.lab else {
            return Ok(Target { config, lab: None, nodes: config.nodes.clone() });
        };
        let lab = in_time(stage, &file.name, || {
            lab::up(file.clone(), &|step| (stage.tell)(&format!("setup {step:?}").to_lowercase()))
        })?;
        Ok(Target { config, nodes: Node::all_of(&lab), lab: Some(lab) })
    }

    /// Refuses nodes that are there and must not be hurt, before anything is done. Hosts of a lab are not there yet.
    pub fn check(config: &Config, cell: &Cell) -> Result<(), LabError> {
        for node in config.hurt().filter(|node| cell.hurt.contains(&node.name)) {
            let marker = node.marker().display().to_string();
            let refuse = |why: String| Err(LabError::Refused(format!("{}: {why}", node.name)));
            if !node.run(&format!("[ -f {} ]", quoted(&marker)), ASKING)?.is_well() {
                return refuse(format!(
                    "the marker {marker} is missing: make it, if this node may be hurt, by `touch`"
                ));
            }
            let Some(brick) = &node.brick else { continue };
            let device = node.read(
                &format!("findmnt -no SOURCE --target {}", quoted(&brick.display().to_string())),
                ASKING,
            )?;
            let is_its = |path: &&PathBuf| Path::new(device.trim()) == path.as_path();
            if let Some(path) = config.safety.forbidden.iter().find(is_its) {
                return refuse(format!(
                    "{} is on {}, which safety.forbid names",
                    brick.display(),
                    path.display()
                ));
            }
        }
        Ok(())
    }

    /// Takes the lab down. Nodes that were there stay.
    pub fn down(config: &Config) -> Result<(), LabError> {
        match &config.lab {
            Some(file) if crate::manifest::folder(&file.name).is_dir() => lab::down(&file.name),
            _ => Ok(()),
        }
    }

    /// How the file system is run.
    pub fn adapter(&self) -> &Adapter {
        &self.config.adapter
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Result<&Node, LabError> {
        let found = self.nodes.iter().find(|node| node.name == name);
        found.ok_or_else(|| LabError::Input(format!("no node is called {name:?}")))
    }

    /// The nodes of these names.
    pub fn some(&self, names: &[String]) -> Result<Vec<Node>, LabError> {
        names.iter().map(|name| self.node(name).cloned()).collect()
    }

    /// The node that uses the file system.
    pub fn client(&self) -> Result<&Node, LabError> {
        let found = self.nodes.iter().find(|node| node.role == "client");
        found.ok_or_else(|| LabError::Input("no node is a client".into()))
    }

    /// Where a script of the adapter runs.
    pub fn at(&self, at: Where) -> Result<&Node, LabError> {
        let first = self.nodes.iter().find(|node| node.role != "client");
        match at {
            Where::Client => self.client(),
            Where::First => first.ok_or_else(|| LabError::Input("no node is a server".into())),
        }
    }

    /// Where clients have mounted the file system.
    pub fn mountpoint(&self) -> String {
        let given = self.config.vars.get("mnt").cloned();
        given.unwrap_or_else(|| MOUNTPOINT.to_owned())
    }

    /// The values of a command's variables.
    pub fn values(&self, cell: &str, out: &Path) -> BTreeMap<String, String> {
        let own = [
            ("mnt", self.mountpoint()),
            ("out", out.display().to_string()),
            ("seed", self.config.seed.to_string()),
            ("cell", cell.to_owned()),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.config.vars.clone().into_iter().chain(own).collect()
    }

    /// A command of the campaign file, on a node. `laggard` is this program, and tells a machine what it found.
    pub fn task(
        &self,
        node: &Node,
        cmd: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<Command, LabError> {
        let filled = template::fill(cmd, values);
        let told = if filled.starts_with("laggard work ") { filled + " --json" } else { filled };
        node.command(&["sh", "-c", &with_laggard(node, &told)?])
    }

    /// A script of the adapter, on a node.
    pub fn script(&self, node: &Node, script: &str) -> Result<Command, LabError> {
        node.command(&["sh", "-euc", &format!("{}{script}", self.exports(node))])
    }

    /// Runs a short script of the adapter; what it said.
    pub fn ask(&self, node: &Node, script: &str) -> Result<String, LabError> {
        node.read(&format!("{}{script}", self.exports(node)), ASKING)
    }

    /// Fails unless the file system says that all is well.
    pub fn health(&self) -> Result<(), LabError> {
        self.ask(self.at(Where::First)?, &self.adapter().health).map(drop)
    }

    /// The variables of scripts: as labs have them.
    fn exports(&self, node: &Node) -> String {
        let servers = self.nodes.iter().filter(|node| node.role != "client");
        let addresses: Vec<String> =
            servers.filter_map(|node| node.addresses.first()).map(ToString::to_string).collect();
        let lab = self.config.lab.as_ref();
        let mut values: BTreeMap<String, String> = self.adapter().vars.clone();
        let brick = node.brick.as_deref().unwrap_or(Path::new(BRICK));
        let own = [
            ("FIRST", addresses.first().cloned().unwrap_or_default()),
            ("OTHERS", addresses.get(1..).unwrap_or_default().join(" ")),
            ("SERVERS", addresses.join(" ")),
            ("COUNT", addresses.len().to_string()),
            ("REDUNDANCY", lab.map_or(0, |lab| lab.redundancy).to_string()),
            ("ADDRESS", node.addresses.first().map_or_else(String::new, ToString::to_string)),
            ("BRICK", brick.display().to_string()),
            ("MOUNTPOINT", self.mountpoint()),
            ("TRUE_PEERS", if lab.is_some_and(|lab| lab.true_peers) { "yes" } else { "" }.to_owned()),
        ];
        values.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let given = self.config.vars.iter().map(|(name, value)| (name.to_uppercase(), value.clone()));
        values.extend(given);
        values.iter().map(|(name, value)| format!("{name}={}; export {name}\n", quoted(value))).collect()
    }
}

/// A script for a node in which `laggard` is this program.
pub fn with_laggard(node: &Node, script: &str) -> Result<String, LabError> {
    let program = lab::program()?;
    let folder = Path::new(&program).parent().unwrap_or(Path::new("/")).display().to_string();
    // On another machine it is wherever it was installed. Here it is in that folder, if it was not renamed.
    let known = match node.exec {
        Exec::Ssh(_) => String::new(),
        _ => format!(
            "PATH={}:$PATH; export PATH; laggard() {{ {} \"$@\"; }}; ",
            quoted(&folder),
            quoted(&program)
        ),
    };
    Ok(format!("{known}{script}"))
}

/// Builds a lab. One that takes too long, or that nobody wants any more, loses its first process: whatever waits in it
/// ends then.
fn in_time(stage: Stage, name: &str, up: impl FnOnce() -> Result<Lab, LabError>) -> Result<Lab, LabError> {
    let (begin, longest, is_done) = (Instant::now(), stage.config.timeouts.setup, AtomicBool::new(false));
    let is_late = || begin.elapsed() > longest;
    let is_over = stage.is_over;
    let built = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if is_late() || is_over() {
                    let keeper = recovery::own_lab(name).and_then(|lab| lab.keeper());
                    keeper.into_iter().for_each(|keeper| processes::kill(keeper.number));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let built = up();
        is_done.store(true, Ordering::Relaxed);
        built
    });
    match built {
        Err(error) if is_late() && !is_over() => Err(LabError::Input(format!(
            "the lab was not up in {} s (timeouts.setup): {error}",
            longest.as_secs()
        ))),
        built => built,
    }
}
