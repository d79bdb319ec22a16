//! The stages that fsck reached, by the patterns of the adapter (PFault's table of LFSCK's log).

use regex::Regex;
use serde::Serialize;

use super::Run;
use crate::campaign::run;
use crate::filesystems::Stage;
use crate::machine::LabError;
use crate::runner::case::Case;
use crate::runner::fsck;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseStages {
    pub case: String,
    pub before: Vec<String>,
    pub with_fault: Vec<String>,
}

/// Reads the output of every fsck of a run. Empty if the adapter has no stages.
pub(super) fn of(run: &Run) -> Result<Vec<CaseStages>, LabError> {
    let stages = run.config.steps.adapter.fsck.as_ref().map_or(&[][..], |fsck| &fsck.stages);
    // The output of a replaced fsck is unknown.
    let is_replaced = run.config.steps.fsck.as_ref().is_some_and(|fsck| fsck.run.is_some());
    if stages.is_empty() || is_replaced {
        return Ok(vec![]);
    }
    let patterns: Vec<(&str, Regex)> = stages.iter().map(pattern).collect::<Result<_, _>>()?;
    let valid = run.cases.iter().filter(|case| case.infra.is_none());
    Ok(valid.map(|case| of_case(run, &case.case, &patterns)).collect())
}

fn pattern(stage: &Stage) -> Result<(&str, Regex), LabError> {
    let wrong = |error| LabError::Input(format!("fsck.stages: {}: {error}", stage.name));
    Ok((&stage.name, Regex::new(&format!("(?m){}", stage.regex)).map_err(wrong)?))
}

fn of_case(run: &Run, case: &Case, patterns: &[(&str, Regex)]) -> CaseStages {
    let steps = run::case_folder(&run.folder, case).join("steps");
    let seen = |step: &str| {
        let files = fsck::output_files(step).map(|name| steps.join(name));
        let output: String = files.map(|path| std::fs::read(path).unwrap_or_default()).map(lossy).concat();
        let met = patterns.iter().filter(|(_, pattern)| pattern.is_match(&output));
        met.map(|(name, _)| (*name).to_owned()).collect()
    };
    CaseStages { case: case.name(), before: seen("init-fsck0"), with_fault: seen("fsck-fsck") }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{Report, markdown};
    use super::*;
    use crate::campaign::campaign_schedule::Schedule;
    use crate::campaign::testing::SMALL;
    use crate::campaign::testing::config;
    use crate::runner::files::write_json;
    use crate::runner::testing::result;
    use crate::verifiable_files::outcome::Outcome;

    /// A run with one finished case, and the output of its fsck.
    fn run(folder: &std::path::Path, said: &str) -> Run {
        std::fs::write(folder.join("campaign.toml"), SMALL).unwrap();
        let schedule = Schedule::of(&config());
        write_json(&folder.join("schedule.json"), &schedule).unwrap();
        let case = schedule.cases.iter().find(|case| case.name() == "cut/ONE/1").unwrap();
        let steps = run::case_folder(folder, case).join("steps");
        std::fs::create_dir_all(&steps).unwrap();
        std::fs::write(steps.join("fsck-fsck.out"), said).unwrap();
        let result = result("cut/ONE", Outcome::Normal, Outcome::Ok);
        write_json(&steps.with_file_name("result.json"), &result).unwrap();
        Run::read(folder).unwrap()
    }

    #[test]
    fn stages_are_found_in_the_output_of_fsck() {
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
    fn an_incomplete_result_is_reported_and_not_counted() {
        let folder = tempfile::tempdir().unwrap();
        let case = run(folder.path(), "").cases[0].case.clone();
        let path = run::case_folder(folder.path(), &case).join("result.json");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        let run = Run::read(folder.path()).unwrap();
        assert!(run.cases.is_empty() && run::read(path.parent().unwrap()).is_none());
        let report = Report::of(&run).unwrap();
        assert!(report.warnings[0].contains("result.json is incomplete (EOF"), "{:?}", report.warnings);
    }
}
