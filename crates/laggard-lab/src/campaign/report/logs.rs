//! Scores the logs of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use laggard_core::model::time::Timestamp;
use serde::Serialize;

use super::Run;
use crate::campaign::run;
use crate::machine::LabError;
use crate::runner::case::{CONTROL, Case};
use crate::runner::phase::Phase;
use crate::runner::result::CaseResult;
use laggard_logs::{
    Classifier, Clock, Distance, LogCounts, LogsError, Parser, Place, Rules, Score, Side, Sign,
};

#[derive(Clone, Debug, Default, Serialize)]
pub struct LogFindings {
    /// Of each case.
    pub scores: Vec<Score>,
    /// The same for what was logged during fsck.
    pub fsck_scores: Vec<Score>,
    /// Between faults on the same nodes.
    pub distances: Vec<Distance>,
    /// Every message class above the baseline, by case and node.
    pub signs: Vec<Sign>,
}

/// Without the revert: its messages are not signs of the fault.
const PHASES: [Phase; 4] = [Phase::Init, Phase::Observe, Phase::Fsck, Phase::Check];

impl LogFindings {
    /// Reads and scores all logs of a run.
    pub fn of(run: &Run) -> Result<LogFindings, LabError> {
        let wrong = |error: LogsError| LabError::Input(error.to_string());
        let Some(rules) = &run.config.steps.adapter.rules else { return Ok(LogFindings::default()) };
        let names = Names::of(run);
        let booted = run.fingerprint["booted_us"].as_i64().map(Timestamp::from_micros);
        let clock = Clock { year: year(run), booted };
        let rules = Rules::named(rules).map_err(wrong)?;
        let classifier = Classifier::naming(rules, clock, &names.known).map_err(wrong)?;
        let mut seen = vec![];
        for case in run.cases.iter().filter(|case| case.infra.is_none()) {
            read_case(run, case, &classifier, &mut seen);
        }
        let mut signs = laggard_logs::signs(&seen, &[]);
        for sign in &mut signs {
            sign.count.names = sign.count.names.iter().map(|name| names.node(name)).collect();
        }
        let truths: BTreeMap<laggard_logs::Case, laggard_logs::Truth> = run.cases.iter().map(truth).collect();
        let scores = laggard_logs::scores(&truths, &signs);
        let distances = laggard_logs::distances(&signs);
        let is_of_fsck =
            |sign: &&Sign| sign.phases.get(Phase::Fsck.as_str()).is_some_and(|lines| lines.after > 0);
        let of_fsck: Vec<Sign> = signs.iter().filter(is_of_fsck).cloned().collect();
        let fsck_scores = laggard_logs::scores(&truths, &of_fsck);
        signs.retain(|sign| sign.is_above);
        Ok(LogFindings { scores, fsck_scores, distances, signs })
    }

    pub fn of_fsck(&self, case: &Case) -> Option<&Score> {
        let case = log_case(case);
        self.fsck_scores.iter().find(|score| score.case == case)
    }

    pub fn of_case(&self, case: &Case) -> Option<&Score> {
        let case = log_case(case);
        self.scores.iter().find(|score| score.case == case)
    }
}

/// Logs name nodes by name or by address.
struct Names {
    known: Vec<String>,
    by_address: BTreeMap<String, String>,
}

impl Names {
    fn of(run: &Run) -> Names {
        let lab = run.config.steps.system.new_lab().into_iter().flat_map(|lab| lab.hosts());
        let lab = lab.map(|host| (host.address.to_string(), host.name));
        let real = run.config.steps.system.nodes().iter();
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
    let at = run.cases.iter().find_map(|case| case.injected_ns).unwrap_or_default();
    laggard_logs::year(Timestamp::from_micros(i64::try_from(at / 1000).unwrap_or_default()))
}

fn log_case(case: &Case) -> laggard_logs::Case {
    laggard_logs::Case {
        system: String::new(),
        fault: case.fault.clone().unwrap_or_else(|| CONTROL.into()),
        targets: case.nodes.clone(),
        run: case.repeat.to_string(),
    }
}

fn truth(result: &CaseResult) -> (laggard_logs::Case, laggard_logs::Truth) {
    let truth = laggard_logs::Truth { faulted: result.case.faulted.clone(), injected: injected(result) };
    (log_case(&result.case), truth)
}

fn injected(result: &CaseResult) -> Option<Timestamp> {
    let micros = result.injected_ns.and_then(|ns| i64::try_from(ns / 1000).ok());
    micros.map(Timestamp::from_micros)
}

fn read_case(run: &Run, result: &CaseResult, classifier: &Classifier, seen: &mut Vec<LogCounts>) {
    let case = &result.case;
    for phase in PHASES {
        let folder = run::case_folder(&run.folder, case).join("logs").join(phase.as_str());
        for node in names(&folder) {
            for file in names(&folder.join(&node)) {
                let place = Place {
                    case: log_case(case),
                    phase: phase.as_str().to_owned(),
                    side: Side::of_phase(phase.as_str()),
                    node: node.clone(),
                    source: file.trim_end_matches(".log").to_owned(),
                };
                // A file that is gone counts as empty.
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
