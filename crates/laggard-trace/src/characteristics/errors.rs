//! Failed, requeued and short requests. Characteristic 27.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{Flags, Op, Request};

/// Error numbers that are not failures: EAGAIN, EINTR, ENOENT, ENODATA, EOPNOTSUPP, ENOSYS.
const EXPECTED: [i32; 6] = [11, 4, 2, 61, 95, 38];

#[derive(Clone, Debug, Default)]
pub(super) struct ErrorCollector {
    by_errno: BTreeMap<(Op, i32), u64>,
    requeued: u64,
    short: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ErrorMetrics {
    /// Operation, error number, count; expected errors included.
    pub by_errno: Vec<(Op, i32, u64)>,
    /// Failed reads, writes and syncs; expected errors excluded.
    pub failed: u64,
    pub requeued: u64,
    /// Reads and writes that transferred less than requested.
    pub short: u64,
}

impl ErrorCollector {
    pub(super) fn add(&mut self, request: &Request) {
        if request.status < 0 {
            *self.by_errno.entry((request.op, -request.status)).or_default() += 1;
        } else if request.op.is_data() && request.done > 0 && request.done < request.nbytes {
            self.short += 1;
        }
        self.requeued += u64::from(request.flags.has(Flags::REQUEUED));
    }

    pub(super) fn metrics(&self) -> ErrorMetrics {
        let mut by_errno: Vec<(Op, i32, u64)> =
            self.by_errno.iter().map(|((op, errno), count)| (*op, *errno, *count)).collect();
        by_errno.sort_by_key(|(op, errno, _)| (op.name(), *errno));
        let is_failure = |(op, errno, _): &&(Op, i32, u64)| {
            matches!(op, Op::Read | Op::Write | Op::Sync) && !EXPECTED.contains(errno)
        };
        ErrorMetrics {
            failed: by_errno.iter().filter(is_failure).map(|(_, _, count)| *count).sum(),
            by_errno,
            requeued: self.requeued,
            short: self.short,
        }
    }
}
