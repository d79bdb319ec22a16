//! Metrics of components, written for people or for programs, a stretch of time after the other.

use std::io::{self, Write};

use clap::ValueEnum;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;
use serde::Serialize;

use crate::{output, plot};

/// Metrics ready to be shown, on one grid.
pub struct Shown {
    /// The instants.
    pub grid: Grid,
    /// All components, in the order of showing.
    pub components: Vec<String>,
    /// The metrics; a table may lack some of the components.
    pub tables: Vec<Table>,
}

/// How to show values.
#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    /// Aligned columns.
    Table,
    /// Comma-separated, with a heading.
    Csv,
    /// One object: see docs/dataset.md.
    Json,
    /// A curve for one component, a line of blocks for each of many.
    Plot,
}

/// Writes what is shown, in one format.
pub trait Writer {
    /// Writes one stretch of time.
    fn write(&mut self, shown: &Shown) -> io::Result<()>;
    /// Ends the output.
    fn finish(&mut self) -> io::Result<()>;
}

type Out = io::BufWriter<anstream::AutoStream<io::StdoutLock<'static>>>;

impl Format {
    /// A writer to standard output.
    pub fn writer(self, metrics: &[&'static Metric], every: Span) -> Box<dyn Writer> {
        let (out, metrics) = (output::stdout(), metrics.to_vec());
        match self {
            Format::Table => Box::new(Aligned { out, metrics, begun: false }),
            Format::Csv => Box::new(Csv { out, metrics, begun: false }),
            Format::Json => Box::new(Json { out, every, begun: false }),
            Format::Plot => Box::new(Plot { out }),
        }
    }
}

impl Shown {
    /// The values of a component, a slice for each metric; nothing where the component does not have it.
    fn of(&self, component: &str) -> Vec<Option<&[f64]>> {
        let row = |t: &Table| t.components.iter().position(|c| **c == *component);
        self.tables.iter().map(|t| row(t).map(|at| t.row(at))).collect()
    }

    /// Calls back with every line: component, instant, and a value for each metric.
    fn lines(&self, mut line: impl FnMut(&str, Timestamp, &[f64]) -> io::Result<()>) -> io::Result<()> {
        let mut values = Vec::new();
        for component in &self.components {
            let rows = self.of(component);
            for (k, instant) in self.grid.instants().enumerate() {
                values.clear();
                values.extend(rows.iter().map(|row| row.map_or(f64::NAN, |row| row[k])));
                line(component, instant, &values)?;
            }
        }
        Ok(())
    }
}

struct Aligned {
    out: Out,
    metrics: Vec<&'static Metric>,
    begun: bool,
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
    fn write(&mut self, shown: &Shown) -> io::Result<()> {
        let names = shown.components.iter().map(|c| c.chars().count()).max().unwrap_or(0).max(9);
        let widths: Vec<usize> = self.metrics.iter().map(|m| labelled(m).chars().count().max(12)).collect();
        if !std::mem::replace(&mut self.begun, true) {
            self.heading(names, &widths)?;
        }
        let Aligned { out, metrics, .. } = self;
        shown.lines(|component, instant, values| {
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
    begun: bool,
}

impl Writer for Csv {
    fn write(&mut self, shown: &Shown) -> io::Result<()> {
        let out = &mut self.out;
        if !std::mem::replace(&mut self.begun, true) {
            let names: Vec<&str> = self.metrics.iter().map(|m| m.name).collect();
            writeln!(out, "time,component,{}", names.join(","))?;
        }
        shown.lines(|component, instant, values| {
            write!(out, "{instant},{}", quoted(component))?;
            // All the digits there are, and nothing where there is no value.
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

/// Written piece by piece, since it may be larger than memory.
struct Json {
    out: Out,
    every: Span,
    begun: bool,
}

#[derive(Serialize)]
struct Series<'a> {
    component: &'a str,
    metric: &'static str,
    unit: &'static str,
    from: Timestamp,
    values: Vec<Option<f64>>,
}

impl Writer for Json {
    fn write(&mut self, shown: &Shown) -> io::Result<()> {
        for component in &shown.components {
            for (table, row) in shown.tables.iter().zip(shown.of(component)) {
                let Some(row) = row else { continue };
                self.separate()?;
                serde_json::to_writer(&mut self.out, &series(component, table, row))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.begun {
            self.separate()?;
        }
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}

impl Json {
    fn separate(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return writeln!(self.out, ",");
        }
        let every = self.every;
        writeln!(self.out, r#"{{"schema":"laggard.show/1","every":"{every}","series":["#)
    }
}

fn series<'a>(component: &'a str, table: &Table, row: &[f64]) -> Series<'a> {
    Series {
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
    fn write(&mut self, shown: &Shown) -> io::Result<()> {
        let out = &mut self.out;
        for table in &shown.tables {
            let (metric, grid) = (table.metric, table.grid);
            writeln!(out, "{}: {}", labelled(metric), metric.about)?;
            writeln!(out, "{} to {}, every {}", grid.start, grid.end(), grid.step)?;
            match table.components.len() {
                1 => plot_one(out, table)?,
                _ => plot_many(out, table, &shown.components)?,
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

fn plot_many(out: &mut impl Write, table: &Table, components: &[String]) -> io::Result<()> {
    let top = largest(&table.values).unwrap_or(0.0);
    let names = components.iter().map(|c| c.chars().count()).max().unwrap_or(0);
    let room = output::width().saturating_sub(names + 30).max(10);
    let mut idle = 0;
    for component in components {
        let Some(at) = table.components.iter().position(|c| **c == *component) else { continue };
        let row = table.row(at);
        let Some(most) = largest(row).filter(|most| *most != 0.0) else {
            idle += 1;
            continue;
        };
        let decimals = table.metric.decimals;
        let (mean, most) = (number(mean(row), decimals), number(most, decimals));
        let line = plot::sparkline(row, room, top);
        writeln!(out, "{component:<names$} {line} {mean:>10} mean {most:>10} max")?;
    }
    if idle > 0 {
        writeln!(out, "{} at 0 all the time", output::count(idle, "component"))?;
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
