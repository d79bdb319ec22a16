//! `laggard logs classify`: messages by class, and what they are worth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use laggard_core::model::time::{Timestamp, parse_time};
use laggard_logs::{Case, Clock, Distance, Parser, Rules, Score, LogCounts, Sign, Truth};
use serde::Serialize;

use super::reading::{self, Reader};
use super::tables;
use crate::arguments::now;
use crate::failure::{Done, Outcome};
use crate::output;

/// Count the messages of logs that tell of failures, by class.
///
/// Classes are error numbers, or texts that stand for one, and customised messages. Compressed files, archives and
/// whole folders are read; formats are told from the content. Logs of campaigns, and those that the authors of PFault
/// publish, are taken apart by fault, phase and node.
#[derive(Args)]
pub struct Classify {
    /// Files, folders, archives.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The file system that wrote them: lustre, glusterfs, beegfs, ceph, moosefs, linux. Default: told from each log.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// The format of lines: lustre, gluster, beegfs, ceph, syslog, kernel, generic. Default: told from each log.
    #[arg(long, value_name = "NAME")]
    parser: Option<String>,
    /// When the trouble began: what is older is ordinary. 2026-11-15T10:00:00Z, 2026-11-15, or -2h.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Logs of healthy times: what they hold, too, is ordinary.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    baseline: Vec<PathBuf>,
    /// Count by this.
    #[arg(long, value_enum)]
    by: Option<By>,
    /// As JSON, with everything.
    #[arg(long)]
    json: bool,
}

/// What to count by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Phases of a try.
    Phase,
    /// Nodes that log.
    Node,
    /// Logs of a node.
    Source,
    /// Parts of the file system, by node: the paper's Table 9, of LFSCK.
    Component,
}

/// What was found.
#[derive(Serialize)]
pub struct Report {
    schema: &'static str,
    /// When the trouble began, where that was said.
    pub since: Option<Timestamp>,
    /// How many logs were read.
    pub logs: usize,
    /// How long they are.
    pub bytes: u64,
    /// What could not be read.
    pub unreadable: Vec<String>,
    /// Every class by try and node.
    pub signs: Vec<Sign>,
    /// What the logs of each try are worth.
    pub scores: Vec<Score>,
    /// How well faults can be told apart.
    pub distances: Vec<Distance>,
}

impl Classify {
    pub fn run(self) -> Outcome {
        let report = self.report()?;
        if self.json {
            output::json(&report)?;
        } else {
            tables::print(&report, self.by)?;
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
    let known = || format!("--parser {name}: there is {}", Parser::names().collect::<Vec<_>>().join(", "));
    Parser::named(name).with_context(known)
}

/// Dates without a year are of this one.
fn year(time: Timestamp) -> i16 {
    time.to_string().get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970)
}

/// What the names of tries say about them. Logs that are of no try are not scored.
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
