//! A mapping bound to one file: columns by index instead of by name, and rows made from records.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use laggard_core::model::component::{self, Kind};
use laggard_core::model::schema::{Schema, Values};
use laggard_core::model::time::Timestamp;
use laggard_core::samples::ABSENT;
use laggard_input::{Place, ReadError};

use super::mapping::{Mapping, TableMapping};
use super::template::{Part, Template};
use crate::row_buffer::RowBuffer;
use crate::sink::{Origin, host_of_file};

pub(super) trait Record {
    fn text(&self, column: usize) -> Option<Cow<'_, str>>;
    /// NaN if the value is missing, None if it is not a number.
    fn number(&self, column: usize) -> Option<f64>;
    /// [`ABSENT`] if the value is missing, None if it is not a count.
    fn count(&self, column: usize) -> Option<u64>;
    fn time(&self, column: usize) -> Option<Timestamp>;
}

pub(super) struct Binding {
    time: usize,
    host: BoundTemplate,
    tables: Vec<BoundTable>,
    origin: Origin,
}

/// A template whose variables are columns.
struct BoundTemplate(Vec<BoundPart>);

enum BoundPart {
    Literal(String),
    Column(usize),
}

struct BoundTable {
    schema: &'static Schema,
    component: Option<BoundTemplate>,
    values: Vec<BoundValue>,
    /// The row being made; only the vector that the table needs is used. Values without a column stay missing.
    numbers: Vec<f64>,
    counts: Vec<u64>,
    /// The component of the previous record, which is most often that of the next one.
    last: Option<Last>,
}

struct BoundValue {
    position: usize,
    column: usize,
    scale: f64,
}

/// Times with a four-digit year; anything else is not the time of a sample.
const YEARS: RangeInclusive<Timestamp> =
    Timestamp::from_seconds(0)..=Timestamp::from_seconds(253_402_300_799);

#[derive(Default)]
struct Last {
    host: String,
    component: String,
    slot: usize,
    number: u32,
}

impl Binding {
    /// Looks up every column of the mapping. `name` is the path of the file.
    pub(super) fn new(mapping: &Mapping, name: &str, columns: &[String]) -> Result<Binding, ReadError> {
        let captured: HashMap<String, String> = captures(mapping, name)?;
        let binder = Binder { captured, columns };
        let fallback = Template(vec![Part::Literal(host_of_file(name).to_owned())]);
        let origin = Origin { host: String::new(), every: mapping.time.every, wraps_at_32_bits: false };
        Ok(Binding {
            time: binder.column(&mapping.time.column)?,
            host: binder.template(mapping.host.as_ref().unwrap_or(&fallback))?,
            tables: mapping.tables.iter().map(|table| binder.table(table)).collect::<Result<_, _>>()?,
            origin,
        })
    }

    pub(super) fn time_column(&self) -> usize {
        self.time
    }

    pub(super) fn text_columns(&self) -> impl Iterator<Item = usize> {
        let components = self.tables.iter().filter_map(|table| table.component.as_ref());
        components.chain([&self.host]).flat_map(|bound| &bound.0).filter_map(|part| match part {
            BoundPart::Column(column) => Some(*column),
            BoundPart::Literal(_) => None,
        })
    }

    /// With a flag for counts.
    pub(super) fn value_columns(&self) -> impl Iterator<Item = (usize, bool)> {
        let columns = |table: &BoundTable| {
            let is_count = table.schema.values == Values::Counts;
            table.values.iter().map(|value| (value.column, is_count)).collect::<Vec<_>>()
        };
        self.tables.iter().flat_map(columns)
    }

    /// None if a value of the record is malformed.
    pub(super) fn rows(&mut self, record: &dyn Record, row_buffer: &mut RowBuffer<'_>) -> Option<()> {
        let time = record.time(self.time).filter(|time| YEARS.contains(time))?;
        for table in &mut self.tables {
            table.fill(record)?;
            let (slot, number) = table.place(record, &self.host, &mut self.origin, row_buffer)?;
            match table.schema.values {
                Values::Numbers => row_buffer.table(slot).push_numbers(time, None, number, &table.numbers),
                Values::Counts => row_buffer.table(slot).push_counts(time, None, number, &table.counts),
            }
            row_buffer.pushed();
        }
        Some(())
    }

    /// Slots are void after the buffer has delivered its rows.
    pub(super) fn forget_places(&mut self) {
        self.tables.iter_mut().for_each(|table| table.last = None);
    }
}

impl BoundTable {
    fn fill(&mut self, record: &dyn Record) -> Option<()> {
        for value in &self.values {
            match self.schema.values {
                Values::Numbers => self.numbers[value.position] = record.number(value.column)? * value.scale,
                Values::Counts => self.counts[value.position] = value.count(record)?,
            }
        }
        Some(())
    }

    /// The slot of the row, and its component's number there.
    fn place(
        &mut self,
        record: &dyn Record,
        host: &BoundTemplate,
        origin: &mut Origin,
        row_buffer: &mut RowBuffer<'_>,
    ) -> Option<(usize, u32)> {
        if let Some(last) = &self.last
            && host.is(&last.host, record)
            && self.component.as_ref().is_none_or(|component| component.is(&last.component, record))
        {
            return Some((last.slot, last.number));
        }
        origin.host = host.fill(record)?;
        let component = self.component.as_ref().map(|c| c.fill(record)).unwrap_or(Some(String::new()))?;
        let slot = row_buffer.slot(origin, self.schema);
        let number = row_buffer.table(slot).number(&name(self.schema, &origin.host, &component));
        self.last = Some(Last { host: origin.host.clone(), component, slot, number });
        Some((slot, number))
    }
}

impl BoundValue {
    fn count(&self, record: &dyn Record) -> Option<u64> {
        if self.scale == 1.0 {
            return record.count(self.column);
        }
        match (record.number(self.column)? * self.scale).round() {
            missing if missing.is_nan() => Some(ABSENT),
            count if (0.0..1.8e19).contains(&count) => Some(count as u64),
            _ => None,
        }
    }
}

fn name(schema: &Schema, host: &str, part: &str) -> String {
    match &schema.kind {
        kind if *kind == Kind::ATTACHMENT => component::attachment(host, part),
        kind if *kind == Kind::NIC => component::nic(host, part),
        kind if *kind == Kind::LINK || *kind == Kind::SOCKET => component::link(host, part),
        _ => host.to_owned(),
    }
}

impl BoundTemplate {
    /// None if a variable is missing.
    fn fill(&self, record: &dyn Record) -> Option<String> {
        let mut filled = String::new();
        for part in &self.0 {
            match part {
                BoundPart::Literal(text) => filled.push_str(text),
                BoundPart::Column(column) => filled.push_str(&record.text(*column)?),
            }
        }
        (!filled.is_empty()).then_some(filled)
    }

    /// True if the text for the record is `text`.
    fn is(&self, text: &str, record: &dyn Record) -> bool {
        let strip = |rest: &'_ str, part: &BoundPart| -> Option<usize> {
            match part {
                BoundPart::Literal(text) => rest.starts_with(text.as_str()).then_some(text.len()),
                BoundPart::Column(column) => {
                    let text = record.text(*column)?;
                    rest.starts_with(text.as_ref()).then_some(text.len())
                }
            }
        };
        let end = self.0.iter().try_fold(0, |start, part| Some(start + strip(&text[start..], part)?));
        end == Some(text.len())
    }
}

struct Binder<'b> {
    captured: HashMap<String, String>,
    columns: &'b [String],
}

impl Binder<'_> {
    fn column(&self, name: &str) -> Result<usize, ReadError> {
        let found = self.columns.iter().position(|column| column == name);
        found.ok_or_else(|| {
            let expected = format!("a column `{name}`");
            ReadError::content(Place::Whole, expected, format!("columns {}", self.columns.join(", ")))
        })
    }

    /// Variables of the path come first: they are the same for every line.
    fn template(&self, template: &Template) -> Result<BoundTemplate, ReadError> {
        let part = |part: &Part| match part {
            Part::Literal(text) => Ok(BoundPart::Literal(text.clone())),
            Part::Variable(name) => match self.captured.get(name) {
                Some(value) => Ok(BoundPart::Literal(value.clone())),
                None => Ok(BoundPart::Column(self.column(name)?)),
            },
        };
        Ok(BoundTemplate(template.0.iter().map(part).collect::<Result<_, ReadError>>()?))
    }

    fn table(&self, table: &TableMapping) -> Result<BoundTable, ReadError> {
        let value = |c: &super::mapping::ColumnMapping| {
            Ok(BoundValue { position: c.position, column: self.column(&c.column)?, scale: c.scale })
        };
        Ok(BoundTable {
            schema: table.schema,
            component: table.component.as_ref().map(|component| self.template(component)).transpose()?,
            values: table.columns.iter().map(value).collect::<Result<_, ReadError>>()?,
            numbers: vec![f64::NAN; table.schema.columns.len()],
            counts: vec![ABSENT; table.schema.columns.len()],
            last: None,
        })
    }
}

fn captures(mapping: &Mapping, name: &str) -> Result<HashMap<String, String>, ReadError> {
    let Some(pattern) = &mapping.path else { return Ok(HashMap::new()) };
    let found = pattern.captures(name);
    let wrong = || ReadError::content(Place::Whole, format!("a path that ends like {pattern}"), name);
    Ok(found.ok_or_else(wrong)?.into_iter().collect())
}
