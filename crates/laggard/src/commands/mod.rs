//! The commands, a file each. A command parses its arguments, calls the crates, and prints.

pub(crate) mod campaign;
pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diagnose;
pub(crate) mod eval;
pub(crate) mod feedback;
pub(crate) mod import;
pub(crate) mod inject;
pub(crate) mod lab;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod metrics;
pub(crate) mod power;
pub(crate) mod probe;
pub(crate) mod rank;
pub(crate) mod record;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod tables;
pub(crate) mod trace;
pub(crate) mod train;
pub(crate) mod work;
