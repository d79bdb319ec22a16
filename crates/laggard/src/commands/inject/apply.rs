//! `laggard inject apply`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use laggard_core::model::time::Span;
use laggard_lab::inject::{self, Deed, How, Model, Session};

use super::guard;
use super::targets::{Nodes, named};
use crate::arguments::positive_span;
use crate::bell::Bell;
use crate::commands::lab::explained;
use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;

/// Bring nodes into trouble for a time; prints the name by which it is undone.
#[derive(Args)]
pub struct Apply {
    /// dev-fail, inconsist, bitflip, partition, full, kill, pause, slow-dev, slow-net, or a fault of the lab: see `inject list`.
    fault: String,
    /// A node to hurt; may be given several times.
    #[arg(long, value_name = "NAME", required = true)]
    node: Vec<String>,
    #[command(flatten)]
    nodes: Nodes,
    /// A parameter of the fault, as key=value; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    /// How long it may stand.
    #[arg(long = "for", value_name = "SPAN", value_parser = positive_span)]
    lasting: Span,
    /// How long a fault may stand at the most.
    #[arg(long, value_name = "SPAN", default_value = "20m", value_parser = positive_span)]
    max_hold: Span,
    /// Where choices come from, such as which files are lost.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stay until its time is over or a signal comes, and undo it then.
    #[arg(long)]
    wait: bool,
    /// Only show what would be done, as JSON.
    #[arg(long)]
    dry_run: bool,
}

const NOTHING_TO_CHECK: &str = "local_fsck has no effect with how=files: files are changed through the brick's own file \
                                system, which stays consistent; how=meta damages that";

fn parameter(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("{text:?} is not like key=value"))?;
    Ok((key.into(), value.into()))
}

impl Apply {
    pub fn run(self, folder: &Path) -> Outcome {
        if self.lasting > self.max_hold {
            bail!("{} is longer than a fault may stand: {} (--max-hold)", self.lasting, self.max_hold);
        }
        if !rustix::process::geteuid().is_root() {
            return Err(Lacking("injecting faults needs root: run it by sudo".into()).into());
        }
        inject::refuse_orphans(folder).map_err(explained)?;
        let deed = self.deed()?;
        if let Model::Inconsist { how: How::Files, local_fsck: true, .. } = deed.model {
            tell(NOTHING_TO_CHECK);
        }
        if self.dry_run {
            output::json(&deed)?;
            return Ok(Done::Well);
        }
        let mut session = Session::open(folder, guard::command()?).map_err(explained)?;
        // Hung before anything is hurt: a signal from here on heals.
        let bell = if self.wait { Some(Bell::hang()?) } else { None };
        if let Err(error) = session.apply(&deed) {
            let closed = session.close().map_err(explained);
            return closed.and(Err(explained(error)));
        }
        announce(&deed)?;
        match bell {
            None => session.leave().map_err(explained)?,
            Some((bell, _rope)) => {
                wait(&bell, deed.ttl());
                session.close().map_err(explained)?;
                tell(format_args!("{}: undone", deed.id));
            }
        }
        Ok(Done::Well)
    }

    fn deed(&self) -> anyhow::Result<Deed> {
        let parameters: BTreeMap<String, String> = self.param.iter().cloned().collect();
        let model = Model::parse(&self.fault, &parameters).map_err(explained)?;
        let all = self.nodes.all()?;
        let targets = named(&all, &self.node)?;
        let lasting = Duration::from_secs(self.lasting.seconds().ceil() as u64);
        inject::resolve(&model, &targets, &all, self.seed, lasting).map_err(explained)
    }
}

fn announce(deed: &Deed) -> anyhow::Result<()> {
    use std::io::Write;
    let mut out = output::stdout();
    writeln!(out, "{}", deed.id)?;
    out.flush()?;
    let (model, nodes, seconds) = (deed.model.name(), deed.nodes().join(", "), deed.ttl_seconds);
    tell(format_args!("{model} at {nodes} for {seconds} s; `laggard inject undo {}` ends it", deed.id));
    Ok(())
}

fn wait(bell: &Bell, lasting: Duration) {
    let begin = Instant::now();
    while let Some(left) = lasting.checked_sub(begin.elapsed()) {
        if bell.rings_within(Span::from_millis(i64::try_from(left.as_millis()).unwrap_or(i64::MAX).max(1))) {
            return;
        }
    }
}
