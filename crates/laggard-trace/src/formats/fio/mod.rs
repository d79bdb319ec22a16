//! Logs of fio: requests as the application sees them.

pub mod iolog;
pub mod latency;
