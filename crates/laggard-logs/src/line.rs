//! A parsed log line.

use laggard_core::model::time::Timestamp;
use serde::Serialize;

/// The fields of a line, as bytes, since logs may hold any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line<'l> {
    pub time: Option<Timestamp>,
    pub severity: Option<Severity>,
    pub component: &'l [u8],
    pub function: &'l [u8],
    pub text: &'l [u8],
}

impl<'l> Line<'l> {
    pub fn bare(text: &'l [u8]) -> Line<'l> {
        Line { text, ..Line::default() }
    }
}

/// The severities of syslog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    Emergency,
    Critical,
    Error,
    Warning,
    Notice,
    Info,
    Debug,
}
