//! Requests of a reader, and the rows it gets.
//! In: a [`selection::Selection`] and decoded batches. Out: a [`piece::Piece`] of the wanted rows at a time.
//! Always: a component's rows keep the order of recording.

mod filter;
pub mod piece;
pub mod selection;

pub(crate) use filter::filtered;
