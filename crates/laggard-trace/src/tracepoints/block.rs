//! Fields of the block layer's tracepoints.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    pub major: u32,
    pub minor: u32,
}

impl Device {
    /// From the kernel's `dev_t` in tracepoints: 12 bits major, 20 bits minor.
    pub const fn from_kernel(dev: u32) -> Device {
        Device { major: dev >> 20, minor: dev & 0xf_ffff }
    }
}

/// A step in the life of a block request. Comments give blkparse's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockStep {
    /// Q
    Queue,
    /// G
    Get,
    /// I
    Insert,
    /// D
    Issue,
    /// C
    Complete,
    BioComplete,
    /// R
    Requeue,
    /// M
    BackMerge,
    /// F
    FrontMerge,
    RequestMerge,
    /// X; the new sector is in `other_sector`.
    Split,
    /// A; the original position is in `other_device` and `other_sector`.
    Remap,
    Error,
}

impl BlockStep {
    /// In the order of the enum, with the names of the tracepoints. `block_rq_remap` is a [`BlockStep::Remap`],
    /// too.
    pub const ALL: [(BlockStep, &'static str); 13] = [
        (BlockStep::Queue, "block_bio_queue"),
        (BlockStep::Get, "block_getrq"),
        (BlockStep::Insert, "block_rq_insert"),
        (BlockStep::Issue, "block_rq_issue"),
        (BlockStep::Complete, "block_rq_complete"),
        (BlockStep::BioComplete, "block_bio_complete"),
        (BlockStep::Requeue, "block_rq_requeue"),
        (BlockStep::BackMerge, "block_bio_backmerge"),
        (BlockStep::FrontMerge, "block_bio_frontmerge"),
        (BlockStep::RequestMerge, "block_rq_merge"),
        (BlockStep::Split, "block_split"),
        (BlockStep::Remap, "block_bio_remap"),
        (BlockStep::Error, "block_rq_error"),
    ];

    pub fn from_tracepoint(name: &[u8]) -> Option<BlockStep> {
        if name == b"block_rq_remap" {
            return Some(BlockStep::Remap);
        }
        BlockStep::ALL.iter().find(|(_, known)| known.as_bytes() == name).map(|&(step, _)| step)
    }

    pub fn tracepoint(self) -> &'static str {
        BlockStep::ALL[self as usize].1
    }
}

/// The operation letters of a block request, such as `WFS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rwbs([u8; 10]);

impl Rwbs {
    /// Stops at the first zero byte and after ten letters.
    pub fn new(letters: &[u8]) -> Rwbs {
        let mut all = [0; 10];
        for (to, &from) in all.iter_mut().zip(letters.iter().take_while(|&&letter| letter != 0)) {
            *to = from;
        }
        Rwbs(all)
    }

    pub fn letters(&self) -> &[u8] {
        let end = self.0.iter().position(|&letter| letter == 0).unwrap_or(self.0.len());
        &self.0[..end]
    }

    pub fn has(&self, letter: u8) -> bool {
        self.letters().contains(&letter)
    }
}

/// Fields of a block tracepoint; those that it does not have are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockFields {
    pub device: Device,
    /// The first sector of 512 bytes; `u64::MAX` if there is none.
    pub sector: u64,
    pub sectors: u32,
    /// For requests that are not counted in sectors.
    pub bytes: u32,
    pub rwbs: Rwbs,
    /// 0 or a negative error number.
    pub error: i32,
    /// The new sector of a split, or the sector before a remap.
    pub other_sector: u64,
    /// The device before a remap.
    pub other_device: Device,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_listed_in_the_order_of_the_enum() {
        for (at, (step, name)) in BlockStep::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, at);
            assert_eq!((step.tracepoint(), BlockStep::from_tracepoint(name.as_bytes())), (name, Some(step)));
        }
    }
}
