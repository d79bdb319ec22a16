//! What all readers share: lines, and how they say what is wrong.

mod error;
mod lines;

pub use error::{Place, ReadError};
pub use lines::Lines;
