//! Metrics on a common time grid.
