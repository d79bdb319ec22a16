//! What a trace is made of: [`Event`]s, each the crossing of a boundary between two layers by a request, between
//! a [`Header`] and a [`Footer`].
//!
//! Always: a request's first `Admit` comes before its other events in a file; events are in the order of time
//! but for what the footer counts as `out_of_order`; of several `Issue`s of a request the first counts, of
//! several `Complt`s the last; one that is `REQUEUED` takes the place of those before.

mod event;
mod flags;
mod footer;
mod header;
mod layer;
mod link;
mod names;
mod op;
mod request;
mod trace;

pub use event::{CommId, Event, HostId, Kind, NO_OFFSET, ObjectId, RequestId};
pub use flags::Flags;
pub use footer::{Counters, Footer};
pub use header::{Header, Host, LayerTitle, Overhead, Source, Window};
pub use layer::{Class, Layer};
pub use link::{Edge, LinkRule};
pub use names::{Interner, Names, Object};
pub use op::{MetaOp, Op};
pub use request::Request;
pub use trace::{Record, Trace};
