//! The data of a trace: a [`Header`], [`Event`]s (a request crosses a boundary between two layers), and a
//! [`Footer`].
//! Always: a request's first `Admit` precedes its other events in a file; events are ordered by time except for
//! those that the footer counts as `out_of_order`; of several `Issue`s of a request the first is used, of several
//! `Complt`s the last; an event that is `REQUEUED` replaces those before it.

/// An enum with a list of its values and their names.
macro_rules! named_enum {
    ($(#[$attribute:meta])* pub enum $Enum:ident { $($(#[$note:meta])* $Value:ident $name:literal,)* }) => {
        $(#[$attribute])*
        pub enum $Enum {
            $($(#[$note])* $Value,)*
        }

        impl $Enum {
            /// In the order of the enum.
            pub const ALL: [$Enum; [$($name),*].len()] = [$($Enum::$Value),*];

            pub const fn name(self) -> &'static str {
                match self {
                    $($Enum::$Value => $name,)*
                }
            }
        }
    };
}

mod event;
mod flags;
mod footer;
mod header;
mod ids;
mod layer;
mod link;
mod names;
mod op;
mod request;
mod trace;

pub use event::{Event, Kind, NO_OFFSET};
pub use flags::Flags;
pub use footer::{Counters, Footer};
pub use header::{Header, Host, LayerTitle, Overhead, Source, Window};
pub use ids::{CommId, HostId, ObjectId, RequestId};
pub use layer::{Class, Layer};
pub use link::{Edge, LinkRule};
pub use names::{Interner, Names, Object};
pub use op::{MetaOp, Op};
pub use request::Request;
pub use trace::{Record, Trace};
