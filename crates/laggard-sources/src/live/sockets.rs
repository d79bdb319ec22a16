//! The TCP connections of the host, read by sock_diag.

use laggard_core::samples::RawTable;

use super::clock::Moment;
use super::connection::Filter;
use super::failure::Failure;
use super::sock_diag::SockDiag;
use super::source::{Source, SourceId};
use super::traffic::{Bounds, Traffic};

pub(super) struct Sockets {
    kernel: SockDiag,
    filter: Filter,
    traffic: Traffic,
}

impl Sockets {
    pub(super) fn new(host: &str, filter: Filter, bounds: Bounds) -> Sockets {
        Sockets { kernel: SockDiag::new(), filter, traffic: Traffic::new(host, bounds) }
    }
}

impl Source for Sockets {
    fn id(&self) -> SourceId {
        SourceId::Sockets
    }

    fn read(&mut self, at: Moment, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        let Sockets { kernel, filter, traffic } = self;
        traffic.start();
        let outcome = kernel.dump(buffer, |connection| {
            if filter.accepts(connection) {
                traffic.see(connection, at);
            }
        });
        // An incomplete dump would give wrong totals; a complete dump with unreadable answers is used.
        if outcome.as_ref().map_or_else(Failure::is_partial, |()| true) {
            traffic.finish(at);
        }
        outcome
    }

    fn tables(&self) -> &[RawTable] {
        self.traffic.tables()
    }

    fn left_out(&self) -> u64 {
        self.traffic.left_out()
    }
}
