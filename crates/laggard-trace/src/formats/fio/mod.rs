//! Logs of fio: requests as the application sees them.

pub(crate) mod iolog;
pub(crate) mod latency;
