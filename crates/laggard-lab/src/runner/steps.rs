//! Runs the steps of a cell: every one has its time, and a line in `stat.jsonl` when it is over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::case::Cell;
use super::kernels::Kernels;
use super::outcome::{self, Judged};
use super::stat::{Ledger, Phase, Stat, now_ns, said, tail};
use super::target::Target;
use crate::campaign::config::{Config, Task};
use crate::filesystems::FsckScripts;
use crate::inject::Node;
use crate::machine::LabError;
use crate::machine::bounded::{self, Bounds, Ended, Files};
use crate::work::outcome::Outcome;

/// Whoever plays cells, and what is heard of it.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    /// The campaign.
    pub config: &'a Config,
    /// Whether to stop.
    pub is_over: &'a (dyn Fn() -> bool + Sync),
    /// Hears what is going on.
    pub tell: &'a dyn Fn(&str),
}

/// Plays one cell.
pub struct Player<'a> {
    pub stage: Stage<'a>,
    pub cell: &'a Cell,
    pub target: Target<'a>,
    pub folder: &'a Path,
    stats: Ledger,
    kernels: Kernels,
}

/// What a step is, but for its command.
#[derive(Clone, Copy)]
pub struct Step<'s> {
    pub phase: Phase,
    pub name: &'s str,
    pub node: &'s Node,
    pub longest: Duration,
    pub quiet: Option<Duration>,
    /// One that only looks: nobody waits for it, and nothing is torn down to free it.
    pub is_probe: bool,
}

/// How long a probe that hangs is waited for.
const PROBE_GRACE: Duration = Duration::from_millis(500);

/// Lets go of what waits for a file system in user space that does not answer.
const ABORT: &str = "
number=$(findmnt -no MAJ:MIN \"$MOUNTPOINT\" | cut -d: -f2)
[ ! -e \"/sys/fs/fuse/connections/$number/abort\" ] || echo 1 > \"/sys/fs/fuse/connections/$number/abort\"";

impl<'a> Player<'a> {
    /// Ready for the first step.
    pub fn new(
        stage: Stage<'a>,
        cell: &'a Cell,
        target: Target<'a>,
        folder: &'a Path,
    ) -> Result<Player<'a>, LabError> {
        let steps = folder.join("steps");
        std::fs::create_dir_all(&steps).map_err(LabError::at(&steps))?;
        let stats = Ledger::open(&folder.join("stat.jsonl"))?;
        let kernels = Kernels::of(&target);
        Ok(Player { stage, cell, target, folder, stats, kernels })
    }

    /// A command of the campaign file.
    pub fn task(&mut self, phase: Phase, name: &str, task: &Task) -> Result<Stat, LabError> {
        let node = self.target.client()?.clone();
        let values = self.target.values(&self.cell.name(), self.folder);
        let command = self.target.task(&node, &task.cmd, &values)?;
        let step =
            Step { phase, name, node: &node, longest: task.timeout, quiet: task.quiet, is_probe: false };
        let argv = super::template::fill(&task.cmd, &values);
        self.run(&step, command, &argv, None)
    }

    /// A look at how a client is, which must not take long.
    pub fn probe(&mut self, phase: Phase, cmd: &str, longest: Duration) -> Result<Stat, LabError> {
        let node = self.target.client()?.clone();
        let values = self.target.values(&self.cell.name(), self.folder);
        let command = self.target.task(&node, cmd, &values)?;
        let step = Step { phase, name: "probe", node: &node, longest, quiet: None, is_probe: true };
        self.run(&step, command, cmd, None)
    }

    /// A script of the adapter.
    pub fn script(&mut self, step: &Step, script: &str) -> Result<Stat, LabError> {
        let command = self.target.script(step.node, script)?;
        self.run(step, command, script.trim(), None)
    }

    /// Runs a command to its end, or until it hangs, and writes down what became of it.
    pub(super) fn run(
        &mut self,
        step: &Step,
        command: Command,
        argv: &str,
        fsck: Option<&FsckScripts>,
    ) -> Result<Stat, LabError> {
        let files = self.files(step);
        let timeouts = self.stage.config.timeouts;
        let (term_grace, kill_grace) = match step.is_probe {
            true => (PROBE_GRACE, PROBE_GRACE),
            false => (timeouts.term_grace, timeouts.kill_grace),
        };
        let bounds = Bounds { longest: step.longest, quiet: step.quiet, term_grace, kill_grace };
        let start_ns = now_ns();
        let free = || {
            if !step.is_probe {
                // It hangs already; what is said of that is said.
                let _ = self.target.ask(step.node, ABORT);
            }
        };
        let ended = bounded::run(command, &bounds, &files, &free, self.stage.is_over)?;
        let (out, err) = (said(&files.stdout), said(&files.stderr));
        let judged = match fsck {
            Some(scripts) => outcome::fsck(scripts, &ended, &format!("{out}\n{err}"))?,
            None => outcome::program(&ended, &out, &err),
        };
        // A probe looks every second, and whatever it met is met by the next step.
        let fallen = if step.is_probe { None } else { self.kernels.look(&self.target) };
        let judged = Judged { outcome: fallen.or(judged.outcome), ..judged };
        let stat = self.stat(step, argv, start_ns, &ended, judged, (out, err));
        self.stats.add(&stat)?;
        (self.stage.tell)(&format!(
            "{} {}: {} in {:.1} s",
            step.phase.as_str(),
            step.name,
            stat.short(),
            stat.seconds()
        ));
        Ok(stat)
    }

    fn stat(
        &self,
        step: &Step,
        argv: &str,
        start_ns: u64,
        ended: &Ended,
        judged: Judged,
        said: (String, String),
    ) -> Stat {
        Stat {
            cell: self.cell.name(),
            fault: self.cell.fault.clone(),
            nodes: self.cell.hurt.clone(),
            repeat: self.cell.repeat,
            phase: step.phase,
            step: step.name.to_owned(),
            node: step.node.name.clone(),
            argv: argv.to_owned(),
            start_ns,
            end_ns: now_ns(),
            rc: ended.code,
            signal: ended.signal,
            outcome: judged.outcome.unwrap_or(Outcome::Aborted),
            errno: judged.errno,
            note: judged.note,
            tally: judged.verdict.map(|verdict| verdict.tally),
            stdout_tail: tail(&said.0),
            stderr_tail: tail(&said.1),
            boot_ids: self.kernels.boots.clone(),
        }
    }

    /// Writes down something that is no command.
    pub fn note(
        &mut self,
        phase: Phase,
        name: &str,
        node: &str,
        outcome: Outcome,
        said: &str,
    ) -> Result<Stat, LabError> {
        let now = now_ns();
        let stat = Stat {
            cell: self.cell.name(),
            fault: self.cell.fault.clone(),
            nodes: self.cell.hurt.clone(),
            repeat: self.cell.repeat,
            phase,
            step: name.to_owned(),
            node: node.to_owned(),
            argv: String::new(),
            start_ns: now,
            end_ns: now,
            rc: None,
            signal: None,
            outcome,
            errno: None,
            note: None,
            tally: None,
            stdout_tail: said.to_owned(),
            stderr_tail: String::new(),
            boot_ids: self.kernels.boots.clone(),
        };
        self.stats.add(&stat)?;
        Ok(stat)
    }

    fn files(&self, step: &Step) -> Files {
        let name = |ending: &str| -> PathBuf {
            self.folder.join("steps").join(format!("{}-{}.{ending}", step.phase.as_str(), step.name))
        };
        Files { stdout: name("out"), stderr: name("err"), evidence: name("stuck") }
    }

    /// The daemons of every server of a lab, by their numbers: one that has ended, or begun anew, shows here.
    pub fn daemons(&self) -> serde_json::Value {
        let Some(lab) = &self.target.lab else { return json!(null) };
        let servers = self.target.nodes.iter().filter(|node| node.role != "client");
        let of = |node: &Node| {
            let daemons = lab.daemons(&node.name).unwrap_or_default();
            (node.name.clone(), daemons.iter().map(|daemon| daemon.number).collect::<Vec<u32>>())
        };
        json!(servers.map(of).collect::<BTreeMap<_, _>>())
    }
}
