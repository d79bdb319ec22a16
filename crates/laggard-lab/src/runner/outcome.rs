//! From how a program ended to one word.

use regex::Regex;

use super::fsck::AT_LAST;
use crate::filesystems::FsckScripts;
use crate::machine::LabError;
use crate::machine::bounded::{Ended, Hang};
use crate::work::outcome::Outcome;
use crate::work::tally::Verdict;

/// What a program came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// One word.
    pub outcome: Option<Outcome>,
    /// The error that it met.
    pub errno: Option<i32>,
    /// What it said of files.
    pub verdict: Option<Verdict>,
    /// Something that the word does not say.
    pub note: Option<String>,
}

/// What any program came to.
pub fn program(ended: &Ended, stdout: &str, stderr: &str) -> Judged {
    let of = |outcome| Judged { outcome: Some(outcome), ..Judged::default() };
    match (ended.hang, ended.is_interrupted) {
        (_, true) => return of(Outcome::Skipped),
        (Some(Hang::Stuck), _) => return of(Outcome::HangD),
        (Some(Hang::Killed), _) => return of(Outcome::Hang),
        (None, _) => {}
    }
    if let Some(verdict) = Verdict::in_text(stdout) {
        let (outcome, errno) = (Some(verdict.outcome), verdict.errno);
        return Judged { outcome, errno, verdict: Some(verdict), note: None };
    }
    if ended.code == Some(0) {
        return of(Outcome::Ok);
    }
    match Outcome::of_text(stderr).or_else(|| Outcome::of_text(stdout)) {
        Some((outcome, errno)) => Judged { errno: Some(errno), ..of(outcome) },
        None => of(Outcome::Aborted),
    }
}

/// What the check of a file system came to, by what it says.
pub fn fsck(scripts: &FsckScripts, ended: &Ended, said: &str) -> Result<Judged, LabError> {
    // What it was on the way counts for nothing.
    let said = said.rsplit_once(AT_LAST).map_or(said, |(_, last)| last);
    let judged = program(ended, "", said);
    let is_over = ended.hang.is_some() || ended.is_interrupted;
    let is_in = |pattern: &Option<String>| match pattern {
        Some(pattern) => Regex::new(pattern)
            .map(|pattern| pattern.is_match(said))
            .map_err(|error| LabError::Input(format!("{pattern:?}: {error}"))),
        None => Ok(false),
    };
    let is_wrong = is_in(&scripts.error_regex)? || ended.code != Some(0);
    let note = is_in(&scripts.degraded_regex)?.then(|| "degraded".to_owned());
    Ok(match () {
        () if is_over => judged,
        () if is_wrong && judged.outcome == Some(Outcome::Ok) => {
            Judged { outcome: Some(Outcome::Aborted), ..judged }
        }
        () if is_wrong => judged,
        () if is_in(&scripts.repaired_regex)? => {
            Judged { outcome: Some(Outcome::Repaired), note, ..Judged::default() }
        }
        () => Judged { outcome: Some(Outcome::Normal), note, ..Judged::default() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystems::Adapter;

    fn ended(code: i32) -> Ended {
        Ended { code: Some(code), signal: None, hang: None, is_interrupted: false }
    }

    #[test]
    fn a_program_is_judged_by_its_own_verdict_then_by_its_status_then_by_its_words() {
        let word = |code, out: &str, err: &str| program(&ended(code), out, err).outcome.unwrap();
        assert_eq!(word(0, "", ""), Outcome::Ok);
        assert_eq!(word(1, "", "cp: x: Input/output error"), Outcome::IoErr);
        assert_eq!(word(1, "", "no idea"), Outcome::Aborted);
        let mut tally = crate::work::tally::Tally::default();
        tally.extra("x");
        let line = serde_json::to_string(&tally.verdict()).unwrap();
        assert_eq!(word(1, &line, ""), Outcome::Corrupt);
        let hung = Ended { hang: Some(Hang::Stuck), ..ended(0) };
        assert_eq!(program(&hung, &line, "").outcome, Some(Outcome::HangD));
    }

    #[test]
    fn the_check_of_a_file_system_is_judged_by_its_words() {
        let judge = |adapter: &str, code: i32, said: &str| {
            let scripts = Adapter::named(adapter).unwrap().fsck.unwrap();
            let judged = fsck(&scripts, &ended(code), said).unwrap();
            (judged.outcome.unwrap(), judged.note)
        };
        let gluster = |code, said| judge("gluster-dispersed", code, said).0;
        assert_eq!(gluster(0, "entries left 0, bricks not reached 0, in split-brain 0"), Outcome::Normal);
        assert_eq!(gluster(0, "healed 12 entries"), Outcome::Repaired);
        assert_eq!(gluster(1, "Launching heal operation has been unsuccessful"), Outcome::Aborted);
        assert_eq!(gluster(0, "entries left 0, bricks not reached 0, in split-brain 3"), Outcome::Aborted);
        let degraded = judge("moosefs", 0, "chunks with 1 copies: 7");
        assert_eq!(degraded, (Outcome::Normal, Some("degraded".into())));
        assert_eq!(judge("lustre", 0, "status: completed\nrepaired_dangling: 4").0, Outcome::Repaired);
        let on_the_way = format!("status: partial\n{AT_LAST}\nstatus: completed");
        assert_eq!(judge("lustre", 0, &on_the_way).0, Outcome::Normal);
    }
}
