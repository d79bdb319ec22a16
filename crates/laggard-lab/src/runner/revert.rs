//! Reverts the fault of a case, and waits for the file system to recover.

use std::time::{Duration, Instant};

use super::case_plan::Check;
use super::files::now_ns;
use super::phase::Phase;
use super::run::{CaseRun, Step};
use crate::filesystems::Where;
use crate::machine::LabError;
use crate::machine::waiting::wait_for;
use crate::verifiable_files::outcome::Outcome;

impl CaseRun<'_> {
    /// Reverts the fault; repairs the file system and reads its files again, if asked to.
    pub(super) fn revert(&mut self) -> Result<(), LabError> {
        let begin = Instant::now();
        self.result.revert_ns = Some(now_ns());
        let mut injection = self.injection.take();
        let reverted = injection.as_mut().map_or(Ok(()), |injection| injection.revert());
        self.result.dirty.extend(reverted.err().map(|error| error.to_string()));
        let recovered = match self.plan.steps.repair && !self.is_over() {
            true => self.recover_file_system(begin),
            false => Ok(()),
        };
        injection.map_or(Ok(()), |injection| injection.close())?;
        recovered
    }

    fn recover_file_system(&mut self, begin: Instant) -> Result<(), LabError> {
        self.repair()?;
        match self.wait_until_healthy(Phase::Revert) {
            Ok(()) => self.result.recover_s = Some(begin.elapsed().as_secs_f64()),
            Err(error) => {
                self.note(Phase::Revert, "healthy", "", Outcome::Aborted, &error.to_string())?;
                self.result.unrecovered = Some(error.to_string());
            }
        }
        let Some(check) = self.plan.steps.checks.get("read") else { return Ok(()) };
        let check = Check { fresh_mount: true, drop_caches: true, ..check.clone() };
        self.result.reverted = Some(self.run_check(Phase::Revert, "read", &check)?);
        Ok(())
    }

    fn repair(&mut self) -> Result<(), LabError> {
        let Some(repair) = self.target.adapter().repair.clone() else { return Ok(()) };
        let node = self.target.at(Where::First)?.clone();
        let longest = self.plan.steps.timeouts.revert;
        let step =
            Step { phase: Phase::Revert, name: "repair", node: &node, longest, quiet: None, is_probe: false };
        self.script(&step, &repair).map(drop)
    }

    /// Waits until the file system is healthy; after a revert, also until nothing is left to repair.
    pub(super) fn wait_until_healthy(&self, phase: Phase) -> Result<(), LabError> {
        let (target, adapter) = (&self.target, self.target.adapter());
        let first = target.at(Where::First)?;
        let healed = adapter.healed.as_deref().filter(|_| phase == Phase::Revert);
        let mut complaint = String::new();
        let check = || -> Result<(), LabError> {
            target.health()?;
            healed.map_or(Ok(()), |script| target.ask(first, script).map(drop))
        };
        let seconds = self.plan.steps.timeouts.healthy.as_secs();
        let waited = wait_for(&format!("{} to be healthy", adapter.name), seconds, || {
            match check() {
                Err(error) if !self.is_over() => complaint = error.to_string(),
                _ => return Some(()),
            }
            std::thread::sleep(Duration::from_millis(300));
            None
        });
        waited.map_err(|error| LabError::Input(format!("{error}: {complaint}")))
    }
}
