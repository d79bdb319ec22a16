//! Sealing: a tail becomes Parquet, and only then goes away.
//! In: the whole messages of a tail. Out: one Parquet file. Always: no reader ever sees half of it; memory is
//! bounded by the compressed messages of one row group and one of its columns.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use arrow_array::DictionaryArray;
use arrow_array::types::Int32Type;
use arrow_schema::SchemaRef;

use crate::error::StoreError;
use crate::format::columns::COMPONENT;
use crate::format::file_name::{FileName, State};
use crate::format::origin::Origin;
use crate::live_tail::frame::{End, Frame, Frames};
use crate::sealed::bench::Bench;
use crate::sealed::bits::{ColumnReader, Source};
use crate::sealed::group::{Cutter, component_column};
use crate::sealed::page::PagePress;
use crate::sealed::parquet_file::ParquetFile;

/// Behind the name of a tail that could not be understood as a whole: kept for a person to look at.
const DAMAGED: &str = ".damaged";

/// How a recorder packs: it should take little of the host's time and memory. Larger row groups, and level 19 of
/// zstd, would each pack one percent better; that level takes as long as all of the rest.
const RECORDED: Aim = Aim { rows: 320 * 1024, level: 6 };

/// What row groups are packed like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    /// How many rows one should have.
    pub(crate) rows: usize,
    /// Its level of zstd.
    pub(crate) level: i32,
}

/// What sealing a tail came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The Parquet file; none if the tail held no row.
    pub path: Option<PathBuf>,
    /// How many rows it holds.
    pub rows: u64,
    /// How many bytes at the tail's end were no whole message.
    pub lost_bytes: u64,
    /// What could not be understood, if that was more than an interrupted message at the end. The tail is
    /// then kept next to the Parquet file, as `.damaged`.
    pub damage: Option<String>,
}

/// Seals a tail that the caller has locked, and removes it.
pub(crate) fn seal(folder: &Path, name: &FileName) -> Result<Sealed, StoreError> {
    let tail = folder.join(name.to_string());
    let sealed = name.with_state(State::Sealed);
    let temporary = Temporary(folder.join(sealed.temporary()));
    let mut packed = pack_behind(None, &tail, &temporary.0, RECORDED)?;
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

/// Gives a complete file its final name, for good.
pub(crate) fn publish(temporary: &Path, path: &Path) -> Result<(), StoreError> {
    std::fs::rename(temporary, path).map_err(|error| StoreError::io(temporary, "rename it", error))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| StoreError::io(folder, "write it to disk", error))
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
    aim: Aim,
) -> Result<Sealed, StoreError> {
    let file = File::open(tail).map_err(|error| StoreError::io(tail, "open it", error))?;
    let bytes = file.metadata().map_err(|error| StoreError::io(tail, "look at it", error))?.len();
    let mut packing = Packing {
        tail,
        bench: Bench { reader: ColumnReader::new(Some(&file)), press: PagePress::new(aim.level) },
        parquet,
        frames: Frames::new(BufReader::with_capacity(64 * 1024, &file)),
        cutter: Cutter::new(aim.rows),
        output,
    };
    let rows = packing.run()?;
    let frames = packing.frames;
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
        (_, skipped) => Some(format!("{skipped} messages made no sense")),
    }
}

struct Packing<'a, R> {
    tail: &'a Path,
    bench: Bench<'a>,
    parquet: &'a Path,
    frames: Frames<R>,
    cutter: Cutter,
    output: Option<ParquetFile>,
}

impl<R: Read> Packing<'_, R> {
    fn run(&mut self) -> Result<u64, StoreError> {
        let tail = self.tail;
        let unreadable = |error| StoreError::io(tail, "read it", error);
        let Some(schema) = self.frames.read_schema().map_err(unreadable)? else { return Ok(0) };
        Origin::read(schema.metadata(), tail)?;
        let component = schema
            .index_of(COMPONENT)
            .map_err(|_| StoreError::broken(tail, format!("expected a column {COMPONENT}, found none")))?;
        while let Some(frame) = self.frames.next().map_err(unreadable)? {
            match checked_keys(&frame, component) {
                Some(keys) => self.add(&frame, &keys, &schema)?,
                None => self.frames.skip(),
            }
        }
        self.finish()
    }

    fn add(
        &mut self,
        frame: &Frame,
        keys: &DictionaryArray<Int32Type>,
        schema: &SchemaRef,
    ) -> Result<(), StoreError> {
        let output = match &mut self.output {
            Some(output) => output,
            none => none.insert(ParquetFile::create(self.parquet, schema.clone())?),
        };
        let source = Source::Tail(frame.place().clone());
        self.cutter.add(&source, keys).into_iter().try_for_each(|group| output.add(&group, &mut self.bench))
    }

    fn finish(&mut self) -> Result<u64, StoreError> {
        let Some(mut output) = self.output.take() else { return Ok(0) };
        let last = self.cutter.finish();
        if last.rows() > 0 {
            output.add(&last, &mut self.bench)?;
        }
        output.finish()
    }
}

/// The component column of a frame of which every column can be decoded: half a frame must not be sealed.
fn checked_keys(frame: &Frame, component: usize) -> Option<DictionaryArray<Int32Type>> {
    let every: Vec<usize> = (0..frame.width()).collect();
    component_column(&frame.decode(&every).ok()?, component)
}
