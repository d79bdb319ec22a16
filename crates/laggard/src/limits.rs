//! What limits a diagnosis, each with what to do about it.

use laggard_core::model::cluster::FEWEST_PEERS;
use laggard_core::model::time::Span;
use laggard_core::report::number::{count, span};
use laggard_core::report::{Group, Warning, foreign};
use laggard_core::suspects::answers::Answers;
use laggard_core::tables::clocks::Apart;
use laggard_store::error::Problem;

use crate::examining::Recording;

/// Names that are told at most.
const MOST_NAMED: usize = 5;

fn warning(text: String, next: &str) -> Warning {
    Warning { text, next: next.to_owned() }
}

/// Why a small group is not judged.
pub fn too_few() -> String {
    format!("fewer than {FEWEST_PEERS}: with so few, nobody can say which is the odd one")
}

/// Why a large enough one was not.
pub const NO_WINDOW: &str = "no window could be judged";

/// Groups that should have been judged and were not, by a method that needs so much time.
pub fn of_groups(groups: &[Group], needed: Option<Span>) -> Vec<Warning> {
    let of = |note: &str| -> Vec<&Group> { groups.iter().filter(|group| group.note == note).collect() };
    let (small, unheard) = (of(&too_few()), of(NO_WINDOW));
    // Those of a kind that is judged elsewhere are remarked as not judged; that is enough.
    let is_judged_elsewhere = |group: &&Group| groups.iter().any(|g| g.judged && g.kind == group.kind);
    let small: Vec<&Group> = small.into_iter().filter(|group| !is_judged_elsewhere(group)).collect();
    let mut warnings = Vec::new();
    if !unheard.is_empty() {
        warnings.push(warning(
            format!("no window could be judged of {}", named(&unheard)),
            &match needed {
                Some(needed) => format!("this method needs {} at least: record for longer", span(needed)),
                None => "record for some minutes at least; with --windows, choose some that hold several samples and \
                         fit in the recording"
                    .into(),
            },
        ));
    }
    if !small.is_empty() {
        warnings.push(warning(
            format!("too few peers to compare: {}", named(&small)),
            "record more hosts into one dataset, or say in a cluster file who is whose peer (`laggard cluster check`)",
        ));
    }
    warnings
}

fn named(groups: &[&Group]) -> String {
    let names: Vec<String> =
        groups.iter().map(|group| format!("{} ({})", group.name, count(group.members, "member"))).collect();
    foreign::listed(&names, MOST_NAMED)
}

/// What the recording lacks.
pub fn of_recording(recording: &Recording) -> Vec<Warning> {
    let (every, slowest) = (recording.every, recording.slowest);
    let uneven = (every < slowest).then(|| {
        warning(
            format!("some hosts were recorded every {slowest}, others every {every}: all were looked at every {slowest}"),
            "record all hosts at the same interval",
        )
    });
    let gaps = (recording.gaps > 0).then(|| {
        warning(
            format!("nothing at all was recorded {} in between", times(recording.gaps)),
            "`laggard tables DATASET --json` lists the gaps",
        )
    });
    let broken = recording.problems.iter().map(unread);
    uneven.into_iter().chain(gaps).chain(clocks(recording)).chain(broken).collect()
}

/// A file that could not be read, or not all of it.
pub fn unread(problem: &Problem) -> Warning {
    warning(problem.to_string(), "the rest was used; repair or remove the file")
}

fn times(count: usize) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}

/// Peers are compared instant by instant: that only says something where their clocks agree.
fn clocks(recording: &Recording) -> Option<Warning> {
    let apart = recording.apart();
    let told: Vec<String> = apart.iter().map(shift).collect();
    (!told.is_empty()).then(|| {
        warning(
            format!("recorded at another time than the other hosts: {}", foreign::listed(&told, MOST_NAMED)),
            "if their clocks are wrong, set them (`chronyc tracking`) and record anew; if times were read in the wrong \
             time zone, import them again",
        )
    })
}

/// `oss3 (2 h later)`.
fn shift(apart: &Apart) -> String {
    let micros = apart.by.micros();
    let length = span(Span::from_micros(micros.saturating_abs()));
    format!("{} ({length} {})", apart.host, if micros < 0 { "earlier" } else { "later" })
}

/// Nobody should take silence for health.
pub fn of_feedback(answers: &Answers) -> Option<Warning> {
    let named = |why: &str, names: Vec<&str>| {
        (!names.is_empty()).then(|| format!("{why} {}", foreign::listed(&names, MOST_NAMED)))
    };
    let parts = [named("repaired since:", answers.over()), named("ignored:", answers.ignored())];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        warning(
            format!("trouble that feedback has settled is not told: {}", parts.join("; ")),
            "`laggard feedback DATASET list` shows what was said",
        )
    })
}

/// A method that should have been trained and was not.
pub fn untrained(method: &str) -> Warning {
    warning(
        format!("the method {method} was not trained: it makes do with the recording itself"),
        "`laggard train` on a calm day, then --thresholds; or --method laggard, which needs none",
    )
}

/// Metrics that thresholds say nothing of.
pub fn lacking(metrics: &[&str]) -> Option<Warning> {
    (!metrics.is_empty()).then(|| {
        warning(
            format!("not in the thresholds, so going by each group's own spread: {}", metrics.join(", ")),
            "`laggard train` on a time that is calm, long enough, and in which these are used",
        )
    })
}

/// Nobody could be judged at all.
pub fn too_poor(reason: &anyhow::Error) -> Warning {
    warning(format!("{reason:#}"), "nobody was judged: this says nothing about anybody's health")
}

/// Files that were to be imported and could not be.
pub fn unimported(failed: u64) -> Warning {
    let files = if failed == 1 { "1 file".into() } else { format!("{failed} files") };
    warning(
        format!("{files} could not be read, or not to the end"),
        "which and why was told before; the rest was used. `laggard import --notes` tells more",
    )
}
