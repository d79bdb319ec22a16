//! Checks of an Arrow message before it is decoded. The decoder relies on a message being what its
//! own writer would have written, and panics or reserves memory by the sizes that the message states.

use arrow_ipc::{CompressionType, Field, FieldNode, Int, Precision, RecordBatch, TimeUnit, Type};

/// Far beyond the rows of any message.
const MAX_ROWS: usize = 1 << 20;
/// Far beyond the names of any message, in bytes.
const MAX_NAME_BYTES: usize = 1 << 26;

/// The expectation that a message does not meet.
type Unsound = &'static str;

/// Checks a schema: only columns of 64-bit numbers, or of names by 32-bit numbers.
pub(crate) fn check_schema(schema: arrow_ipc::Schema<'_>) -> Result<(), Unsound> {
    let fields = schema.fields().ok_or("expected columns in a schema, found none")?;
    if fields.iter().all(is_known) { Ok(()) } else { Err("expected columns of 64-bit numbers or names") }
}

fn is_known(field: Field<'_>) -> bool {
    let is_flat = field.children().is_none_or(|children| children.is_empty());
    is_flat
        && match (field.type_type(), field.dictionary()) {
            (Type::Utf8, Some(names)) => {
                names.indexType().is_some_and(|int| is_int(int, 32) && int.is_signed())
            }
            (_, Some(_)) => false,
            (Type::Int, None) => field.type_as_int().is_some_and(|int| is_int(int, 64)),
            (Type::FloatingPoint, None) => {
                field.type_as_floating_point().is_some_and(|float| float.precision() == Precision::DOUBLE)
            }
            (Type::Timestamp, None) => {
                field.type_as_timestamp().is_some_and(|time| time.unit() == TimeUnit::MICROSECOND)
            }
            _ => false,
        }
}

fn is_int(int: Int<'_>, bits: i32) -> bool {
    int.bitWidth() == bits
}

/// Checks a message of rows, whose columns have values of these widths in bytes.
pub(crate) fn check_rows(batch: RecordBatch<'_>, widths: &[usize], body: &[u8]) -> Result<(), Unsound> {
    let sizes = Sizes::new(batch, widths.len(), body)?;
    for (column, &width) in widths.iter().enumerate() {
        let (present, values) = (sizes.of(2 * column)?, sizes.of(2 * column + 1)?);
        if values != sizes.rows * width || !sizes.is_bitmap(column, present) {
            return Err("expected another size of a column in a message");
        }
    }
    Ok(())
}

/// Checks a message of names.
pub(crate) fn check_names(batch: RecordBatch<'_>, body: &[u8]) -> Result<(), Unsound> {
    let sizes = Sizes::new(batch, 1, body)?;
    let (present, ends, text) = (sizes.of(0)?, sizes.of(1)?, sizes.of(2)?);
    if !sizes.is_bitmap(0, present) || ends != (sizes.rows + 1) * 4 || text > MAX_NAME_BYTES {
        return Err("expected another size of the names in a message");
    }
    Ok(())
}

/// How large the buffers of a message are.
struct Sizes<'a> {
    rows: usize,
    nulls: Vec<usize>,
    buffers: Vec<arrow_ipc::Buffer>,
    is_compressed: bool,
    body: &'a [u8],
}

impl<'a> Sizes<'a> {
    fn new(batch: RecordBatch<'_>, columns: usize, body: &'a [u8]) -> Result<Self, Unsound> {
        let rows = usize::try_from(batch.length()).ok().filter(|&rows| rows <= MAX_ROWS);
        let rows = rows.ok_or("expected another number of rows in a message")?;
        let is_compressed = match batch.compression().map(|compression| compression.codec()) {
            None => false,
            Some(CompressionType::ZSTD) => true,
            Some(_) => return Err("expected another compression in a message"),
        };
        if batch.variadicBufferCounts().is_some_and(|counts| !counts.is_empty()) {
            return Err("expected no columns of varying size in a message");
        }
        let nodes: Vec<&FieldNode> = batch.nodes().into_iter().flatten().collect();
        let nulls = nodes.iter().filter(|node| usize::try_from(node.length()) == Ok(rows));
        let nulls: Vec<usize> = nulls.filter_map(|node| usize::try_from(node.null_count()).ok()).collect();
        if nodes.len() != columns || nulls.len() != columns {
            return Err("expected another number of columns in a message");
        }
        let buffers = batch.buffers().into_iter().flatten().copied().collect();
        Ok(Sizes { rows, nulls, buffers, is_compressed, body })
    }

    /// The size of a buffer when it is decompressed, as the message states it.
    fn of(&self, buffer: usize) -> Result<usize, Unsound> {
        let outside = "expected a buffer within its message";
        let buffer = self.buffers.get(buffer).ok_or("expected more buffers in a message")?;
        let offset = usize::try_from(buffer.offset()).map_err(|_| outside)?;
        let length = usize::try_from(buffer.length()).map_err(|_| outside)?;
        let bytes = offset.checked_add(length).and_then(|end| self.body.get(offset..end)).ok_or(outside)?;
        if !self.is_compressed || bytes.is_empty() {
            return Ok(length);
        }
        match bytes.first_chunk::<8>().map(|size| i64::from_le_bytes(*size)) {
            Some(-1) => Ok(length - 8),
            Some(size) => usize::try_from(size).map_err(|_| outside),
            None => Err(outside),
        }
    }

    /// True if `bytes` is the size of a column's validity bitmap, which is absent when there are no nulls.
    fn is_bitmap(&self, column: usize, bytes: usize) -> bool {
        let needed = self.rows.div_ceil(8);
        let nulls = self.nulls[column];
        nulls <= self.rows && (bytes >= needed || nulls == 0) && bytes <= needed + 64
    }
}
