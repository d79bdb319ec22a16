//! Compares the suspects of a report with the labels.
//! In: suspects and labels. Out: [`Reported`]. Always: only what the user sees counts; a component that is faulty in a window
//! but not a suspect is not reported.

use std::collections::BTreeSet;

use laggard_core::diagnosis::{Cause, Suspect};
use laggard_core::model::cluster::Inventory;
use laggard_core::model::time::{Span, Timestamp};

use super::confusion::{Confusion, share};
use super::reliability::{Verdict, verdicts};
use super::sampled_time::SampledTime;
use super::stream::Checkpoint;
use super::truth::{Truth, belongs};

#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    /// Indices of labelled faults that a suspect concerns.
    pub faults: BTreeSet<usize>,
    /// Suspects that no label concerns.
    pub mistaken: BTreeSet<String>,
    /// Indices of the components that are suspects, or that a suspect explains.
    components: BTreeSet<usize>,
    /// The causes of suspects that report a fault.
    pub verdicts: Vec<Verdict>,
}

impl Reported {
    pub(crate) fn of<'a>(
        suspects: impl Iterator<Item = &'a Suspect> + Clone,
        truth: &Truth,
        inventory: &Inventory,
    ) -> Reported {
        let verdicts = verdicts(suspects.clone(), truth, inventory);
        let mut reported = Reported { verdicts, ..Reported::default() };
        // Uneven load is not a fault.
        for suspect in suspects.filter(|suspect| suspect.cause != Cause::WorkloadSkew) {
            let name = &suspect.component.name;
            let faults = truth.reported_by(inventory, suspect);
            if faults.is_empty() {
                reported.mistaken.insert(name.clone());
            }
            reported.faults.extend(faults);
            let is_named = |component: &String| component == name || suspect.explains.contains(component);
            let all = inventory.components.iter().enumerate();
            reported
                .components
                .extend(all.filter(|(_, component)| is_named(&component.name)).map(|(index, _)| index));
        }
        reported
    }

    pub(crate) fn checkpoint(&self, truth: &Truth, after: Option<Span>) -> Checkpoint {
        let (labelled, named) = (truth.faults.len(), self.faults.len());
        let recall = share(named as u64, labelled as u64);
        Checkpoint { after, labelled, named, recall, false_alarms: self.mistaken.len() }
    }

    /// Compares reported components with labelled ones.
    pub(crate) fn by_component(&self, truth: &Truth, sampled_time: &SampledTime) -> Confusion {
        let mut confusion = Confusion::default();
        for component in sampled_time.sampled_components() {
            confusion.count(self.components.contains(&component), truth.is_ever_faulty(component));
        }
        confusion
    }
}

/// True if the suspect's incident begins within the first `beginning` of its group's sampled time. A host's outage comes
/// from the whole recording, however little of it a method was given.
pub(crate) fn begins_within(
    suspect: &Suspect,
    beginning: Option<Span>,
    inventory: &Inventory,
    sampled_time: &SampledTime,
) -> bool {
    let Some(beginning) = beginning else { return true };
    let own = inventory.components.iter().enumerate().filter(|(_, c)| belongs(c, &suspect.component.name));
    let group = own.filter_map(|(index, _)| sampled_time.group(index)).next();
    group.is_none_or(|group| sampled_time.between(group, Timestamp::MIN, suspect.since) < beginning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::labels::parse;
    use crate::scoring::testing::{inventory, table};
    use laggard_core::diagnosis::Named;
    use laggard_core::model::component::Kind;

    const NAMES: [&str; 4] = ["a:1", "a:2", "a:3", "a:4"];

    fn suspect(name: &str, cause: Cause, since: i64) -> Suspect {
        Suspect {
            component: Named::new(Kind::ATTACHMENT, name),
            cause,
            confidence: 0.8,
            support: None,
            severity: 2.0,
            peer_count: 3,
            persistence: 1.0,
            since: Timestamp::from_seconds(since),
            until: Timestamp::from_seconds(since + 60),
            is_ongoing: false,
            since_uncertainty_seconds: 15.0,
            until_uncertainty_seconds: 15.0,
            step: Span::from_seconds(15),
            is_from_begin: false,
            usual_ratio: None,
            other_times: Vec::new(),
            explains: vec![name.to_owned()],
            evidence: Vec::new(),
            alternatives: Vec::new(),
            summary: String::new(),
            next: Vec::new(),
        }
    }

    #[test]
    fn suspects_are_right_by_component_and_time_and_uneven_load_blames_nothing() {
        let inventory = inventory(&NAMES);
        let text = "component,begin,end,cause\na:1,,,\na:2,1970-01-01T00:10:00Z,,\n";
        let (truth, _) = Truth::new(&inventory, &parse(text).unwrap());
        let suspects = [
            suspect("a:1", Cause::DiskBusy, 0),
            suspect("a:2", Cause::DiskBusy, 0),
            suspect("a:3", Cause::WorkloadSkew, 0),
        ];
        let reported = Reported::of(suspects.iter(), &truth, &inventory);
        let checkpoint = reported.checkpoint(&truth, None);
        assert_eq!((checkpoint.named, checkpoint.labelled, checkpoint.false_alarms), (1, 2, 1));
        let mut sampled_time = SampledTime::new(&inventory);
        sampled_time.take(&[table(&NAMES, 15, &[[1.0; 20]; 4])]);
        let components = reported.by_component(&truth, &sampled_time);
        assert_eq!((components.true_positives, components.true_negatives), (2, 2));
    }

    #[test]
    fn an_incident_after_the_given_data_does_not_count() {
        let inventory = inventory(&NAMES);
        let mut sampled_time = SampledTime::new(&inventory);
        sampled_time.take(&[table(&NAMES, 15, &[[1.0; 20]; 4])]);
        let is_within = |since, beginning: Option<i64>| {
            let suspect = suspect("a:1", Cause::DiskBusy, since);
            begins_within(&suspect, beginning.map(Span::from_seconds), &inventory, &sampled_time)
        };
        assert!(is_within(30, Some(60)) && is_within(240, None));
        assert!(!is_within(240, Some(60)));
    }
}
