//! What `sadf` makes of a sysstat file, as JSON (`-j`), separated values (`-d`) or XML (`-x`).
//!
//! In: text with rates and averages. Out: rows of `disk_rates`, `net_rates`, `tcp_rates` and `pressure_rates`;
//! restarts and comments as notes. Always: what stands before a cut or a fault is handed over.

pub mod csv;
pub mod json;
mod moment;
mod samples;
pub mod xml;

#[cfg(test)]
mod tests;
