//! The recorded activities: the list at the start of a file, matched with the known ones.

use laggard_input::{Place, ReadError};

use super::bytes::{Bytes, Part};
use super::format::Struct;
use super::header::Header;
use super::known_activities::{self, ActivityKind, DISK_ID, Plan};
use super::layout::{Groups, Slot};
use crate::sink::{Note, Sink};

/// Larger values are damaged (sysstat's own limits).
pub(super) const MAX_ITEMS: u32 = 65536 * 4096;
const MAX_PARTS: u32 = 4096;
const MAX_ITEM_BYTES: u32 = 1024;

#[derive(Debug)]
pub(super) struct Activity {
    pub id: u32,
    /// Items per record, unless the record states it.
    pub items: u32,
    /// True if each record states its number of items.
    pub is_counted: bool,
    pub parts: u32,
    /// Bytes per part.
    pub size: u32,
    /// None if the activity is unknown or not needed.
    pub plan: Option<Plan>,
}

pub(super) fn list(
    bytes: &mut Bytes,
    header: &Header,
    sink: &mut dyn Sink,
) -> Result<Vec<Activity>, ReadError> {
    let mut entry = vec![0; header.activity.size];
    let mut activities = Vec::new();
    for _ in 0..header.activities {
        let at = bytes.at();
        bytes.fill(&mut entry, Part::Activities)?;
        activities.push(Entry { header, bytes: &entry, at }.activity(sink)?);
    }
    if !activities.iter().any(|a| a.id == DISK_ID) {
        let text = "no disk counters in this file: enable them with sadc -S DISK".to_string();
        sink.note(Note { time: None, text });
    }
    Ok(activities)
}

/// The activity and its number of items after a restart; the id is 0 in an unused entry.
pub(super) fn renewed(header: &Header, entry: &[u8]) -> (u32, u32) {
    let entry = Entry { header, bytes: entry, at: 0 };
    (entry.word(0).unwrap_or(0), entry.word(header.format.words.items).unwrap_or(0))
}

struct Entry<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    at: u64,
}

impl Entry<'_> {
    fn activity(&self, sink: &mut dyn Sink) -> Result<Activity, ReadError> {
        let words = self.header.format.words;
        let id = self.number("an id", 0, 1..=u32::MAX)?;
        let items = self.number("a number of items", words.items, 0..=MAX_ITEMS)?;
        let parts =
            words.parts.map_or(Ok(1), |word| self.number("a number of parts", word, 1..=MAX_PARTS))?;
        let size = self.number("a size", words.size, 1..=MAX_ITEM_BYTES)?;
        self.check_total(items, parts, size)?;
        let is_counted = words.counted.and_then(|word| self.word(word)).is_some_and(|counted| counted != 0);
        let layout = Struct { size: size as usize, groups: self.groups(size)? };
        // Before activities had magic numbers, all had the layout of the first version with one.
        let magic = words.magic.map_or(Some(0x8a), |word| self.word(word)).unwrap_or(0);
        let plan = self.plan(id, magic, layout, sink);
        Ok(Activity { id, items, is_counted, parts, size, plan })
    }

    fn word(&self, index: u32) -> Option<u32> {
        let dialect = self.header.dialect;
        dialect.int(self.bytes, self.header.activity.groups.cell(Slot::Int(index), dialect)?.at)
    }

    fn number(&self, what: &str, word: u32, range: std::ops::RangeInclusive<u32>) -> Result<u32, ReadError> {
        let number = self.word(word);
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let cell = self.header.activity.groups.cell(Slot::Int(word), self.header.dialect);
            let expected = match *range.end() {
                u32::MAX => format!("{what} of an activity"),
                most => format!("{what} of an activity from {} to {most}", range.start()),
            };
            let found = number.map_or("no such field".to_string(), |number| number.cast_signed().to_string());
            ReadError::content(Place::Byte(self.at + cell.map_or(0, |cell| cell.at as u64)), expected, found)
        })
    }

    /// The items of a record take less than 4 GiB (sysstat's own limit).
    fn check_total(&self, items: u32, parts: u32, size: u32) -> Result<(), ReadError> {
        let total = u64::from(items) * u64::from(parts) * u64::from(size);
        if total <= u64::from(u32::MAX) {
            return Ok(());
        }
        let found = format!("{items} items of {parts} parts of {size} bytes");
        Err(ReadError::content(Place::Byte(self.at), "an activity of less than 4 GiB per record", found))
    }

    /// The field groups of an item, if the file states them.
    fn groups(&self, size: u32) -> Result<Groups, ReadError> {
        let Some(first) = self.header.format.words.groups else { return Ok(Groups::new(0, 0, 0)) };
        let word = |index| self.word(first + index).unwrap_or(0);
        let groups = Groups::new(word(0), word(1), word(2));
        if groups.end(self.header.dialect) <= size as usize {
            return Ok(groups);
        }
        let Groups { wides, longs, ints } = groups;
        let found = format!("({wides},{longs},{ints}) numbers in {size} bytes");
        Err(ReadError::content(Place::Byte(self.at), "an activity whose numbers fit into its size", found))
    }

    fn plan(&self, id: u32, magic: u32, layout: Struct, sink: &mut dyn Sink) -> Option<Plan> {
        match known_activities::plan(id, magic, layout, self.header) {
            ActivityKind::Plan(plan) => Some(plan),
            ActivityKind::Unwanted => None,
            ActivityKind::UnknownVersion => {
                let size = layout.size;
                let text = format!(
                    "activity {id} skipped: version {magic:#x} with {size} bytes per item is unknown"
                );
                sink.note(Note { time: None, text });
                None
            }
        }
    }
}
