//! The parts of a cell, in order, from a system that comes up to one that is well again.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::case::Cell;
use super::logs::Logbook;
use super::recording::Recorded;
use super::result::{CellResult, Word};
use super::stat::{Phase, now_ns};
use super::steps::{Player, Stage};
use super::target::Target;
use crate::campaign::schedule::{self, CellSchedule};
use crate::filesystems::Where;
use crate::inject::{self, PlannedFault, Session};
use crate::machine::LabError;
use crate::work::outcome::Outcome;

/// A client looks whether it still works, this often and with so much patience.
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBE_LONGEST: Duration = Duration::from_secs(5);
const PROBE: &str = "laggard work rw --dir {mnt}/.laggard-probe --files 1 --size 4k";

/// Notes that a part begins.
type Edge<'e> = &'e mut dyn FnMut(Phase, serde_json::Value) -> Result<(), LabError>;

/// All but the first and the last part. Whether it got through.
pub(super) fn up_and_through(
    stage: Stage,
    cell: &Cell,
    folder: &Path,
    result: &mut CellResult,
    edge: Edge,
) -> Result<bool, LabError> {
    let target = Target::up(stage)?;
    let logbook = Logbook::open(&folder.join("logs"), &target)?;
    let player = Player::new(stage, cell, target, folder)?;
    let mut run = Run { player, logbook, result };
    run.versions();
    run.healthy(Phase::Setup)?;
    let outcome = run.through(edge);
    // Also of a part that failed: its logs say why.
    let _ = run.take_logs(Phase::Heal);
    outcome
}

/// A cell that is being played.
pub(super) struct Run<'a, 'r> {
    pub(super) player: Player<'a>,
    pub(super) logbook: Logbook,
    pub(super) result: &'r mut CellResult,
}

impl Run<'_, '_> {
    /// The parts, in order. Whether it got through.
    fn through(&mut self, edge: Edge) -> Result<bool, LabError> {
        edge(Phase::Age, json!(self.player.daemons()))?;
        self.age()?;
        edge(Phase::Init, json!(self.player.daemons()))?;
        self.init()?;
        self.take_logs(Phase::Init)?;
        let lab = self.player.target.lab.clone();
        let recorded = Recorded::start(lab.as_ref(), self.player.stage.config, self.player.folder)?;
        edge(Phase::Inject, json!("begin"))?;
        let (mut session, planned) = self.inject()?;
        let outcome = self.with_fault(recorded, edge);
        // Healing does not wait for a disk that has room for a line.
        let noted = edge(Phase::Heal, json!(self.player.daemons()));
        let healed = self.heal(session.as_mut(), planned.as_ref());
        session.map_or(Ok(()), Session::close)?;
        outcome.and(noted).and(healed)?;
        Ok(!(self.player.stage.is_over)())
    }

    /// What is looked at while the fault is there.
    fn with_fault(&mut self, recorded: Option<Recorded>, edge: Edge) -> Result<(), LabError> {
        edge(Phase::Observe, json!(self.player.daemons()))?;
        self.observe()?;
        self.take_logs(Phase::Observe)?;
        if let Some(recorded) = recorded {
            self.result.diagnosis = Some(recorded.end(self.player.cell, self.result.injected_ns));
        }
        edge(Phase::Fsck, json!(self.player.daemons()))?;
        self.result.fsck = Some(Word::from(&self.player.fsck(Phase::Fsck, "fsck")?));
        self.take_logs(Phase::Fsck)?;
        edge(Phase::Check, json!(self.player.daemons()))?;
        self.result.checks = self.checks(Phase::Check)?;
        self.take_logs(Phase::Check)
    }

    fn versions(&mut self) {
        let versions = self.player.stage.config.adapter.versions.clone().unwrap_or_default();
        let target = &self.player.target;
        let told = target.at(Where::First).and_then(|node| target.ask(node, &versions));
        self.result.versions = told.unwrap_or_default().trim().to_owned();
    }

    fn age(&mut self) -> Result<(), LabError> {
        let Some(task) = &self.player.stage.config.age else { return Ok(()) };
        let stat = self.player.task(Phase::Age, "age", task)?;
        must_be_well("the ageing workload", &Word::from(&stat))
    }

    /// What is checked later; and all must be well before anything is hurt.
    fn init(&mut self) -> Result<(), LabError> {
        let config = self.player.stage.config;
        let stat = self.player.task(Phase::Init, "init", &config.init)?;
        must_be_well("workload.init", &Word::from(&stat))?;
        let fsck = Word::from(&self.player.fsck(Phase::Init, "fsck0")?);
        // One that is broken itself is judged with the fault there, as any other; so is one that hangs.
        self.result.fsck0 = Some(fsck);
        let checks = self.checks(Phase::Init)?;
        checks.iter().try_for_each(|(name, word)| must_be_well(&format!("check.{name}"), word))
    }

    fn checks(&mut self, phase: Phase) -> Result<std::collections::BTreeMap<String, Word>, LabError> {
        let config = self.player.stage.config;
        let mut words = std::collections::BTreeMap::new();
        for (name, check) in &config.checks {
            let stuck = self.player.freshen(phase, check.fresh_mount, check.drop_caches)?;
            let word = match stuck {
                // What cannot be mounted cannot be read; and without it the folder below would be read.
                Some(stat) => Word { note: Some("mount".into()), ..Word::from(&stat) },
                None => Word::from(&self.player.task(phase, name, &check.task)?),
            };
            words.insert(name.clone(), word);
        }
        Ok(words)
    }

    /// Chooses, writes down what was chosen, and hurts.
    fn inject(&mut self) -> Result<(Option<Session>, Option<PlannedFault>), LabError> {
        let (config, cell) = (self.player.stage.config, self.player.cell);
        let planned = self.planned()?;
        let folder = self.player.folder;
        schedule::write(&folder.join("schedule.json"), &CellSchedule::of(config, cell, planned.as_ref()))?;
        let Some(planned) = planned else {
            self.result.injected_ns = Some(now_ns());
            return Ok((None, None));
        };
        schedule::write(&folder.join("fault.json"), &planned)?;
        let mut guard = Command::new(crate::lab::program()?);
        guard.arg("guard");
        let mut session = Session::open(Path::new(inject::FOLDER), guard)?;
        let begin = now_ns();
        session.apply(&planned)?;
        self.result.injected_ns = Some(begin);
        self.logbook.take_own(&self.player.target)?;
        let (what, whom) = (planned.fault.name().to_owned(), planned.nodes().join(", "));
        self.player.note(Phase::Inject, "apply", &whom, Outcome::Ok, &what)?;
        (self.player.stage.tell)(&format!("inject {what} at {whom}"));
        Ok((Some(session), Some(planned)))
    }

    fn planned(&self) -> Result<Option<PlannedFault>, LabError> {
        let (config, cell) = (self.player.stage.config, self.player.cell);
        let Some(plan) = cell.fault.as_ref().and_then(|fault| config.faults.get(fault)) else {
            return Ok(None);
        };
        let targets = self.player.target.some(&cell.hurt)?;
        inject::plan(&plan.model, &targets, &self.player.target.nodes, cell.seed, plan.ttl).map(Some)
    }

    /// What the system makes of it by itself: when its status tells, and when a client notices.
    fn observe(&mut self) -> Result<(), LabError> {
        let (delay, begin) = (self.player.stage.config.fsck.delay, Instant::now());
        while begin.elapsed() < delay && !(self.player.stage.is_over)() {
            let round = Instant::now();
            if self.result.felt_s.is_none() {
                let stat = self.player.probe(Phase::Observe, PROBE, PROBE_LONGEST)?;
                self.result.felt_s = (!stat.outcome.is_well()).then(|| self.since_injection());
            }
            if self.result.status_s.is_none() && self.player.target.health().is_err() {
                self.result.status_s = Some(self.since_injection());
            }
            std::thread::sleep(PROBE_EVERY.saturating_sub(round.elapsed()));
        }
        Ok(())
    }

    fn since_injection(&self) -> f64 {
        now_ns().saturating_sub(self.result.injected_ns.unwrap_or_default()) as f64 * 1e-9
    }

    pub(super) fn take_logs(&mut self, phase: Phase) -> Result<(), LabError> {
        self.logbook.take(phase, &self.player.target)
    }
}

fn must_be_well(what: &str, word: &Word) -> Result<(), LabError> {
    if word.outcome.is_well() {
        return Ok(());
    }
    let short = &word.short;
    Err(LabError::Input(format!("{what} was {short} before anything was hurt: see stat.jsonl and steps/")))
}
