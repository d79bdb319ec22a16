//! The messages of a live tail, read one at a time and checked before they are decoded.
//! In: the bytes of an Arrow stream, possibly cut short or damaged. Out: [`Frame`]. Always: a length stated by the
//! bytes is never trusted beyond the bytes that are there.

use std::collections::HashMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Message, MessageHeader, MetadataVersion, root_as_message};
use arrow_schema::{DataType, SchemaRef};

use crate::live_tail::checks::{check_names, check_rows, check_schema};

const CONTINUATION: [u8; 4] = [0xff; 4];
/// Far beyond the description of any message.
const MAX_DESCRIPTION: usize = 1 << 20;
/// Far beyond the content of any message.
const MAX_BODY: u64 = 1 << 28;

/// How a tail ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With a whole message.
    Whole,
    /// In the middle of a message: the writer was interrupted.
    Cut,
    /// With something that is not a message.
    Damaged(String),
}

/// Reads the messages of a tail in order.
pub(crate) struct Frames<R> {
    reader: R,
    schema: Option<SchemaRef>,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
    whole: u64,
    skipped: u64,
    end: Option<End>,
}

/// One message of rows, not yet decoded.
#[derive(Debug)]
pub(crate) struct Frame {
    bytes: Raw,
    schema: SchemaRef,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
}

#[derive(Debug)]
struct Raw {
    description: Vec<u8>,
    body: Buffer,
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(reader: R) -> Self {
        let dictionaries = Arc::default();
        Frames { reader, schema: None, dictionaries, whole: 0, skipped: 0, end: None }
    }

    /// Bytes of whole messages.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.whole
    }

    /// Whole messages that could not be decoded and were left out.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Counts a message of rows that could not be decoded.
    pub(crate) fn skip(&mut self) {
        self.skipped += 1;
    }

    /// How the tail ends, once it has been read to its end.
    pub(crate) fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Reads up to and including the schema.
    pub(crate) fn read_schema(&mut self) -> std::io::Result<Option<SchemaRef>> {
        while self.schema.is_none() && self.end.is_none() {
            self.step()?;
        }
        Ok(self.schema.clone())
    }

    /// The next message of rows.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Frame>> {
        while self.end.is_none() {
            if let Some(frame) = self.step()? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Reads one message; returns rows if it holds some.
    fn step(&mut self) -> std::io::Result<Option<Frame>> {
        let raw = match self.read_raw()? {
            Ok(raw) => raw,
            Err(end) => {
                self.end = Some(end);
                return Ok(None);
            }
        };
        Ok(self.understand(raw))
    }

    fn understand(&mut self, raw: Raw) -> Option<Frame> {
        let bytes = 8 + raw.description.len() as u64 + raw.body.len() as u64;
        let kind = root_as_message(&raw.description).map_or(MessageHeader::NONE, |m| m.header_type());
        let understood = match (kind, self.schema.clone()) {
            (MessageHeader::Schema, None) => self.take_schema(&raw).map(|()| None),
            (MessageHeader::DictionaryBatch, Some(schema)) => self.take_names(&raw, &schema).map(|()| None),
            (MessageHeader::RecordBatch, Some(schema)) => match self.rows(raw, schema) {
                Ok(frame) => Ok(Some(frame)),
                Err(_) => {
                    // Its neighbours do not depend on it.
                    self.skipped += 1;
                    Ok(None)
                }
            },
            _ => Err("expected a schema, names or rows, found another message".into()),
        };
        match understood {
            Ok(frame) => {
                self.whole += bytes;
                frame
            }
            Err(what) => {
                self.end = Some(End::Damaged(what));
                None
            }
        }
    }

    fn take_schema(&mut self, raw: &Raw) -> Result<(), String> {
        let message = message(&raw.description)?;
        let schema = message.header_as_schema().ok_or("expected a schema")?;
        check_schema(schema)?;
        let schema = guarded(|| Ok::<_, String>(arrow_ipc::convert::fb_to_schema(schema)))?;
        self.schema = Some(Arc::new(schema));
        Ok(())
    }

    fn take_names(&mut self, raw: &Raw, schema: &SchemaRef) -> Result<(), String> {
        let message = message(&raw.description)?;
        let batch = message.header_as_dictionary_batch().ok_or("expected names")?;
        check_names(batch.data().ok_or("expected names")?, &raw.body)?;
        let mut dictionaries = HashMap::clone(&self.dictionaries);
        let read = || read_dictionary(&raw.body, batch, schema, &mut dictionaries, &message.version());
        guarded(AssertUnwindSafe(read))?;
        self.dictionaries = Arc::new(dictionaries);
        Ok(())
    }

    fn rows(&self, raw: Raw, schema: SchemaRef) -> Result<Frame, String> {
        let message = message(&raw.description)?;
        let batch = message.header_as_record_batch().ok_or("expected rows")?;
        let widths: Vec<usize> = schema.fields().iter().map(|field| width(field.data_type())).collect();
        check_rows(batch, &widths, &raw.body)?;
        Ok(Frame { bytes: raw, schema, dictionaries: self.dictionaries.clone() })
    }

    /// The bytes of the next message, or how the tail ends instead.
    fn read_raw(&mut self) -> std::io::Result<Result<Raw, End>> {
        let start = self.read_up_to(8)?;
        if start.is_empty() {
            return Ok(Err(End::Whole));
        }
        if start.len() < 8 {
            return Ok(Err(End::Cut));
        }
        let length = u32::from_le_bytes([start[4], start[5], start[6], start[7]]) as usize;
        match (start[..4] == CONTINUATION, length) {
            (true, 0) => Ok(Err(End::Whole)),
            (true, 1..=MAX_DESCRIPTION) => self.read_message(length),
            _ => Ok(Err(self.not_a_message(&start)?)),
        }
    }

    fn read_message(&mut self, length: usize) -> std::io::Result<Result<Raw, End>> {
        let description = self.read_up_to(length as u64)?;
        if description.len() < length {
            return Ok(Err(End::Cut));
        }
        let body_length = match message(&description).map(|m| u64::try_from(m.bodyLength())) {
            Ok(Ok(body_length)) if body_length <= MAX_BODY => body_length,
            _ => return Ok(Err(End::Damaged("expected a message, found one that cannot be decoded".into()))),
        };
        let body = self.read_up_to(body_length)?;
        if (body.len() as u64) < body_length {
            return Ok(Err(End::Cut));
        }
        Ok(Ok(Raw { description, body: Buffer::from_vec(body) }))
    }

    /// After a power cut, a file may end in zeros that were never written: that is a cut, not damage.
    fn not_a_message(&mut self, start: &[u8]) -> std::io::Result<End> {
        let mut chunk = start.to_vec();
        while !chunk.is_empty() {
            if chunk.iter().any(|&byte| byte != 0) {
                return Ok(End::Damaged("expected a message, found something else".into()));
            }
            chunk = self.read_up_to(64 * 1024)?;
        }
        Ok(End::Cut)
    }

    /// Grows with what is there, not with what was promised.
    fn read_up_to(&mut self, length: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length.min(64 * 1024) as usize);
        self.reader.by_ref().take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Frame {
    /// Decodes the columns of these positions in the file's schema.
    pub(crate) fn decode(&self, projection: &[usize]) -> Result<RecordBatch, String> {
        let message = message(&self.bytes.description)?;
        let batch = message.header_as_record_batch().ok_or("expected rows")?;
        let (Frame { schema, dictionaries, .. }, version) = (self, message.version());
        guarded(AssertUnwindSafe(|| {
            RecordBatchDecoder::try_new(&self.bytes.body, batch, schema.clone(), dictionaries, &version)?
                .with_projection(Some(projection))
                .read_record_batch()
        }))
    }
}

/// How many bytes a value of a column takes.
fn width(data_type: &DataType) -> usize {
    if matches!(data_type, DataType::Dictionary(_, _)) { 4 } else { 8 }
}

/// Runs a decoder of another crate. Its input was checked, but the decoder asserts more than it documents, and a
/// recorder or reader must survive any file: a panic counts as damage.
pub(crate) fn guarded<T, E: std::fmt::Display>(
    decode: impl FnOnce() -> Result<T, E> + std::panic::UnwindSafe,
) -> Result<T, String> {
    match catch_unwind(decode) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("expected a message, found one that cannot be decoded".into()),
    }
}

fn message(description: &[u8]) -> Result<Message<'_>, String> {
    let message = root_as_message(description).map_err(|error| format!("expected a message: {error}"))?;
    match message.version() {
        MetadataVersion::V5 => Ok(message),
        other => Err(format!("expected Arrow metadata V5, found {other:?}")),
    }
}
