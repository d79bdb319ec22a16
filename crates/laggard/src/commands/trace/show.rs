//! `laggard trace show`: single requests and their path through the layers.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use laggard_trace::analysis::Options;
use laggard_trace::excerpts::{self, Gap, RequestPath};
use laggard_trace::model::{Event, Kind, Layer, Request, RequestId};
use laggard_trace::numbers::{bytes, nanoseconds};
use laggard_trace::report::event_line;

use super::opening::{self, ScopeArgs};
use crate::failure::{Done, Outcome};
use crate::output;

/// Show single requests and their path through the layers, event by event.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace show run.ltr --slowest 20            the slowest requests of the top layer
  laggard trace show run.ltr --slowest 5 --layer dev
  laggard trace show run.ltr --req 2199023255600     the path of one request
  laggard trace show run.ltr --gap                   when the lowest layer was idle while others waited")]
pub(crate) struct Show {
    /// The trace file.
    #[arg(value_name = "TRACE.ltr")]
    file: PathBuf,
    #[command(flatten)]
    query: Query,
    /// The layer. Default: the top layer; for --gap the lowest.
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    #[command(flatten)]
    scope: ScopeArgs,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Query {
    /// All events of the path that this request is part of.
    #[arg(long, value_name = "ID")]
    req: Option<u64>,
    /// The N slowest requests, at most 20.
    #[arg(long, value_name = "N")]
    slowest: Option<usize>,
    /// The longest gaps of a layer during which a layer above had requests.
    #[arg(long)]
    gap: bool,
}

impl Show {
    pub(crate) fn run(self) -> Outcome {
        let options = self.scope.options();
        match (self.query.req, self.query.slowest) {
            (Some(id), _) => path(&self.file, &options, RequestId(id)),
            (None, Some(number)) => slowest(&self.file, &options, self.layer, number),
            (None, None) => longest_gaps(&self.file, &options, self.layer),
        }
    }
}

fn path(file: &Path, options: &Options, id: RequestId) -> Outcome {
    let found = excerpts::path(&mut opening::open(file)?, options, id);
    let Some(RequestPath { requests, is_cut }) = found else {
        bail!("{}: request {} does not end in this trace: `--slowest 20` lists some", file.display(), id.0);
    };
    let mut out = output::stdout();
    for event in events(&requests) {
        let depth = usize::from(event.layer.order());
        writeln!(out, "{:>20}  {}{}", event.req.0, " ".repeat(depth), event_line(&event))?;
    }
    if is_cut {
        writeln!(out, "and more")?;
    }
    out.flush()?;
    Ok(Done::Well)
}

fn events(requests: &[Request]) -> Vec<Event> {
    let kinds = [Kind::Admit, Kind::Issue, Kind::Complt, Kind::Callback];
    let mut events: Vec<Event> =
        requests.iter().flat_map(|request| kinds.map(|kind| request.event(kind))).flatten().collect();
    events.sort_by_key(|event| event.ts_ns);
    events
}

fn slowest(file: &Path, options: &Options, layer: Option<Layer>, number: usize) -> Outcome {
    let all = opening::characteristics(file, options)?;
    let Some(layer) = layer.or_else(|| Some(all.top()?.layer)) else {
        bail!("{}: no request ends in this trace", file.display());
    };
    let mut table = output::table(
        &["request", "at", "op", "offset", "size", "latency", "wait", "below", "return"],
        &[0, 1, 3, 4, 5, 6, 7, 8],
    );
    for request in all.examples.of(layer).slowest.iter().take(number) {
        table.add_row(row(request));
    }
    output::print(&table)?;
    Ok(Done::Well)
}

fn row(request: &Request) -> Vec<String> {
    let stages = request.stages_ns();
    let stage = |place: usize| stages.map_or_else(|| "-".to_owned(), |ns| nanoseconds(ns[place] as f64));
    let begin = request.at(Kind::Admit).unwrap_or(0);
    vec![
        request.id.0.to_string(),
        format!("{:.6}", begin as f64 / 1e9),
        request.op.name().to_owned(),
        if request.offset < 0 { "-".to_owned() } else { request.offset.to_string() },
        bytes(request.nbytes as f64),
        request.latency_ns().map_or_else(|| "-".to_owned(), |ns| nanoseconds(ns as f64)),
        stage(0),
        stage(1),
        stage(2),
    ]
}

fn longest_gaps(file: &Path, options: &Options, layer: Option<Layer>) -> Outcome {
    let layer = match layer {
        Some(layer) => layer,
        None => match opening::characteristics(file, options)?.layers.last() {
            Some(lowest) => lowest.layer,
            None => bail!("{}: no request ends in this trace", file.display()),
        },
    };
    let mut out = output::stdout();
    let gaps = excerpts::gaps(&mut opening::open(file)?, options, layer);
    if gaps.is_empty() {
        writeln!(out, "{layer} was never idle while a layer above had requests")?;
    }
    for gap in gaps {
        print_gap(&mut out, layer, &gap)?;
    }
    out.flush()?;
    Ok(Done::Well)
}

fn print_gap(out: &mut impl Write, layer: Layer, gap: &Gap) -> std::io::Result<()> {
    let length = nanoseconds(gap.to_ns.saturating_sub(gap.from_ns) as f64);
    writeln!(out, "{length} without a request at {layer}, {} open above", gap.open_above)?;
    let ends = [gap.before.event(Kind::Callback), gap.after.event(Kind::Admit)];
    ends.iter().flatten().try_for_each(|event| writeln!(out, "    {}", event_line(event)))
}
