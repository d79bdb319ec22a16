//! Shared by the readers of sysstat's text: column names, dates, unreadable lines, and the structure of the JSON.
//! In: text of sadf and iostat. Out: rows of rates, dates, samples. Always: all versions and locales are accepted.

pub(crate) mod bad_lines;
pub(crate) mod column;
pub(crate) mod date;
pub(crate) mod document;
