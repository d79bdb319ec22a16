//! Row groups: the stretches of a tail that are sorted and packed together.
//! In: rows of a tail or in memory, in the order of recording. Out: columns, sorted by component. Always: a component's rows keep
//! their order.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray};
use laggard_core::samples::RawTable;

use crate::sealed::bits::{ColumnReader, Source};
use crate::sealed::cells::Cells;
use crate::sealed::sorted::{Column, Numbers};

/// Parquet packs differences in blocks of so many values. Row groups of whole blocks of instants make the
/// packed times of all components equal, byte for byte, and zstd then stores them once.
const INSTANTS_PER_BLOCK: usize = 256;
/// A group of more parts than this is long enough. Each takes memory of its own, and those of a table with one
/// component have but a few rows.
const MANY_PARTS: usize = 2048;

/// Rows that become one row group.
#[derive(Debug, Default)]
pub(crate) struct Group {
    parts: Vec<Part>,
    rows: usize,
    names: Numbered,
}

#[derive(Debug)]
struct Part {
    source: Source,
    range: Range<usize>,
    /// The same ones as in the part before, where that has the same components in the same order.
    numbers: Numbers,
}

/// Cuts the stream of rows into groups.
#[derive(Debug)]
pub(crate) struct Cutter {
    /// How many rows a group aims at. It ends at twice as many, even in the middle of an instant.
    rows: usize,
    group: Group,
    leader: Option<Leader>,
}

/// The component of a group's first row: its rows count the instants.
#[derive(Debug)]
struct Leader {
    name: String,
    instants: usize,
    most_instants: Option<usize>,
}

impl Cutter {
    pub(crate) fn new(rows: usize) -> Self {
        Cutter { rows, group: Group::default(), leader: None }
    }

    /// Adds rows; gives the groups that are complete with them. `keys` is their component column.
    pub(crate) fn add(&mut self, source: &Source, keys: &DictionaryArray<Int32Type>) -> Vec<Group> {
        let mut complete = Vec::new();
        let mut from = 0;
        while let Some(end) = self.cut(keys, from) {
            self.push(source, from..end, keys);
            complete.push(self.finish());
            from = end;
        }
        self.push(source, from..keys.len(), keys);
        complete
    }

    /// Groups from the next one on aim at so many rows.
    pub(crate) fn aim(&mut self, rows: usize) {
        self.rows = rows;
    }

    /// How many rows wait for their group to be complete.
    pub(crate) fn waiting(&self) -> usize {
        self.group.rows
    }

    /// What is left at the end.
    pub(crate) fn finish(&mut self) -> Group {
        self.leader = None;
        std::mem::take(&mut self.group)
    }

    fn push(&mut self, source: &Source, range: Range<usize>, keys: &DictionaryArray<Int32Type>) {
        if range.is_empty() {
            return;
        }
        let Group { parts, rows, names } = &mut self.group;
        *rows += range.len();
        let numbers = names.numbers(keys, range.clone());
        let known = parts.last().map(|part| &part.numbers).filter(|known| known[..] == numbers[..]);
        let numbers = known.cloned().unwrap_or_else(|| numbers.into());
        parts.push(Part { source: source.clone(), range, numbers });
    }

    /// Where the group ends within the rows, looked at from row `from` on.
    fn cut(&mut self, keys: &DictionaryArray<Int32Type>, from: usize) -> Option<usize> {
        let numbers = keys.keys().values();
        let names = keys.values().as_string::<i32>();
        if from == numbers.len() {
            return None;
        }
        let has_many_parts = self.group.parts.len() >= MANY_PARTS;
        let leader = self.leader.get_or_insert_with(|| Leader::new(names.value(numbers[from] as usize)));
        let number = names.iter().position(|name| name == Some(leader.name.as_str())).map(|n| n as i32);
        for (row, &key) in numbers.iter().enumerate().skip(from) {
            let rows = self.group.rows + row - from;
            if rows == 2 * self.rows
                || (Some(key) == number && leader.is_complete(rows, self.rows, has_many_parts))
            {
                return Some(row);
            }
        }
        None
    }
}

impl Leader {
    fn new(name: &str) -> Self {
        Leader { name: name.into(), instants: 0, most_instants: None }
    }

    /// Counts one more of its rows, before which the group has `rows`; says whether it belongs to the next group.
    fn is_complete(&mut self, rows: usize, aim: usize, has_many_parts: bool) -> bool {
        if self.instants == 1 {
            let blocks = aim / rows.max(1) / INSTANTS_PER_BLOCK;
            self.most_instants = Some(blocks.max(1) * INSTANTS_PER_BLOCK);
        }
        let is_whole = self.instants > 0 && self.instants.is_multiple_of(INSTANTS_PER_BLOCK);
        if Some(self.instants) == self.most_instants || (is_whole && has_many_parts) {
            return true;
        }
        self.instants += 1;
        false
    }
}

/// Where the rows of a group go.
#[derive(Debug)]
pub(crate) struct Order {
    names: StringArray,
    runs: Vec<Range<usize>>,
    /// By a component's number: where its first row goes.
    starts: Vec<u32>,
}

/// Places between two components that nothing goes to. Without them, the places of one instant would be a
/// multiple of 4096 bytes apart, and share the few places that a processor's cache has for such.
const GAP: usize = 8;

impl Group {
    /// How many rows it holds.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Sorts by component name; stable, so that recording order is kept.
    pub(crate) fn order(&self) -> Order {
        let (names, rank) = self.names.sorted();
        let mut counts: Vec<usize> = vec![0; names.len()];
        let numbers = self.parts.iter().flat_map(|part| &*part.numbers);
        numbers.for_each(|&number| counts[rank[number as usize] as usize] += 1);
        let runs = runs(&counts);
        let starts = rank.iter().map(|&rank| runs[rank as usize].start as u32).collect();
        Order { names, runs, starts }
    }

    /// One column of 64-bit values, in order. Messages are read once for each column: all of them together
    /// would take more memory than anything else in a recorder.
    pub(crate) fn column(
        &self,
        reader: &mut ColumnReader<'_>,
        cells: &Cells,
        order: &Order,
    ) -> std::io::Result<Column> {
        let mut column = reader.column(order.places(), order.starts.clone());
        for Part { source, range, numbers } in &self.parts {
            reader.read(source, cells, range.clone(), numbers, &mut column)?;
        }
        Ok(column.finish())
    }

    /// The parts that are in memory.
    pub(crate) fn in_memory(&self) -> impl Iterator<Item = (&RawTable, Range<usize>)> {
        self.parts.iter().filter_map(|part| match &part.source {
            Source::Memory(rows) => Some((&**rows, part.range.clone())),
            Source::Tail(_) => None,
        })
    }
}

impl Order {
    /// How many places there are, also those that nothing goes to.
    fn places(&self) -> usize {
        self.runs.last().map_or(0, |run| run.end)
    }

    /// The places of each component.
    pub(crate) fn runs(&self) -> &[Range<usize>] {
        &self.runs
    }

    /// The names of the components.
    pub(crate) fn names(&self) -> &StringArray {
        &self.names
    }
}

fn runs(counts: &[usize]) -> Vec<Range<usize>> {
    let mut start = 0;
    let run = |&count: &usize| {
        let run = start..start + count;
        start = run.end + GAP;
        run
    };
    counts.iter().map(run).collect()
}

/// The component column of a decoded frame.
pub(crate) fn component_column(batch: &RecordBatch, index: usize) -> Option<DictionaryArray<Int32Type>> {
    let column = batch.columns().get(index)?.as_dictionary_opt::<Int32Type>()?;
    let is_whole = column.null_count() == 0 && column.values().null_count() == 0;
    is_whole.then(|| column.clone())
}

/// Names from several dictionaries under one numbering.
#[derive(Debug, Default)]
struct Numbered {
    numbers: HashMap<String, u32>,
    last: Option<(ArrayRef, Vec<Option<u32>>)>,
}

impl Numbered {
    /// The number of each row's name. Names that no row speaks of get none.
    fn numbers(&mut self, component: &DictionaryArray<Int32Type>, rows: Range<usize>) -> Vec<u32> {
        let values = component.values();
        let known = self.last.take().filter(|(last, _)| Arc::ptr_eq(last, values));
        let (values, mut map) = known.unwrap_or_else(|| (values.clone(), vec![None; values.len()]));
        let names = values.as_string::<i32>();
        let mut number =
            |&key: &i32| *map[key as usize].get_or_insert_with(|| self.number(names.value(key as usize)));
        let numbers = component.keys().values()[rows].iter().map(&mut number).collect();
        self.last = Some((values, map));
        numbers
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.into(), number);
        number
    }

    /// All names in order, and the place of each number among them.
    fn sorted(&self) -> (StringArray, Vec<u32>) {
        let mut names: Vec<(&String, u32)> =
            self.numbers.iter().map(|(name, &number)| (name, number)).collect();
        names.sort_unstable();
        let mut rank = vec![0; names.len()];
        names.iter().enumerate().for_each(|(place, (_, number))| rank[*number as usize] = place as u32);
        (StringArray::from_iter_values(names.iter().map(|(name, _)| name)), rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::origin::Origin;
    use crate::live_tail::frame::Frames;
    use crate::live_tail::message::{Encoder, Press};
    use laggard_core::model::schema::Schema;
    use laggard_core::model::time::Timestamp;

    /// The rows of the groups of a recording of so many components, five instants a message.
    fn group_sizes(components: usize, instants: usize, aim: usize) -> Vec<usize> {
        let table = Schema::named("pressure").unwrap();
        let origin = Origin { host: "a".into(), every: None, wraps_at_32_bits: false, source: String::new() };
        let (mut encoder, mut press, mut bytes) =
            (Encoder::new(table, &origin), Press::default(), Vec::new());
        for first in (0..instants).step_by(5) {
            let mut rows = RawTable::new(table);
            for instant in first..instants.min(first + 5) {
                for component in 0..components {
                    let component = rows.number(&format!("c{component}"));
                    rows.push_counts(Timestamp::from_seconds(instant as i64), None, component, &[]);
                }
            }
            encoder.encode(&rows, &mut press, &mut bytes).unwrap();
        }
        let (mut frames, mut cutter, mut sizes) =
            (Frames::new(bytes.as_slice()), Cutter::new(aim), Vec::new());
        while let Some(frame) = frames.next().unwrap() {
            let keys = component_column(&frame.decode(&[2]).unwrap(), 0).unwrap();
            sizes.extend(cutter.add(&Source::Tail(frame.place().clone()), &keys).iter().map(Group::rows));
        }
        sizes.push(cutter.finish().rows());
        sizes
    }

    #[test]
    fn groups_hold_whole_blocks_of_instants() {
        assert_eq!(group_sizes(3, 2000, 2000), [1536, 1536, 1536, 1392]);
        assert_eq!(group_sizes(3, 768, 2400), [2304]);
    }

    #[test]
    fn a_group_has_a_block_of_instants_even_of_many_components() {
        assert_eq!(group_sizes(10, 300, 2000), [2560, 440]);
    }

    #[test]
    fn a_group_never_holds_more_than_twice_its_aim() {
        assert_eq!(group_sizes(100, 50, 1000), [2000, 2000, 1000]);
    }
}
