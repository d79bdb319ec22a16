//! The fault of a case while it is active.

use std::path::Path;
use std::process::Command;

use crate::inject::{self, PlannedFault, Session};
use crate::machine::LabError;

/// A fault that is applied and verified, with its guard.
#[derive(Debug)]
pub(super) struct Injection {
    session: Session,
    planned: PlannedFault,
}

impl Injection {
    pub(super) fn apply(planned: PlannedFault) -> Result<Injection, LabError> {
        let mut guard = Command::new(crate::setup::program()?);
        guard.arg("guard");
        let mut session = Session::open(Path::new(inject::FOLDER), guard)?;
        session.apply(&planned)?;
        Ok(Injection { session, planned })
    }

    /// Reverts the fault and verifies that nothing of it is left.
    pub(super) fn revert(&mut self) -> Result<(), LabError> {
        let name = self.planned.fault.name();
        let reverted = self.session.revert(&self.planned.id);
        reverted.map_err(|error| LabError::Input(format!("{name} was not reverted: {error}")))
    }

    /// Dismisses the guard.
    pub(super) fn close(self) -> Result<(), LabError> {
        self.session.close()
    }
}
