//! Converts a log to requests.

use std::collections::HashMap;
use std::io::Read;

use super::bytes::Order;
use super::header::{Header, Region};
use super::mpiio_calls::{Call, MpiioCalls};
use super::records::{Record, Records, Segment};
use super::region;
use crate::formats::{Interval, RequestSink};
use crate::model::{Flags, Layer, NO_OFFSET, Object, Op, RequestId};
use laggard_input::{Place, ReadError};

/// Larger than any log: they are compressed.
const MAX_BYTES: u64 = 1 << 30;

pub(crate) fn read(bytes: impl Read, sink: &mut RequestSink<'_>) -> Result<(), ReadError> {
    let mut file = Vec::new();
    let reading = bytes.take(MAX_BYTES).read_to_end(&mut file);
    let header = Header::read(&file)?;
    let (job, _) = region::content(&file, header.job, header.compression, "the description of the job");
    let log = Log { begin_ns: begin_ns(&job, &header), names: names(&file, &header), header, file: &file };
    let mut above = MpiioCalls::default();
    let upper = log.module(log.header.dxt_mpiio, Layer::Mpiio, &mut above, sink);
    let lower = log.module(log.header.dxt_posix, Layer::Sys, &mut above, sink);
    if let Err(error) = reading {
        return Err(ReadError::Io { place: Place::Byte(file.len() as u64), error });
    }
    upper.and(lower)?;
    match log.header.dxt_posix.length + log.header.dxt_mpiio.length {
        0 => Err(ReadError::quoting(
            Place::Whole,
            "a log with extended tracing (DXT)",
            "a log with counters only",
        )),
        _ => Ok(()),
    }
}

/// In seconds; newer logs add nanoseconds.
fn begin_ns(job: &[u8], header: &Header) -> u64 {
    let second = header.order.long(job, 8).unwrap_or(0);
    let nanosecond = if header.version >= 341 { header.order.long(job, 16).unwrap_or(0) } else { 0 };
    second.saturating_mul(1_000_000_000).saturating_add(nanosecond.min(999_999_999))
}

/// File paths: an id, then text up to a zero byte.
fn names(file: &[u8], header: &Header) -> HashMap<u64, String> {
    let (content, _) = region::content(file, header.names, header.compression, "the names of the files");
    let mut names = HashMap::new();
    let mut rest = content.as_slice();
    while let Some(id) = header.order.long(rest, 0) {
        let text = &rest[8..];
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        names.insert(id, String::from_utf8_lossy(&text[..end]).into_owned());
        rest = text.get(end + 1..).unwrap_or_default();
    }
    names
}

struct Log<'l> {
    header: Header,
    file: &'l [u8],
    begin_ns: u64,
    names: HashMap<u64, String>,
}

impl Log<'_> {
    fn module(
        &self,
        region: Region,
        layer: Layer,
        above: &mut MpiioCalls,
        sink: &mut RequestSink<'_>,
    ) -> Result<(), ReadError> {
        if region.length == 0 {
            return Ok(());
        }
        let what =
            if layer == Layer::Mpiio { "the segments of MPI-IO" } else { "the segments of system calls" };
        let (content, failure) = region::content(self.file, region, self.header.compression, what);
        let mut records = Records::new(&content, self.order());
        for record in records.by_ref() {
            self.record(&record, layer, above, sink)?;
        }
        above.sort();
        match (failure, records.trailing()) {
            (Some(error), _) => Err(error),
            (None, 0) => Ok(()),
            (None, trailing) => {
                let found = format!("{trailing} other bytes");
                Err(ReadError::quoting(Place::Byte(region.offset), format!("records in {what}"), found))
            }
        }
    }

    fn order(&self) -> Order {
        self.header.order
    }

    fn record(
        &self,
        record: &Record<'_>,
        layer: Layer,
        above: &mut MpiioCalls,
        sink: &mut RequestSink<'_>,
    ) -> Result<(), ReadError> {
        let path = self.names.get(&record.file).cloned().unwrap_or_else(|| format!("file {}", record.file));
        let object = Object::File { path, inode: Some(record.file), device: None };
        for segment in record.segments() {
            let mut interval = self.interval(record, &segment, layer, object.clone());
            let mut call = Call {
                begin_ns: interval.begin_ns,
                end_ns: interval.end_ns.unwrap_or(interval.begin_ns),
                offset: u64::try_from(segment.offset).unwrap_or(0),
                nbytes: interval.asked,
                rank: record.rank,
                is_write: segment.is_write,
                id: RequestId::NONE,
            };
            let mut parents = Vec::new();
            if layer == Layer::Sys {
                parents = above.parents(record.file, &call);
                interval.parent = parents.first().map(|parent| (parent.id, parent.rule));
            }
            call.id = sink.request(&interval)?;
            for further in parents.iter().skip(1) {
                sink.edge(further.id, call.id, further.bytes, further.rule)?;
            }
            if layer == Layer::Mpiio {
                above.add(record.file, call);
            }
        }
        Ok(())
    }

    fn interval<'i>(
        &self,
        record: &'i Record<'_>,
        segment: &Segment,
        layer: Layer,
        object: Object,
    ) -> Interval<'i> {
        let nanoseconds = |seconds: f64| self.begin_ns.saturating_add((seconds.max(0.0) * 1e9) as u64);
        let (begin_ns, end_ns) = (nanoseconds(segment.begin_s), nanoseconds(segment.end_s));
        let bytes = u64::try_from(segment.length).unwrap_or(0);
        let rank = u32::try_from(record.rank).unwrap_or(u32::MAX);
        let op = if segment.is_write { Op::Write } else { Op::Read };
        Interval {
            end_ns: Some(end_ns),
            object: Some(object),
            offset: if segment.offset < 0 { NO_OFFSET } else { segment.offset },
            asked: bytes,
            done: bytes,
            tgid: rank,
            tid: rank,
            comm: &record.host,
            flags: if self.header.is_partial { Flags::PARTIAL } else { Flags::NONE },
            ..Interval::new(layer, op, begin_ns)
        }
    }
}
