//! The mapping file: TOML, checked as a whole before it is used.

use std::collections::BTreeMap;
use std::fmt;

use laggard_core::model::component::Kind;
use laggard_core::model::metric::Metric;
use laggard_core::model::schema::{Form, SCHEMAS, Schema, Values};
use laggard_core::model::time::Span;
use serde::Deserialize;
use toml::Spanned;

use super::template::{PathPattern, Template};

#[derive(Clone, Debug)]
pub struct Mapping {
    pub(super) time: TimeColumn,
    pub(super) path: Option<PathPattern>,
    pub(super) host: Option<Template>,
    pub(super) tables: Vec<TableMapping>,
    pub(super) options: Options,
    group_by: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct TableMapping {
    pub(super) schema: &'static Schema,
    /// The name within the host; None if the host itself is the component.
    pub(super) component: Option<Template>,
    pub(super) columns: Vec<ColumnMapping>,
}

/// A column of a table, and the file's column for it.
#[derive(Clone, Debug)]
pub(super) struct ColumnMapping {
    pub(super) position: usize,
    pub(super) column: String,
    pub(super) scale: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeColumn {
    pub(super) column: String,
    pub(super) unit: TimeUnit,
    pub(super) every: Option<Span>,
}

/// Units since 1970 in UTC, or a text.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) enum TimeUnit {
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "iso8601")]
    Text,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Options {
    pub(super) delimiter: char,
    pub(super) decimal: char,
    /// Texts that stand for a missing value.
    pub(super) missing: Vec<String>,
    /// The first character of lines to skip.
    pub(super) comment: Option<char>,
    /// For files without a heading.
    pub(super) columns: Option<Vec<String>>,
}

impl Default for Options {
    fn default() -> Self {
        let missing = ["", "NA", "NaN", "nan", "null"].map(String::from).to_vec();
        Options { delimiter: ',', decimal: '.', missing, comment: None, columns: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct MappingError(String);

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    time: TimeColumn,
    path: Option<WrittenPath>,
    #[serde(default)]
    component: WrittenComponent,
    #[serde(default)]
    metrics: BTreeMap<Spanned<String>, WrittenColumn>,
    #[serde(default)]
    counters: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, WrittenColumn>>,
    #[serde(default)]
    options: Options,
    peers: Option<WrittenPeers>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPeers {
    group_by: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPath {
    pattern: Spanned<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenComponent {
    host: Option<Spanned<String>>,
    device: Option<Spanned<String>>,
    interface: Option<Spanned<String>>,
    remote: Option<Spanned<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a column's name, or { column = \"...\", scale = ... }")]
enum WrittenColumn {
    Name(String),
    Scaled(ScaledColumn),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScaledColumn {
    column: String,
    #[serde(default = "one")]
    scale: f64,
}

fn one() -> f64 {
    1.0
}

impl Mapping {
    pub fn read(text: &str) -> Result<Mapping, MappingError> {
        let written: Written = toml::from_str(text).map_err(|error| MappingError(error.to_string()))?;
        Checker { text }.mapping(written)
    }

    /// The attributes that peers have in common, if the mapping has them.
    pub fn group_by(&self) -> Option<&[String]> {
        (!self.group_by.is_empty()).then_some(&self.group_by)
    }
}

/// Checks the file and reports the line of an error.
struct Checker<'t> {
    text: &'t str,
}

impl Checker<'_> {
    fn mapping(&self, written: Written) -> Result<Mapping, MappingError> {
        let component = &written.component;
        let path = written.path.map(|path| self.at(&path.pattern, PathPattern::read)).transpose()?;
        let host = self.template(component.host.as_ref())?;
        self.options(&written.options)?;
        if written.time.every.is_some_and(|every| every <= Span::ZERO) {
            return Err(MappingError("[time]: expected a positive `every`".into()));
        }
        let mut tables = self.metrics(&written.metrics, component)?;
        tables.extend(self.counters(&written.counters, component)?);
        if tables.is_empty() {
            return Err(MappingError(
                "expected a [metrics] or [counters.TABLE] with at least one column".into(),
            ));
        }
        let group_by = written.peers.map(|peers| peers.group_by).unwrap_or_default();
        Ok(Mapping { time: written.time, path, host, tables, options: written.options, group_by })
    }

    fn metrics(
        &self,
        metrics: &BTreeMap<Spanned<String>, WrittenColumn>,
        component: &WrittenComponent,
    ) -> Result<Vec<TableMapping>, MappingError> {
        let mut tables: Vec<TableMapping> = Vec::new();
        for (name, written) in metrics {
            let metric = Metric::named(name.get_ref()).ok_or_else(|| self.no_metric(name))?;
            let schema = Schema::of(metric).rates();
            let position = schema.position(metric.name).expect("a table of rates has its metrics");
            let column = self.column(name, position, written)?;
            match tables.iter_mut().find(|table| table.schema == schema) {
                Some(table) => table.columns.push(column),
                None => tables.push(self.table(schema, name, component, vec![column])?),
            }
        }
        Ok(tables)
    }

    fn counters(
        &self,
        counters: &BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, WrittenColumn>>,
        component: &WrittenComponent,
    ) -> Result<Vec<TableMapping>, MappingError> {
        let table = |(name, written): (&Spanned<String>, &BTreeMap<Spanned<String>, WrittenColumn>)| {
            let schema = Schema::named(name.get_ref()).filter(|schema| schema.values == Values::Counts);
            let schema = schema.ok_or_else(|| self.no_table(name))?;
            let column = |(key, written): (&Spanned<String>, &WrittenColumn)| {
                let position = schema.position(key.get_ref()).ok_or_else(|| self.no_counter(schema, key))?;
                self.column(key, position, written)
            };
            self.table(schema, name, component, written.iter().map(column).collect::<Result<_, _>>()?)
        };
        counters.iter().map(table).collect()
    }

    fn table(
        &self,
        schema: &'static Schema,
        key: &Spanned<String>,
        written: &WrittenComponent,
        columns: Vec<ColumnMapping>,
    ) -> Result<TableMapping, MappingError> {
        let (word, component) = match &schema.kind {
            kind if *kind == Kind::ATTACHMENT => ("device", written.device.as_ref()),
            kind if *kind == Kind::NIC => ("interface", written.interface.as_ref()),
            kind if *kind == Kind::LINK || *kind == Kind::SOCKET => ("remote", written.remote.as_ref()),
            _ => ("", None),
        };
        if !word.is_empty() && component.is_none() {
            let name = key.get_ref();
            return Err(self.wrong(key, format!("{name:?} needs `{word} = \"...\"` in [component]")));
        }
        Ok(TableMapping { schema, component: self.template(component)?, columns })
    }

    fn column(
        &self,
        key: &Spanned<String>,
        position: usize,
        written: &WrittenColumn,
    ) -> Result<ColumnMapping, MappingError> {
        let (column, scale) = match written {
            WrittenColumn::Name(column) => (column.clone(), 1.0),
            WrittenColumn::Scaled(scaled) => (scaled.column.clone(), scaled.scale),
        };
        if !(scale.is_finite() && scale != 0.0) {
            return Err(self.wrong(key, format!("expected a scale other than 0, found {scale}")));
        }
        Ok(ColumnMapping { position, column, scale })
    }

    fn options(&self, options: &Options) -> Result<(), MappingError> {
        let marks = [Some(options.delimiter), Some(options.decimal), options.comment];
        match marks.into_iter().flatten().find(|mark| !mark.is_ascii()) {
            Some(mark) => {
                Err(MappingError(format!("[options]: expected an ASCII character, found {mark:?}")))
            }
            None if options.delimiter == options.decimal => {
                let mark = options.decimal;
                Err(MappingError(format!(
                    "[options]: {mark:?} cannot be both the delimiter and the decimal mark"
                )))
            }
            None => Ok(()),
        }
    }

    fn template(&self, written: Option<&Spanned<String>>) -> Result<Option<Template>, MappingError> {
        written.map(|text| self.at(text, Template::read)).transpose()
    }

    fn at<T>(&self, text: &Spanned<String>, read: fn(&str) -> Result<T, String>) -> Result<T, MappingError> {
        read(text.get_ref()).map_err(|wrong| self.wrong(text, wrong))
    }

    fn no_metric(&self, name: &Spanned<String>) -> MappingError {
        self.wrong(name, format!("expected a metric ({}), found {:?}", Metric::names(), name.get_ref()))
    }

    fn no_table(&self, name: &Spanned<String>) -> MappingError {
        let counted = SCHEMAS.iter().filter(|schema| schema.values == Values::Counts);
        let names: Vec<&str> = counted.map(|schema| schema.name).collect();
        self.wrong(name, format!("expected a table ({}), found {:?}", names.join(", "), name.get_ref()))
    }

    fn no_counter(&self, schema: &Schema, name: &Spanned<String>) -> MappingError {
        let counters = schema.columns.iter().filter(|column| column.form != Form::Metric);
        let names: Vec<&str> = counters.map(|column| column.name).collect();
        let (table, names) = (schema.name, names.join(", "));
        self.wrong(name, format!("expected a counter of {table} ({names}), found {:?}", name.get_ref()))
    }

    fn wrong(&self, at: &Spanned<String>, text: String) -> MappingError {
        let before = self.text.as_bytes().get(..at.span().start).unwrap_or_default();
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        MappingError(format!("line {line}: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [time]
        column = "ts"
        unit = "s"
        every = "15s"
        [component]
        host = "{host}"
        device = "{disk}"
        [metrics]
        throughput = "bytes"
        await = { column = "latency", scale = 0.001 }
        [counters.disk]
        reads = "reads"
    "#;

    fn error(change: &str, into: &str) -> String {
        assert!(GOOD.contains(change));
        Mapping::read(&GOOD.replacen(change, into, 1)).unwrap_err().to_string()
    }

    #[test]
    fn metrics_and_counters_become_tables() {
        let mapping = Mapping::read(GOOD).unwrap();
        let tables: Vec<_> = mapping.tables.iter().map(|t| (t.schema.name, t.columns.len())).collect();
        assert_eq!(tables, [("disk_rates", 2), ("disk", 1)]);
    }

    #[test]
    fn errors_name_the_key_and_its_line() {
        assert!(error("throughput =", "thruput =").starts_with("line 10: expected a metric (tps, "));
        assert!(error("reads =", "raeds =").starts_with("line 13: expected a counter of disk (reads, "));
        assert!(error("counters.disk", "counters.disc").contains("line 12: expected a table (disk, net, "));
        assert!(error("device = \"{disk}\"", "").contains("needs `device = \"...\"` in [component]"));
        assert!(error("{disk}", "{disk").contains("line 8: \"{disk\" lacks a closing }"));
        assert!(error("every =", "evry =").contains("line 5"));
        assert!(error("0.001", "0").contains("line 11: expected a scale other than 0"));
        assert!(error("scale", "scael").contains("expected a column's name, or"));
        assert!(error("unit = \"s\"", "unit = \"h\"").contains("iso8601"));
    }

    #[test]
    fn a_mapping_without_values_is_refused() {
        let text = "[time]\ncolumn = \"ts\"\nunit = \"s\"";
        assert!(Mapping::read(text).unwrap_err().to_string().contains("[metrics]"));
    }
}
