//! A dataset on disk or object store: append, seal, recover, query.
//!
//! Writing, in flow order: [`recorder`] appends rows to live tails (Arrow streams) and turns them over at the
//! time that [`cycle`] says; [`seal`] makes them Parquet; [`mod@recover`] picks up what an interrupted recorder
//! left; [`import`] writes sealed files straight away; [`retention`] removes the oldest.
//! Reading: [`dataset`] lists [`segment`]s, a [`selection`] says what is wanted, [`piece`]s are what comes.
//!
//! Always: a sealed file never changes; a tail ends with a whole message; every file says its format.

pub mod cycle;
pub mod error;
pub mod name;
pub mod origin;

mod columns;
mod frame;
mod message;
mod soundness;
mod stand_in;
mod tail;

mod bench;
mod bits;
mod cells;
mod chunk;
mod content;
mod delta;
mod group;
mod numbered;
mod page;
mod parquet_file;
pub mod seal;
mod sealer;
mod sorted;
mod sums;

pub mod recorder;
pub mod recover;

mod live;
mod location;
pub mod piece;
mod restored;
mod sealed;
pub mod segment;
pub mod selection;

pub mod dataset;
mod day_file;
pub mod import;
mod packer;
pub mod retention;

pub use dataset::{Dataset, Listing};
pub use error::{Problem, StoreError};
pub use import::{Imported, Importer};
pub use name::{FileName, State};
pub use origin::Origin;
pub use piece::Piece;
pub use recorder::Recorder;
pub use recover::recover;
pub use retention::Retention;
pub use seal::Sealed;
pub use segment::{Segment, Summary};
pub use selection::{Selection, Wanted};
pub mod grids;
pub mod notebook;
mod query;
pub mod tabulate;
