//! `laggard trace analyze`: the layer that slows requests down, and why.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use laggard_core::report::text::Layout;
use laggard_trace::excerpts::timeline;
use laggard_trace::findings::{Severity, find};
use laggard_trace::report::{Report, csv, html, perfetto, text};

use super::opening::{self, ScopeArgs};
use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::output;

/// Find the layer of the I/O stack that slows requests down, and why.
///
/// Searches from the bottom up for metrics outside their range, follows them to the highest layer that shows them, and
/// reports the likely cause, fixes and the estimated gain.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace analyze run.ltr
  laggard trace analyze run.ltr --ref ref.toml --html run.html
  laggard trace analyze run.ltr --json | jq '.findings[0]'
  laggard trace analyze run.ltr --perfetto run.json        for ui.perfetto.dev
  laggard trace analyze run.ltr --csv > metrics.csv

Exit status: 0 no finding is worth a fix, 1 findings, 2 usage or input error, 4 too many events were lost.")]
pub(crate) struct Analyze {
    /// The trace file.
    #[arg(value_name = "TRACE.ltr")]
    file: PathBuf,
    /// Expected values: see `laggard trace calibrate` and `laggard trace baseline`.
    #[arg(long = "ref", value_name = "REF.toml")]
    reference: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print JSON: see docs/tracing.md.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print all metrics as CSV.
    #[arg(long)]
    csv: bool,
    /// Write a page with diagrams.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write all requests as trace events for Perfetto.
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
}

impl Analyze {
    pub(crate) fn run(self) -> Outcome {
        let page = self.html.as_deref().map(AtomicFile::create).transpose()?;
        let events = self.perfetto.as_deref().map(AtomicFile::create).transpose()?;
        let reference = opening::reference(self.reference.as_ref())?;
        let options = self.scope.options();
        let characteristics = opening::characteristics(&self.file, &options)?;
        let findings = find(&characteristics, &reference);
        let report = Report::new(&self.file.display().to_string(), characteristics, findings);
        if let Some(page) = page {
            let timeline = timeline(&mut opening::open(&self.file)?, &options, &report.characteristics);
            page.write(&html::page(&report, &timeline))?;
        }
        if let Some(events) = events {
            let to = BufWriter::with_capacity(1 << 16, events.handle()?);
            perfetto::write(&mut opening::open(&self.file)?, &options, to)
                .with_context(|| written(self.perfetto.as_deref()))?;
            events.finish()?;
        }
        self.print(&report)?;
        outcome(&report)
    }

    fn print(&self, report: &Report) -> anyhow::Result<()> {
        if self.json {
            return output::json(report);
        }
        let mut out = output::stdout();
        if self.csv {
            csv::write(report, &mut out)?;
        } else {
            // `output::stdout` removes colours where standard output is not a terminal.
            let layout = Layout { width: output::width(), has_colours: true };
            out.write_all(text::render(report, layout).as_bytes())?;
        }
        out.flush()?;
        for path in [&self.html, &self.perfetto].into_iter().flatten() {
            tell(format_args!("written: {}", path.display()));
        }
        Ok(())
    }
}

fn written(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn outcome(report: &Report) -> Outcome {
    if report.characteristics.layers.is_empty() {
        bail!(TooPoor("no request in the trace could be analysed".into()));
    }
    if report.is_too_lossy {
        bail!(TooPoor("too many events were lost: record again with a larger --buf, or fewer layers".into()));
    }
    Ok(if report.worst() >= Some(Severity::Warn) { Done::WithSuspects } else { Done::Well })
}
