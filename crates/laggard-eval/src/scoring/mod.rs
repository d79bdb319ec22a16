//! How good a method is: what it says against what is true.
//! In: judgements or reports, and labels. Out: plain figures. Always: names and the order of components change none.

pub mod labels;
pub mod truth;

pub mod covered;
pub mod cut;
pub mod entrants;
pub mod rivals;

pub mod confusion;
mod sweep;

pub mod events;
pub mod experiments;
pub mod stream;
pub mod windows;

pub mod contest;
pub mod gauge;

#[cfg(test)]
mod testing;
