//! What every file says of itself: its format, its host, and where its samples come from.

use std::collections::HashMap;
use std::path::Path;

use laggard_core::model::time::Span;

use crate::error::StoreError;

/// The format of the files that this laggard writes. It grows when an older laggard would misread them;
/// every released format stays readable.
pub const FORMAT: u32 = 2;

const FORMAT_KEY: &str = "laggard.format";
const VERSION_KEY: &str = "laggard.version";
const HOST_KEY: &str = "laggard.host";
const TABLE_KEY: &str = "laggard.table";
const EVERY_KEY: &str = "laggard.every";
const WRAPS_KEY: &str = "laggard.wraps_at_32_bits";
const SOURCE_KEY: &str = "laggard.source";

/// Whose samples a file holds, and who took them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The host's name.
    pub host: String,
    /// The interval of the recording, if it is known.
    pub every: Option<Span>,
    /// Whether all counters may wrap at 2^32: the host's kernel was a 32-bit one.
    pub wraps_at_32_bits: bool,
    /// Who took the samples: `laggard record`, or the file they were imported from.
    pub source: String,
}

/// What laggard's own recorder calls itself.
pub const RECORDER: &str = "laggard record";

impl Origin {
    /// Whether the samples fall on multiples of the interval, as laggard's own do.
    pub fn is_on_grid(&self) -> bool {
        self.source == RECORDER
    }

    /// As the metadata of a file of that table.
    pub(crate) fn metadata(&self, table: &str) -> HashMap<String, String> {
        let mut pairs = vec![
            (HOST_KEY, self.host.clone()),
            (TABLE_KEY, table.to_string()),
            (WRAPS_KEY, self.wraps_at_32_bits.to_string()),
            (SOURCE_KEY, self.source.clone()),
        ];
        pairs.extend(self.every.map(|every| (EVERY_KEY, every.to_string())));
        renewed(&pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    }

    /// From the metadata of a file; refuses what a later laggard wrote.
    pub(crate) fn read(metadata: &HashMap<String, String>, path: &Path) -> Result<Self, StoreError> {
        let text = |key: &str| metadata.get(key).cloned();
        let expected =
            |key: &str| format!("expected {key} in the metadata, found none: not a file of a dataset");
        let format = text(FORMAT_KEY).ok_or_else(|| StoreError::broken(path, expected(FORMAT_KEY)))?;
        check_format(&format, path)?;
        Ok(Origin {
            host: text(HOST_KEY).ok_or_else(|| StoreError::broken(path, expected(HOST_KEY)))?,
            every: text(EVERY_KEY).and_then(|every| every.parse().ok()).filter(|every| *every > Span::ZERO),
            wraps_at_32_bits: text(WRAPS_KEY).as_deref() == Some("true"),
            source: text(SOURCE_KEY).unwrap_or_default(),
        })
    }
}

/// The metadata of a file that this laggard writes, from what another file says of the same samples.
pub(crate) fn renewed(metadata: &HashMap<String, String>) -> HashMap<String, String> {
    let mut metadata = metadata.clone();
    metadata.insert(FORMAT_KEY.into(), FORMAT.to_string());
    metadata.insert(VERSION_KEY.into(), env!("CARGO_PKG_VERSION").into());
    metadata
}

fn check_format(format: &str, path: &Path) -> Result<(), StoreError> {
    match format.split('.').next().map(str::parse::<u32>) {
        Some(Ok(major)) if major <= FORMAT => Ok(()),
        Some(Ok(_)) => Err(StoreError::Newer { path: path.display().to_string(), found: format.into() }),
        _ => Err(StoreError::broken(path, format!("expected a number as its format, found {format:?}"))),
    }
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
    fn a_later_minor_format_is_read_and_a_later_major_one_is_refused() {
        let mut metadata = origin().metadata("disk");
        metadata.insert(FORMAT_KEY.into(), "2.7".into());
        assert!(Origin::read(&metadata, Path::new("f")).is_ok());
        metadata.insert(FORMAT_KEY.into(), "3".into());
        let error = Origin::read(&metadata, Path::new("f")).unwrap_err().to_string();
        assert_eq!(error, "f: is in format 3, and this laggard reads up to format 2: use a newer laggard");
    }

    #[test]
    fn a_foreign_file_is_no_file_of_a_dataset() {
        let error = Origin::read(&HashMap::new(), Path::new("f")).unwrap_err();
        assert!(matches!(error, StoreError::Broken { .. }));
    }
}
