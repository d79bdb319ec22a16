//! Darshan logs with extended tracing (DXT): every read and write of every rank, by MPI-IO and by system calls.
//! In: the bytes of a log, in either byte order. Out: requests of the layers mpiio and sys.

mod bytes;
mod header;
mod mpiio_calls;
mod reader;
mod records;
mod region;

pub(crate) use reader::read;

pub(crate) fn recognises(start: &[u8]) -> bool {
    header::order(start).is_some()
}
