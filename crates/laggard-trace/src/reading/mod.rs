//! What all readers share: lines, and how they say what is wrong.

mod lines;

pub use laggard_core::reading::{Place, ReadError};
pub use lines::Lines;
