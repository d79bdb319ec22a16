//! Logs of fio: what the application saw.

pub mod iolog;
pub mod latency;
