//! The steps around checks: the file system's own, and what must be so before one of ours.

use std::time::Duration;

use super::stat::{Phase, Stat};
use super::steps::{Player, Step};
use crate::filesystems::FsckScripts;
use crate::inject::Node;
use crate::machine::LabError;
use crate::work::outcome::Outcome;

const DROP_CACHES: &str = "sync; echo 3 > /proc/sys/vm/drop_caches";
const DROPPING: Duration = Duration::from_secs(60);

/// Before what a check that goes on by itself says when it is over.
pub const AT_LAST: &str = "==at-last==";

/// The files with what a check has said, by its part and step.
pub fn said_by_fsck(step: &str) -> [String; 3] {
    ["out", "err", "status"].map(|ending| match ending {
        "status" => format!("{step}-status.out"),
        ending => format!("{step}.{ending}"),
    })
}

impl Player<'_> {
    /// The file system's own check.
    pub fn fsck(&mut self, phase: Phase, name: &str) -> Result<Stat, LabError> {
        let config = self.stage.config;
        let Some(scripts) = config.adapter.fsck.clone() else {
            let node = self.target.client()?.name.clone();
            return self.note(phase, name, &node, Outcome::Skipped, "the adapter has no check");
        };
        let node = self.target.at(scripts.on)?.clone();
        let step =
            Step { phase, name, node: &node, longest: config.fsck.timeout, quiet: None, is_probe: false };
        let begin = std::time::Instant::now();
        let stat = match &config.fsck.run {
            Some(cmd) => {
                let values = self.target.values(&self.cell.name(), self.folder);
                let command = self.target.task(&node, cmd, &values)?;
                self.run(&step, command, cmd, Some(&scripts))?
            }
            None => {
                let command = self.target.script(&node, &scripts.run)?;
                self.run(&step, command, scripts.run.trim(), Some(&scripts))?
            }
        };
        let left = config.fsck.timeout.saturating_sub(begin.elapsed());
        match &scripts.status {
            Some(status) if stat.outcome.is_well() => self.follow(&step, &scripts, status, left),
            _ => Ok(stat),
        }
    }

    /// Asks a check that goes on by itself how far it is, until it is over.
    fn follow(
        &mut self,
        step: &Step,
        scripts: &FsckScripts,
        status: &str,
        left: Duration,
    ) -> Result<Stat, LabError> {
        let done = scripts.done_regex.as_deref().unwrap_or("");
        // On its way it says how far it is, and at last what it has come to.
        let loop_of = format!(
            "last=; while :; do said=$({{ {status}\n}} 2>&1) || :; \
             [ \"$said\" = \"$last\" ] || printf '%s\\n' \"$said\"; last=$said; \
             if printf '%s\\n' \"$said\" | grep -Eq -- {}; then printf '%s\\n' {AT_LAST} \"$said\"; break; fi; sleep 1; done",
            crate::inject::quoted(done)
        );
        let name = format!("{}-status", step.name);
        let step = Step { name: &name, longest: left.max(Duration::from_secs(1)), ..*step };
        let command = self.target.script(step.node, &loop_of)?;
        let stat = self.run(&step, command, status.trim(), Some(scripts))?;
        if let (Outcome::Hang | Outcome::HangD, Some(stop)) = (stat.outcome, &scripts.stop) {
            // It hangs already; what is said of that is said.
            let _ = self.target.ask(step.node, stop);
        }
        Ok(stat)
    }

    /// Mounts anew and drops caches, so that what is read comes from where it is kept. What went wrong, if something did.
    pub fn freshen(
        &mut self,
        phase: Phase,
        mount: bool,
        drop_caches: bool,
    ) -> Result<Option<Stat>, LabError> {
        let node = self.target.client()?.clone();
        if let (true, Some(remount)) = (mount, self.stage.config.adapter.remount.clone()) {
            let longest = self.stage.config.timeouts.mount;
            let step = Step { phase, name: "mount", node: &node, longest, quiet: None, is_probe: false };
            let stat = self.script(&step, &remount)?;
            if !stat.outcome.is_well() {
                return Ok(Some(stat));
            }
        }
        if drop_caches {
            // Of a lab, one kernel has all caches.
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
