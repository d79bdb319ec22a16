//! How far the file system's own check came, by the stages that its adapter knows (paper, Table of LFSCK's log).

use regex::Regex;
use serde::Serialize;

use super::Run;
use crate::campaign::run;
use crate::filesystems::Stage;
use crate::machine::LabError;
use crate::runner::case::Cell;
use crate::runner::fsck;

/// The stages that were seen in a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellStages {
    /// The cell's name.
    pub cell: String,
    /// Before the fault.
    pub before: Vec<String>,
    /// With the fault there.
    pub with_fault: Vec<String>,
}

/// Reads what every check of a run has said. Empty where the adapter knows no stages.
pub fn of(run: &Run) -> Result<Vec<CellStages>, LabError> {
    let stages = run.config.adapter.fsck.as_ref().map_or(&[][..], |fsck| &fsck.stages);
    // One that is replaced says what it likes.
    if stages.is_empty() || run.config.fsck.run.is_some() {
        return Ok(vec![]);
    }
    let patterns: Vec<(&str, Regex)> = stages.iter().map(pattern).collect::<Result<_, _>>()?;
    let judged = run.cells.iter().filter(|cell| cell.infra.is_none());
    Ok(judged.map(|cell| of_cell(run, &cell.cell, &patterns)).collect())
}

fn pattern(stage: &Stage) -> Result<(&str, Regex), LabError> {
    let wrong = |error| LabError::Input(format!("fsck.stages: {}: {error}", stage.name));
    Ok((&stage.name, Regex::new(&format!("(?m){}", stage.regex)).map_err(wrong)?))
}

fn of_cell(run: &Run, cell: &Cell, patterns: &[(&str, Regex)]) -> CellStages {
    let steps = run::cell_folder(&run.folder, cell).join("steps");
    let seen = |step: &str| {
        let files = fsck::said_by_fsck(step).map(|name| steps.join(name));
        let said: String = files.map(|path| std::fs::read(path).unwrap_or_default()).map(lossy).concat();
        let met = patterns.iter().filter(|(_, pattern)| pattern.is_match(&said));
        met.map(|(name, _)| (*name).to_owned()).collect()
    };
    CellStages { cell: cell.name(), before: seen("init-fsck0"), with_fault: seen("fsck-fsck") }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{SMALL, result};
    use super::super::{Report, markdown};
    use super::*;
    use crate::campaign::schedule::{self, Schedule};
    use crate::campaign::testing::config;
    use crate::work::outcome::Outcome;

    /// A run with one cell that is over, in which the check said this.
    fn run(folder: &std::path::Path, said: &str) -> Run {
        std::fs::write(folder.join("campaign.toml"), SMALL).unwrap();
        let schedule = Schedule::of(&config());
        schedule::write(&folder.join("schedule.json"), &schedule).unwrap();
        let cell = schedule.cells.iter().find(|cell| cell.name() == "cut/ONE/1").unwrap();
        let steps = run::cell_folder(folder, cell).join("steps");
        std::fs::create_dir_all(&steps).unwrap();
        std::fs::write(steps.join("fsck-fsck.out"), said).unwrap();
        let result = result("cut/ONE", Outcome::Normal, Outcome::Ok);
        schedule::write(&steps.with_file_name("result.json"), &result).unwrap();
        Run::read(folder).unwrap()
    }

    #[test]
    fn stages_are_known_by_what_a_check_says() {
        let folder = tempfile::tempdir().unwrap();
        let said = "heal operation on volume lab has been successful\nentries left 3, bricks not reached 1\nhealed 2 entries";
        let run = run(folder.path(), said);
        let stages = of(&run).unwrap();
        assert_eq!(stages[0].with_fault, ["launched", "healing", "blind", "repaired"]);
        assert!(stages[0].before.is_empty());
        let text = markdown(&Report::of(&run).unwrap(), None);
        assert!(text.contains("| ONE (1) | cut | 1/1 | - | 1/1 | 1/1 | 1/1 | - |"), "{text}");
    }

    #[test]
    fn a_result_that_is_not_whole_is_told_and_not_counted() {
        let folder = tempfile::tempdir().unwrap();
        let cell = run(folder.path(), "").cells[0].cell.clone();
        let path = run::cell_folder(folder.path(), &cell).join("result.json");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        let run = Run::read(folder.path()).unwrap();
        assert!(run.cells.is_empty() && run::read(path.parent().unwrap()).is_none());
        let report = Report::of(&run).unwrap();
        assert!(report.warnings[0].contains("result.json is not whole (EOF"), "{:?}", report.warnings);
    }
}
