//! Writes a trace file.

use std::io::{self, Write};

use super::VERSION;
use super::event_line;
use super::line::LineRef;
use crate::model::{Event, Footer, Header, Layer, LayerTitle, Record, Window};

/// Bytes collected before they are compressed.
const PIECE: usize = 256 * 1024;

/// Flush interval in bytes of text. What was flushed can be read even if the writer is killed.
const BLOCK: usize = 4 << 20;

/// The first flush interval; each is twice as long as the one before, so that a short file is not lost as a whole.
const FIRST_BLOCK: usize = 4096;

/// Fast, and the file is a tenth of the text.
const LEVEL: i32 = 3;

/// Without [`Writer::finish`] the file counts as truncated.
pub struct Writer<W: Write> {
    to: zstd::stream::write::Encoder<'static, W>,
    text: Vec<u8>,
    unflushed: usize,
    block: usize,
    titles: Vec<LayerTitle>,
    seen: [bool; Layer::COUNT],
    window: Option<Window>,
    events: u64,
}

impl<W: Write> Writer<W> {
    /// Sets the version in the header.
    pub fn new(to: W, header: &Header) -> io::Result<Writer<W>> {
        let mut to = zstd::stream::write::Encoder::new(to, LEVEL)?;
        to.include_checksum(true)?;
        let mut writer = Writer {
            to,
            text: Vec::with_capacity(PIECE + 1024),
            unflushed: 0,
            block: FIRST_BLOCK,
            titles: header.layers.clone(),
            seen: [false; Layer::COUNT],
            window: None,
            events: 0,
        };
        writer.line(&LineRef::Header(&Header { version: VERSION, ..header.clone() }))?;
        // Flushed right away, so that even a truncated file has its header.
        writer.flush()?;
        Ok(writer)
    }

    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        match record {
            Record::Event(event) => self.event(event),
            Record::Edge(edge) => {
                let rule = edge.rule.code();
                self.line(&LineRef::Edge(edge.parent.0, edge.child.0, edge.bytes, rule, edge.confidence))
            }
            Record::Object(id, object) => self.line(&LineRef::Object(id.0, object)),
            Record::Comm(id, comm) => self.line(&LineRef::Comm(id.0, comm)),
        }
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.events += 1;
        self.seen[usize::from(event.layer.order())] = true;
        let window =
            self.window.get_or_insert(Window { begin_ns: event.ts_ns, end_ns: event.ts_ns, wall_us: None });
        window.begin_ns = window.begin_ns.min(event.ts_ns);
        window.end_ns = window.end_ns.max(event.ts_ns);
        event_line::write(event, &mut self.text);
        self.flush_if_full()
    }

    fn line(&mut self, line: &LineRef<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.text, line)?;
        self.text.push(b'\n');
        self.flush_if_full()
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.text.len() < PIECE.min(self.block) {
            return Ok(());
        }
        self.compress()?;
        if self.unflushed < self.block {
            return Ok(());
        }
        self.block = BLOCK.min(2 * self.block);
        self.flush()
    }

    fn compress(&mut self) -> io::Result<()> {
        self.to.write_all(&self.text)?;
        self.unflushed += self.text.len();
        self.text.clear();
        Ok(())
    }

    /// Makes everything written so far readable, even if the writer is killed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.compress()?;
        self.unflushed = 0;
        self.to.flush()
    }

    pub fn events(&self) -> u64 {
        self.events
    }

    /// Fills in layers, window and number of events of the footer.
    pub fn finish(mut self, footer: Footer) -> io::Result<W> {
        let footer = Footer {
            layers: if footer.layers.is_empty() { self.layers() } else { footer.layers },
            window: footer.window.or(self.window),
            events: self.events,
            ..footer
        };
        self.line(&LineRef::Footer(&footer))?;
        self.compress()?;
        self.to.finish()
    }

    /// The layers that occurred, with the titles from the header.
    fn layers(&self) -> Vec<LayerTitle> {
        let seen = Layer::ALL.into_iter().filter(|layer| self.seen[usize::from(layer.order())]);
        let titled = |layer: Layer| {
            let mut titles: Vec<LayerTitle> =
                self.titles.iter().filter(|title| title.layer == layer).cloned().collect();
            if titles.is_empty() {
                titles.push(LayerTitle::new(layer, layer.name(), Default::default()));
            }
            titles
        };
        seen.flat_map(titled).collect()
    }
}
