//! The model of a storage system: time, units, components, counters, metrics, clusters.
//! In: text (cluster file, names, times). Out: checked values. Always: a value that exists is valid.

pub mod cluster;
pub mod component;
pub mod device;
pub mod host_facts;
pub mod metric;
pub mod random;
pub mod schema;
pub mod time;
