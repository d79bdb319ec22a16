//! `laggard logs classify`: messages by class, and how well they report a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use laggard_core::model::time::{Timestamp, parse_time};
use laggard_logs::{Case, Clock, LogCounts, Parser, Rules, Truth};

use super::print;
use super::reading::{self, Reader};
use super::report::{By, Report};
use crate::arguments::now;
use crate::failure::{Done, Outcome};
use crate::output;

/// Count failure messages in logs by class.
///
/// Classes are error numbers, or texts that stand for one, and customised messages. Compressed files, archives and
/// whole folders are read; formats are detected by content. Logs of campaigns and those published by the authors of
/// PFault are separated by fault, phase and node.
#[derive(Args)]
pub(crate) struct Classify {
    /// Files, folders, archives.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The file system that wrote them: lustre, glusterfs, beegfs, ceph, moosefs, linux. Default: detected for each log.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// The format of lines: lustre, gluster, beegfs, ceph, syslog, kernel, generic. Default: detected for each log.
    #[arg(long, value_name = "NAME")]
    parser: Option<String>,
    /// When the fault began: older messages are ordinary. 2026-11-15T10:00:00Z, 2026-11-15, or -2h.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Logs of healthy times: their messages are ordinary.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    baseline: Vec<PathBuf>,
    /// Count by this.
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Print everything as JSON.
    #[arg(long)]
    json: bool,
}

impl Classify {
    pub(crate) fn run(self) -> Outcome {
        let report = self.report()?;
        if self.json {
            output::json(&report)?;
        } else {
            print::print(&report, self.by)?;
        }
        Ok(if report.unreadable.is_empty() { Done::Well } else { Done::WithErrors })
    }

    fn report(&self) -> anyhow::Result<Report> {
        let adapter = self.adapter.as_deref().map(Rules::named).transpose()?;
        let parser = self.parser.as_deref().map(parser).transpose()?;
        let since = self.since.as_deref().map(|text| parse_time(text, now())).transpose()?;
        let clock = Clock { year: year(since.unwrap_or_else(now)), booted: None };
        let mut reader = Reader::new(adapter, parser, clock, since, reading::nodes(&self.paths));
        let seen = reader.read(&self.paths)?;
        let ordinary = reader.read(&self.baseline)?;
        let signs = laggard_logs::signs(&seen, &ordinary);
        Ok(Report {
            schema: "laggard.logs/1",
            since,
            logs: seen.len(),
            bytes: seen.iter().map(|seen| seen.bytes).sum(),
            unreadable: reader.unreadable,
            scores: laggard_logs::scores(&truths(&seen, since), &signs),
            distances: laggard_logs::distances(&signs),
            signs,
        })
    }
}

fn parser(name: &str) -> anyhow::Result<Parser> {
    let known =
        || format!("--parser {name}: known parsers are {}", Parser::names().collect::<Vec<_>>().join(", "));
    Parser::named(name).with_context(known)
}

/// The year of dates without one.
fn year(time: Timestamp) -> i16 {
    time.to_string().get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970)
}

/// The faulty nodes, from the names of the runs. Logs without a run are not scored.
fn truths(seen: &[LogCounts], since: Option<Timestamp>) -> BTreeMap<Case, Truth> {
    let mut nodes: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for place in seen.iter().map(|seen| &seen.place) {
        nodes.entry(&place.case.system).or_default().insert(place.node.clone());
    }
    let truth = |case: &Case| {
        let nodes = nodes.get(case.system.as_str());
        let faulted = nodes.map_or_else(Vec::new, |nodes| laggard_logs::nodes_of(&case.targets, nodes));
        (case.clone(), Truth { faulted, injected: since })
    };
    let cases: BTreeSet<&Case> = seen.iter().map(|seen| &seen.place.case).collect();
    cases.into_iter().filter(|case| !case.fault.is_empty()).map(truth).collect()
}
