//! The place of a mistake in the campaign file.

use std::ops::Range;

use crate::machine::LabError;

/// Finds the line of a mistake.
pub(super) struct Place<'a> {
    pub text: &'a str,
}

impl Place<'_> {
    pub(super) fn wrong(&self, span: Range<usize>, key: &str, what: impl std::fmt::Display) -> LabError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        LabError::Input(format!("line {}: {key}: {what}", before.matches('\n').count() + 1))
    }
}
