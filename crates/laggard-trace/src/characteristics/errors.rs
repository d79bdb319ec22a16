//! What failed, came back to the queue, or was cut short. Characteristic 27.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{Flags, Op, Request};

/// Answers that are no failures: try again, interrupted, no such name or attribute, not supported.
const EXPECTED: [i32; 6] = [11, 4, 2, 61, 95, 38];

/// Counts of a layer.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    by_errno: BTreeMap<(&'static str, i32), u64>,
    requeued: u64,
    short: u64,
}

/// What is told of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ErrorFigures {
    /// Operation, error number, how many; also of those that are no failures.
    pub by_errno: Vec<(String, i32, u64)>,
    /// Failures of reads, writes and syncs.
    pub failed: u64,
    /// Requests that went back to the queue.
    pub requeued: u64,
    /// Reads and writes that did less than asked.
    pub short: u64,
}

impl Errors {
    /// A request ended.
    pub fn add(&mut self, request: &Request) {
        if request.status < 0 {
            *self.by_errno.entry((request.op.name(), -request.status)).or_default() += 1;
        } else if request.op.is_data() && request.done > 0 && request.done < request.nbytes {
            self.short += 1;
        }
        self.requeued += u64::from(request.flags.has(Flags::REQUEUED));
    }

    /// What is told of them.
    pub fn figures(&self) -> ErrorFigures {
        let told = self.by_errno.iter().map(|((op, errno), count)| ((*op).to_owned(), *errno, *count));
        let moves_data = |op: &str| [Op::Read, Op::Write, Op::Sync].iter().any(|known| known.name() == op);
        let failed =
            self.by_errno.iter().filter(|((op, errno), _)| moves_data(op) && !EXPECTED.contains(errno));
        ErrorFigures {
            by_errno: told.collect(),
            failed: failed.map(|(_, count)| *count).sum(),
            requeued: self.requeued,
            short: self.short,
        }
    }
}
