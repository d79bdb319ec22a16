//! The metadata of every file: its format, its host, and the source of its samples.

use std::collections::HashMap;
use std::path::Path;

use laggard_core::model::time::Span;

use crate::error::StoreError;

/// The format of the files that this version writes, and the only one that it reads.
pub const FORMAT: u32 = 3;

const FORMAT_KEY: &str = "laggard.format";
const VERSION_KEY: &str = "laggard.version";
const HOST_KEY: &str = "laggard.host";
const TABLE_KEY: &str = "laggard.table";
const EVERY_KEY: &str = "laggard.every";
const WRAPS_KEY: &str = "laggard.wraps_at_32_bits";
const SOURCE_KEY: &str = "laggard.source";

/// The host whose samples a file holds, and the program or file they come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    pub host: String,
    /// The interval of the recording, if it is known.
    pub every: Option<Span>,
    /// True if all counters may wrap at 2^32: the host's kernel was a 32-bit one.
    pub wraps_at_32_bits: bool,
    /// `laggard record`, or the file that the samples were imported from.
    pub source: String,
}

/// The source of laggard's own recordings.
pub const RECORDER: &str = "laggard record";

impl Origin {
    /// True if the samples fall on multiples of the interval, as laggard's own do.
    pub fn is_on_grid(&self) -> bool {
        self.source == RECORDER
    }

    /// True if the interval is known and the samples fall on its multiples.
    pub(crate) fn states_grid(&self) -> bool {
        self.every.is_some() && self.is_on_grid()
    }

    /// As the metadata of a file of that table.
    pub(crate) fn metadata(&self, table: &str) -> HashMap<String, String> {
        let mut pairs = vec![
            (FORMAT_KEY, FORMAT.to_string()),
            (VERSION_KEY, env!("CARGO_PKG_VERSION").to_string()),
            (HOST_KEY, self.host.clone()),
            (TABLE_KEY, table.to_string()),
            (WRAPS_KEY, self.wraps_at_32_bits.to_string()),
            (SOURCE_KEY, self.source.clone()),
        ];
        pairs.extend(self.every.map(|every| (EVERY_KEY, every.to_string())));
        pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }

    /// From the metadata of a file; refuses files of another format.
    pub(crate) fn read(metadata: &HashMap<String, String>, path: &Path) -> Result<Self, StoreError> {
        let text = |key: &str| metadata.get(key).cloned();
        let required = |key: &str| {
            let what = || format!("expected {key} in the metadata, found none: not a file of a dataset");
            text(key).ok_or_else(|| StoreError::broken(path, what()))
        };
        let found = required(FORMAT_KEY)?;
        if found != FORMAT.to_string() {
            let path = path.display().to_string();
            return Err(StoreError::OtherFormat { path, found, expected: FORMAT });
        }
        Ok(Origin {
            host: required(HOST_KEY)?,
            every: text(EVERY_KEY).and_then(|every| every.parse().ok()).filter(|every| *every > Span::ZERO),
            wraps_at_32_bits: text(WRAPS_KEY).as_deref() == Some("true"),
            source: text(SOURCE_KEY).unwrap_or_default(),
        })
    }
}

/// The table whose rows a file holds.
pub(crate) fn table(metadata: &HashMap<String, String>) -> Option<&str> {
    metadata.get(TABLE_KEY).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        let every = Some(Span::from_seconds(15));
        Origin { host: "oss3".into(), every, wraps_at_32_bits: true, source: "sa15".into() }
    }

    #[test]
    fn an_origin_reads_back() {
        let read = Origin::read(&origin().metadata("disk"), Path::new("f")).unwrap();
        assert_eq!(read, origin());
    }

    #[test]
    fn a_file_of_another_format_is_refused() {
        let mut metadata = origin().metadata("disk");
        for other in ["2", "4", "3.1", "three"] {
            metadata.insert(FORMAT_KEY.into(), other.into());
            let error = Origin::read(&metadata, Path::new("f")).unwrap_err().to_string();
            let expected =
                format!("f: is in format {other}, and this version of laggard reads only format 3");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn a_foreign_file_is_no_file_of_a_dataset() {
        let error = Origin::read(&HashMap::new(), Path::new("f")).unwrap_err();
        assert!(matches!(error, StoreError::Broken { .. }));
    }
}
