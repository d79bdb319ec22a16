//! Damage to an inode, as commands of debugfs and xfs_db.
//! Each kind was seen to have an effect even after fsck has repaired the file system.

use std::fmt;

use laggard_core::model::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Ext4,
    Xfs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// The inode looks free.
    ClearInode,
    /// One of its directory entries is gone.
    DropEntry,
    /// Its mode is zero, so it has no file type.
    LoseKind,
    /// Its block map is unreadable.
    LoseMap,
    /// Its block map points to another block.
    MoveData(u64),
}

impl Format {
    pub(super) fn named(kind: &str) -> Option<Format> {
        match kind {
            "ext4" => Some(Format::Ext4),
            "xfs" => Some(Format::Xfs),
            _ => None,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Format::Ext4 => "ext4",
            Format::Xfs => "xfs",
        }
    }
}

/// Blocks below this one hold the file system's own tables.
const FIRST_BLOCK: u64 = 64;

impl Harm {
    /// Damage by which a file or folder is lost. xfs_db cannot remove a directory entry.
    pub(super) fn losing(format: Format, name: &str, random: &mut Random) -> Harm {
        let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\';
        let can_drop = format == Format::Ext4 && name.chars().all(is_plain);
        if random.below(2) == 0 || !can_drop { Harm::ClearInode } else { Harm::DropEntry }
    }

    /// Damage by which a file has other contents, or none. The first eighth of a file system is always within one group,
    /// so an extent that begins there also ends there.
    pub(super) fn changing(blocks: u64, random: &mut Random) -> Harm {
        match random.below(3) {
            0 => Harm::LoseKind,
            1 => Harm::LoseMap,
            _ => Harm::MoveData(FIRST_BLOCK + random.below((blocks / 16).max(1) as usize) as u64),
        }
    }

    pub(super) fn debugfs(&self, inode: u64, name: &str) -> String {
        match self {
            Harm::ClearInode => format!("clri <{inode}>"),
            Harm::DropEntry => format!("unlink \"/{name}\""),
            Harm::LoseKind => format!("set_inode_field <{inode}> mode 0"),
            // The extent header; the start of the first extent.
            Harm::LoseMap => format!("set_inode_field <{inode}> block[0] 0"),
            Harm::MoveData(block) => format!("set_inode_field <{inode}> block[5] {block}"),
        }
    }

    pub(super) fn xfs_db(&self, inode: u64) -> String {
        let field = match self {
            Harm::ClearInode | Harm::DropEntry | Harm::LoseKind => "core.mode 0".into(),
            Harm::LoseMap => "core.format 5".into(),
            Harm::MoveData(block) => format!("u3.bmx[0].startblock {block}"),
        };
        format!("inode {inode}\nwrite {field}")
    }
}

impl fmt::Display for Harm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Harm::ClearInode => write!(out, "clear-inode"),
            Harm::DropEntry => write!(out, "drop-entry"),
            Harm::LoseKind => write!(out, "lose-kind"),
            Harm::LoseMap => write!(out, "lose-map"),
            Harm::MoveData(block) => write!(out, "move-data {block}"),
        }
    }
}
