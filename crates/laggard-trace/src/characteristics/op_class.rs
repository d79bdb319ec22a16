//! Classes of operations.

use crate::model::Op;

/// Operations that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OpClass {
    Read,
    Write,
    Sync,
    Meta,
    Other,
}

impl OpClass {
    pub(crate) const ALL: [OpClass; 5] =
        [OpClass::Read, OpClass::Write, OpClass::Sync, OpClass::Meta, OpClass::Other];
    pub(crate) fn of(op: Op) -> OpClass {
        match op {
            Op::Read => OpClass::Read,
            Op::Write => OpClass::Write,
            Op::Sync => OpClass::Sync,
            Op::Meta(_) => OpClass::Meta,
            Op::Discard | Op::Other => OpClass::Other,
        }
    }
}
