//! Where records come from: the pages of the buffers, or their text.

use super::CaptureError;
use super::buffers::{Buffers, Counts};
use super::instance::Instance;
use super::page::Header;
use super::pipes::Pipes;
use super::stream::Stream;

/// Where records come from.
#[derive(Debug)]
pub enum Feed {
    /// The pages, to the nanosecond.
    Pages(Buffers),
    /// The text, to the microsecond.
    Text(Pipes),
}

impl Feed {
    /// The pages if they can be read and are wanted. Both empty the buffers, so it is one or the other.
    pub fn open(
        instances: &[Instance],
        header: Result<Header, CaptureError>,
        as_text: bool,
    ) -> Result<Feed, CaptureError> {
        let pages = header.and_then(|header| Buffers::open(instances, header));
        match pages {
            Ok(buffers) if !as_text => Ok(Feed::Pages(buffers)),
            _ => Pipes::open(instances).map(Feed::Text),
        }
    }

    /// How fine its times are.
    pub fn resolution_ns(&self) -> u64 {
        match self {
            Feed::Pages(_) => 1,
            Feed::Text(_) => 1000,
        }
    }

    /// Hands on what has come and is in order.
    pub fn read(&mut self, stream: &mut Stream) -> Result<(), CaptureError> {
        match self {
            Feed::Pages(buffers) => buffers.read(|cpu, ts_ns, item| stream.take(cpu, ts_ns, item)),
            Feed::Text(pipes) => pipes.read(|point| stream.take_point(point)),
        }
    }

    /// Hands on the rest.
    pub fn finish(&mut self, stream: &mut Stream) -> Result<(), CaptureError> {
        match self {
            Feed::Pages(buffers) => buffers.finish(|cpu, ts_ns, item| stream.take(cpu, ts_ns, item)),
            Feed::Text(pipes) => pipes.finish(|point| stream.take_point(point)),
        }
    }

    /// What became of the records, buffer by buffer.
    pub fn counts(&self) -> Vec<Counts> {
        match self {
            Feed::Pages(buffers) => buffers.counts().copied().collect(),
            Feed::Text(pipes) => pipes.counts().to_vec(),
        }
    }

    /// How many records came too late for their place.
    pub fn late(&self) -> u64 {
        if let Feed::Pages(buffers) = self { buffers.late() } else { 0 }
    }
}
