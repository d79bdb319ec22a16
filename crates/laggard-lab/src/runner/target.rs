//! The system that a case runs on: a lab of its own, a lab that is up, or hosts that exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::case_plan::{Callbacks, CasePlan, Steps, System};
use super::template;
use crate::filesystems::{self, Adapter, Where};
use crate::inject::{Exec, Node, quoted};
use crate::machine::{LabError, processes};
use crate::setup::{self, BRICK, Lab};

/// A system that is up.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    steps: &'a Steps,
    pub lab: Option<Lab>,
    pub nodes: Vec<Node>,
}

/// A status is read often, and must not hang.
const STATUS_LIMIT: Duration = Duration::from_secs(10);

impl<'a> Target<'a> {
    /// Builds the lab within `timeouts.setup`, or takes what exists.
    pub(crate) fn up(steps: &'a Steps, callbacks: Callbacks) -> Result<Target<'a>, LabError> {
        let lab = match &steps.system {
            System::Nodes(nodes) => return Ok(Target { steps, lab: None, nodes: nodes.clone() }),
            System::Lab(lab) => lab.clone(),
            System::NewLab(file) => within(steps.timeouts.setup, callbacks, &file.name, || {
                setup::up(file.clone(), &|step| {
                    (callbacks.progress)(&format!("setup {step:?}").to_lowercase());
                })
            })?,
        };
        Ok(Target { steps, nodes: Node::all_of(&lab), lab: Some(lab) })
    }

    /// Refuses existing nodes that must not get a fault. Hosts of a new lab do not exist yet.
    pub(crate) fn check(plan: CasePlan) -> Result<(), LabError> {
        let steps = plan.steps;
        if let System::Lab(lab) = &steps.system {
            plan.case.faulted.iter().try_for_each(|server| lab.server(server).map(drop))?;
        }
        for node in steps.system.nodes().iter().filter(|node| plan.case.faulted.contains(&node.name)) {
            let marker = node.marker().display().to_string();
            let refuse = |why: String| Err(LabError::Refused(format!("{}: {why}", node.name)));
            if !node.run(&format!("[ -f {} ]", quoted(&marker)), STATUS_LIMIT)?.is_healthy() {
                return refuse(format!(
                    "the marker {marker} is missing: create it with `touch` if this node may get faults"
                ));
            }
            let Some(brick) = &node.brick else { continue };
            let device = node.read(
                &format!("findmnt -no SOURCE --target {}", quoted(&brick.display().to_string())),
                STATUS_LIMIT,
            )?;
            let is_its = |path: &&PathBuf| Path::new(device.trim()) == path.as_path();
            if let Some(path) = steps.safety.forbidden.iter().find(is_its) {
                return refuse(format!(
                    "{} is on {}, which safety.forbid names",
                    brick.display(),
                    path.display()
                ));
            }
        }
        Ok(())
    }

    /// Removes a lab that the case has built.
    pub(crate) fn down(steps: &Steps) -> Result<(), LabError> {
        match steps.system.new_lab() {
            Some(file) if crate::lab_manifest::folder(&file.name).is_dir() => setup::down(&file.name),
            _ => Ok(()),
        }
    }

    pub(crate) fn adapter(&self) -> &Adapter {
        &self.steps.adapter
    }

    pub(crate) fn some(&self, names: &[String]) -> Result<Vec<Node>, LabError> {
        let find = |name: &String| {
            let found = self.nodes.iter().find(|node| node.name == *name).cloned();
            found.ok_or_else(|| LabError::Input(format!("there is no node {name:?}")))
        };
        names.iter().map(find).collect()
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| !node.is_client())
    }

    /// The node that uses the file system.
    pub(crate) fn client(&self) -> Result<&Node, LabError> {
        let found = self.nodes.iter().find(|node| node.is_client());
        found.ok_or_else(|| LabError::Input("no node is a client".into()))
    }

    /// Where a script of the adapter runs.
    pub(crate) fn at(&self, at: Where) -> Result<&Node, LabError> {
        match at {
            Where::Client => self.client(),
            Where::First => {
                self.servers().next().ok_or_else(|| LabError::Input("no node is a server".into()))
            }
        }
    }

    /// The values of a command's variables.
    pub(crate) fn values(&self, case: &str, out: &Path) -> BTreeMap<String, String> {
        let own = [
            ("mnt", self.steps.mountpoint()),
            ("out", out.display().to_string()),
            ("seed", self.steps.seed.to_string()),
            ("case", case.to_owned()),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.steps.vars.clone().into_iter().chain(own).collect()
    }

    /// A command of the campaign file, on a node. `laggard` is this program, and reports as JSON.
    pub(crate) fn task(
        &self,
        node: &Node,
        cmd: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<Command, LabError> {
        let filled = template::fill(cmd, values);
        let filled = if filled.starts_with("laggard work ") { filled + " --json" } else { filled };
        node.command(&["sh", "-c", &with_laggard(node, &filled)?])
    }

    /// A script of the adapter, on a node.
    pub(crate) fn script(&self, node: &Node, script: &str) -> Result<Command, LabError> {
        node.command(&["sh", "-euc", &format!("{}{script}", self.exports(node))])
    }

    /// Runs a short script of the adapter, and returns its output.
    pub(crate) fn ask(&self, node: &Node, script: &str) -> Result<String, LabError> {
        node.read(&format!("{}{script}", self.exports(node)), STATUS_LIMIT)
    }

    /// Fails unless the file system reports itself healthy.
    pub(crate) fn health(&self) -> Result<(), LabError> {
        self.ask(self.at(Where::First)?, &self.adapter().health).map(drop)
    }

    /// The variables of scripts.
    fn exports(&self, node: &Node) -> String {
        let servers: Vec<String> =
            self.servers().filter_map(|node| node.addresses.first()).map(ToString::to_string).collect();
        let address = node.addresses.first().map_or_else(String::new, ToString::to_string);
        let brick = node.brick.as_deref().unwrap_or(Path::new(BRICK)).display().to_string();
        let lab = self.lab.as_ref().map(|lab| &lab.manifest.lab);
        let own = filesystems::variables(&servers, address, brick, self.steps.mountpoint(), lab);
        let mut values: BTreeMap<String, String> = self.adapter().vars.clone();
        values.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        values.extend(self.steps.vars.iter().map(|(name, value)| (name.to_uppercase(), value.clone())));
        values.iter().map(|(name, value)| format!("{name}={}; export {name}\n", quoted(value))).collect()
    }
}

/// A script for a node in which `laggard` is this program.
pub(crate) fn with_laggard(node: &Node, script: &str) -> Result<String, LabError> {
    let program = setup::program()?;
    let folder = Path::new(&program).parent().unwrap_or(Path::new("/")).display().to_string();
    // On another machine it is wherever it was installed. Here it is in that folder, unless it was renamed.
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

/// Builds a lab. When it takes too long, or the case is to end, its first process is killed: whatever waits in the lab
/// ends then.
fn within(
    longest: Duration,
    callbacks: Callbacks,
    name: &str,
    up: impl FnOnce() -> Result<Lab, LabError>,
) -> Result<Lab, LabError> {
    let (begin, is_done) = (Instant::now(), AtomicBool::new(false));
    let is_late = || begin.elapsed() > longest;
    let is_over = callbacks.is_over;
    let built = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if is_late() || is_over() {
                    let keeper = Lab::own(name).and_then(|lab| lab.keeper());
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
