//! The outcome of a program, from how it ended and what it printed.

use regex::Regex;

use crate::filesystems::FsckScripts;
use crate::machine::LabError;
use crate::machine::bounded::{Ended, Hang};
use crate::verifiable_files::outcome::Outcome;
use crate::verifiable_files::tally::Verdict;

/// Printed before the last status of a check that runs in the background.
pub(super) const FINAL: &str = "==at-last==";

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assessment {
    pub outcome: Outcome,
    /// The error that the program met.
    pub errno: Option<i32>,
    /// The output of `laggard work`.
    pub verdict: Option<Verdict>,
    /// A remark, such as "degraded".
    pub note: Option<String>,
}

impl From<Outcome> for Assessment {
    fn from(outcome: Outcome) -> Assessment {
        Assessment { outcome, errno: None, verdict: None, note: None }
    }
}

/// The outcome of any program: its own verdict, else its exit status, else an error in its output.
pub(super) fn program(ended: &Ended, stdout: &str, stderr: &str) -> Assessment {
    match (ended.hang, ended.is_interrupted) {
        (_, true) => return Outcome::Skipped.into(),
        (Some(Hang::Stuck), _) => return Outcome::HangD.into(),
        (Some(Hang::Killed), _) => return Outcome::Hang.into(),
        (None, _) => {}
    }
    if let Some(verdict) = Verdict::in_text(stdout) {
        let (outcome, errno) = (verdict.outcome, verdict.errno);
        return Assessment { outcome, errno, verdict: Some(verdict), note: None };
    }
    if ended.code == Some(0) {
        return Outcome::Ok.into();
    }
    match Outcome::of_text(stderr).or_else(|| Outcome::of_text(stdout)) {
        Some((outcome, errno)) => Assessment { errno: Some(errno), ..outcome.into() },
        None => Outcome::Aborted.into(),
    }
}

/// The outcome of a file system's own check, by the adapter's patterns.
pub(super) fn fsck(scripts: &FsckScripts, ended: &Ended, output: &str) -> Result<Assessment, LabError> {
    // Only the last status counts.
    let output = output.rsplit_once(FINAL).map_or(output, |(_, last)| last);
    let assessment = program(ended, "", output);
    if ended.hang.is_some() || ended.is_interrupted {
        return Ok(assessment);
    }
    let matches = |pattern: &Option<String>| match pattern {
        Some(pattern) => Regex::new(pattern)
            .map(|pattern| pattern.is_match(output))
            .map_err(|error| LabError::Input(format!("{pattern:?}: {error}"))),
        None => Ok(false),
    };
    if matches(&scripts.error_regex)? || ended.code != Some(0) {
        let is_ok = assessment.outcome == Outcome::Ok;
        let outcome = if is_ok { Outcome::Aborted } else { assessment.outcome };
        return Ok(Assessment { outcome, ..assessment });
    }
    let outcome = if matches(&scripts.repaired_regex)? { Outcome::Repaired } else { Outcome::Normal };
    let note = matches(&scripts.degraded_regex)?.then(|| "degraded".to_owned());
    Ok(Assessment { note, ..outcome.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystems::Adapter;

    fn ended(code: i32) -> Ended {
        Ended { code: Some(code), signal: None, hang: None, is_interrupted: false }
    }

    #[test]
    fn the_verdict_of_a_program_counts_before_its_status_and_its_output() {
        let word = |code, out: &str, err: &str| program(&ended(code), out, err).outcome;
        assert_eq!(word(0, "", ""), Outcome::Ok);
        assert_eq!(word(1, "", "cp: x: Input/output error"), Outcome::IoErr);
        assert_eq!(word(1, "", "no idea"), Outcome::Aborted);
        let mut tally = crate::verifiable_files::tally::Tally::default();
        tally.extra("x");
        let line = serde_json::to_string(&tally.verdict()).unwrap();
        assert_eq!(word(1, &line, ""), Outcome::Corrupt);
        let hung = Ended { hang: Some(Hang::Stuck), ..ended(0) };
        assert_eq!(program(&hung, &line, "").outcome, Outcome::HangD);
    }

    #[test]
    fn the_check_of_a_file_system_is_assessed_by_its_output() {
        let assess = |adapter: &str, code: i32, output: &str| {
            let scripts = Adapter::named(adapter).unwrap().fsck.unwrap();
            let assessment = fsck(&scripts, &ended(code), output).unwrap();
            (assessment.outcome, assessment.note)
        };
        let gluster = |code, output| assess("gluster-dispersed", code, output).0;
        assert_eq!(gluster(0, "entries left 0, bricks not reached 0, in split-brain 0"), Outcome::Normal);
        assert_eq!(gluster(0, "healed 12 entries"), Outcome::Repaired);
        assert_eq!(gluster(1, "Launching heal operation has been unsuccessful"), Outcome::Aborted);
        assert_eq!(gluster(0, "entries left 0, bricks not reached 0, in split-brain 3"), Outcome::Aborted);
        let degraded = assess("moosefs", 0, "chunks with 1 copies: 7");
        assert_eq!(degraded, (Outcome::Normal, Some("degraded".into())));
        assert_eq!(assess("lustre", 0, "status: completed\nrepaired_dangling: 4").0, Outcome::Repaired);
        let earlier = format!("status: partial\n{FINAL}\nstatus: completed");
        assert_eq!(assess("lustre", 0, &earlier).0, Outcome::Normal);
    }
}
