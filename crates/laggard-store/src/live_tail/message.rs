//! The messages of a live tail, written.
//! In: rows. Out: the bytes that add them to an Arrow stream.

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{
    DictionaryHandling, DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, write_message,
};
use arrow_schema::{ArrowError, SchemaRef};
use laggard_core::model::schema::Schema;
use laggard_core::samples::RawTable;

use crate::format::columns::{Names, arrow_schema, batch};
use crate::format::origin::Origin;

/// Shared by all encoders of a process: the compressor's memory is far larger than theirs.
pub(crate) struct Compressor {
    options: IpcWriteOptions,
    context: IpcWriteContext,
}

impl Default for Compressor {
    fn default() -> Self {
        // Level 1 of zstd costs little more than copying; the example `density` measures it.
        let options = IpcWriteOptions::try_new(8, false, arrow_ipc::MetadataVersion::V5)
            .and_then(|options| options.try_with_compression(Some(CompressionType::ZSTD)))
            .and_then(|options| options.try_with_compression_level(Some(1)))
            .expect("the options fit each other")
            .with_dictionary_handling(DictionaryHandling::Delta);
        Compressor { options, context: IpcWriteContext::default() }
    }
}

/// Turns rows into the messages of one file.
pub(crate) struct Encoder {
    schema: SchemaRef,
    names: Names,
    tracker: DictionaryTracker,
    has_begun: bool,
}

impl Encoder {
    pub(crate) fn new(table: &Schema, origin: &Origin) -> Self {
        let tracker = DictionaryTracker::new(false);
        Encoder { schema: arrow_schema(table, origin), names: Names::default(), tracker, has_begun: false }
    }

    /// The messages that add some rows; before the first ones, the schema.
    pub(crate) fn encode(
        &mut self,
        rows: &RawTable,
        press: &mut Compressor,
        bytes: &mut Vec<u8>,
    ) -> Result<(), ArrowError> {
        let batch = batch(rows, &mut self.names, &self.schema)?;
        let (generator, Compressor { options, context }) = (IpcDataGenerator::default(), press);
        if !self.has_begun {
            let tracker = &mut self.tracker;
            let schema = generator.schema_to_bytes_with_dictionary_tracker(&self.schema, tracker, options);
            write_message(&mut *bytes, schema, options)?;
            self.has_begun = true;
        }
        let (names, rows) = generator.encode(&batch, &mut self.tracker, options, context)?;
        for message in names.into_iter().chain([rows]) {
            write_message(&mut *bytes, message, options)?;
        }
        Ok(())
    }
}
