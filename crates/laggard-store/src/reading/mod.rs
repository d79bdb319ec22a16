//! Reading: the selected rows of a segment, a piece at a time.
//! In: a selection and the bytes of a segment. Out: pieces. Always: only the wanted columns are decoded.

pub(crate) mod live_tail;
pub mod piece;
mod restored;
pub(crate) mod sealed;
pub mod selection;
