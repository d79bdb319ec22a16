//! One line of a log, taken apart.

use laggard_core::model::time::Timestamp;
use serde::Serialize;

/// What a line says, without what stands around it. Bytes, since logs hold any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line<'l> {
    /// When it was written.
    pub time: Option<Timestamp>,
    /// How grave its writer thinks it is.
    pub severity: Option<Severity>,
    /// The part of the system that wrote it.
    pub component: &'l [u8],
    /// The function that wrote it.
    pub function: &'l [u8],
    /// The message.
    pub text: &'l [u8],
}

impl<'l> Line<'l> {
    /// A line of which nothing is known but its text.
    pub fn bare(text: &'l [u8]) -> Line<'l> {
        Line { text, ..Line::default() }
    }
}

/// How grave a message is, in the words of syslog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the words of syslog")]
pub enum Severity {
    Emergency,
    Critical,
    Error,
    Warning,
    Notice,
    Info,
    Debug,
}
