//! What the first records of a trace tell of it: which layers there are, whose requests matter, and of which layers
//! requests can be linked. A trace of a whole host is full of other programs' requests.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use crate::characteristics::Gatherer;
use crate::linking::{Linker, NameFilter, Scope};
use crate::model::{Event, Header, Kind, Layer, Names, Record};

/// Records that are looked at before the analysis begins.
pub const FIRST_RECORDS: usize = 1 << 17;
/// A process matters that moves at least this share of what the largest moves at the top layer.
const LEAST_SHARE: f64 = 0.1;
/// From this share of linked bytes on, requests that are for none above are taken for somebody else's.
const MOSTLY_LINKED: f64 = 0.5;

/// Whose requests are to count.
#[derive(Clone, Default)]
pub enum Choice {
    /// Those of the processes that move the most at the top layer, unless the capture was limited already.
    #[default]
    Auto,
    /// All.
    All,
    /// Those of processes with such names; in words.
    Names(NameFilter, String),
    /// Those of these processes.
    Processes(HashSet<u32>),
}

/// What was learnt.
pub struct Learnt {
    /// The layers that occur, top first.
    pub layers: Vec<Layer>,
    /// Whose requests count.
    pub scope: Scope,
    /// The same in words.
    pub words: String,
}

/// Looks at the first records.
pub fn learn(header: &Header, names: &Names, first: &[Record], choice: Choice) -> Learnt {
    let layers: BTreeSet<Layer> = admits(first).map(|event| event.layer).collect();
    let layers: Vec<Layer> = layers.into_iter().collect();
    let (mut scope, mut words) = chosen(header, names, first, &layers, choice);
    scope.only_linked = only_linked(header, first, &layers, scope.clone());
    let partly: Vec<&str> =
        layers.iter().filter(|layer| scope.only_linked[**layer as usize]).map(|layer| layer.name()).collect();
    if !partly.is_empty() {
        words += &format!("; of {} only what is for a layer above", partly.join(", "));
    }
    Learnt { layers, scope, words }
}

fn admits(records: &[Record]) -> impl Iterator<Item = &Event> {
    records.iter().filter_map(|record| match record {
        Record::Event(event) if event.kind == Kind::Admit => Some(event),
        _ => None,
    })
}

fn chosen(
    header: &Header,
    names: &Names,
    first: &[Record],
    layers: &[Layer],
    choice: Choice,
) -> (Scope, String) {
    let limits: Vec<&str> =
        header.sources.iter().flat_map(|source| &source.filters).map(String::as_str).collect();
    match choice {
        Choice::All => (Scope::default(), "all requests".into()),
        Choice::Names(filter, words) => (Scope::of(Some(filter), None), format!("processes called {words}")),
        Choice::Processes(processes) => {
            let mut told: Vec<String> = processes.iter().map(u32::to_string).collect();
            told.sort();
            (Scope::of(None, Some(processes)), format!("processes {}", told.join(", ")))
        }
        Choice::Auto if !limits.is_empty() => {
            (Scope::default(), format!("as captured: {}", limits.join(", ")))
        }
        Choice::Auto => largest(names, first, layers),
    }
}

/// The names and processes that move the most at the top layer.
fn largest(names: &Names, first: &[Record], layers: &[Layer]) -> (Scope, String) {
    let (mut by_name, mut by_process): (BTreeMap<&str, u64>, BTreeMap<u32, u64>) = Default::default();
    for event in admits(first).filter(|event| event.op.is_data() && Some(&event.layer) == layers.first()) {
        *by_name.entry(names.comm(event.comm)).or_default() += event.nbytes;
        if event.tgid > 0 {
            *by_process.entry(event.tgid).or_default() += event.nbytes;
        }
    }
    if by_name.len() < 2 {
        return (Scope::default(), "all requests".into());
    }
    let most = by_name.values().copied().max().unwrap_or(0) as f64;
    let names: BTreeSet<String> = by_name
        .iter()
        .filter(|(_, bytes)| **bytes as f64 >= LEAST_SHARE * most)
        .map(|(name, _)| (*name).into())
        .collect();
    let most = by_process.values().copied().max().unwrap_or(0) as f64;
    let processes: HashSet<u32> = by_process
        .into_iter()
        .filter(|(_, bytes)| *bytes as f64 >= LEAST_SHARE * most)
        .map(|(id, _)| id)
        .collect();
    let told: Vec<&str> = names.iter().map(String::as_str).collect();
    let words = format!("processes called {}, which move the most", told.join(", "));
    let filter: NameFilter = Rc::new(move |name: &str| names.contains(name));
    (Scope::of(Some(filter), Some(processes)), words)
}

/// Tries the linking on the first records.
fn only_linked(header: &Header, first: &[Record], layers: &[Layer], scope: Scope) -> [bool; Layer::COUNT] {
    let mut linker = Linker::new(header, layers, scope);
    let mut gatherer = Gatherer::new(0, false);
    for record in first {
        match record {
            Record::Event(event) => linker.event(event, &mut gatherer),
            Record::Edge(edge) => linker.edge(edge, &mut gatherer),
            Record::Comm(id, name) => linker.named(*id, name),
            Record::Object(..) => {}
        }
    }
    let mut only_linked = [false; Layer::COUNT];
    for layer in layers.iter().skip(1) {
        let [loose, linked] = gatherer.linked_bytes(*layer);
        let share = linked as f64 / ((loose + linked) as f64).max(1.0);
        only_linked[*layer as usize] = share >= MOSTLY_LINKED && share < 1.0;
    }
    only_linked
}
