//! `laggard trace show`: single requests and their way through the layers.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use laggard_trace::analysis::Options;
use laggard_trace::findings::case::event_of;
use laggard_trace::findings::words::{bytes, nanoseconds};
use laggard_trace::model::{Event, Kind, Layer, Request, RequestId};
use laggard_trace::report::event_line;
use laggard_trace::report::picture::{Gap, Path as RequestPath, gaps, paths};

use super::opening::{self, Whose};
use crate::failure::{Done, Outcome};
use crate::output;

/// Show single requests and their way through the layers, event by event.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace show run.ltr --slowest 20            the slowest requests of the top layer
  laggard trace show run.ltr --slowest 5 --layer dev
  laggard trace show run.ltr --req 2199023255600     all that was done for one request
  laggard trace show run.ltr --gap                   where the lowest layer rested while others waited")]
pub struct Show {
    /// The trace file.
    #[arg(value_name = "TRACE.ltr")]
    file: PathBuf,
    #[command(flatten)]
    what: What,
    /// Of this layer. Default: the top one; for --gap the lowest.
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct What {
    /// The path that this request is part of, all its events.
    #[arg(long, value_name = "ID")]
    req: Option<u64>,
    /// So many of the slowest requests, at most 20.
    #[arg(long, value_name = "N")]
    slowest: Option<usize>,
    /// The longest stretches in which a layer had nothing to do while one above had.
    #[arg(long)]
    gap: bool,
}

impl Show {
    pub fn run(self) -> Outcome {
        let options = self.whose.options();
        match (self.what.req, self.what.slowest) {
            (Some(id), _) => path(&self.file, &options, RequestId(id)),
            (None, Some(number)) => slowest(&self.file, &options, self.layer, number),
            (None, None) => longest_gaps(&self.file, &options, self.layer),
        }
    }
}

fn path(file: &Path, options: &Options, id: RequestId) -> Outcome {
    let found = paths(&mut opening::open(file)?, options, &[id]);
    let Some(RequestPath { requests, is_cut }) = found.into_iter().next() else {
        bail!("{}: no request {} ended in it: `--slowest 20` lists some", file.display(), id.0);
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
        requests.iter().flat_map(|request| kinds.map(|kind| event_of(request, kind))).flatten().collect();
    events.sort_by_key(|event| event.ts_ns);
    events
}

fn slowest(file: &Path, options: &Options, layer: Option<Layer>, number: usize) -> Outcome {
    let all = opening::characteristics(file, options)?;
    let Some(layer) = layer.or_else(|| Some(all.top()?.layer)) else {
        bail!("{}: no request ended in it", file.display());
    };
    let mut table = output::table(
        &["request", "at", "op", "offset", "size", "took", "waited", "below", "back"],
        &[0, 1, 3, 4, 5, 6, 7, 8],
    );
    for request in all.album.of(layer).slowest.iter().take(number) {
        table.add_row(row(request));
    }
    output::print(&table)?;
    Ok(Done::Well)
}

fn row(request: &Request) -> Vec<String> {
    let stages = laggard_trace::characteristics::timing::stages(request);
    let stage =
        |which: usize| stages.map_or_else(|| "-".to_owned(), |stages| nanoseconds(stages[which] as f64));
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
            None => bail!("{}: no request ended in it", file.display()),
        },
    };
    let mut out = output::stdout();
    let found = gaps(&mut opening::open(file)?, options, layer);
    if found.is_empty() {
        writeln!(out, "{layer} never rested while a layer above had requests")?;
    }
    for gap in found {
        tell_gap(&mut out, layer, &gap)?;
    }
    out.flush()?;
    Ok(Done::Well)
}

fn tell_gap(out: &mut impl Write, layer: Layer, gap: &Gap) -> std::io::Result<()> {
    let length = nanoseconds(gap.to_ns.saturating_sub(gap.from_ns) as f64);
    writeln!(out, "{length} without a request at {layer}, {} open above", gap.open_above)?;
    let ends = [event_of(&gap.before, Kind::Callback), event_of(&gap.after, Kind::Admit)];
    ends.iter().flatten().try_for_each(|event| writeln!(out, "    {}", event_line(event)))
}
