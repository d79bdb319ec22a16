//! Output formats of `laggard show`, written one period of time after the other.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use clap::ValueEnum;
use laggard_core::model::component::natural_order;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;
use serde::Serialize;

use super::plot;
use crate::output;

/// Values of all metrics and components on one grid.
pub(crate) struct Series {
    grid: Grid,
    tables: Vec<Table>,
    /// In order of output, with the row in each table that has the component.
    components: Vec<(Arc<str>, Vec<Option<usize>>)>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns.
    Table,
    /// Comma-separated, with a heading.
    Csv,
    /// One object: see docs/dataset.md.
    Json,
    /// A curve for one component, or one line of blocks per component.
    Plot,
}

pub(crate) trait Writer {
    fn write(&mut self, series: &Series) -> io::Result<()>;
    fn finish(&mut self) -> io::Result<()>;
}

type Out = io::BufWriter<anstream::AutoStream<io::StdoutLock<'static>>>;

impl Format {
    pub(crate) fn writer(self, metrics: &[&'static Metric], every: Span) -> Box<dyn Writer> {
        let (out, metrics) = (output::stdout(), metrics.to_vec());
        match self {
            Format::Table => Box::new(Aligned { out, metrics, has_begun: false }),
            Format::Csv => Box::new(Csv { out, metrics, has_begun: false }),
            Format::Json => Box::new(Json { out, every, has_begun: false }),
            Format::Plot => Box::new(Plot { out }),
        }
    }
}

impl Series {
    /// A table may lack some of the components.
    pub(crate) fn new(grid: Grid, tables: Vec<Table>) -> Series {
        let mut rows: HashMap<Arc<str>, Vec<Option<usize>>> = HashMap::new();
        for (number, table) in tables.iter().enumerate() {
            for (row, name) in table.components.iter().enumerate() {
                rows.entry(name.clone()).or_insert_with(|| vec![None; tables.len()])[number] = Some(row);
            }
        }
        let mut components: Vec<_> = rows.into_iter().collect();
        components.sort_by_cached_key(|(name, _)| natural_order(name));
        Series { grid, tables, components }
    }

    pub(crate) fn has_values(&self) -> bool {
        self.tables.iter().any(|table| table.values.iter().any(|v| !v.is_nan()))
    }

    /// The values of a component, one slice per metric that it has.
    fn rows<'s>(&'s self, rows: &'s [Option<usize>]) -> impl Iterator<Item = Option<&'s [f64]>> {
        self.tables.iter().zip(rows).map(|(table, row)| row.map(|row| table.row(row)))
    }

    /// Calls `line` with every component and instant, and one value per metric.
    fn lines(&self, mut line: impl FnMut(&str, Timestamp, &[f64]) -> io::Result<()>) -> io::Result<()> {
        let mut values = Vec::new();
        for (component, rows) in &self.components {
            let rows: Vec<Option<&[f64]>> = self.rows(rows).collect();
            for (k, instant) in self.grid.instants().enumerate() {
                values.clear();
                values.extend(rows.iter().map(|row| row.map_or(f64::NAN, |row| row[k])));
                line(component, instant, &values)?;
            }
        }
        Ok(())
    }

    fn name_width(&self) -> usize {
        self.components.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0)
    }
}

struct Aligned {
    out: Out,
    metrics: Vec<&'static Metric>,
    has_begun: bool,
}

impl Aligned {
    fn heading(&mut self, names: usize, widths: &[usize]) -> io::Result<()> {
        write!(self.out, "{:<24}  {:<names$}", "TIME", "COMPONENT")?;
        for (metric, width) in self.metrics.iter().zip(widths) {
            write!(self.out, "  {:>width$}", labelled(metric))?;
        }
        writeln!(self.out)
    }
}

fn labelled(metric: &Metric) -> String {
    format!("{} ({})", metric.name, metric.unit.symbol())
}

impl Writer for Aligned {
    fn write(&mut self, series: &Series) -> io::Result<()> {
        let names = series.name_width().max(9);
        let widths: Vec<usize> = self.metrics.iter().map(|m| labelled(m).chars().count().max(12)).collect();
        if !std::mem::replace(&mut self.has_begun, true) {
            self.heading(names, &widths)?;
        }
        let Aligned { out, metrics, .. } = self;
        series.lines(|component, instant, values| {
            write!(out, "{:<24}  {component:<names$}", instant.to_string())?;
            for ((value, width), metric) in values.iter().zip(&widths).zip(&*metrics) {
                write!(out, "  {:>width$}", number(*value, metric.decimals))?;
            }
            writeln!(out)
        })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

struct Csv {
    out: Out,
    metrics: Vec<&'static Metric>,
    has_begun: bool,
}

impl Writer for Csv {
    fn write(&mut self, series: &Series) -> io::Result<()> {
        let out = &mut self.out;
        if !std::mem::replace(&mut self.has_begun, true) {
            let names: Vec<&str> = self.metrics.iter().map(|m| m.name).collect();
            writeln!(out, "time,component,{}", names.join(","))?;
        }
        series.lines(|component, instant, values| {
            write!(out, "{instant},{}", quoted(component))?;
            // All digits; an empty field for a missing value.
            for value in values {
                if value.is_nan() { write!(out, ",")? } else { write!(out, ",{value}")? }
            }
            writeln!(out)
        })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Written piece by piece: the output may be larger than memory.
struct Json {
    out: Out,
    every: Span,
    has_begun: bool,
}

#[derive(Serialize)]
struct JsonSeries<'a> {
    component: &'a str,
    metric: &'static str,
    unit: &'static str,
    from: Timestamp,
    values: Vec<Option<f64>>,
}

impl Writer for Json {
    fn write(&mut self, series: &Series) -> io::Result<()> {
        for (component, rows) in &series.components {
            for (table, row) in series.tables.iter().zip(series.rows(rows)) {
                let Some(row) = row else { continue };
                self.separate()?;
                serde_json::to_writer(&mut self.out, &json_series(component, table, row))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.has_begun {
            self.separate()?;
        }
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}

impl Json {
    fn separate(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return writeln!(self.out, ",");
        }
        let every = self.every;
        writeln!(self.out, r#"{{"schema":"laggard.show/1","every":"{every}","series":["#)
    }
}

fn json_series<'a>(component: &'a str, table: &Table, row: &[f64]) -> JsonSeries<'a> {
    JsonSeries {
        component,
        metric: table.metric.name,
        unit: table.metric.unit.symbol(),
        from: table.grid.start,
        values: row.iter().map(|v| (!v.is_nan()).then_some(*v)).collect(),
    }
}

struct Plot {
    out: Out,
}

impl Writer for Plot {
    fn write(&mut self, series: &Series) -> io::Result<()> {
        let out = &mut self.out;
        for (number, table) in series.tables.iter().enumerate() {
            let (metric, grid) = (table.metric, table.grid);
            writeln!(out, "{}: {}", labelled(metric), metric.about)?;
            writeln!(out, "{} to {}, every {}", grid.start, grid.end(), grid.step)?;
            match table.components.len() {
                1 => plot_one(out, table)?,
                _ => plot_many(out, series, number)?,
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

const CURVE_HEIGHT: usize = 8;

fn plot_one(out: &mut impl Write, table: &Table) -> io::Result<()> {
    writeln!(out, "{}", table.components[0])?;
    for line in plot::curve(table.row(0), output::width().saturating_sub(14), CURVE_HEIGHT) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn plot_many(out: &mut impl Write, series: &Series, number: usize) -> io::Result<()> {
    let table = &series.tables[number];
    let top = largest(&table.values).unwrap_or(0.0);
    let names = series.name_width();
    let room = output::width().saturating_sub(names + 28).max(10);
    let (mut idle, mut absent) = (0, 0);
    for (component, rows) in &series.components {
        let Some(row) = rows[number].map(|row| table.row(row)) else { continue };
        match largest(row) {
            None => absent += 1,
            Some(0.0) => idle += 1,
            Some(most) => {
                let (line, mean, most) =
                    (plot::sparkline(row, room, top), output::short(mean(row)), output::short(most));
                writeln!(out, "{component:<names$} {line} {mean:>9} mean {most:>9} max")?;
            }
        }
    }
    for (count, words) in [(idle, "always 0"), (absent, "without a value")] {
        if count > 0 {
            writeln!(out, "{} {words}", output::count(count, "component"))?;
        }
    }
    Ok(())
}

fn largest(values: &[f64]) -> Option<f64> {
    values.iter().copied().filter(|v| !v.is_nan()).max_by(f64::total_cmp)
}

fn mean(values: &[f64]) -> f64 {
    let present = || values.iter().filter(|v| !v.is_nan());
    present().sum::<f64>() / present().count() as f64
}

fn number(value: f64, decimals: usize) -> String {
    if value.is_nan() { "-".into() } else { format!("{value:.decimals$}") }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_only_what_needs_it() {
        assert_eq!(quoted("oss3:sda"), "oss3:sda");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
