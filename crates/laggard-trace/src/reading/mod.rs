//! What all readers share: lines, and how they say what is wrong.

pub use laggard_input::{Lines, Place, ReadError};
