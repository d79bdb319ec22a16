//! Logs of fio: what the application saw.

pub mod iolog;
pub mod latency;

#[cfg(test)]
mod tests;
