//! The frame of a cell: it begins on a machine that is free, and ends on one that is as it was.
//! In: a [`Stage`], a [`Cell`] and an empty folder. Out: a [`CellResult`]. Always: whatever happens, the fault is taken
//! away, the lab is taken down, and what is left behind is told.

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::case::Cell;
use super::phases;
use super::result::CellResult;
use super::stat::{Ledger, Phase, now_ns};
use super::steps::Stage;
use super::stop::{Stop, Watch};
use super::target::Target;
use crate::campaign::recovery;
use crate::campaign::schedule;
use crate::inject;
use crate::machine::LabError;
use crate::machine::snapshot::Snapshot;

/// How a cell ended.
#[derive(Debug)]
pub enum Played {
    /// It is over.
    Whole(Box<CellResult>),
    /// It ended early: why, unless somebody wanted it to; and what was left behind.
    CutShort(Option<String>, Vec<String>),
}

/// Plays a cell.
pub fn play(stage: Stage, cell: &Cell, folder: &Path) -> Result<Played, LabError> {
    let watch = Watch::begin(stage.config);
    std::thread::scope(|scope| {
        let is_over = || (stage.is_over)() || watch.is_stopped();
        let watched = Stage { is_over: &is_over, ..stage };
        let mut journal = preflight(watched, &watch, cell, folder)?;
        scope.spawn(|| watch.keep());
        let played = from_here_on(watched, &watch, cell, folder, &mut journal);
        watch.end();
        played
    })
}

/// The lines of a cell's own journal.
struct CellJournal<'a> {
    cell: &'a Cell,
    lines: Ledger,
    before: Snapshot,
}

impl CellJournal<'_> {
    fn add(&mut self, phase: Phase, what: serde_json::Value) -> Result<(), LabError> {
        self.lines.add(&json!({ "phase": phase, "at_ns": now_ns(), "cell": self.cell.name(), "what": what }))
    }
}

/// Whether it can begin; what the machine is like is on disk before it does.
fn preflight<'c>(
    stage: Stage,
    watch: &Watch,
    cell: &'c Cell,
    folder: &Path,
) -> Result<CellJournal<'c>, LabError> {
    std::fs::create_dir_all(folder).map_err(LabError::at(folder))?;
    let lines = Ledger::open(&folder.join("cell.jsonl"))?;
    let mut journal = CellJournal { cell, lines, before: Snapshot::take() };
    journal.add(Phase::Preflight, recovery::signature())?;
    if let Err(error) = may_begin(stage, watch, cell) {
        journal.add(Phase::Preflight, json!("refused"))?;
        return Err(error);
    }
    schedule::write(&folder.join("before.json"), &journal.before)?;
    Ok(journal)
}

fn may_begin(stage: Stage, watch: &Watch, cell: &Cell) -> Result<(), LabError> {
    if let Some(why) = watch.look() {
        return Err(LabError::Refused(why.to_string()));
    }
    inject::refuse_orphans(Path::new(inject::FOLDER))?;
    refuse_labs(stage)?;
    Target::check(stage.config, cell)
}

fn from_here_on(
    stage: Stage,
    watch: &Watch,
    cell: &Cell,
    folder: &Path,
    journal: &mut CellJournal,
) -> Result<Played, LabError> {
    let begin = Instant::now();
    let mut result = CellResult::new(cell);
    let mut edge = |phase: Phase, what: serde_json::Value| journal.add(phase, what);
    let played = edge(Phase::Setup, json!("begin"))
        .and_then(|()| phases::up_and_through(stage, cell, folder, &mut result, &mut edge));
    let is_cut_short = (stage.is_over)() && !matches!(played, Ok(true));
    let why = watch.why();
    // A full disk must not keep a lab up: what cannot be written is told when all is down.
    let noted = edge(Phase::Teardown, json!("begin"));
    let down = Target::down(stage.config);
    result.dirty.extend(down.err().map(|error| format!("the lab: {error}")));
    result.dirty.extend(journal.before.difference(&Snapshot::take()));
    noted?;
    let word = match (result.dirty.is_empty(), is_cut_short) {
        (false, _) => "DIRTY",
        (true, true) => "interrupted",
        (true, false) => "CLEAN",
    };
    journal.add(Phase::Teardown, json!(word))?;
    result.infra = match (played, why) {
        (Ok(true), _) => None,
        (_, Some(Stop::Time(longest))) => Some(Stop::Time(longest).to_string()),
        (_, why) if is_cut_short => {
            return Ok(Played::CutShort(why.map(|why| why.to_string()), result.dirty));
        }
        (Ok(false), _) => Some("it ended early".into()),
        (Err(error), _) => Some(error.to_string()),
    };
    result.took_s = begin.elapsed().as_secs_f64();
    schedule::write(&folder.join("result.json"), &result)?;
    Ok(Played::Whole(Box::new(result)))
}

/// A lab of that name is somebody's, or of a cell that was killed.
fn refuse_labs(stage: Stage) -> Result<(), LabError> {
    match &stage.config.lab {
        Some(lab) if crate::manifest::folder(&lab.name).is_dir() => Err(LabError::Refused(format!(
            "there is a lab {0} already, and not of a cell of this run that was killed: if one of another run was, \
             `laggard campaign recover RUN` takes it down; `laggard lab down {0}` does in any case",
            lab.name
        ))),
        _ => Ok(()),
    }
}
