//! A server whose daemons have ended, all at once.

use crate::lab::Lab;
use crate::machine::LabError;

pub fn set(lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    if on { lab.end_daemons(server) } else { lab.revive(server) }
}

pub fn is_on(lab: &Lab, server: &str) -> Result<bool, LabError> {
    Ok(lab.daemons(server)?.is_empty())
}
