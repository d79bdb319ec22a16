//! Runs the file system's own check, and makes the campaign's checks read from disk.

use std::time::{Duration, Instant};

use super::outcome::FINAL;
use super::phase::Phase;
use super::run::{CaseRun, Step};
use super::stat::Stat;
use crate::filesystems::FsckScripts;
use crate::inject::Node;
use crate::machine::LabError;
use crate::verifiable_files::outcome::Outcome;

const DROP_CACHES: &str = "sync; echo 3 > /proc/sys/vm/drop_caches";
const DROPPING: Duration = Duration::from_secs(60);

/// The files with the output of a check, by its phase and step.
pub(crate) fn output_files(step: &str) -> [String; 3] {
    [format!("{step}.out"), format!("{step}.err"), format!("{step}-status.out")]
}

impl CaseRun<'_> {
    /// Runs the file system's own check; none if the case has none.
    pub(super) fn fsck(&mut self, phase: Phase, name: &str) -> Result<Option<Stat>, LabError> {
        let Some(fsck) = &self.plan.steps.fsck else { return Ok(None) };
        let Some(scripts) = self.target.adapter().fsck.clone() else {
            let node = self.target.client()?.name.clone();
            return self.note(phase, name, &node, Outcome::Skipped, "the adapter has no check").map(Some);
        };
        let node = self.target.at(scripts.on)?.clone();
        let step = Step { phase, name, node: &node, longest: fsck.timeout, quiet: None, is_probe: false };
        let begin = Instant::now();
        let (command, argv) = match &fsck.run {
            Some(cmd) => (self.target.task(&node, cmd, &self.values())?, cmd.as_str()),
            None => (self.target.script(&node, &scripts.run)?, scripts.run.trim()),
        };
        let stat = self.run(&step, command, argv, Some(&scripts))?;
        let left = fsck.timeout.saturating_sub(begin.elapsed());
        match &scripts.status {
            Some(status) if stat.outcome.is_ok() => self.follow(&step, &scripts, status, left).map(Some),
            _ => Ok(Some(stat)),
        }
    }

    /// Polls a check that runs in the background until it has ended.
    fn follow(
        &mut self,
        step: &Step,
        scripts: &FsckScripts,
        status: &str,
        left: Duration,
    ) -> Result<Stat, LabError> {
        let done = scripts.done_regex.as_deref().unwrap_or("");
        // Prints each change of the status, and the last one again after a mark.
        let poll = format!(
            "last=; while :; do said=$({{ {status}\n}} 2>&1) || :; \
             [ \"$said\" = \"$last\" ] || printf '%s\\n' \"$said\"; last=$said; \
             if printf '%s\\n' \"$said\" | grep -Eq -- {}; then printf '%s\\n' {FINAL} \"$said\"; break; fi; sleep 1; done",
            crate::inject::quoted(done)
        );
        let name = format!("{}-status", step.name);
        let step = Step { name: &name, longest: left.max(Duration::from_secs(1)), ..*step };
        let command = self.target.script(step.node, &poll)?;
        let stat = self.run(&step, command, status.trim(), Some(scripts))?;
        if let (Outcome::Hang | Outcome::HangD, Some(stop)) = (stat.outcome, &scripts.stop) {
            // It is reported as hung whether or not it can be stopped.
            let _ = self.target.ask(step.node, stop);
        }
        Ok(stat)
    }

    /// Remounts and drops caches, so that data is read from disk. Returns the step that failed, if one did.
    pub(super) fn freshen(
        &mut self,
        phase: Phase,
        mount: bool,
        drop_caches: bool,
    ) -> Result<Option<Stat>, LabError> {
        let node = self.target.client()?.clone();
        if let (true, Some(remount)) = (mount, self.target.adapter().remount.clone()) {
            let longest = self.plan.steps.timeouts.mount;
            let step = Step { phase, name: "mount", node: &node, longest, quiet: None, is_probe: false };
            let stat = self.script(&step, &remount)?;
            if !stat.outcome.is_ok() {
                return Ok(Some(stat));
            }
        }
        if drop_caches {
            // The hosts of a lab share one kernel.
            let nodes: Vec<Node> = match self.target.lab {
                Some(_) => vec![node],
                None => self.target.nodes.clone(),
            };
            for node in &nodes {
                let _ = node.run(DROP_CACHES, DROPPING);
            }
        }
        Ok(None)
    }
}
