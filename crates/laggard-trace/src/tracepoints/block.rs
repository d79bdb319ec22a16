//! Fields of the block layer's tracepoints.

/// A block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// Its major number.
    pub major: u32,
    /// Its minor number.
    pub minor: u32,
}

impl Device {
    /// From the kernel's `dev_t`, as tracepoints carry it: twelve bits and twenty.
    pub const fn from_kernel(dev: u32) -> Device {
        Device { major: dev >> 20, minor: dev & 0xf_ffff }
    }
}

/// A station of a block request, with blkparse's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockStep {
    /// `block_bio_queue`, Q.
    Queue,
    /// `block_getrq`, G.
    Get,
    /// `block_rq_insert`, I.
    Insert,
    /// `block_rq_issue`, D.
    Issue,
    /// `block_rq_complete`, C.
    Complete,
    /// `block_bio_complete`.
    BioComplete,
    /// `block_rq_requeue`, R.
    Requeue,
    /// `block_bio_backmerge`, M.
    BackMerge,
    /// `block_bio_frontmerge`, F.
    FrontMerge,
    /// `block_rq_merge`.
    RequestMerge,
    /// `block_split`, X; the new sector is in `other_sector`.
    Split,
    /// `block_bio_remap` or `block_rq_remap`, A; where it came from is in `other_device` and `other_sector`.
    Remap,
    /// `block_rq_error`.
    Error,
}

/// The operation letters of a block request, such as `WFS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rwbs([u8; 10]);

impl Rwbs {
    /// From the letters; ends at the first zero, and after ten.
    pub fn new(letters: &[u8]) -> Rwbs {
        let mut all = [0; 10];
        for (to, &from) in all.iter_mut().zip(letters.iter().take_while(|&&letter| letter != 0)) {
            *to = from;
        }
        Rwbs(all)
    }

    /// The letters.
    pub fn letters(&self) -> &[u8] {
        let end = self.0.iter().position(|&letter| letter == 0).unwrap_or(self.0.len());
        &self.0[..end]
    }

    /// Whether a letter occurs.
    pub fn has(&self, letter: u8) -> bool {
        self.letters().contains(&letter)
    }
}

/// Fields of a block tracepoint; those that it does not have are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockFields {
    /// The device.
    pub device: Device,
    /// The first sector of 512 bytes; `u64::MAX` if there is none.
    pub sector: u64,
    /// How many sectors.
    pub sectors: u32,
    /// How many bytes, for requests that are not counted in sectors.
    pub bytes: u32,
    /// The operation.
    pub rwbs: Rwbs,
    /// 0 or a negative error number.
    pub error: i32,
    /// The new sector of a split, or the sector before a remapping.
    pub other_sector: u64,
    /// The device before a remapping.
    pub other_device: Device,
}
