//! DXT records: for each file and rank its writes, then its reads.

use super::bytes::Order;

/// Bytes of a record before its segments: id, rank, a flag, the host name, two counts.
const HEAD: usize = 8 + 8 + 8 + 64 + 8 + 8;
/// Bytes of a segment: offset, length, begin and end. Newer logs may have more fields.
const SEGMENT_SIZES: [usize; 3] = [32, 40, 48];

/// The I/O of one rank on one file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record<'r> {
    pub file: u64,
    pub rank: i64,
    pub host: String,
    pub writes: usize,
    pub reads: usize,
    segments: &'r [u8],
    order: Order,
    size: usize,
}

/// A read or write; times in seconds since the begin of the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    pub is_write: bool,
    pub offset: i64,
    pub length: i64,
    pub begin_s: f64,
    pub end_s: f64,
}

pub(super) struct Records<'r> {
    rest: &'r [u8],
    order: Order,
    size: usize,
}

impl<'r> Records<'r> {
    /// The segment size is not stored in the log: it is the size with which the records end at the end of the
    /// content.
    pub(super) fn new(content: &'r [u8], order: Order) -> Records<'r> {
        let ends_well = |size: usize| {
            let mut records = Records { rest: content, order, size };
            while records.next().is_some() {}
            records.rest.is_empty()
        };
        let size = SEGMENT_SIZES.into_iter().find(|&size| ends_well(size)).unwrap_or(SEGMENT_SIZES[0]);
        Records { rest: content, order, size }
    }

    /// Bytes that do not belong to a record.
    pub(super) fn trailing(&self) -> usize {
        self.rest.len()
    }
}

impl<'r> Iterator for Records<'r> {
    type Item = Record<'r>;

    fn next(&mut self) -> Option<Record<'r>> {
        let (order, size) = (self.order, self.size);
        let head = self.rest.get(..HEAD)?;
        let count = |at: usize| usize::try_from(order.long(head, at)? as i64).ok();
        let (writes, reads) = (count(88)?, count(96)?);
        let bytes = writes.checked_add(reads)?.checked_mul(size)?;
        let segments = self.rest.get(HEAD..HEAD.checked_add(bytes)?)?;
        let host = &head[24..88];
        let host = &host[..host.iter().position(|&byte| byte == 0).unwrap_or(host.len())];
        let record = Record {
            file: order.long(head, 0)?,
            rank: order.long(head, 8)? as i64,
            host: String::from_utf8_lossy(host).into_owned(),
            writes,
            reads,
            segments,
            order,
            size,
        };
        self.rest = &self.rest[HEAD + bytes..];
        Some(record)
    }
}

impl Record<'_> {
    /// Writes first.
    pub(super) fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        self.segments.chunks_exact(self.size).enumerate().filter_map(|(nth, bytes)| {
            Some(Segment {
                is_write: nth < self.writes,
                offset: self.order.long(bytes, 0)? as i64,
                length: self.order.long(bytes, 8)? as i64,
                begin_s: self.order.float(bytes, 16)?,
                end_s: self.order.float(bytes, 24)?,
            })
        })
    }
}
