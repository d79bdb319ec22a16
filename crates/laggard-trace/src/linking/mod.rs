//! Assembles requests from their events, and finds the request of the layer above that caused each of them.
//! In: events and edges in the order of time. Out: calls of an [`Observer`], in the same order. Always: every request
//! that counts begins once and ends once, if only as cut short.

mod byte_ranges;
mod linker;
mod observer;
mod open_requests;
mod scope;

pub(crate) use linker::{Linker, UnusedEvents};
pub(crate) use observer::{Link, Observer};
pub(crate) use open_requests::{OpenRequest, Parent, Slot};
pub(crate) use scope::{Exclusions, NameFilter, Scope};
