//! Assigns labels to the components of an inventory.

use std::collections::{BTreeMap, BTreeSet};

use laggard_core::diagnosis::{Cause, Suspect};
use laggard_core::model::cluster::{Component, Inventory};
use laggard_core::model::component::{Container, Kind};
use laggard_core::scores::Window;

use super::labels::Label;

/// The labelled faults of an inventory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub faults: Vec<LabelledFault>,
    /// Indices of `faults`, by component.
    of_component: Vec<Vec<usize>>,
}

/// A label and the components it concerns.
#[derive(Clone, Debug)]
pub(crate) struct LabelledFault {
    pub label: Label,
    /// Indices of the components it names. If a path is lost, other paths to the same LUN carry its load, and count for the
    /// same fault, as in the Intrepid paper ("observed load on secondary", Tables 4 and 5).
    pub members: Vec<usize>,
}

/// A label that names no component of the inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownLabel {
    pub line: u64,
    pub name: String,
    /// The most similar name in the inventory.
    pub nearest: Option<String>,
}

impl Truth {
    /// Labels with the cause `workload-skew` are not faults and are left out.
    pub(crate) fn new(inventory: &Inventory, labels: &[Label]) -> (Truth, Vec<UnknownLabel>) {
        let mut truth =
            Truth { faults: Vec::new(), of_component: vec![Vec::new(); inventory.components.len()] };
        let mut unknown = Vec::new();
        for label in labels {
            let named = members(inventory, &label.component);
            match named.is_empty() {
                true => unknown.push(unknown_label(inventory, label)),
                false if label.is_workload_skew() => {}
                false => {
                    named.iter().for_each(|&member| truth.of_component[member].push(truth.faults.len()));
                    let is_lost = label.known_cause().is_some_and(is_loss);
                    let members = if is_lost { with_other_paths(inventory, &named) } else { named };
                    truth.faults.push(LabelledFault { label: label.clone(), members });
                }
            }
        }
        (truth, unknown)
    }

    /// The same faults in another inventory of the same recording, where components may have other names.
    pub(crate) fn of_other_inventory(self, own: &Inventory, other: &Inventory) -> Truth {
        let recorded = other.components.iter().enumerate();
        let index: BTreeMap<(&str, &Kind), usize> =
            recorded.map(|(index, c)| ((c.recorded.as_str(), &c.kind), index)).collect();
        let moved = |component: usize| {
            let component = &own.components[component];
            index.get(&(component.recorded.as_str(), &component.kind)).copied()
        };
        let mut of_component = vec![Vec::new(); other.components.len()];
        for (component, faults) in self.of_component.into_iter().enumerate() {
            if let Some(component) = moved(component) {
                of_component[component] = faults;
            }
        }
        let mut faults = self.faults;
        for fault in &mut faults {
            fault.members = fault.members.iter().copied().filter_map(moved).collect();
        }
        Truth { faults, of_component }
    }

    /// The faults of a component, with their indices.
    pub(crate) fn of(&self, component: usize) -> impl Iterator<Item = (usize, &LabelledFault)> {
        self.of_component[component].iter().map(|&number| (number, &self.faults[number]))
    }

    /// Indices of the faults that concern `name`: it is, contains or belongs to the component that a label names.
    pub(crate) fn concerning(&self, inventory: &Inventory, name: &str) -> Vec<usize> {
        let concerns = |fault: &LabelledFault| concerns(fault, inventory, name, &[]);
        (0..self.faults.len()).filter(|&number| concerns(&self.faults[number])).collect()
    }

    /// Indices of the faults that a suspect reports: they concern it or something that it explains, and its time overlaps
    /// theirs.
    pub(crate) fn reported_by(&self, inventory: &Inventory, suspect: &Suspect) -> Vec<usize> {
        let time = Window { start: suspect.since, length: suspect.until - suspect.since };
        let is_reported = |fault: &LabelledFault| {
            fault.label.overlaps(&time)
                && concerns(fault, inventory, &suspect.component.name, &suspect.explains)
        };
        (0..self.faults.len()).filter(|&number| is_reported(&self.faults[number])).collect()
    }

    pub(crate) fn is_faulty_in(&self, component: usize, window: &Window) -> bool {
        self.of(component).any(|(_, fault)| fault.label.overlaps(window))
    }

    pub(crate) fn is_ever_faulty(&self, component: usize) -> bool {
        !self.of_component[component].is_empty()
    }
}

fn concerns(fault: &LabelledFault, inventory: &Inventory, name: &str, explained: &[String]) -> bool {
    let is_in = |&member: &usize| {
        let component = &inventory.components[member];
        belongs(component, name) || explained.contains(&component.name)
    };
    fault.label.component == name || fault.members.iter().any(is_in)
}

fn is_loss(cause: Cause) -> bool {
    matches!(cause, Cause::ServerDown | Cause::ControllerTrouble | Cause::LostAttachment)
}

fn with_other_paths(inventory: &Inventory, members: &[usize]) -> Vec<usize> {
    let lun = |component: usize| inventory.components[component].container(Container::Lun);
    let luns: BTreeSet<&String> = members.iter().filter_map(|&member| lun(member)).collect();
    let is_member =
        |component: &usize| members.contains(component) || lun(*component).is_some_and(|l| luns.contains(l));
    (0..inventory.components.len()).filter(is_member).collect()
}

fn members(inventory: &Inventory, name: &str) -> Vec<usize> {
    let all = inventory.components.iter().enumerate();
    all.filter(|(_, component)| belongs(component, name)).map(|(index, _)| index).collect()
}

/// True if the component has this name, or if its server, LUN, controller or array has it.
pub(crate) fn belongs(component: &Component, name: &str) -> bool {
    const WHOLES: [&str; 4] = ["server", "lun", "controller", "array"];
    let is_part =
        || WHOLES.iter().any(|whole| component.attributes.get(*whole).is_some_and(|value| value == name));
    component.name == name || component.recorded == name || is_part()
}

/// Names that are less similar are not suggested.
const LEAST_LIKENESS: f64 = 0.6;

fn unknown_label(inventory: &Inventory, label: &Label) -> UnknownLabel {
    let wholes = inventory.components.iter().flat_map(|c| c.attributes.values());
    let names: BTreeSet<&String> = inventory.components.iter().map(|c| &c.name).chain(wholes).collect();
    let likeness = |name: &&String| strsim::normalized_damerau_levenshtein(name, &label.component);
    let nearest = names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let nearest = nearest.filter(|name| likeness(name) >= LEAST_LIKENESS).cloned();
    UnknownLabel { line: label.line, name: label.component.clone(), nearest }
}

#[cfg(test)]
mod tests {
    use super::super::labels::parse;
    use super::*;
    use crate::scoring::testing::{inventory, two_paths};

    #[test]
    fn a_label_may_name_a_server() {
        let inventory = inventory(&["a:sda", "a:sdb", "b:sda", "b:sdb"]);
        let labels = parse("component,begin,end,cause\nb,,,\na:sdb,,,\n").unwrap();
        let (truth, unknown) = Truth::new(&inventory, &labels);
        let members: Vec<&[usize]> = truth.faults.iter().map(|t| &t.members[..]).collect();
        assert_eq!((members, unknown.len()), (vec![&[2, 3][..], &[1]], 0));
    }

    #[test]
    fn a_fault_concerns_the_component_its_containers_and_its_members_only() {
        let inventory = two_paths(&["x", "y"]);
        let labels = parse("component,begin,end,cause\na:x,,,\nb,,,\ny,,,\n").unwrap();
        let (truth, _) = Truth::new(&inventory, &labels);
        let concerning = |name: &str| truth.concerning(&inventory, name);
        assert_eq!((concerning("a:x"), concerning("a"), concerning("x")), (vec![0], vec![0, 2], vec![0, 1]));
        assert_eq!((concerning("b:y"), concerning("a:y"), concerning("c")), (vec![1, 2], vec![2], vec![]));
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_most_similar_one() {
        let inventory = inventory(&["oss1:sda", "oss2:sda", "oss3:sda"]);
        let labels = parse("component,begin,end,cause\noss2:sdaa,,,\nsomething else,,,\n").unwrap();
        let (_, unknown) = Truth::new(&inventory, &labels);
        assert_eq!(unknown[0].nearest.as_deref(), Some("oss2:sda"));
        assert_eq!((unknown[1].line, unknown[1].nearest.as_deref()), (3, None));
    }

    #[test]
    fn other_paths_to_a_lost_lun_count_for_the_same_fault_and_other_luns_do_not() {
        let inventory = two_paths(&["x", "y"]);
        let of_cause = |cause: &str| {
            let labels = parse(&format!("component,begin,end,cause\na,,,{cause}\n")).unwrap();
            let truth = Truth::new(&inventory, &labels).0;
            let members = truth.faults[0].members.iter().map(|&m| inventory.components[m].name.clone());
            members.collect::<Vec<String>>()
        };
        assert_eq!(of_cause("server-down"), ["a:x", "a:y", "b:x", "b:y"]);
        assert_eq!(of_cause("disk-busy"), ["a:x", "a:y"]);
    }

    #[test]
    fn a_component_with_more_load_is_not_faulty() {
        let inventory = inventory(&["a:sda", "b:sda", "c:sda"]);
        let labels = parse("component,begin,end,cause\na:sda,,,workload-skew\n").unwrap();
        assert!(Truth::new(&inventory, &labels).0.faults.is_empty());
    }
}
