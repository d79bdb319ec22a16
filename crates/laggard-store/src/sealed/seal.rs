//! Sealing: a tail becomes Parquet, and only then goes away.
//! In: the whole messages of a tail. Out: one Parquet file. Always: no reader ever sees half of it; memory is
//! bounded by the rows of one row group.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;
use laggard_core::model::schema::Schema;
use laggard_core::samples::RawTable;

use crate::error::StoreError;
use crate::format::columns::{COMPONENT, TIME, UPTIME};
use crate::format::file_name::{FileName, State};
use crate::format::origin::{self, Origin};
use crate::live_tail::frame::{End, Frames};
use crate::location::publish;
use crate::reading::piece::Pieces;
use crate::sealed::parquet_file::{Content, ParquetFile, rows_per_group};

/// Suffix of a tail that could not be decoded completely; it is kept for inspection.
const DAMAGED: &str = ".damaged";

/// Names that are kept for the next row group; where components come and go, they would add up.
const NAMES_KEPT: usize = 4096;
/// Level of zstd for what a recorder seals.
const RECORDED_LEVEL: i32 = 3;

/// The result of sealing a tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The Parquet file; none if the tail held no row.
    pub path: Option<PathBuf>,
    pub rows: u64,
    /// Bytes at the tail's end that were not a whole message.
    pub lost_bytes: u64,
    /// Describes damage other than an interrupted message at the end. The tail is then kept next to the Parquet
    /// file, as `.damaged`.
    pub damage: Option<String>,
}

/// Seals a tail that the caller has locked, and removes it.
pub(crate) fn seal(folder: &Path, name: &FileName) -> Result<Sealed, StoreError> {
    let tail = folder.join(name.to_string());
    let sealed = name.with_state(State::Sealed);
    let temporary = Temporary(folder.join(sealed.temporary()));
    let mut packed = pack_behind(None, &tail, &temporary.0, RECORDED_LEVEL)?;
    if packed.path.is_some() {
        let path = folder.join(sealed.to_string());
        publish(&temporary.0, &path)?;
        packed.path = Some(path);
    }
    discard(&tail, packed.damage.is_some())?;
    Ok(packed)
}

/// A file that goes away when this does, if it still has this name.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn discard(tail: &Path, is_damaged: bool) -> Result<(), StoreError> {
    if !is_damaged {
        return std::fs::remove_file(tail).map_err(|error| StoreError::io(tail, "remove it", error));
    }
    let mut aside = tail.as_os_str().to_owned();
    aside.push(DAMAGED);
    std::fs::rename(tail, &aside).map_err(|error| StoreError::io(tail, "rename it", error))
}

/// Writes the rows of a tail to a Parquet file, behind those that it has already; none if there is no row.
pub(crate) fn pack_behind(
    output: Option<ParquetFile>,
    tail: &Path,
    parquet: &Path,
    level: i32,
) -> Result<Sealed, StoreError> {
    let file = File::open(tail).map_err(|error| StoreError::io(tail, "open it", error))?;
    let bytes = file.metadata().map_err(|error| StoreError::io(tail, "read its size", error))?.len();
    let mut frames = Frames::new(BufReader::with_capacity(64 * 1024, &file));
    let rows = copy(&mut frames, tail, output, parquet, level)?;
    Ok(Sealed {
        path: (rows > 0).then(|| parquet.into()),
        rows,
        lost_bytes: bytes.saturating_sub(frames.whole_bytes()),
        damage: damage(&frames),
    })
}

fn damage<R: Read>(frames: &Frames<R>) -> Option<String> {
    match (frames.end(), frames.skipped()) {
        (Some(End::Damaged(what)), _) => Some(format!("after {} bytes: {what}", frames.whole_bytes())),
        (_, 0) => None,
        (_, skipped) => Some(format!("{skipped} messages could not be decoded")),
    }
}

/// Copies the rows of all frames; returns the number of rows of the whole file.
fn copy<R: Read>(
    frames: &mut Frames<R>,
    tail: &Path,
    mut output: Option<ParquetFile>,
    parquet: &Path,
    level: i32,
) -> Result<u64, StoreError> {
    let unreadable = |error| StoreError::io(tail, "read it", error);
    let Some(schema) = frames.read_schema().map_err(unreadable)? else { return Ok(0) };
    let origin = Origin::read(schema.metadata(), tail)?;
    let table = table_of(&schema, tail)?;
    let every: Vec<usize> = (0..schema.fields().len()).collect();
    let (mut pieces, mut rows) = (Pieces::new(table), RawTable::new(table));
    let mut write = |rows: &RawTable| {
        if output.is_none() {
            let content = Content { table, origin: &origin, level };
            output = Some(ParquetFile::create(parquet, content)?);
        }
        output.as_mut().map_or(Ok(()), |output| output.add(rows))
    };
    while let Some(frame) = frames.next().map_err(unreadable)? {
        // All columns are decoded or none: half a frame must not be sealed.
        let Ok(piece) = frame.decode(&every).and_then(|batch| pieces.piece(&batch)) else {
            frames.skip();
            continue;
        };
        let mut from = 0;
        while from < piece.len() {
            let room = rows_per_group(rows.names().len()).saturating_sub(rows.len());
            let to = piece.len().min(from + room);
            piece.append_to(from..to, &mut rows);
            from = to;
            if rows.len() >= rows_per_group(rows.names().len()) {
                write(&rows)?;
                rows.clear();
                if rows.names().len() > NAMES_KEPT {
                    rows = RawTable::new(table);
                }
            }
        }
    }
    if !rows.is_empty() {
        write(&rows)?;
    }
    output.map_or(Ok(0), ParquetFile::finish)
}

/// The table of a tail, if all of its columns are known: unknown ones would be lost.
fn table_of(schema: &SchemaRef, tail: &Path) -> Result<&'static Schema, StoreError> {
    let name = origin::table(schema.metadata()).unwrap_or_default();
    let unknown = |what: String| StoreError::broken(tail, format!("holds {what}, which is unknown"));
    let table = Schema::named(name).ok_or_else(|| unknown(format!("the table {name}")))?;
    let is_known =
        |column: &str| [TIME, UPTIME, COMPONENT].contains(&column) || table.position(column).is_some();
    match schema.fields().iter().find(|field| !is_known(field.name())) {
        Some(field) => Err(unknown(format!("the column {}", field.name()))),
        None => Ok(table),
    }
}
