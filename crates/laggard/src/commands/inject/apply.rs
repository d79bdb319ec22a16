//! `laggard inject apply`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use laggard_core::model::time::Span;
use laggard_lab::faults::{Fault, How, PlannedFault};
use laggard_lab::inject::{self, Session};

use super::guard;
use super::targets::{Nodes, named};
use crate::arguments::positive_span;
use crate::commands::lab::explained;
use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;
use crate::stop_signal::StopSignal;

/// Apply a fault to nodes for a limited time; prints its id.
#[derive(Args)]
pub(crate) struct Apply {
    /// The name of a fault: see `inject list`.
    fault: String,
    /// A node; may be given several times.
    #[arg(long, value_name = "NAME", required = true)]
    node: Vec<String>,
    #[command(flatten)]
    nodes: Nodes,
    /// A parameter of the fault; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    /// How long the fault lasts.
    #[arg(long = "for", value_name = "SPAN", value_parser = positive_span)]
    lasting: Span,
    /// The longest time that --for may be.
    #[arg(long, value_name = "SPAN", default_value = "20m", value_parser = positive_span)]
    max_hold: Span,
    /// Seed of random choices, such as the files that are deleted.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Wait until its time is over or a signal comes, and revert it then.
    #[arg(long)]
    wait: bool,
    /// Only print what would be done, as JSON.
    #[arg(long)]
    dry_run: bool,
}

const NOTHING_TO_CHECK: &str = "local_fsck has no effect with how=files: files are changed through the brick's own file \
                                system, which stays consistent; how=meta damages it";

fn parameter(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("expected key=value, found {text:?}"))?;
    Ok((key.into(), value.into()))
}

impl Apply {
    pub(crate) fn run(self, folder: &Path) -> Outcome {
        if self.lasting > self.max_hold {
            bail!(
                "{} is longer than the longest time of a fault, {} (--max-hold)",
                self.lasting,
                self.max_hold
            );
        }
        if !rustix::process::geteuid().is_root() {
            return Err(Lacking("injecting faults needs root: run it with sudo".into()).into());
        }
        inject::refuse_orphans(folder).map_err(explained)?;
        let planned = self.plan()?;
        if matches!(&planned.fault, Fault::Inconsist(fault) if fault.how == How::Files && fault.local_fsck) {
            tell(NOTHING_TO_CHECK);
        }
        if self.dry_run {
            output::json(&planned)?;
            return Ok(Done::Well);
        }
        let mut session = Session::open(folder, guard::command()?).map_err(explained)?;
        // Before the fault is applied: a signal from here on reverts it.
        let stop = if self.wait { Some(StopSignal::install()?) } else { None };
        if let Err(error) = session.apply(&planned) {
            let closed = session.close().map_err(explained);
            return closed.and(Err(explained(error)));
        }
        announce(&planned)?;
        match stop {
            None => session.leave().map_err(explained)?,
            Some((stop, _handle)) => {
                wait(&stop, planned.ttl().unwrap_or(inject::LONGEST));
                session.close().map_err(explained)?;
                tell(format_args!("{}: reverted", planned.id));
            }
        }
        Ok(Done::Well)
    }

    fn plan(&self) -> anyhow::Result<PlannedFault> {
        let parameters: BTreeMap<String, String> = self.param.iter().cloned().collect();
        let fault = Fault::parse(&self.fault, &parameters).map_err(explained)?;
        let all = self.nodes.all()?;
        let targets = named(&all, &self.node)?;
        let lasting = Duration::from_secs(self.lasting.seconds().ceil() as u64);
        inject::plan(&fault, &targets, &all, self.seed, lasting).map_err(explained)
    }
}

fn announce(planned: &PlannedFault) -> anyhow::Result<()> {
    use std::io::Write;
    let mut out = output::stdout();
    writeln!(out, "{}", planned.id)?;
    out.flush()?;
    let (fault, nodes) = (planned.fault.name(), planned.nodes().join(", "));
    let seconds = planned.ttl_seconds.unwrap_or_default();
    tell(format_args!("{fault} at {nodes} for {seconds} s; `laggard inject undo {}` ends it", planned.id));
    Ok(())
}

fn wait(stop: &StopSignal, lasting: Duration) {
    let begin = Instant::now();
    while let Some(left) = lasting.checked_sub(begin.elapsed()) {
        if stop.arrives_within(Span::from_millis(i64::try_from(left.as_millis()).unwrap_or(i64::MAX).max(1)))
        {
            return;
        }
    }
}
