//! What is done to an inode, in the words of the programs that do it.
//! Each was seen to leave something behind after the file system's own check has repaired it.

use std::fmt;

use laggard_core::model::random::Random;

/// A file system that can be damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// By debugfs and e2fsck.
    Ext4,
    /// By xfs_db and xfs_repair.
    Xfs,
}

/// A damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// The inode is as if it was free.
    ClearInode,
    /// One of its names is gone, and nothing else knows.
    DropEntry,
    /// It has no kind.
    LoseKind,
    /// Where its data lie cannot be read.
    LoseMap,
    /// Its data are said to begin at another block.
    MoveData(u64),
}

impl Format {
    /// As the kernel calls it.
    pub fn named(kind: &str) -> Option<Format> {
        match kind {
            "ext4" => Some(Format::Ext4),
            "xfs" => Some(Format::Xfs),
            _ => None,
        }
    }

    /// As the kernel calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Ext4 => "ext4",
            Format::Xfs => "xfs",
        }
    }
}

/// Below it lie the file system's own tables; what is there is not looked at.
const FIRST_BLOCK: u64 = 64;

impl Harm {
    /// One by which a file or folder is lost. xfs_db cannot take a name away.
    pub fn losing(format: Format, name: &str, random: &mut Random) -> Harm {
        let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\';
        let can_drop = format == Format::Ext4 && name.chars().all(is_plain);
        if random.below(2) == 0 || !can_drop { Harm::ClearInode } else { Harm::DropEntry }
    }

    /// One by which a file has another content, or none. The first eighth of a file system is one group for sure, in
    /// which an extent that begins there also ends.
    pub fn changing(blocks: u64, random: &mut Random) -> Harm {
        match random.below(3) {
            0 => Harm::LoseKind,
            1 => Harm::LoseMap,
            _ => Harm::MoveData(FIRST_BLOCK + random.below((blocks / 16).max(1) as usize) as u64),
        }
    }

    /// For debugfs.
    pub fn debugfs(&self, inode: u64, name: &str) -> String {
        match self {
            Harm::ClearInode => format!("clri <{inode}>"),
            Harm::DropEntry => format!("unlink \"/{name}\""),
            Harm::LoseKind => format!("set_inode_field <{inode}> mode 0"),
            // The head of its extents; the place of the first.
            Harm::LoseMap => format!("set_inode_field <{inode}> block[0] 0"),
            Harm::MoveData(block) => format!("set_inode_field <{inode}> block[5] {block}"),
        }
    }

    /// For xfs_db.
    pub fn xfs_db(&self, inode: u64) -> String {
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
