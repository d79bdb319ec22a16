//! Labels, seen through an inventory: which components a label speaks of.

use std::collections::BTreeSet;

use laggard_core::diagnosis::Cause;
use laggard_core::model::cluster::{Component, Inventory};
use laggard_core::scores::Window;

use super::labels::Label;

/// What is true of each component of an inventory.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// The troubles.
    pub troubles: Vec<Trouble>,
    /// Of each component: the numbers of its troubles.
    of_component: Vec<Vec<usize>>,
}

/// A label, and whom it speaks of.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// What the file says.
    pub label: Label,
    /// Indices of components.
    pub members: Vec<usize>,
}

/// A label that speaks of nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// Where it stands in the file.
    pub line: u64,
    /// Whom it names.
    pub name: String,
    /// The known name that is most like it.
    pub nearest: Option<String>,
}

impl Truth {
    /// Finds out whom labels speak of, and which speak of nobody. One that says "not to blame" is no trouble.
    pub fn new(inventory: &Inventory, labels: &[Label]) -> (Truth, Vec<Stranger>) {
        let mut truth =
            Truth { troubles: Vec::new(), of_component: vec![Vec::new(); inventory.components.len()] };
        let mut strangers = Vec::new();
        for label in labels {
            let members = members(inventory, &label.component);
            match members.is_empty() {
                true => strangers.push(stranger(inventory, label)),
                false if label.is_innocent() => {}
                false => truth.add(Trouble { label: label.clone(), members }),
            }
        }
        (truth, strangers)
    }

    /// Where a path is lost, other paths to the same LUN carry its load: an alarm of one of those tells of the same
    /// trouble, as the Intrepid paper has it ("observed load on secondary", Tables 4 and 5).
    pub fn with_witnesses(self, inventory: &Inventory) -> Truth {
        let mut truth =
            Truth { troubles: Vec::new(), of_component: vec![Vec::new(); self.of_component.len()] };
        for mut trouble in self.troubles {
            if trouble.label.known_cause().is_some_and(is_loss) {
                trouble.members = with_other_paths(inventory, &trouble.members);
            }
            truth.add(trouble);
        }
        truth
    }

    fn add(&mut self, trouble: Trouble) {
        for &member in &trouble.members {
            self.of_component[member].push(self.troubles.len());
        }
        self.troubles.push(trouble);
    }

    /// The troubles of a component.
    pub fn of(&self, component: usize) -> impl Iterator<Item = (usize, &Trouble)> {
        self.of_component[component].iter().map(|&number| (number, &self.troubles[number]))
    }

    /// The numbers of the troubles that concern what has a name: it is, holds or is part of what a label names.
    pub fn concerning(&self, inventory: &Inventory, name: &str) -> Vec<usize> {
        let is_in = |&member: &usize| belongs(&inventory.components[member], name);
        let concerns = |(_, trouble): &(usize, &Trouble)| {
            trouble.label.component == name || trouble.members.iter().any(is_in)
        };
        self.troubles.iter().enumerate().filter(concerns).map(|(number, _)| number).collect()
    }

    /// Whether a component is in trouble at some time of a window.
    pub fn is_in_trouble(&self, component: usize, window: &Window) -> bool {
        self.of(component).any(|(_, trouble)| trouble.label.overlaps(window))
    }

    /// Whether a component is ever in trouble.
    pub fn is_ever_in_trouble(&self, component: usize) -> bool {
        !self.of_component[component].is_empty()
    }
}

fn is_loss(cause: Cause) -> bool {
    matches!(cause, Cause::ServerDown | Cause::ControllerTrouble | Cause::LostAttachment)
}

fn with_other_paths(inventory: &Inventory, members: &[usize]) -> Vec<usize> {
    let lun = |component: usize| inventory.components[component].attributes.get("lun");
    let luns: BTreeSet<&String> = members.iter().filter_map(|&member| lun(member)).collect();
    let is_member =
        |component: &usize| members.contains(component) || lun(*component).is_some_and(|l| luns.contains(l));
    (0..inventory.components.len()).filter(is_member).collect()
}

/// Who has a name, or belongs to what has it.
fn members(inventory: &Inventory, name: &str) -> Vec<usize> {
    let all = inventory.components.iter().enumerate();
    all.filter(|(_, component)| belongs(component, name)).map(|(index, _)| index).collect()
}

/// Whether a component has that name, or is a part of what has it.
pub fn belongs(component: &Component, name: &str) -> bool {
    const WHOLES: [&str; 4] = ["server", "lun", "controller", "array"];
    let is_part =
        || WHOLES.iter().any(|whole| component.attributes.get(*whole).is_some_and(|value| value == name));
    component.name == name || component.recorded == name || is_part()
}

/// Below this likeness a name is no help.
const LEAST_LIKENESS: f64 = 0.6;

fn stranger(inventory: &Inventory, label: &Label) -> Stranger {
    let wholes = inventory.components.iter().flat_map(|c| c.attributes.values());
    let names: BTreeSet<&String> = inventory.components.iter().map(|c| &c.name).chain(wholes).collect();
    let likeness = |name: &&String| strsim::normalized_damerau_levenshtein(name, &label.component);
    let nearest = names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let nearest = nearest.filter(|name| likeness(name) >= LEAST_LIKENESS).cloned();
    Stranger { line: label.line, name: label.component.clone(), nearest }
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
        let (truth, strangers) = Truth::new(&inventory, &labels);
        let members: Vec<&[usize]> = truth.troubles.iter().map(|t| &t.members[..]).collect();
        assert_eq!((members, strangers.len()), (vec![&[2, 3][..], &[1]], 0));
    }

    #[test]
    fn a_trouble_concerns_who_has_it_who_holds_it_and_its_parts_and_no_neighbour() {
        let inventory = two_paths(&["x", "y"]);
        let labels = parse("component,begin,end,cause\na:x,,,\nb,,,\ny,,,\n").unwrap();
        let (truth, _) = Truth::new(&inventory, &labels);
        let concerning = |name: &str| truth.concerning(&inventory, name);
        assert_eq!((concerning("a:x"), concerning("a"), concerning("x")), (vec![0], vec![0, 2], vec![0, 1]));
        assert_eq!((concerning("b:y"), concerning("a:y"), concerning("c")), (vec![1, 2], vec![2], vec![]));
    }

    #[test]
    fn an_unknown_name_is_told_with_the_one_most_like_it() {
        let inventory = inventory(&["oss1:sda", "oss2:sda", "oss3:sda"]);
        let labels = parse("component,begin,end,cause\noss2:sdaa,,,\nsomething else,,,\n").unwrap();
        let (_, strangers) = Truth::new(&inventory, &labels);
        assert_eq!(strangers[0].nearest.as_deref(), Some("oss2:sda"));
        assert_eq!((strangers[1].line, strangers[1].nearest.as_deref()), (3, None));
    }

    #[test]
    fn other_paths_to_a_lost_lun_tell_of_the_same_trouble_and_other_luns_do_not() {
        let inventory = two_paths(&["x", "y"]);
        let of_cause = |cause: &str| {
            let labels = parse(&format!("component,begin,end,cause\na,,,{cause}\n")).unwrap();
            let truth = Truth::new(&inventory, &labels).0.with_witnesses(&inventory);
            let members = truth.troubles[0].members.iter().map(|&m| inventory.components[m].name.clone());
            members.collect::<Vec<String>>()
        };
        assert_eq!(of_cause("server-down"), ["a:x", "a:y", "b:x", "b:y"]);
        assert_eq!(of_cause("disk-busy"), ["a:x", "a:y"]);
    }

    #[test]
    fn a_component_that_is_only_asked_for_more_is_not_in_trouble() {
        let inventory = inventory(&["a:sda", "b:sda", "c:sda"]);
        let labels = parse("component,begin,end,cause\na:sda,,,workload-skew\n").unwrap();
        assert!(Truth::new(&inventory, &labels).0.troubles.is_empty());
    }
}
