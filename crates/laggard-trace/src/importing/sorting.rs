//! Sorts more items by time than memory holds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use laggard_input::Lines;

/// Items sorted in memory; more are written to temporary files.
const MAX_HELD: usize = 500_000;

/// An item with a time that can be written as a line.
pub(crate) trait Timed: Sized {
    fn ts_ns(&self) -> u64;
    fn write(&self, to: &mut Vec<u8>);
    fn read(line: &[u8]) -> Option<Self>;
}

type SortedRun = Lines<zstd::stream::read::Decoder<'static, io::BufReader<File>>>;

/// A stable sort.
pub(super) struct Sorter<T> {
    held: Vec<T>,
    max_held: usize,
    runs: Vec<File>,
}

impl<T: Timed> Default for Sorter<T> {
    fn default() -> Sorter<T> {
        Sorter::holding(MAX_HELD)
    }
}

impl<T: Timed> Sorter<T> {
    pub(super) fn holding(max_held: usize) -> Sorter<T> {
        Sorter { held: Vec::new(), max_held, runs: Vec::new() }
    }

    pub(super) fn push(&mut self, thing: T) -> io::Result<()> {
        self.held.push(thing);
        if self.held.len() >= self.max_held { self.write_run() } else { Ok(()) }
    }

    /// Writes the items in memory to an unnamed temporary file.
    fn write_run(&mut self) -> io::Result<()> {
        self.held.sort_by_key(Timed::ts_ns);
        let mut to = zstd::stream::write::Encoder::new(BufWriter::new(tempfile::tempfile()?), 1)?;
        let mut line = Vec::new();
        for thing in self.held.drain(..) {
            line.clear();
            thing.write(&mut line);
            to.write_all(&line)?;
        }
        let mut file = to.finish()?.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        self.runs.push(file);
        Ok(())
    }

    /// Visits all items in order.
    pub(super) fn each<E: From<io::Error>>(
        mut self,
        mut visit: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        self.held.sort_by_key(Timed::ts_ns);
        let mut runs = Vec::new();
        for file in self.runs {
            runs.push(Lines::new(zstd::stream::read::Decoder::new(file)?));
        }
        let mut held = self.held.into_iter();
        let mut heads: Vec<Option<T>> = Vec::new();
        let mut order = BinaryHeap::new();
        for place in 0..=runs.len() {
            let head = next(&mut runs, &mut held, place)?;
            order.extend(head.as_ref().map(|head| Reverse((head.ts_ns(), place))));
            heads.push(head);
        }
        while let Some(Reverse((_, place))) = order.pop() {
            if let Some(thing) = heads[place].take() {
                visit(thing)?;
            }
            heads[place] = next(&mut runs, &mut held, place)?;
            order.extend(heads[place].as_ref().map(|head| Reverse((head.ts_ns(), place))));
        }
        Ok(())
    }
}

/// The next item of a run; the items in memory are the last run.
fn next<T: Timed>(
    runs: &mut [SortedRun],
    held: &mut impl Iterator<Item = T>,
    place: usize,
) -> io::Result<Option<T>> {
    let Some(run) = runs.get_mut(place) else { return Ok(held.next()) };
    match run.next_line()? {
        None => Ok(None),
        Some(line) => match T::read(line) {
            Some(thing) => Ok(Some(thing)),
            None => Err(io::Error::other("a temporary file was damaged")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Thing(u64, usize);

    impl Timed for Thing {
        fn ts_ns(&self) -> u64 {
            self.0
        }

        fn write(&self, to: &mut Vec<u8>) {
            to.extend_from_slice(format!("{} {}\n", self.0, self.1).as_bytes());
        }

        fn read(line: &[u8]) -> Option<Thing> {
            let (time, number) = std::str::from_utf8(line).ok()?.split_once(' ')?;
            Some(Thing(time.parse().ok()?, number.parse().ok()?))
        }
    }

    proptest! {
        #[test]
        fn sorting_with_files_is_a_stable_sort(times in proptest::collection::vec(0..40u64, 0..100), held in 1..30usize) {
            let things: Vec<Thing> = times.into_iter().enumerate().map(|(nth, time)| Thing(time, nth)).collect();
            let mut sorter = Sorter::holding(held);
            for thing in &things {
                sorter.push(thing.clone()).unwrap();
            }
            let mut sorted = Vec::new();
            sorter.each(|thing| { sorted.push(thing); Ok::<(), io::Error>(()) }).unwrap();
            let mut expected = things;
            expected.sort_by_key(|thing| thing.0);
            prop_assert_eq!(sorted, expected);
        }
    }
}
