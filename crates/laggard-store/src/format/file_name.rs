//! The names of a dataset's files: `oss3-20261115T000005Z.disk.parquet`.

use std::fmt;

use laggard_core::model::time::Timestamp;

use crate::error::StoreError;

/// Suffix of a file that is still being written; readers ignore it.
pub const TEMPORARY: &str = ".tmp";

/// Sealed or live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Parquet; never changes again.
    Sealed,
    /// An Arrow stream that a recorder appends to.
    Live,
}

/// Host, table, time and state, as in the name of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName {
    pub host: String,
    pub table: String,
    /// The time of its first sample, to the second.
    pub start: Timestamp,
    pub state: State,
}

impl FileName {
    /// The name of a file whose first sample is that of `start`.
    pub fn new(host: &str, table: &str, start: Timestamp, state: State) -> Result<Self, StoreError> {
        let second = Timestamp::from_seconds(start.micros().div_euclid(1_000_000));
        let name = FileName { host: host.into(), table: table.into(), start: second, state };
        // A time out of range would not read back as what it is.
        match FileName::parse(&name.to_string()) {
            Some(read_back) if read_back == name => Ok(name),
            _ => Err(StoreError::broken(
                format!("{host} {table}"),
                format!("samples of {start}: expected a host name, and a time within the years 0 to 9999"),
            )),
        }
    }

    /// Reads a name; nothing if it is not one of a dataset's files.
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, state) = match text.strip_suffix(".parquet") {
            Some(rest) => (rest, State::Sealed),
            None => (text.strip_suffix(".arrow")?, State::Live),
        };
        let (rest, table) = rest.rsplit_once('.')?;
        let (host, start) = host_and_start(rest)?;
        Some(FileName { host, table: table.into(), start, state })
    }

    /// The same file in another state.
    pub fn with_state(&self, state: State) -> Self {
        FileName { state, ..self.clone() }
    }

    /// The same file, as if it began at another time.
    pub(crate) fn starting(&self, start: Timestamp) -> Result<Self, StoreError> {
        FileName::new(&self.host, &self.table, start, self.state)
    }

    /// The name while it is being written.
    pub(crate) fn temporary(&self) -> String {
        format!("{self}{TEMPORARY}")
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extension = match self.state {
            State::Sealed => "parquet",
            State::Live => "arrow",
        };
        write!(f, "{}-{}.{}.{extension}", encoded(&self.host), self.start.basic(), self.table)
    }
}

/// The name of a file of host facts: `oss3-20261115T000005Z.facts.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FactsName {
    pub(crate) host: String,
    /// The time of its first facts, to the second.
    pub(crate) start: Timestamp,
}

/// The end of the name of a file of host facts.
pub(crate) const FACTS: &str = ".facts.jsonl";

impl FactsName {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, start) = host_and_start(text.strip_suffix(FACTS)?)?;
        Some(FactsName { host, start })
    }
}

impl fmt::Display for FactsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}{FACTS}", encoded(&self.host), self.start.basic())
    }
}

fn host_and_start(text: &str) -> Option<(String, Timestamp)> {
    let (host, start) = text.rsplit_once('-')?;
    let start = Timestamp::from_basic(start)?;
    Some((decoded(host).filter(|host| !host.is_empty())?, start))
}

/// Percent-encodes characters that are special in a file name, a shell or a URL.
pub(crate) fn encoded(host: &str) -> String {
    let plain = |i: usize, byte: u8| match byte {
        b'.' | b'-' => i > 0,
        other => other.is_ascii_alphanumeric() || other == b'_',
    };
    let mut text = String::with_capacity(host.len());
    for (i, &byte) in host.as_bytes().iter().enumerate() {
        match plain(i, byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn midnight_and_five() -> Timestamp {
        "2026-11-15T00:00:05Z".parse().unwrap()
    }

    #[test]
    fn a_name_carries_host_time_and_table() {
        let name = FileName::new("oss3", "disk", midnight_and_five(), State::Sealed).unwrap();
        assert_eq!(name.to_string(), "oss3-20261115T000005Z.disk.parquet");
        assert_eq!(name.with_state(State::Live).to_string(), "oss3-20261115T000005Z.disk.arrow");
    }

    #[test]
    fn a_host_with_a_slash_is_percent_encoded() {
        let name = FileName::new("cluster_A/host-22.lan", "net", midnight_and_five(), State::Live).unwrap();
        assert_eq!(name.to_string(), "cluster_A%2Fhost-22.lan-20261115T000005Z.net.arrow");
    }

    #[test]
    fn other_files_are_not_ours() {
        for text in [
            "labels.csv",
            "oss3-20261115T000005Z.disk.parquet.tmp",
            "oss3-20261115.disk.parquet",
            "-20261115T000005Z.disk.parquet",
            "%zz-20261115T000005Z.disk.parquet",
            "20261115T000005Z.disk.parquet",
        ] {
            assert_eq!(FileName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_that_no_name_can_carry_is_refused() {
        for time in [Timestamp::MIN, Timestamp::MAX, Timestamp::from_seconds(-70_000_000_000)] {
            assert!(FileName::new("a", "disk", time, State::Live).is_err());
        }
        assert!(FileName::new("", "disk", midnight_and_five(), State::Live).is_err());
    }

    proptest! {
        #[test]
        fn names_read_back(host in ".{1,20}", seconds in 0_i64..4_000_000_000) {
            let start = Timestamp::from_seconds(seconds);
            let name = FileName::new(&host, "disk", start, State::Sealed).unwrap();
            let text = name.to_string();
            prop_assert!(text.is_ascii() && !text.contains('/') && !text.starts_with('.'));
            prop_assert_eq!(FileName::parse(&text), Some(name));
            let facts = FactsName { host, start };
            prop_assert_eq!(FileName::parse(&facts.to_string()), None);
            prop_assert_eq!(FactsName::parse(&facts.to_string()), Some(facts));
        }
    }
}
