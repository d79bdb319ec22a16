//! Standard output: tables for people, and texts that several commands share.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table};

/// A borderless table with a heading; `right` names the columns of numbers.
pub(crate) fn table(heading: &[&str], right: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(heading.iter().map(|word| word.to_uppercase()));
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.column_iter_mut().for_each(|column| _ = column.set_padding((0, 2)));
    table
}

/// Writes a table without the blanks that fill its lines.
pub(crate) fn print(table: &Table) -> io::Result<()> {
    let mut out = stdout();
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()
}

/// Buffered standard output, with colours only on a terminal.
pub(crate) fn stdout() -> io::BufWriter<anstream::AutoStream<io::StdoutLock<'static>>> {
    io::BufWriter::with_capacity(64 * 1024, anstream::stdout().lock())
}

/// Writes a value as JSON, on lines of its own.
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut out = stdout();
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// `1.5 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// A number in nine characters at most: `12.30`, `129.23M`, `1.2e-7`.
pub(crate) fn short(value: f64) -> String {
    let scales = [(1e12, "T"), (1e9, "G"), (1e6, "M")];
    match scales.iter().find(|(scale, _)| value.abs() >= *scale) {
        Some((scale, unit)) if value.abs() < 1e16 => format!("{:.2}{unit}", value / scale),
        Some(_) => format!("{value:.2e}"),
        None if value != 0.0 && value.abs() < 0.01 => format!("{value:.1e}"),
        None => format!("{value:.2}"),
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// The width of the terminal in columns; 100 without a terminal.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(100, |(width, _)| usize::from(width.0)).max(60)
}

/// A time in whole minutes.
pub(crate) fn minutes(time: std::time::Duration) -> String {
    format!("{} min", time.as_secs().div_ceil(60))
}
