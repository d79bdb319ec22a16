//! Open requests of io_uring.

use crate::hashing::WordMap;
use crate::model::Event;

/// By ring and request.
#[derive(Debug, Default)]
pub(in crate::mapping) struct Uring {
    pub open: WordMap<(u64, u64), Event>,
}

impl Uring {
    pub(crate) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }
}
