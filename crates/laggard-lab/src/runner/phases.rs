//! The phases of a case between setup and teardown, in order.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::case_schedule::CaseSchedule;
use super::diagnosed_recording::Recording;
use super::files::{now_ns, write_json};
use super::injection::Injection;
use super::phase::Phase;
use super::result::StepResult;
use super::run::CaseRun;
use crate::inject::{self, PlannedFault};
use crate::machine::LabError;
use crate::verifiable_files::outcome::Outcome;

type Action<'a> = fn(&mut CaseRun<'a>) -> Result<(), LabError>;

/// Messages of other phases are collected with the next of these.
const LOGGED: [Phase; 5] = [Phase::Init, Phase::Observe, Phase::Fsck, Phase::Check, Phase::Revert];

/// A client probes the file system this often, each time with this limit.
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBE_LONGEST: Duration = Duration::from_secs(5);
const PROBE: &str = "laggard work rw --dir {mnt}/.laggard-probe --files 1 --size 4k";

impl<'a> CaseRun<'a> {
    /// Preflight, setup and teardown are in `frame.rs`. A phase that fails ends the case, but an injected fault is always
    /// reverted.
    const PHASES: [(Phase, Action<'a>); 11] = [
        (Phase::Age, Self::age),
        (Phase::Init, Self::init),
        (Phase::Load, Self::load),
        (Phase::Inject, Self::inject),
        (Phase::Observe, Self::observe),
        (Phase::Diagnose, Self::diagnose),
        (Phase::Fsck, Self::run_fsck),
        (Phase::Check, Self::check),
        (Phase::Revert, Self::revert),
        (Phase::Recover, Self::recover),
        (Phase::Label, Self::label),
    ];

    /// Runs the phases that the case has; false if it was interrupted.
    pub(super) fn run_phases(
        &mut self,
        enter: &mut dyn FnMut(Phase, serde_json::Value) -> Result<(), LabError>,
    ) -> Result<bool, LabError> {
        let mut outcome = Ok(());
        for (phase, action) in Self::PHASES {
            // Without a fault, too: it is when the file system is repaired and read again.
            let must_run = phase == Phase::Revert && self.result.injected_ns.is_some();
            if !self.plan.steps.has(phase) || (outcome.is_err() && !must_run) {
                continue;
            }
            let entered = enter(phase, self.daemons());
            // A full disk must not keep a fault from being reverted.
            let ran = if entered.is_ok() || must_run { action(self) } else { Ok(()) };
            outcome = outcome.and(entered).and(ran);
            if outcome.is_ok() && LOGGED.contains(&phase) {
                outcome = self.collect_logs(phase);
            }
        }
        // Also those of a phase that failed: they say why.
        let _ = self.collect_logs(Phase::Revert);
        outcome.map(|()| !self.is_over())
    }

    fn age(&mut self) -> Result<(), LabError> {
        let Some(task) = &self.plan.steps.age else { return Ok(()) };
        let stat = self.task(Phase::Age, "age", task)?;
        must_be_ok("the ageing workload", &StepResult::from(&stat))
    }

    fn init(&mut self) -> Result<(), LabError> {
        let Some(task) = &self.plan.steps.init else { return Ok(()) };
        let stat = self.task(Phase::Init, "init", task)?;
        must_be_ok("workload.init", &StepResult::from(&stat))?;
        // An fsck that fails or hangs without a fault is still run with the fault.
        self.result.fsck0 = self.fsck(Phase::Init, "fsck0")?.as_ref().map(StepResult::from);
        let checks = self.checks(Phase::Init)?;
        checks.iter().try_for_each(|(name, result)| must_be_ok(&format!("check.{name}"), result))
    }

    fn load(&mut self) -> Result<(), LabError> {
        self.recording = Recording::start(self.target.lab.as_ref(), self.plan, self.callbacks)?;
        Ok(())
    }

    /// Makes all choices, writes them down, and applies the fault.
    fn inject(&mut self) -> Result<(), LabError> {
        let (case, folder) = (self.plan.case, self.plan.folder);
        let planned = self.planned_fault()?;
        if let Some(origin) = self.plan.origin {
            let schedule = CaseSchedule::of(origin, case, planned.as_ref());
            write_json(&folder.join("schedule.json"), &schedule)?;
            planned.as_ref().map_or(Ok(()), |planned| write_json(&folder.join("fault.json"), planned))?;
        }
        let begin = now_ns();
        self.injection = planned.map(Injection::apply).transpose()?;
        self.result.injected_ns = Some(begin);
        self.applied_ns = now_ns();
        let Some(plan) = self.plan.fault else { return Ok(()) };
        self.collect_kernel_logs(Phase::Inject)?;
        let (name, nodes) = (plan.fault.name(), case.faulted.join(", "));
        self.note(Phase::Inject, "apply", &nodes, Outcome::Ok, name)?;
        (self.callbacks.progress)(&format!("inject {name} at {nodes}"));
        Ok(())
    }

    fn planned_fault(&self) -> Result<Option<PlannedFault>, LabError> {
        let Some(plan) = self.plan.fault else { return Ok(None) };
        let (case, nodes) = (self.plan.case, &self.target.nodes);
        let targets = self.target.some(&case.faulted)?;
        inject::plan(&plan.fault, &targets, nodes, case.seed, plan.ttl).map(Some)
    }

    fn observe(&mut self) -> Result<(), LabError> {
        let steps = self.plan.steps;
        if !steps.probes {
            self.callbacks.wait(steps.hold);
            return Ok(());
        }
        let begin = Instant::now();
        while begin.elapsed() < steps.hold && !self.is_over() {
            let round = Instant::now();
            if self.result.felt_s.is_none() {
                let stat = self.probe(Phase::Observe, PROBE, PROBE_LONGEST)?;
                self.result.felt_s = (!stat.outcome.is_ok()).then(|| self.since_injection());
            }
            if self.result.status_s.is_none() && self.target.health().is_err() {
                self.result.status_s = Some(self.since_injection());
            }
            std::thread::sleep(PROBE_EVERY.saturating_sub(round.elapsed()));
        }
        Ok(())
    }

    fn since_injection(&self) -> f64 {
        now_ns().saturating_sub(self.result.injected_ns.unwrap_or_default()) as f64 * 1e-9
    }

    fn diagnose(&mut self) -> Result<(), LabError> {
        let recording = self.recording.take();
        self.result.diagnosis =
            recording.map(|recording| recording.diagnose(&self.plan.case.faulted, self.result.injected_ns));
        Ok(())
    }

    fn run_fsck(&mut self) -> Result<(), LabError> {
        self.result.fsck = self.fsck(Phase::Fsck, "fsck")?.as_ref().map(StepResult::from);
        Ok(())
    }

    fn check(&mut self) -> Result<(), LabError> {
        self.result.checks = self.checks(Phase::Check)?;
        Ok(())
    }

    fn checks(&mut self, phase: Phase) -> Result<BTreeMap<String, StepResult>, LabError> {
        let checks = self.plan.steps.checks.iter();
        checks.map(|(name, check)| Ok((name.clone(), self.run_check(phase, name, check)?))).collect()
    }

    fn recover(&mut self) -> Result<(), LabError> {
        self.callbacks.wait(self.plan.steps.recovery);
        Ok(())
    }
}

fn must_be_ok(what: &str, result: &StepResult) -> Result<(), LabError> {
    if result.outcome.is_ok() {
        return Ok(());
    }
    let short = &result.short;
    Err(LabError::Input(format!(
        "{what} was {short} before the fault was injected: see stat.jsonl and steps/"
    )))
}
