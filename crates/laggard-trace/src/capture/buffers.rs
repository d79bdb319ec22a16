//! Reads the buffers of all processors.

use std::fs::File;
use std::io::{ErrorKind, Read};

use rustix::time::{ClockId, clock_gettime};

use super::CaptureError;
use super::instance::{Instance, Stats};
use super::merge::{Item, Merge};
use super::page::{Header, Loss, Page};

/// Larger than any default page size.
const PAGE: usize = 64 * 1024;
/// A record gets its timestamp before it is written to the buffer, at most this much earlier.
const SETTLING_NS: u64 = 2_000_000;

/// The buffers of all processors of several instances.
#[derive(Debug)]
pub(super) struct Buffers {
    buffers: Vec<CpuBuffer>,
    header: Header,
    page: Vec<u8>,
    merge: Merge,
}

#[derive(Debug)]
struct CpuBuffer {
    instance: Instance,
    file: File,
    counts: Counts,
}

/// Counts of one buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub cpu: u16,
    pub read: u64,
    /// Pages that could not be decoded.
    pub damaged: u64,
    pub kernel: Stats,
}

impl Counts {
    pub fn lost(&self) -> u64 {
        self.kernel.overrun + self.kernel.dropped
    }
}

impl Buffers {
    pub(super) fn open(instances: &[Instance], header: Header) -> Result<Buffers, CaptureError> {
        let mut buffers = vec![];
        for instance in instances {
            for cpu in instance.processors() {
                let counts = Counts { cpu, ..Counts::default() };
                buffers.push(CpuBuffer { instance: instance.clone(), file: instance.buffer(cpu)?, counts });
            }
        }
        let merge = Merge::new(buffers.len());
        Ok(Buffers { buffers, header, page: vec![0; PAGE], merge })
    }

    /// Reads all available pages, and passes on the records that no other record can precede.
    pub(super) fn read(&mut self, mut each: impl FnMut(u16, u64, Item<'_>)) -> Result<(), CaptureError> {
        let settled_ns = now_ns().saturating_sub(SETTLING_NS);
        self.fill()?;
        self.give(settled_ns, &mut each);
        Ok(())
    }

    /// Reads the rest after tracing has stopped.
    pub(super) fn finish(&mut self, mut each: impl FnMut(u16, u64, Item<'_>)) -> Result<(), CaptureError> {
        self.fill()?;
        self.give(u64::MAX, &mut each);
        for buffer in &mut self.buffers {
            buffer.counts.kernel = buffer.instance.stats(buffer.counts.cpu);
        }
        Ok(())
    }

    pub(super) fn counts(&self) -> impl Iterator<Item = &Counts> {
        self.buffers.iter().map(|buffer| &buffer.counts)
    }

    /// Records that arrived after later ones were passed on.
    pub(super) fn late(&self) -> u64 {
        self.merge.late()
    }

    fn give(&mut self, limit_ns: u64, each: &mut impl FnMut(u16, u64, Item<'_>)) {
        let buffers = &self.buffers;
        self.merge.give_before(limit_ns, |buffer, ts_ns, item| {
            let cpu = buffers.get(buffer).map_or(0, |buffer| buffer.counts.cpu);
            each(cpu, ts_ns, item);
        });
    }

    fn fill(&mut self) -> Result<(), CaptureError> {
        for (number, buffer) in self.buffers.iter_mut().enumerate() {
            while let Some(bytes) = buffer.next_page(&mut self.page)? {
                buffer.counts.take(number, bytes, self.header, &mut self.merge);
            }
        }
        Ok(())
    }
}

impl CpuBuffer {
    /// None if no page is available.
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
    /// Queues the records of a page; of a damaged page, those before the damage.
    fn take(&mut self, buffer: usize, bytes: &[u8], header: Header, merge: &mut Merge) {
        let Ok(mut page) = Page::open(bytes, header) else {
            self.damaged += 1;
            return;
        };
        let mut lost = Some(page.lost).filter(|lost| *lost != Loss::None);
        for (ts_ns, record) in &mut page {
            if let Some(lost) = lost.take() {
                merge.push(buffer, ts_ns, Item::Lost(lost));
            }
            merge.push(buffer, ts_ns, Item::Record(record));
            self.read += 1;
        }
        self.damaged += u64::from(page.is_damaged());
    }
}

/// On the clock of the records.
pub(super) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
