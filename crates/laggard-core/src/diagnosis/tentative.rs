//! Incidents that are too short or too uneven to blame their component, though chance hardly explains them.
//! In: the suspects that these incidents would make. Out: observations: to watch, if it is so at the end of the recording; brief
//! otherwise.

use super::evidence::Evidence;
use super::mild::LEAST_RATIO;
use super::observation::{Difference, Observation};
use super::suspect::Suspect;

/// The observation that all suspects of one kind are together; none, if there are none.
pub(crate) fn watch(suspects: &[Suspect]) -> Option<Observation> {
    let (components, worst, difference) = together(suspects, |suspect| suspect.is_ongoing)?;
    Some(Observation::Watch { components, difference, since: worst.since, until: worst.until })
}

pub(crate) fn brief(suspects: &[Suspect]) -> Option<Observation> {
    let (components, worst, difference) = together(suspects, |suspect| !suspect.is_ongoing)?;
    Some(Observation::Brief { components, difference, since: worst.since, until: worst.until })
}

/// True if the plain number of the strongest evidence differs as well: an operator who looks must see it.
fn shows(suspect: &Suspect) -> bool {
    let is_worse =
        |evidence: &Evidence| evidence.ratio().is_none_or(|ratio| ratio.max(1.0 / ratio) >= LEAST_RATIO);
    suspect.evidence.first().is_some_and(is_worse)
}

/// The names of some suspects, the first of them and its difference. The most serious is the first.
fn together(
    suspects: &[Suspect],
    is_wanted: impl Fn(&Suspect) -> bool,
) -> Option<(Vec<String>, &Suspect, Difference)> {
    let wanted = || suspects.iter().filter(|suspect| is_wanted(suspect) && shows(suspect));
    let worst = wanted().next()?;
    let Evidence { metric, value, peers, .. } = *worst.evidence.first()?;
    let others = wanted().filter(|suspect| suspect.component != worst.component);
    let names = std::iter::once(worst).chain(others).map(|suspect| suspect.component.name.clone());
    Some((names.collect(), worst, Difference { metric, own: value, peers }))
}
