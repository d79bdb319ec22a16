//! `laggard campaign report`: the results of a run.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use laggard_lab::campaign::report::{self, Report, Run, Table};

use super::explained;
use crate::failure::{Done, Outcome, tell};
use crate::output;

#[derive(Args)]
pub(crate) struct ReportCommand {
    /// The folder of a run.
    run: PathBuf,
    /// An earlier run to compare with.
    #[arg(long, value_name = "RUN")]
    diff: Option<PathBuf>,
    /// Print JSON.
    #[arg(long, conflicts_with_all = ["md", "html"])]
    json: bool,
    /// Print Markdown.
    #[arg(long, conflicts_with = "html")]
    md: bool,
    /// Print a self-contained HTML page.
    #[arg(long)]
    html: bool,
}

impl ReportCommand {
    pub(crate) fn run(self) -> Outcome {
        let of = |folder: &PathBuf| Run::read(folder).and_then(|run| Report::of(&run)).map_err(explained);
        let report = of(&self.run)?;
        let before = self.diff.as_ref().map(of).transpose()?;
        let changes = before.as_ref().map(|before| report::diff(before, &report));
        let table = before.iter().zip(&changes).next();
        let table = table.map(|(before, changes)| report::diff_table(changes, before, &report));
        let mut out = output::stdout();
        match (&changes, self.json, self.md, self.html) {
            (Some(changes), true, ..) => output::json(changes)?,
            (None, true, ..) => output::json(&report)?,
            (_, _, true, _) => write!(out, "{}", report::markdown(&report, table.as_ref()))?,
            (_, _, _, true) => write!(out, "{}", report::page(&report, table.as_ref()))?,
            _ => text(&report, table.as_ref())?,
        }
        out.flush()?;
        Ok(Done::Well)
    }
}

fn text(report: &Report, difference: Option<&Table>) -> anyhow::Result<()> {
    writeln!(output::stdout(), "{}\n", report.headline())?;
    if let Some(difference) = difference {
        writeln!(output::stdout(), "{}", difference.note)?;
    }
    for table in difference.into_iter().chain(&report::tables(report)) {
        print(table)?;
    }
    for warning in &report.warnings {
        tell(format_args!("warning: {warning}"));
    }
    Ok(())
}

fn print(table: &Table) -> anyhow::Result<()> {
    writeln!(output::stdout(), "{}", table.title)?;
    let headings: Vec<&str> = table.headings.iter().map(String::as_str).collect();
    let mut shown = output::table(&headings, &[]);
    for row in &table.rows {
        shown.add_row(row.iter().map(|field| field.text.as_str()));
    }
    output::print(&shown)?;
    writeln!(output::stdout())?;
    Ok(())
}
