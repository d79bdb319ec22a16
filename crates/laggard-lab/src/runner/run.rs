//! A case while it runs: each step has a time limit, and a line in `stat.jsonl` when it has ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::boot_monitor::Kernels;
use super::case_plan::{Callbacks, CasePlan, Check, Task};
use super::diagnosed_recording::Recording;
use super::files::{JsonLines, now_ns};
use super::injection::Injection;
use super::logs::LogCollector;
use super::outcome::{self, Assessment};
use super::phase::Phase;
use super::result::{CaseResult, StepResult};
use super::stat::Stat;
use super::target::Target;
use super::template;
use crate::filesystems::{FsckScripts, Where};
use crate::inject::Node;
use crate::machine::LabError;
use crate::machine::bounded::{self, Bounds, Ended, Files};
use crate::verifiable_files::outcome::Outcome;

/// A case that runs on a system that is up.
pub(super) struct CaseRun<'a> {
    pub(super) callbacks: Callbacks<'a>,
    pub(super) plan: CasePlan<'a>,
    pub(super) target: Target<'a>,
    pub(super) result: &'a mut CaseResult,
    pub(super) recording: Option<Recording>,
    pub(super) injection: Option<Injection>,
    /// When the fault was applied and verified.
    pub(super) applied_ns: u64,
    logs: Option<LogCollector>,
    stats: Option<JsonLines>,
    kernels: Kernels,
}

/// A step, apart from its command.
#[derive(Clone, Copy)]
pub(super) struct Step<'s> {
    pub phase: Phase,
    pub name: &'s str,
    pub node: &'s Node,
    pub longest: Duration,
    pub quiet: Option<Duration>,
    /// It only reads: it is killed soon, and nothing is aborted to free it.
    pub is_probe: bool,
}

/// From SIGTERM to SIGKILL for a probe that hangs.
const PROBE_GRACE: Duration = Duration::from_millis(500);

/// Aborts requests to a file system in user space that does not answer.
const ABORT: &str = "
number=$(findmnt -no MAJ:MIN \"$MOUNTPOINT\" | cut -d: -f2)
[ ! -e \"/sys/fs/fuse/connections/$number/abort\" ] || echo 1 > \"/sys/fs/fuse/connections/$number/abort\"";

impl<'a> CaseRun<'a> {
    pub(super) fn new(
        plan: CasePlan<'a>,
        callbacks: Callbacks<'a>,
        target: Target<'a>,
        result: &'a mut CaseResult,
    ) -> Result<CaseRun<'a>, LabError> {
        let is_kept = plan.origin.is_some();
        let logs = is_kept.then(|| LogCollector::open(&plan.folder.join("logs"), &target)).transpose()?;
        let stats = is_kept.then(|| JsonLines::open(&plan.folder.join("stat.jsonl"))).transpose()?;
        let kernels = Kernels::of(&target);
        Ok(CaseRun {
            callbacks,
            plan,
            target,
            result,
            recording: None,
            injection: None,
            applied_ns: 0,
            logs,
            stats,
            kernels,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        (self.callbacks.is_over)()
    }

    pub(super) fn read_versions(&mut self) {
        let versions = self.target.adapter().versions.clone().unwrap_or_default();
        let output = self.target.at(Where::First).and_then(|node| self.target.ask(node, &versions));
        self.result.versions = output.unwrap_or_default().trim().to_owned();
    }

    /// Runs a command of the campaign file.
    pub(super) fn task(&mut self, phase: Phase, name: &str, task: &Task) -> Result<Stat, LabError> {
        let node = self.target.client()?.clone();
        let values = self.values();
        let command = self.target.task(&node, &task.cmd, &values)?;
        let step =
            Step { phase, name, node: &node, longest: task.timeout, quiet: task.quiet, is_probe: false };
        self.run(&step, command, &template::fill(&task.cmd, &values), None)
    }

    /// Runs a short command on the client.
    pub(super) fn probe(&mut self, phase: Phase, cmd: &str, longest: Duration) -> Result<Stat, LabError> {
        let node = self.target.client()?.clone();
        let command = self.target.task(&node, cmd, &self.values())?;
        let step = Step { phase, name: "probe", node: &node, longest, quiet: None, is_probe: true };
        self.run(&step, command, cmd, None)
    }

    /// Runs a script of the adapter.
    pub(super) fn script(&mut self, step: &Step, script: &str) -> Result<Stat, LabError> {
        let command = self.target.script(step.node, script)?;
        self.run(step, command, script.trim(), None)
    }

    pub(super) fn run_check(
        &mut self,
        phase: Phase,
        name: &str,
        check: &Check,
    ) -> Result<StepResult, LabError> {
        Ok(match self.freshen(phase, check.fresh_mount, check.drop_caches)? {
            // Without the mount, the folder below would be read.
            Some(stat) => StepResult { note: Some("mount".into()), ..StepResult::from(&stat) },
            None => StepResult::from(&self.task(phase, name, &check.task)?),
        })
    }

    pub(super) fn values(&self) -> BTreeMap<String, String> {
        self.target.values(&self.plan.case.name(), self.plan.folder)
    }

    /// Runs a command until it ends or hangs, and records its outcome.
    pub(super) fn run(
        &mut self,
        step: &Step,
        command: Command,
        argv: &str,
        fsck: Option<&FsckScripts>,
    ) -> Result<Stat, LabError> {
        let files = self.files(step)?;
        let timeouts = self.plan.steps.timeouts;
        let (term_grace, kill_grace) = match step.is_probe {
            true => (PROBE_GRACE, PROBE_GRACE),
            false => (timeouts.term_grace, timeouts.kill_grace),
        };
        let bounds = Bounds { longest: step.longest, quiet: step.quiet, term_grace, kill_grace };
        let start_ns = now_ns();
        let free = || {
            if !step.is_probe {
                // The step is reported as hung whether or not this succeeds.
                let _ = self.target.ask(step.node, ABORT);
            }
        };
        let ended = bounded::run(command, &bounds, &files, &free, self.callbacks.is_over)?;
        let (out, err) = (read_end(&files.stdout), read_end(&files.stderr));
        let assessment = match fsck {
            Some(scripts) => outcome::fsck(scripts, &ended, &format!("{out}\n{err}"))?,
            None => outcome::program(&ended, &out, &err),
        };
        // A probe runs every second; the next step notices the same.
        let fallen = if step.is_probe { None } else { self.kernels.check(&self.target) };
        let outcome = fallen.unwrap_or(assessment.outcome);
        let stat = self.stat(step, argv, start_ns, &ended, Assessment { outcome, ..assessment }, (out, err));
        self.add_stat(&stat)?;
        (self.callbacks.progress)(&format!(
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
        assessment: Assessment,
        output: (String, String),
    ) -> Stat {
        Stat {
            argv: argv.to_owned(),
            start_ns,
            rc: ended.code,
            signal: ended.signal,
            errno: assessment.errno,
            note: assessment.note,
            tally: assessment.verdict.map(|verdict| verdict.tally),
            stdout_tail: tail(&output.0),
            stderr_tail: tail(&output.1),
            ..self.plain_stat(step.phase, step.name, &step.node.name, assessment.outcome)
        }
    }

    fn plain_stat(&self, phase: Phase, name: &str, node: &str, outcome: Outcome) -> Stat {
        let (case, now) = (self.plan.case, now_ns());
        Stat {
            case: case.name(),
            fault: case.fault.clone(),
            nodes: case.faulted.clone(),
            repeat: case.repeat,
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
            stdout_tail: String::new(),
            stderr_tail: String::new(),
            boot_ids: self.kernels.boots.clone(),
        }
    }

    /// Records something that is not a command.
    pub(super) fn note(
        &mut self,
        phase: Phase,
        name: &str,
        node: &str,
        outcome: Outcome,
        text: &str,
    ) -> Result<Stat, LabError> {
        let stat = Stat { stdout_tail: text.to_owned(), ..self.plain_stat(phase, name, node, outcome) };
        self.add_stat(&stat)?;
        Ok(stat)
    }

    fn add_stat(&mut self, stat: &Stat) -> Result<(), LabError> {
        self.stats.as_mut().map_or(Ok(()), |stats| stats.add(stat))
    }

    fn files(&self, step: &Step) -> Result<Files, LabError> {
        let steps = self.plan.folder.join("steps");
        std::fs::create_dir_all(&steps).map_err(LabError::at(&steps))?;
        let name = |ending: &str| -> PathBuf {
            steps.join(format!("{}-{}.{ending}", step.phase.as_str(), step.name))
        };
        Ok(Files { stdout: name("out"), stderr: name("err"), evidence: name("stuck") })
    }

    pub(super) fn collect_logs(&mut self, phase: Phase) -> Result<(), LabError> {
        self.logs.as_mut().map_or(Ok(()), |logs| logs.collect(phase, &self.target))
    }

    /// Verifying a lost disk reads it, and the kernel logs that: these lines belong to the injection, and are not a sign
    /// that the fault was noticed.
    pub(super) fn collect_kernel_logs(&mut self, phase: Phase) -> Result<(), LabError> {
        self.logs.as_mut().map_or(Ok(()), |logs| logs.collect_kernel(phase, &self.target))
    }

    /// The process ids of the daemons of each server of a lab: they show which has ended or was restarted.
    pub(super) fn daemons(&self) -> Value {
        let Some(lab) = self.target.lab.as_ref().filter(|_| self.plan.origin.is_some()) else {
            return Value::Null;
        };
        let of = |node: &Node| {
            let daemons = lab.daemons(&node.name).unwrap_or_default();
            (node.name.clone(), daemons.iter().map(|daemon| daemon.number).collect::<Vec<u32>>())
        };
        json!(self.target.servers().map(of).collect::<BTreeMap<_, _>>())
    }
}

/// The end of a text that may be long.
fn tail(text: &str) -> String {
    const MOST: usize = 4000;
    let from = text.len().saturating_sub(MOST);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default().to_owned()
}

/// The last MiB of a file.
fn read_end(path: &Path) -> String {
    const MOST: usize = 1 << 20;
    let text = std::fs::read(path).unwrap_or_default();
    let from = text.len().saturating_sub(MOST);
    String::from_utf8_lossy(text.get(from..).unwrap_or_default()).into_owned()
}
