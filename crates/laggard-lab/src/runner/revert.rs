//! The part of a cell in which all becomes well again.

use std::time::{Duration, Instant};

use super::phases::Run;
use super::result::Word;
use super::stat::{Phase, now_ns};
use super::steps::Step;
use crate::filesystems::Where;
use crate::inject::{PlannedFault, Session};
use crate::machine::LabError;
use crate::machine::place::wait_for;
use crate::work::outcome::Outcome;

impl Run<'_, '_> {
    /// Takes the fault away, lets the system mend itself, and looks whether all is as it was.
    pub(super) fn heal(
        &mut self,
        session: Option<&mut Session>,
        planned: Option<&PlannedFault>,
    ) -> Result<(), LabError> {
        let begin = Instant::now();
        self.result.heal_ns = Some(now_ns());
        if let (Some(session), Some(planned)) = (session, planned)
            && let Err(error) = session.revert(&planned.id)
        {
            self.result.dirty.push(format!("{} was not reverted: {error}", planned.fault.name()));
        }
        if (self.player.stage.is_over)() {
            return Ok(());
        }
        self.repair()?;
        match self.healthy(Phase::Heal) {
            Ok(()) => self.result.recover_s = Some(begin.elapsed().as_secs_f64()),
            Err(error) => {
                self.player.note(Phase::Heal, "healthy", "", Outcome::Aborted, &error.to_string())?;
                self.result.unhealed = Some(error.to_string());
            }
        }
        let Some(check) = self.player.stage.config.checks.get("read") else { return Ok(()) };
        let stuck = self.player.freshen(Phase::Heal, true, true)?;
        let word = match stuck {
            Some(stat) => Word { note: Some("mount".into()), ..Word::from(&stat) },
            None => Word::from(&self.player.task(Phase::Heal, "read", &check.task)?),
        };
        self.result.healed = Some(word);
        self.take_logs(Phase::Heal)
    }

    fn repair(&mut self) -> Result<(), LabError> {
        let Some(repair) = self.player.stage.config.adapter.repair.clone() else { return Ok(()) };
        let node = self.player.target.at(Where::First)?.clone();
        let longest = self.player.stage.config.timeouts.heal;
        let step =
            Step { phase: Phase::Heal, name: "repair", node: &node, longest, quiet: None, is_probe: false };
        self.player.script(&step, &repair).map(drop)
    }

    /// Waits until the file system says that it is well, and that nothing is left to mend.
    pub(super) fn healthy(&mut self, phase: Phase) -> Result<(), LabError> {
        let (target, config) = (&self.player.target, self.player.stage.config);
        let seconds = config.timeouts.healthy.as_secs();
        let first = target.at(Where::First)?;
        let healed = config.adapter.healed.as_deref().filter(|_| phase == Phase::Heal);
        let is_over = self.player.stage.is_over;
        let mut complaint = String::new();
        let is_well = || -> Result<(), LabError> {
            target.health()?;
            healed.map_or(Ok(()), |script| target.ask(first, script).map(drop))
        };
        let waited = wait_for(&format!("{} to be well", config.adapter.name), seconds, || {
            match is_well() {
                Err(error) if !is_over() => complaint = error.to_string(),
                _ => return Some(()),
            }
            std::thread::sleep(Duration::from_millis(300));
            None
        });
        waited.map_err(|error| LabError::Input(format!("{error}: {complaint}")))
    }
}
