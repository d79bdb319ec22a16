//! The source of records: pages of the buffers, or text.

use super::CaptureError;
use super::buffers::{Buffers, Counts};
use super::instance::Instance;
use super::page::Header;
use super::pipes::Pipes;
use super::stream::Stream;

#[derive(Debug)]
pub(super) enum RecordSource {
    /// With a resolution of 1 ns.
    Pages(Buffers),
    /// With a resolution of 1 us.
    Text(Pipes),
}

impl RecordSource {
    /// Prefers pages. Both consume the buffers, so only one can be used.
    pub(super) fn open(
        instances: &[Instance],
        header: Result<Header, CaptureError>,
        as_text: bool,
    ) -> Result<RecordSource, CaptureError> {
        let pages = header.and_then(|header| Buffers::open(instances, header));
        match pages {
            Ok(buffers) if !as_text => Ok(RecordSource::Pages(buffers)),
            _ => Pipes::open(instances).map(RecordSource::Text),
        }
    }

    pub(super) fn resolution_ns(&self) -> u64 {
        match self {
            RecordSource::Pages(_) => 1,
            RecordSource::Text(_) => 1000,
        }
    }

    /// Passes on the records that are complete and ordered.
    pub(super) fn read(&mut self, stream: &mut Stream) -> Result<(), CaptureError> {
        match self {
            RecordSource::Pages(buffers) => buffers.read(|cpu, ts_ns, item| stream.take(cpu, ts_ns, item)),
            RecordSource::Text(pipes) => pipes.read(|point| stream.take_point(point)),
        }
    }

    /// Passes on the rest.
    pub(super) fn finish(&mut self, stream: &mut Stream) -> Result<(), CaptureError> {
        match self {
            RecordSource::Pages(buffers) => buffers.finish(|cpu, ts_ns, item| stream.take(cpu, ts_ns, item)),
            RecordSource::Text(pipes) => pipes.finish(|point| stream.take_point(point)),
        }
    }

    pub(super) fn counts(&self) -> Vec<Counts> {
        match self {
            RecordSource::Pages(buffers) => buffers.counts().copied().collect(),
            RecordSource::Text(pipes) => pipes.counts().to_vec(),
        }
    }

    /// Records that arrived after later ones were passed on.
    pub(super) fn late(&self) -> u64 {
        if let RecordSource::Pages(buffers) = self { buffers.late() } else { 0 }
    }
}
