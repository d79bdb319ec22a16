//! Operations.

use std::fmt;

use serde::{Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    Read,
    Write,
    /// Makes written data durable.
    Sync,
    Discard,
    /// An operation on metadata.
    Meta(MetaOp),
    Other,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum MetaOp {
        Lookup "lookup",
        Getattr "getattr",
        Setattr "setattr",
        Getxattr "getxattr",
        /// Set, remove or list.
        Setxattr "setxattr",
        Open "open",
        Create "create",
        /// Also FUSE's flush and release.
        Close "close",
        Readdir "readdir",
        Remove "remove",
        /// Also link.
        Rename "rename",
        Mkdir "mkdir",
        Readlink "readlink",
        Statfs "statfs",
        Lock "lock",
        /// Also finding holes and data.
        Seek "seek",
        /// Reserve or punch space.
        Allocate "allocate",
        Access "access",
        /// ioctl, poll, mmap and others.
        Other "meta",
    }
}

/// The first code of metadata operations in a file.
const META: u8 = 16;

impl Op {
    pub const fn code(self) -> u8 {
        match self {
            Op::Read => 0,
            Op::Write => 1,
            Op::Sync => 2,
            Op::Discard => 3,
            Op::Other => 4,
            Op::Meta(meta) => META + meta as u8,
        }
    }

    pub fn from_code(code: u8) -> Option<Op> {
        Some(match code {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Sync,
            3 => Op::Discard,
            4 => Op::Other,
            _ => Op::Meta(*MetaOp::ALL.get(usize::from(code.checked_sub(META)?))?),
        })
    }

    pub const fn is_data(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Sync => "sync",
            Op::Discard => "discard",
            Op::Meta(meta) => meta.name(),
            Op::Other => "other",
        }
    }
}

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for MetaOp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_found_by_its_number() {
        let ops = [Op::Read, Op::Write, Op::Sync, Op::Discard, Op::Other];
        for op in ops.into_iter().chain(MetaOp::ALL.map(Op::Meta)) {
            assert_eq!(Op::from_code(op.code()), Some(op));
        }
        assert_eq!(Op::from_code(15), None);
        assert_eq!(Op::from_code(16 + 19), None);
    }
}
