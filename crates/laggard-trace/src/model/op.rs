//! What a request asks for.

use std::fmt;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Bytes to be read.
    Read,
    /// Bytes to be written.
    Write,
    /// Written bytes to be made durable.
    Sync,
    /// Bytes that are no longer needed.
    Discard,
    /// Something about a file rather than its bytes.
    Meta(MetaOp),
    /// Anything else.
    Other,
}

/// What is asked for about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MetaOp {
    /// To find a name in a directory.
    Lookup,
    /// Size, owner, times.
    Getattr,
    /// To change those.
    Setattr,
    /// An extended attribute.
    Getxattr,
    /// To set or remove one, or list them.
    Setxattr,
    /// To open.
    Open,
    /// To make.
    Create,
    /// To close; also FUSE's flush and release.
    Close,
    /// Entries of a directory.
    Readdir,
    /// To remove a file or directory.
    Remove,
    /// To rename or link.
    Rename,
    /// To make a directory.
    Mkdir,
    /// To read a link.
    Readlink,
    /// Figures of the file system.
    Statfs,
    /// Locks.
    Lock,
    /// To move the position, or find holes and data.
    Seek,
    /// To reserve or punch space.
    Allocate,
    /// Permission to access.
    Access,
    /// Control, polling, mapping, and whatever else.
    Other,
}

impl MetaOp {
    /// All of them.
    pub const ALL: [MetaOp; 19] = [
        MetaOp::Lookup,
        MetaOp::Getattr,
        MetaOp::Setattr,
        MetaOp::Getxattr,
        MetaOp::Setxattr,
        MetaOp::Open,
        MetaOp::Create,
        MetaOp::Close,
        MetaOp::Readdir,
        MetaOp::Remove,
        MetaOp::Rename,
        MetaOp::Mkdir,
        MetaOp::Readlink,
        MetaOp::Statfs,
        MetaOp::Lock,
        MetaOp::Seek,
        MetaOp::Allocate,
        MetaOp::Access,
        MetaOp::Other,
    ];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            MetaOp::Lookup => "lookup",
            MetaOp::Getattr => "getattr",
            MetaOp::Setattr => "setattr",
            MetaOp::Getxattr => "getxattr",
            MetaOp::Setxattr => "setxattr",
            MetaOp::Open => "open",
            MetaOp::Create => "create",
            MetaOp::Close => "close",
            MetaOp::Readdir => "readdir",
            MetaOp::Remove => "remove",
            MetaOp::Rename => "rename",
            MetaOp::Mkdir => "mkdir",
            MetaOp::Readlink => "readlink",
            MetaOp::Statfs => "statfs",
            MetaOp::Lock => "lock",
            MetaOp::Seek => "seek",
            MetaOp::Allocate => "allocate",
            MetaOp::Access => "access",
            MetaOp::Other => "meta",
        }
    }
}

/// Codes of metadata operations in a file begin here.
const META: u8 = 16;

impl Op {
    /// Its number in a file.
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

    /// The operation with a number.
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

    /// Whether bytes are read or written.
    pub const fn is_data(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }

    /// Its word.
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
