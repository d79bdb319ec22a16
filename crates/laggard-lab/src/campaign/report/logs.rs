//! What the logs of a run are worth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use laggard_core::model::time::Timestamp;
use serde::Serialize;

use super::Run;
use crate::campaign::run;
use crate::machine::LabError;
use crate::runner::case::{CONTROL, Cell};
use crate::runner::result::CellResult;
use crate::runner::stat::Phase;
use laggard_logs::{Classifier, Clock, Distance, LogsError, Parser, Place, Rules, Score, Seen, Side, Sign};

/// What the logs of a run are worth.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LogFindings {
    /// What the logs of each cell tell.
    pub scores: Vec<Score>,
    /// The same of what was logged while the file system's own check ran.
    pub fsck_scores: Vec<Score>,
    /// How well faults on the same nodes can be told apart.
    pub distances: Vec<Distance>,
    /// Every class that is more than ordinary, by cell and node.
    pub signs: Vec<Sign>,
}

/// What is logged while a fault is taken away tells nothing of how it is noticed.
const PHASES: [Phase; 4] = [Phase::Init, Phase::Observe, Phase::Fsck, Phase::Check];

impl LogFindings {
    /// Reads and judges all logs of a run.
    pub fn of(run: &Run) -> Result<LogFindings, LabError> {
        let wrong = |error: LogsError| LabError::Input(error.to_string());
        let Some(rules) = &run.config.adapter.rules else { return Ok(LogFindings::default()) };
        let names = Names::of(run);
        let booted = run.fingerprint["booted_us"].as_i64().map(Timestamp::from_micros);
        let clock = Clock { year: year(run), booted };
        let rules = Rules::named(rules).map_err(wrong)?;
        let classifier = Classifier::naming(rules, clock, &names.known).map_err(wrong)?;
        let mut seen = vec![];
        for cell in run.cells.iter().filter(|cell| cell.infra.is_none()) {
            read_cell(run, cell, &classifier, &mut seen);
        }
        let mut signs = laggard_logs::signs(&seen, &[]);
        for sign in &mut signs {
            sign.count.names = sign.count.names.iter().map(|name| names.node(name)).collect();
        }
        let truths: BTreeMap<laggard_logs::Cell, laggard_logs::Truth> = run.cells.iter().map(truth).collect();
        let scores = laggard_logs::scores(&truths, &signs);
        let distances = laggard_logs::distances(&signs);
        let is_of_fsck =
            |sign: &&Sign| sign.phases.get(Phase::Fsck.as_str()).is_some_and(|lines| lines.after > 0);
        let of_fsck: Vec<Sign> = signs.iter().filter(is_of_fsck).cloned().collect();
        let fsck_scores = laggard_logs::scores(&truths, &of_fsck);
        signs.retain(|sign| sign.is_above);
        Ok(LogFindings { scores, fsck_scores, distances, signs })
    }

    /// What was logged while a cell's file system checked itself.
    pub fn of_fsck(&self, cell: &Cell) -> Option<&Score> {
        let cell = place_cell(cell);
        self.fsck_scores.iter().find(|score| score.cell == cell)
    }

    /// What the logs of a cell tell.
    pub fn of_cell(&self, cell: &Cell) -> Option<&Score> {
        let cell = place_cell(cell);
        self.scores.iter().find(|score| score.cell == cell)
    }
}

/// Nodes are named in logs by their names or their addresses.
struct Names {
    known: Vec<String>,
    by_address: BTreeMap<String, String>,
}

impl Names {
    fn of(run: &Run) -> Names {
        let lab = run.config.lab.iter().flat_map(|lab| lab.hosts());
        let lab = lab.map(|host| (host.address.to_string(), host.name));
        let real = run.config.nodes.iter();
        let real = real.flat_map(|node| node.addresses.iter().map(|at| (at.to_string(), node.name.clone())));
        let by_address: BTreeMap<String, String> = lab.chain(real).collect();
        let names: BTreeSet<String> =
            by_address.iter().flat_map(|(at, name)| [at.clone(), name.clone()]).collect();
        Names { known: names.into_iter().collect(), by_address }
    }

    fn node(&self, name: &str) -> String {
        self.by_address.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}

fn year(run: &Run) -> i16 {
    let at = run.cells.iter().find_map(|cell| cell.injected_ns).unwrap_or_default();
    laggard_logs::year(Timestamp::from_micros(i64::try_from(at / 1000).unwrap_or_default()))
}

fn place_cell(cell: &Cell) -> laggard_logs::Cell {
    laggard_logs::Cell {
        system: String::new(),
        fault: cell.fault.clone().unwrap_or_else(|| CONTROL.into()),
        targets: cell.nodes.clone(),
        run: cell.repeat.to_string(),
    }
}

fn truth(result: &CellResult) -> (laggard_logs::Cell, laggard_logs::Truth) {
    let truth = laggard_logs::Truth { faulted: result.cell.hurt.clone(), injected: injected(result) };
    (place_cell(&result.cell), truth)
}

fn injected(result: &CellResult) -> Option<Timestamp> {
    let micros = result.injected_ns.and_then(|ns| i64::try_from(ns / 1000).ok());
    micros.map(Timestamp::from_micros)
}

fn read_cell(run: &Run, result: &CellResult, classifier: &Classifier, seen: &mut Vec<Seen>) {
    let cell = &result.cell;
    for phase in PHASES {
        let folder = run::cell_folder(&run.folder, cell).join("logs").join(phase.as_str());
        for node in names(&folder) {
            for file in names(&folder.join(&node)) {
                let place = Place {
                    cell: place_cell(cell),
                    phase: phase.as_str().to_owned(),
                    side: Side::of_phase(phase.as_str()),
                    node: node.clone(),
                    source: file.trim_end_matches(".log").to_owned(),
                };
                // One that is gone has nothing to tell.
                let Ok(bytes) = std::fs::read(folder.join(&node).join(&file)) else { continue };
                let mut scan = classifier.scan(place, Parser::of(&bytes)).since(injected(result));
                scan.feed(&bytes);
                seen.push(scan.finish());
            }
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
