//! From incidents to suspects that can be told.
//! In: incidents and all that is known. Out: [`Suspect`]s, most serious first, and warnings.

use super::facts::{Facts, Known, severity};
use super::weigh::{Weighed, weigh};
use super::{advice, checklist, merge, telling};
use crate::diagnosis::cause::Cause;
use crate::model::cluster::Component;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};
use crate::report::{Alternative, Evidence, Named, Suspect, Warning};
use crate::suspects::blame::{Culprit, Incident, blame};

/// How causes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasoning {
    /// By weight of evidence.
    Weight,
    /// By the test bench's checklist.
    Checklist,
}

/// Suspects, with the incident of each, and what is no fault but worth a word.
pub struct Explained {
    /// Most serious first.
    pub suspects: Vec<(Suspect, Incident)>,
    /// What is no fault but worth a word.
    pub warnings: Vec<Warning>,
}

/// Trouble that was there in the last window, or this shortly before the end, is taken to go on: this long, or this share
/// of the recording.
const ONGOING: Span = Span::from_seconds(600);
const ONGOING_SHARE: i64 = 20;

/// Finds who is to blame, and why. The recording ends at `end`.
pub fn explain(known: Known<'_>, reasoning: Reasoning, end: Timestamp) -> Explained {
    let incidents = merge::merge(known.inventory, known.episodes, blame(known.inventory, known.episodes));
    let mut explained = Explained { suspects: Vec::new(), warnings: Vec::new() };
    let mut ranked: Vec<(f64, Suspect, Incident)> = Vec::new();
    let mut brief: Vec<Suspect> = Vec::new();
    for incident in incidents {
        let facts = Facts::of(&incident, known);
        let causes = match reasoning {
            Reasoning::Weight => weigh(&facts),
            Reasoning::Checklist => checklist::check(&facts),
        };
        let is_activity =
            incident.episodes.iter().all(|&e| known.episodes[e].metric.id == MetricId::Activity);
        let harmless = own_jobs(&facts, &causes, &incident)
            .or_else(|| uneven_load(&causes, &incident, known))
            .or_else(|| is_activity.then(|| only_used(&facts, &incident, known)).flatten());
        if let Some(warning) = harmless {
            explained.warnings.push(warning);
            continue;
        }
        let suspect = suspect(&facts, &causes, &incident, known, end);
        // The test bench's paper knows no such mercy: who is anomalous in a metric is indicted (FAST '10, 10.1).
        if reasoning == Reasoning::Weight && is_brief(&suspect, &facts, known.summary.start, end) {
            brief.push(suspect);
        } else {
            ranked.push((seriousness(&suspect, &facts), suspect, incident));
        }
    }
    explained.warnings.extend(in_passing(&brief));
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.component.cmp(&b.1.component)));
    explained.suspects = ranked.into_iter().map(|(_, suspect, incident)| (suspect, incident)).collect();
    explained
}

/// Whether an incident is over and was too short and mild to hold anything back, in view of how much was looked at:
/// such asymmetries always exist somewhere (Intrepid paper, 4.3).
fn is_brief(suspect: &Suspect, facts: &Facts, start: Timestamp, end: Timestamp) -> bool {
    let looked_at = (end - start).min(Span::from_seconds(86_400)).seconds();
    let lasted = (suspect.until - suspect.since).seconds().max(1.0);
    let peak = peak(facts);
    let weight = peak * (facts.affected.len() as f64).sqrt();
    !suspect.is_ongoing && weight < (looked_at / lasted).sqrt()
}

/// How clearly the strongest evidence speaks.
fn peak(facts: &Facts) -> f64 {
    facts.evidence.first().map_or(1.0, |evidence| evidence.score)
}

/// A word about what was brief.
fn in_passing(brief: &[Suspect]) -> Option<Warning> {
    let score = |suspect: &Suspect| suspect.evidence.first().map_or(0.0, |evidence| evidence.score);
    let worst = brief.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    let count = match brief.len() {
        1 => "1 asymmetry was brief and is over".to_owned(),
        count => format!("{count} asymmetries were brief and are over"),
    };
    let name = &worst.component.name;
    Some(Warning {
        text: format!("{count}; the worst: {name}, from {} to {}", worst.since, worst.until),
        next: format!("no action needed; to look closer: --from {} --to {}", worst.since, worst.until),
    })
}

/// Severity and persistence together: a short, terrible stall and a long, mild limp both come to the top.
fn seriousness(suspect: &Suspect, facts: &Facts) -> f64 {
    let peak = peak(facts);
    let minutes = (suspect.until - suspect.since).seconds() / 60.0;
    let innocence = if suspect.cause == Cause::WorkloadSkew { 0.1 } else { 1.0 };
    innocence * peak.max(1.0) * minutes.max(1.0).sqrt() * (facts.affected.len() as f64).sqrt()
}

/// A server whose own jobs touch all its attachments is not in trouble (Intrepid paper, 5.3.2).
fn own_jobs(facts: &Facts, causes: &[Weighed], incident: &Incident) -> Option<Warning> {
    let Culprit::Container { attribute, value } = &incident.culprit else { return None };
    let is_trap = attribute == "server"
        && causes.first().is_some_and(|first| first.cause == Cause::WorkloadSkew)
        && facts.strengths.latency <= 1.0
        && facts.strengths.absence.max(facts.strengths.idleness) <= 1.0;
    is_trap.then(|| Warning {
        text: format!(
            "{value} works on {} of its {} devices where their peers rest, from {} to {}: jobs of its own, no fault",
            facts.affected.len(),
            facts.held,
            incident.begin,
            incident.end
        ),
        next: format!("if nothing is meant to run on {value}, look which job does"),
    })
}

/// Who is asked to do more is slower for that. Where that is likelier than all else together, nobody is to blame.
fn uneven_load(causes: &[Weighed], incident: &Incident, known: Known<'_>) -> Option<Warning> {
    let first = causes.first()?;
    (first.cause == Cause::WorkloadSkew && first.confidence > 0.5).then(|| {
        let name = named(&incident.culprit, known).name;
        let (begin, end) = (incident.begin, incident.end);
        Warning {
            text: format!(
                "{name} is asked to do more than its peers, from {begin} to {end}: uneven load, no fault"
            ),
            next: format!("which job uses {name} more than its peers? It may be healthy"),
        }
    })
}

/// A disk that works while those beside it rest is the one that is used. Only of LUNs with several paths is it known
/// that a path should rest.
fn only_used(facts: &Facts, incident: &Incident, known: Known<'_>) -> Option<Warning> {
    (!facts.is_lun).then(|| {
        let name = named(&incident.culprit, known).name;
        Warning {
            text: format!("{name} works while its peers rest: there is nothing to compare it with"),
            next:
                "give its true peers to the comparison: more hosts, or a cluster file (laggard cluster check)"
                    .into(),
        }
    })
}

fn suspect(
    facts: &Facts,
    causes: &[Weighed],
    incident: &Incident,
    known: Known<'_>,
    end: Timestamp,
) -> Suspect {
    let component = named(&incident.culprit, known);
    let first = &causes[0];
    let episodes = || incident.episodes.iter().map(|&e| &known.episodes[e]);
    let whole = Span::from_micros((end - known.summary.start).micros() / ONGOING_SHARE);
    let last_look = episodes().filter_map(|e| known.tracker.looked_until(e.group, e.metric.id)).max();
    let is_ongoing =
        incident.end + ONGOING.min(whole) >= end || last_look.is_some_and(|last| incident.end >= last);
    let explains = facts.affected.iter().map(|&c| known.inventory.components[c].name.clone());
    let evidence = telling::told(facts, first.cause, incident, known);
    let mut suspect = Suspect {
        cause: first.cause,
        confidence: rounded(first.confidence),
        severity: rounded(severity(&evidence)),
        persistence: episodes().map(|e| e.persistence).fold(0.0, f64::max),
        since: incident.begin,
        until: if is_ongoing { end.max(incident.begin) } else { incident.end },
        is_ongoing,
        peer_count: peers(incident, known),
        explains: explains.collect(),
        evidence,
        alternatives: alternatives(causes),
        summary: sentence(first.because),
        next: advice::next(first.cause, &component.name, worst(facts, incident, known)),
        component,
    };
    suspect.explains.sort_by_key(|name| crate::model::component::natural_order(name));
    suspect
}

/// The culprit; or, of what it contains, the one that the strongest evidence is about.
fn worst<'a>(facts: &Facts, incident: &Incident, known: Known<'a>) -> Option<&'a Component> {
    let components = &known.inventory.components;
    let of = |evidence: &Evidence| {
        facts.affected.iter().map(|&c| &components[c]).find(|c| c.name == evidence.component)
    };
    match incident.culprit {
        Culprit::Component(index) => components.get(index),
        Culprit::Container { .. } => facts.evidence.iter().find_map(of),
    }
}

/// With a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn alternatives(causes: &[Weighed]) -> Vec<Alternative> {
    let worth_a_word = causes.iter().skip(1).filter(|other| other.confidence >= 0.1);
    worth_a_word
        .map(|other| Alternative {
            cause: other.cause,
            confidence: rounded(other.confidence),
            because: other.because.to_owned(),
        })
        .collect()
}

fn named(culprit: &Culprit, known: Known<'_>) -> Named {
    match culprit {
        Culprit::Component(index) => {
            let component = &known.inventory.components[*index];
            Named { kind: component.kind.clone(), name: component.name.clone() }
        }
        Culprit::Container { attribute, value } => {
            Named { kind: Kind::from(attribute.as_str()), name: value.clone() }
        }
    }
}

/// With how many others it was compared; none where it is no component itself.
fn peers(incident: &Incident, known: Known<'_>) -> usize {
    let own = match &incident.culprit {
        Culprit::Component(index) => Some(*index),
        Culprit::Container { attribute, value } => {
            let is_it = |c: &Component| c.kind.as_str() == attribute && c.name == *value;
            known.inventory.components.iter().position(is_it)
        }
    };
    own.map_or(0, |own| known.peers.count(own))
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
