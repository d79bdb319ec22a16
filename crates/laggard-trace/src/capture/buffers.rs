//! Reads the buffers of all processors.

use std::fs::File;
use std::io::{ErrorKind, Read};

use rustix::time::{ClockId, clock_gettime};

use super::CaptureError;
use super::instance::{Instance, Stats};
use super::merge::{Item, Merge};
use super::page::{Header, Loss, Page};

/// Larger than any page that kernels have by default.
const PAGE: usize = 64 * 1024;
/// A record gets its time before it is written, and may be written so much later.
const SETTLING_NS: u64 = 2_000_000;

/// The buffers of all processors of some instances.
#[derive(Debug)]
pub struct Buffers {
    lanes: Vec<Lane>,
    header: Header,
    page: Vec<u8>,
    merge: Merge,
}

/// The buffer of one processor in one instance.
#[derive(Debug)]
struct Lane {
    instance: Instance,
    file: File,
    counts: Counts,
}

/// What became of the records of one buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The processor.
    pub cpu: u16,
    /// Records read.
    pub read: u64,
    /// Pages that were not as they should be.
    pub damaged: u64,
    /// What the kernel counted.
    pub kernel: Stats,
}

impl Counts {
    /// Records that are missing.
    pub fn lost(&self) -> u64 {
        self.kernel.overrun + self.kernel.dropped
    }
}

impl Buffers {
    /// Opens them.
    pub fn open(instances: &[Instance], header: Header) -> Result<Buffers, CaptureError> {
        let mut lanes = vec![];
        for instance in instances {
            for cpu in instance.processors() {
                let counts = Counts { cpu, ..Counts::default() };
                lanes.push(Lane { instance: instance.clone(), file: instance.buffer(cpu)?, counts });
            }
        }
        let merge = Merge::new(lanes.len());
        Ok(Buffers { lanes, header, page: vec![0; PAGE], merge })
    }

    /// Reads what is there, and gives out what cannot be preceded any more: the processor, the time, and what it is.
    pub fn read(&mut self, mut each: impl FnMut(u16, u64, Item<'_>)) -> Result<(), CaptureError> {
        let settled_ns = now_ns().saturating_sub(SETTLING_NS);
        self.fill()?;
        self.give(settled_ns, &mut each);
        Ok(())
    }

    /// Reads the last of it, when no more records are let in.
    pub fn finish(&mut self, mut each: impl FnMut(u16, u64, Item<'_>)) -> Result<(), CaptureError> {
        self.fill()?;
        self.give(u64::MAX, &mut each);
        for lane in &mut self.lanes {
            lane.counts.kernel = lane.instance.stats(lane.counts.cpu);
        }
        Ok(())
    }

    /// What became of the records, buffer by buffer.
    pub fn counts(&self) -> impl Iterator<Item = &Counts> {
        self.lanes.iter().map(|lane| &lane.counts)
    }

    /// How many came too late for their place.
    pub fn late(&self) -> u64 {
        self.merge.late()
    }

    fn give(&mut self, limit_ns: u64, each: &mut impl FnMut(u16, u64, Item<'_>)) {
        let lanes = &self.lanes;
        self.merge.give_before(limit_ns, |lane, ts_ns, item| {
            let cpu = lanes.get(lane).map_or(0, |lane| lane.counts.cpu);
            each(cpu, ts_ns, item);
        });
    }

    fn fill(&mut self) -> Result<(), CaptureError> {
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            while let Some(bytes) = lane.next_page(&mut self.page)? {
                lane.counts.take(number, bytes, self.header, &mut self.merge);
            }
        }
        Ok(())
    }
}

impl Lane {
    /// None: there is nothing for now.
    fn next_page<'a>(&mut self, page: &'a mut [u8]) -> Result<Option<&'a [u8]>, CaptureError> {
        match self.file.read(page) {
            Ok(0) => Ok(None),
            Ok(length) => Ok(page.get(..length)),
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => Ok(None),
            Err(error) => {
                Err(CaptureError::File { path: format!("tracefs: buffer of cpu{}", self.counts.cpu), error })
            }
        }
    }
}

impl Counts {
    /// Hands the records of a page on. A damaged page gives what comes before the damage.
    fn take(&mut self, lane: usize, bytes: &[u8], header: Header, merge: &mut Merge) {
        let Ok(mut page) = Page::open(bytes, header) else {
            self.damaged += 1;
            return;
        };
        let mut lost = Some(page.lost).filter(|lost| *lost != Loss::None);
        for (ts_ns, record) in &mut page {
            if let Some(lost) = lost.take() {
                merge.push(lane, ts_ns, Item::Lost(lost));
            }
            merge.push(lane, ts_ns, Item::Record(record));
            self.read += 1;
        }
        self.damaged += u64::from(page.is_damaged());
    }
}

/// Now, by the clock of the records.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
