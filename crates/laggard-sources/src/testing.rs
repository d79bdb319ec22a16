//! Shared by the tests of readers.

use std::path::PathBuf;

use laggard_core::model::time::Timestamp;

use crate::sink::MemorySink;

/// A file of the corpus of real recordings; prints a message if it does not exist.
pub(crate) fn corpus(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("LAGGARD_CORPUS").map(PathBuf::from);
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let file = root.unwrap_or_else(|| beside.into()).join(path);
    if !file.exists() {
        println!("skipped: the corpus has no {path} (set LAGGARD_CORPUS)");
        return None;
    }
    Some(file)
}

impl MemorySink {
    pub(crate) fn count(&self, table: &str) -> usize {
        self.rows.iter().filter(|(_, rows)| rows.schema().name == table).map(|(_, rows)| rows.len()).sum()
    }

    pub(crate) fn components(&self, table: &str) -> Vec<String> {
        let tables = self.rows.iter().filter(|(_, rows)| rows.schema().name == table);
        let mut names: Vec<String> =
            tables.flat_map(|(_, rows)| rows.names()).map(|name| name.to_string()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// With times.
    pub(crate) fn series(&self, component: &str, metric: &str) -> Vec<(String, f64)> {
        let mut series = Vec::new();
        for (_, rows) in &self.rows {
            let numbers = rows.schema().position(metric).and_then(|column| rows.numbers(column));
            for (row, &value) in numbers.unwrap_or_default().iter().enumerate() {
                if *rows.names()[rows.component[row] as usize] == *component {
                    series.push((Timestamp::from_micros(rows.time[row]).to_string(), value));
                }
            }
        }
        series
    }

    pub(crate) fn values(&self, component: &str, metric: &str) -> Vec<f64> {
        self.series(component, metric).into_iter().map(|(_, value)| value).collect()
    }

    pub(crate) fn note_texts(&self) -> Vec<&str> {
        self.notes.iter().map(|note| note.text.as_str()).collect()
    }
}
