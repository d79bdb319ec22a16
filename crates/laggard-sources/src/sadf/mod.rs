//! The output of `sadf` for a sysstat file, as JSON (`-j`), separated values (`-d`) or XML (`-x`).
//!
//! In: text with rates and averages. Out: rows of `disk_rates`, `net_rates`, `tcp_rates` and `pressure_rates`; restarts
//! and comments as notes. Always: samples before an error are delivered.

pub mod csv;
pub mod json;
mod moment;
mod samples;
pub mod xml;

#[cfg(test)]
mod tests;
