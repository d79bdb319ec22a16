//! Metrics of components, written for people or for programs.

use std::io::{self, Write};

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

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    from: Timestamp,
    to: Timestamp,
    every: Span,
    series: Vec<Series<'a>>,
}

#[derive(Serialize)]
struct Series<'a> {
    component: &'a str,
    metric: &'static str,
    unit: &'static str,
    values: Vec<Option<f64>>,
}

impl Shown {
    /// The values of a component, a slice for each metric; nothing where the component does not have it.
    fn of(&self, component: &str) -> Vec<Option<&[f64]>> {
        let row = |t: &Table| t.components.iter().position(|c| **c == *component);
        self.tables.iter().map(|t| row(t).map(|at| t.row(at))).collect()
    }

    /// Calls back with every line: component, instant, and a value for each metric.
    fn lines(&self, mut line: impl FnMut(&str, Timestamp, &[f64]) -> io::Result<()>) -> io::Result<()> {
        for component in &self.components {
            let rows = self.of(component);
            for (k, instant) in self.grid.instants().enumerate() {
                let values: Vec<f64> = rows.iter().map(|row| row.map_or(f64::NAN, |row| row[k])).collect();
                line(component, instant, &values)?;
            }
        }
        Ok(())
    }

    fn decimals(&self) -> Vec<usize> {
        self.tables.iter().map(|t| t.metric.decimals).collect()
    }

    /// As aligned columns.
    pub fn print_table(&self) -> io::Result<()> {
        let units = self.tables.iter().map(|t| format!("{} ({})", t.metric.name, t.metric.unit.symbol()));
        let heading: Vec<String> = ["TIME", "COMPONENT"].map(String::from).into_iter().chain(units).collect();
        let name_width = self.components.iter().map(|c| c.chars().count()).max().unwrap_or(0).max(9);
        let widths: Vec<usize> = heading[2..].iter().map(|h| h.chars().count().max(12)).collect();
        let decimals = self.decimals();
        let mut out = output::stdout();
        write!(out, "{:<24}  {:<name_width$}", heading[0], heading[1])?;
        for (word, width) in heading[2..].iter().zip(&widths) {
            write!(out, "  {word:>width$}")?;
        }
        writeln!(out)?;
        self.lines(|component, instant, values| {
            write!(out, "{:<24}  {component:<name_width$}", instant.to_string())?;
            for ((value, width), decimals) in values.iter().zip(&widths).zip(&decimals) {
                write!(out, "  {:>width$}", number(*value, *decimals, "-"))?;
            }
            writeln!(out)
        })?;
        out.flush()
    }

    /// Comma-separated, with a heading.
    pub fn print_csv(&self) -> io::Result<()> {
        let mut out = output::stdout();
        let names: Vec<&str> = self.tables.iter().map(|t| t.metric.name).collect();
        writeln!(out, "time,component,{}", names.join(","))?;
        self.lines(|component, instant, values| {
            write!(out, "{instant},{}", quoted(component))?;
            for value in values.iter() {
                write!(out, ",{}", exact(*value))?;
            }
            writeln!(out)
        })?;
        out.flush()
    }

    /// As one JSON object.
    pub fn print_json(&self) -> anyhow::Result<()> {
        let Grid { start, step, .. } = self.grid;
        let (from, to) = (start, self.grid.end());
        output::json(&Document { schema: "laggard.show/1", from, to, every: step, series: self.series() })
    }

    fn series(&self) -> Vec<Series<'_>> {
        let mut all = Vec::new();
        for component in &self.components {
            for (table, row) in self.tables.iter().zip(self.of(component)) {
                all.extend(row.map(|row| series(component, table, row)));
            }
        }
        all
    }

    /// As plots.
    pub fn print_plot(&self) -> io::Result<()> {
        let mut out = output::stdout();
        for table in &self.tables {
            let metric = table.metric;
            writeln!(out, "{} ({}): {}", metric.name, metric.unit.symbol(), metric.about)?;
            writeln!(out, "{} to {}, every {}", self.grid.start, self.grid.end(), self.grid.step)?;
            match table.components.len() {
                1 => plot_one(&mut out, table)?,
                _ => self.plot_many(&mut out, table)?,
            }
            writeln!(out)?;
        }
        out.flush()
    }

    fn plot_many(&self, out: &mut impl Write, table: &Table) -> io::Result<()> {
        let top = table.values.iter().copied().filter(|v| !v.is_nan()).fold(0.0, f64::max);
        let name_width = self.components.iter().map(|c| c.chars().count()).max().unwrap_or(0);
        let room = output::width().saturating_sub(name_width + 28).max(10);
        for component in &self.components {
            let Some(at) = table.components.iter().position(|c| **c == *component) else { continue };
            let row = table.row(at);
            let (mean, most) = (mean(row), row.iter().copied().filter(|v| !v.is_nan()).fold(f64::NAN, f64::max));
            let decimals = table.metric.decimals;
            let (mean, most) = (number(mean, decimals, "-"), number(most, decimals, "-"));
            writeln!(out, "{component:<name_width$} {:<room$} {mean:>10} mean {most:>10} max", plot::sparkline(row, room, top))?;
        }
        Ok(())
    }
}

fn series<'a>(component: &'a str, table: &Table, row: &[f64]) -> Series<'a> {
    Series {
        component,
        metric: table.metric.name,
        unit: table.metric.unit.symbol(),
        values: row.iter().map(|v| (!v.is_nan()).then_some(*v)).collect(),
    }
}

fn plot_one(out: &mut impl Write, table: &Table) -> io::Result<()> {
    writeln!(out, "{}", table.components[0])?;
    for line in plot::curve(table.row(0), output::width().saturating_sub(14), 10) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn mean(values: &[f64]) -> f64 {
    let present = || values.iter().filter(|v| !v.is_nan());
    present().sum::<f64>() / present().count() as f64
}

fn number(value: f64, decimals: usize, missing: &str) -> String {
    if value.is_nan() { missing.into() } else { format!("{value:.decimals$}") }
}

/// All the digits there are, and nothing where there is no value.
fn exact(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
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
