//! One page of a Parquet file: its header, and its values after compression.
//! In: values that are encoded. Out: bytes, behind those of the page before. Always: data pages of version 1,
//! which every reader knows.

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use crate::sealed::delta::{varint, zigzag};

/// How the values of a page are written, by the number that the format has for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Written {
    Plain = 0,
    Delta = 5,
    Names = 8,
    Split = 9,
}

/// Runs and bit strings, as levels are written.
const RUNS: i64 = 3;
const DATA_PAGE: i64 = 0;
const NAMES_PAGE: i64 = 2;

/// A struct's fields in Thrift's compact protocol: how far a field's number is from the last one's, and its type.
const NEXT_NUMBER: u8 = 0x15;
const NEXT_BUT_ONE_STRUCT: u8 = 0x2c;
const NEXT_BUT_THREE_STRUCT: u8 = 0x4c;
const END: u8 = 0;

/// The pages of one column, one after the other.
pub(crate) struct Pages<'p> {
    press: &'p mut PagePress,
    /// All of them, as in the file.
    pub(crate) bytes: Vec<u8>,
    /// Their size before compression.
    pub(crate) unpressed: usize,
}

/// What is kept from one column to the next.
pub(crate) struct PagePress {
    level: i32,
    quick: Option<Compressor<'static>>,
    thorough: Option<Compressor<'static>>,
    content: Vec<u8>,
    pressed: Vec<u8>,
}

impl PagePress {
    /// Of that level of zstd.
    pub(crate) fn new(level: i32) -> Self {
        PagePress { level, quick: None, thorough: None, content: Vec::new(), pressed: Vec::new() }
    }

    /// Compresses the content.
    fn press(&mut self) -> std::io::Result<()> {
        let (place, level) = match self.content.len() < SMALL {
            true => (&mut self.quick, self.level.min(QUICK_LEVEL)),
            false => (&mut self.thorough, self.level),
        };
        let compressor = match place {
            Some(compressor) => compressor,
            none => none.insert(compressor(level)?),
        };
        self.pressed.clear();
        self.pressed.reserve(zstd::zstd_safe::compress_bound(self.content.len()));
        compressor.compress_to_buffer(&self.content, &mut self.pressed)?;
        Ok(())
    }
}

/// Smaller pages gain next to nothing from a high level, and there are many in short recordings.
const SMALL: usize = 1024;
const QUICK_LEVEL: i32 = 3;
/// From this level on, zstd would take several times the memory that a large page has.
const HIGH_LEVEL: i32 = 5;
/// 32 KiB, as the power of two: what repeats in a page repeats sooner.
const WINDOW: u32 = 15;

fn compressor(level: i32) -> std::io::Result<Compressor<'static>> {
    let mut compressor = Compressor::new(level)?;
    if level >= HIGH_LEVEL {
        compressor.set_parameter(CParameter::WindowLog(WINDOW))?;
        compressor.set_parameter(CParameter::HashLog(WINDOW))?;
        compressor.set_parameter(CParameter::ChainLog(WINDOW))?;
    }
    Ok(compressor)
}

impl<'p> Pages<'p> {
    /// No page yet.
    pub(crate) fn new(press: &'p mut PagePress) -> Self {
        Pages { press, bytes: Vec::new(), unpressed: 0 }
    }

    /// Adds a page of so many rows; `fill` appends its levels and values.
    pub(crate) fn data(
        &mut self,
        rows: usize,
        written: Written,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> std::io::Result<()> {
        let what = [rows as i64, written as i64, RUNS, RUNS];
        self.add(DATA_PAGE, NEXT_BUT_ONE_STRUCT, &what, fill)
    }

    /// Adds the page of names, which those of rows speak of by number.
    pub(crate) fn names(&mut self, count: usize, fill: impl FnOnce(&mut Vec<u8>)) -> std::io::Result<()> {
        self.add(NAMES_PAGE, NEXT_BUT_THREE_STRUCT, &[count as i64, Written::Plain as i64], fill)
    }

    fn add(
        &mut self,
        kind: i64,
        of_kind: u8,
        what: &[i64],
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> std::io::Result<()> {
        self.press.content.clear();
        fill(&mut self.press.content);
        self.press.press()?;
        let PagePress { content, pressed, .. } = &*self.press;
        let start = self.bytes.len();
        numbers(&[kind, content.len() as i64, pressed.len() as i64], &mut self.bytes);
        self.bytes.push(of_kind);
        numbers(what, &mut self.bytes);
        self.bytes.extend([END, END]);
        self.unpressed += self.bytes.len() - start + content.len();
        self.bytes.extend_from_slice(pressed);
        Ok(())
    }
}

/// Fields that are numbers and follow each other.
fn numbers(values: &[i64], out: &mut Vec<u8>) {
    for &value in values {
        out.push(NEXT_NUMBER);
        varint(zigzag(value), out);
    }
}

/// Appends a run of equal small numbers, each of which takes so many bytes.
pub(crate) fn run(length: usize, number: u64, bytes: usize, out: &mut Vec<u8>) {
    varint((length as u64) << 1, out);
    out.extend_from_slice(&number.to_le_bytes()[..bytes]);
}
