//! What the readers of sysstat's text share: the words its tools head their columns with, dates as they print
//! them, lines, and the frame of their JSON.

pub(crate) mod bad_lines;
pub(crate) mod column;
pub(crate) mod date;
pub(crate) mod document;
