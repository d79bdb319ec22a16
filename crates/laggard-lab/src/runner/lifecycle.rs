//! Runs a case from preflight to teardown.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::case_plan::{Callbacks, CasePlan, Steps};
use super::files::write_json;
use super::journal::CaseJournal;
use super::phase::Phase;
use super::result::CaseResult;
use super::run::CaseRun;
use super::stop::{Stop, StopConditions};
use super::target::Target;
use crate::inject;
use crate::machine::snapshot::Snapshot;
use crate::machine::{LabError, needs};
use crate::workloads::Workload;

#[derive(Debug)]
pub(crate) enum CaseOutcome {
    Finished(Box<CaseResult>),
    /// It was interrupted, or a stop condition was met: which, and what was left behind.
    CutShort(Option<String>, Vec<String>),
}

/// The journal of a case that is kept, and the machine before it.
struct Kept {
    journal: CaseJournal,
    before: Snapshot,
}

pub(crate) fn run(plan: CasePlan, callbacks: Callbacks) -> Result<CaseOutcome, LabError> {
    let stop = StopConditions::begin(plan.steps);
    std::thread::scope(|scope| {
        let is_over = || (callbacks.is_over)() || stop.is_met();
        let callbacks = Callbacks { is_over: &is_over, ..callbacks };
        let mut kept = preflight(plan, &stop)?;
        scope.spawn(|| stop.watch());
        let outcome = setup_to_teardown(plan, callbacks, &stop, kept.as_mut());
        stop.end();
        outcome
    })
}

/// Refuses to begin, or writes down how the machine is before anything is done.
fn preflight(plan: CasePlan, stop: &StopConditions) -> Result<Option<Kept>, LabError> {
    std::fs::create_dir_all(plan.folder).map_err(LabError::at(plan.folder))?;
    if plan.origin.is_none() {
        return may_begin(plan, stop).map(|()| None);
    }
    let mut kept = Kept { journal: CaseJournal::begin(plan.folder)?, before: Snapshot::take() };
    if let Err(error) = may_begin(plan, stop) {
        kept.journal.add(Phase::Preflight, json!("refused"))?;
        return Err(error);
    }
    write_json(&plan.folder.join("before.json"), &kept.before)?;
    Ok(Some(kept))
}

fn may_begin(plan: CasePlan, stop: &StopConditions) -> Result<(), LabError> {
    if let Some(why) = stop.check() {
        return Err(LabError::Refused(why.to_string()));
    }
    if let Some(load) = plan.steps.load.as_ref().filter(|_| plan.steps.system.nodes().is_empty()) {
        needs::check(&Workload::named(&load.workload)?.needs)?;
    }
    inject::refuse_orphans(Path::new(inject::FOLDER))?;
    refuse_labs(plan.steps)?;
    Target::check(plan)
}

/// A lab of the same name belongs to another user, or to a case that was killed.
fn refuse_labs(steps: &Steps) -> Result<(), LabError> {
    match steps.system.new_lab() {
        Some(lab) if crate::lab_manifest::folder(&lab.name).is_dir() => Err(LabError::Refused(format!(
            "a lab {0} exists, and it does not belong to a killed case of this run: if it belongs to another run, \
             `laggard campaign recover RUN` removes it; `laggard lab down {0}` removes any lab",
            lab.name
        ))),
        _ => Ok(()),
    }
}

fn setup_to_teardown(
    plan: CasePlan,
    callbacks: Callbacks,
    stop: &StopConditions,
    mut kept: Option<&mut Kept>,
) -> Result<CaseOutcome, LabError> {
    let begin = Instant::now();
    let mut result = CaseResult::new(plan.case);
    let mut enter =
        |phase: Phase, what: Value| kept.as_mut().map_or(Ok(()), |kept| kept.journal.add(phase, what));
    let ran = enter(Phase::Setup, json!("begin"))
        .and_then(|()| setup(plan, callbacks, &mut result))
        .and_then(|mut run| run.run_phases(&mut enter));
    let is_cut_short = (callbacks.is_over)() && !matches!(ran, Ok(true));
    let why = stop.reason();
    // A full disk must not keep a lab up: what cannot be written is reported when all is down.
    let entered = enter(Phase::Teardown, json!("begin"));
    let down = Target::down(plan.steps);
    result.dirty.extend(down.err().map(|error| format!("the lab: {error}")));
    if let Some(kept) = kept {
        result.dirty.extend(kept.before.difference(&Snapshot::take()));
        entered?;
        let end = match (result.dirty.is_empty(), is_cut_short) {
            (false, _) => "DIRTY",
            (true, true) => "interrupted",
            (true, false) => "CLEAN",
        };
        kept.journal.add(Phase::Teardown, json!(end))?;
    }
    result.infra = match (ran, why) {
        (Ok(true), _) => None,
        (_, Some(Stop::Time(longest))) => Some(Stop::Time(longest).to_string()),
        (_, why) if is_cut_short => {
            return Ok(CaseOutcome::CutShort(why.map(|why| why.to_string()), result.dirty));
        }
        (Ok(false), _) => Some("it was interrupted".into()),
        (Err(error), _) => Some(error.to_string()),
    };
    result.took_s = begin.elapsed().as_secs_f64();
    if plan.origin.is_some() {
        write_json(&plan.folder.join("result.json"), &result)?;
    }
    Ok(CaseOutcome::Finished(Box::new(result)))
}

fn setup<'a>(
    plan: CasePlan<'a>,
    callbacks: Callbacks<'a>,
    result: &'a mut CaseResult,
) -> Result<CaseRun<'a>, LabError> {
    let target = Target::up(plan.steps, callbacks)?;
    let mut run = CaseRun::new(plan, callbacks, target, result)?;
    run.read_versions();
    run.wait_until_healthy(Phase::Setup)?;
    Ok(run)
}
