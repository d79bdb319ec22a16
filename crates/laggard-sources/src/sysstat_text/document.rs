//! The JSON of sadf and iostat, `{"sysstat": {"hosts": [{"nodename": ..., "statistics": [...]}]}}`, read one sample at
//! a time, so that a file may have any size and end anywhere.

use laggard_input::{Place, ReadError};

use std::fmt;
use std::io::{BufRead, BufReader};

use serde::Deserialize;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// Receives the elements of a document in their order.
pub(crate) trait Statistics {
    type Sample: DeserializeOwned;
    /// A restart or a comment.
    type Remark: DeserializeOwned;

    /// A text about the host: its `nodename`, the `date`.
    fn host(&mut self, key: &str, text: &str);
    fn sample(&mut self, sample: Self::Sample) -> Result<(), ReadError>;
    fn remark(&mut self, remark: Self::Remark);
    fn host_ends(&mut self) -> Result<(), ReadError>;
}

pub(crate) fn recognises(start: &[u8]) -> bool {
    let inner = start.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| inner.starts_with(b"\"sysstat\""))
}

/// True for the JSON of sadf, false for that of iostat.
pub(crate) fn has_file_date(start: &[u8]) -> bool {
    memchr::memmem::find(start, b"\"file-date\"").is_some()
}

/// Reads documents, one after the other, to the end of the input.
pub(crate) fn read<S: Statistics>(input: &mut dyn BufRead, statistics: &mut S) -> Result<(), ReadError> {
    let mut failure = None;
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(input));
    loop {
        let walk = Walk { statistics, failure: &mut failure, level: Level::Document };
        if let Err(error) = walk.deserialize(&mut json) {
            return Err(failure.take().unwrap_or_else(|| unreadable(error)));
        }
        match json.end() {
            Ok(()) => return Ok(()),
            Err(error) if error.is_syntax() => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}

fn unreadable(error: serde_json::Error) -> ReadError {
    let place = Place::Line(error.line() as u64);
    match error.classify() {
        serde_json::error::Category::Eof => {
            ReadError::Truncated { place, within: "the JSON document".into() }
        }
        serde_json::error::Category::Io => ReadError::Io { place, error: error.into() },
        _ => ReadError::content(place, "the JSON of sysstat's tools", error.to_string()),
    }
}

#[derive(Clone, Copy)]
enum Level {
    Document,
    Sysstat,
    Hosts,
    Host,
    Samples,
    Remarks,
}

struct Walk<'w, S> {
    statistics: &'w mut S,
    /// An error of [`Statistics`], which cannot pass through the parser.
    failure: &'w mut Option<ReadError>,
    level: Level,
}

impl<S: Statistics> Walk<'_, S> {
    fn at(&mut self, level: Level) -> Walk<'_, S> {
        Walk { statistics: self.statistics, failure: self.failure, level }
    }

    fn check<E: Error>(&mut self, result: Result<(), ReadError>) -> Result<(), E> {
        result.map_err(|error| {
            let custom = E::custom(&error);
            *self.failure = Some(error);
            custom
        })
    }
}

impl<'de, S: Statistics> DeserializeSeed<'de> for Walk<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        match self.level {
            Level::Document | Level::Sysstat | Level::Host => json.deserialize_map(self),
            Level::Hosts | Level::Samples | Level::Remarks => json.deserialize_seq(self),
        }
    }
}

impl<'de, S: Statistics> Visitor<'de> for Walk<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.level {
            Level::Document => "an object with \"sysstat\"",
            Level::Sysstat => "an object with \"hosts\"",
            Level::Hosts => "a list of hosts",
            Level::Host => "a host",
            Level::Samples => "a list of samples",
            Level::Remarks => "a list of restarts or comments",
        })
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match (self.level, key.as_str()) {
                (Level::Document, "sysstat") => map.next_value_seed(self.at(Level::Sysstat))?,
                (Level::Sysstat, "hosts") => map.next_value_seed(self.at(Level::Hosts))?,
                (Level::Host, "statistics") => map.next_value_seed(self.at(Level::Samples))?,
                (Level::Host, "restarts" | "comments") => map.next_value_seed(self.at(Level::Remarks))?,
                (Level::Host, _) => {
                    if let Value::Text(text) = map.next_value()? {
                        self.statistics.host(&key, &text);
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        loop {
            match self.level {
                Level::Samples => {
                    let Some(sample) = list.next_element()? else { return Ok(()) };
                    let taken = self.statistics.sample(sample);
                    self.check(taken)?;
                }
                Level::Remarks => {
                    let Some(remark) = list.next_element()? else { return Ok(()) };
                    self.statistics.remark(remark);
                }
                _ => {
                    let Some(()) = list.next_element_seed(self.at(Level::Host))? else { return Ok(()) };
                    let taken = self.statistics.host_ends();
                    self.check(taken)?;
                }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
    Other(IgnoredAny),
}

/// The members of an object, in their order.
#[derive(Default)]
pub(crate) struct Fields(pub(crate) Vec<(String, Value)>);

impl Fields {
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find_map(|(name, value)| match value {
            Value::Text(text) if name == key => Some(text.as_str()),
            _ => None,
        })
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().filter_map(|(name, value)| match value {
            Value::Number(number) => Some((name.as_str(), *number)),
            _ => None,
        })
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Fields, D::Error> {
        json.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(field) = map.next_entry()? {
            fields.0.push(field);
        }
        Ok(fields)
    }
}
