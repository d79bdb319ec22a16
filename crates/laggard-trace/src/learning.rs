//! What the first records of a trace tell of it: which layers there are, whose requests matter, and of which layers
//! requests can be linked. A trace of a whole host is full of other programs' requests.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use crate::characteristics::Gatherer;
use crate::hashing::WordMap;
use crate::linking::{Linker, NameFilter, Scope, Without};
use crate::model::{Event, Header, Kind, Layer, Names, Record};

/// Records that are looked at before the analysis begins.
pub const FIRST_RECORDS: usize = 1 << 17;
/// A process matters that moves at least this share of what the largest moves at the top layer.
const LEAST_SHARE: f64 = 0.1;
/// From this share of linked bytes on, requests that are for none above are taken for somebody else's.
const MOSTLY_LINKED: f64 = 0.5;

/// A layer that moves less than this share of the next one, and is not linked to it, does not count.
const LEAST_BYTES_SHARE: f64 = 0.02;
const LEAST_LINKED: f64 = 0.1;
/// An object of which less than this share of the largest is asked does not count.
const LEAST_OBJECT_SHARE: f64 = 0.02;
/// As long as such objects are not more than this share of all.
const SMALL_OBJECTS: f64 = 0.05;
/// What comes before the first request that matters is left out if it took less than this share of the time.
const STARTING: f64 = 0.25;

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
    let asked = asked(first);
    let layers: BTreeSet<Layer> = asked.iter().map(|event| event.layer).collect();
    let layers: Vec<Layer> = layers.into_iter().collect();
    let limits = limits(header);
    let is_auto = matches!(choice, Choice::Auto);
    let negligible = if is_auto { negligible(header, first, &layers) } else { Vec::new() };
    let layers: Vec<Layer> = layers.into_iter().filter(|layer| !negligible.contains(layer)).collect();
    let (mut scope, mut words) = chosen(limits, names, &asked, &layers, choice);
    negligible.iter().for_each(|layer| scope.without_layers[*layer as usize] = true);
    if is_auto && let Some(top) = layers.first() {
        let objects = small_objects(&asked, *top);
        let before_ns = begin(header, first, &asked, (*top, &objects));
        scope.without = Some(Without { top: *top, objects, before_ns });
    }
    scope.only_linked = only_linked(header, first, &layers, scope.clone());
    let named = |layers: &[Layer]| layers.iter().map(|layer| layer.name()).collect::<Vec<_>>().join(", ");
    let partly: Vec<Layer> =
        layers.iter().copied().filter(|layer| scope.only_linked[*layer as usize]).collect();
    if !partly.is_empty() {
        words += &format!("; of {} only what is for a layer above", named(&partly));
    }
    if !negligible.is_empty() {
        words += &format!("; not {}, which moves next to nothing", named(&negligible));
    }
    Learnt { layers, scope, words }
}

/// Layers at the top that move next to nothing and have nothing to do with what is below: libaio, for one, is not
/// seen by system calls, but the few reads of the dynamic linker are.
fn negligible(header: &Header, first: &[Record], layers: &[Layer]) -> Vec<Layer> {
    let gatherer = tried(header, first, layers, Scope::default());
    let mut negligible = Vec::new();
    for pair in layers.windows(2) {
        let [own, below] = [pair[0], pair[1]].map(|layer| gatherer.linked_bytes(layer));
        let (bytes, bytes_below) = ((own[0] + own[1]) as f64, (below[0] + below[1]) as f64);
        let is_linked = below[1] as f64 >= LEAST_LINKED * bytes_below;
        if is_linked || bytes >= LEAST_BYTES_SHARE * bytes_below {
            break;
        }
        negligible.push(pair[0]);
    }
    let bypassed = bypassed(&gatherer, layers).filter(|layer| !negligible.contains(layer));
    negligible.extend(bypassed);
    negligible
}

/// System calls that lie between a ring and the queues, but that the ring's requests do not take.
fn bypassed(gatherer: &Gatherer, layers: &[Layer]) -> Option<Layer> {
    if !layers.contains(&Layer::Uring) || !layers.contains(&Layer::Sys) {
        return None;
    }
    let [loose, linked] = gatherer.linked_bytes(Layer::Sys);
    let ring = gatherer.linked_bytes(Layer::Uring).iter().sum::<u64>();
    let is_little = (loose as f64) < LEAST_BYTES_SHARE * ring as f64;
    (linked == 0 && is_little).then_some(Layer::Sys)
}

/// Objects of which next to nothing is asked, such as a program's own libraries when it starts.
fn small_objects(asked: &[Event], top: Layer) -> HashSet<u32> {
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    for event in asked.iter().filter(|event| event.layer == top && event.op.is_data()) {
        *bytes.entry(event.obj.0).or_default() += event.nbytes;
    }
    let most = bytes.values().copied().max().unwrap_or(0) as f64;
    let all: u64 = bytes.values().sum();
    let small = |bytes: &u64| (*bytes as f64) < LEAST_OBJECT_SHARE * most;
    let of_small: u64 = bytes.values().copied().filter(small).sum();
    if of_small as f64 > SMALL_OBJECTS * all as f64 {
        return HashSet::new();
    }
    bytes.into_iter().filter(|(_, bytes)| small(bytes)).map(|(object, _)| object).collect()
}

/// The begins of requests, with what their later events tell of object and size.
fn asked(records: &[Record]) -> Vec<Event> {
    let mut asked: Vec<Event> = Vec::new();
    let mut vague: WordMap<u64, usize> = WordMap::default();
    for record in records {
        let Record::Event(event) = record else { continue };
        let place = vague.get(&event.req.0).copied();
        match (event.kind, place.and_then(|place| asked.get_mut(place))) {
            (Kind::Admit, Some(begun)) => begun.obj = event.obj,
            (Kind::Admit, None) => {
                if event.op.is_data() && event.nbytes == 0 {
                    vague.insert(event.req.0, asked.len());
                }
                asked.push(*event);
            }
            (Kind::Callback, Some(begun)) => {
                begun.nbytes = event.nbytes;
                vague.remove(&event.req.0);
            }
            _ => {}
        }
    }
    asked
}

/// When the first request for the bytes of an object that matters begins: until then a program starts up, opens
/// files, reads its settings. 0 where that took its time: then it is part of the matter.
fn begin(header: &Header, first: &[Record], asked: &[Event], (top, small): (Layer, &HashSet<u32>)) -> u64 {
    let matters = |event: &&Event| event.layer == top && event.op.is_data() && !small.contains(&event.obj.0);
    let (count, bytes) =
        asked.iter().filter(matters).fold((0, 0), |(count, bytes), event| (count + 1, bytes + event.nbytes));
    // A few bytes of a file's head are no begin.
    let is_usual = |event: &&Event| event.nbytes * 10 * count >= bytes;
    let Some(begin) = asked.iter().filter(matters).find(is_usual) else { return 0 };
    let (mut open, mut took_ns): (WordMap<u64, u64>, [u64; 2]) = (WordMap::default(), [0; 2]);
    for record in first {
        let Record::Event(event) = record else { continue };
        match event.kind {
            Kind::Admit if event.layer == top => _ = open.insert(event.req.0, event.ts_ns),
            Kind::Callback => {
                let admit_ns = open.remove(&event.req.0);
                let side = usize::from(admit_ns.is_some_and(|admit_ns| admit_ns >= begin.ts_ns));
                took_ns[side] += admit_ns.map_or(0, |admit_ns| event.ts_ns.saturating_sub(admit_ns));
            }
            _ => {}
        }
    }
    let is_short = (took_ns[0] as f64) < STARTING * (took_ns[0] + took_ns[1]) as f64;
    let offset_ns = header.hosts.get(usize::from(begin.host.0)).map_or(0, |host| host.offset_ns);
    if is_short { begin.ts_ns.saturating_add_signed(offset_ns) } else { 0 }
}

/// What the capture was limited to.
fn limits(header: &Header) -> Vec<&str> {
    header.sources.iter().flat_map(|source| &source.filters).map(String::as_str).collect()
}

fn chosen(
    limits: Vec<&str>,
    names: &Names,
    asked: &[Event],
    layers: &[Layer],
    choice: Choice,
) -> (Scope, String) {
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
        Choice::Auto => largest(names, asked, layers),
    }
}

/// The names and processes that move the most at the top layer.
fn largest(names: &Names, asked: &[Event], layers: &[Layer]) -> (Scope, String) {
    let (mut by_name, mut by_process): (BTreeMap<&str, u64>, BTreeMap<u32, u64>) = Default::default();
    for event in asked.iter().filter(|event| event.op.is_data() && Some(&event.layer) == layers.first()) {
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

/// Layers of which most can be linked, but not all. Not those like messages, of which it is known only after their
/// begin what they are for: by that, none would be for anything.
fn only_linked(header: &Header, first: &[Record], layers: &[Layer], scope: Scope) -> [bool; Layer::COUNT] {
    let gatherer = tried(header, first, layers, scope);
    let mut only_linked = [false; Layer::COUNT];
    for layer in layers.iter().skip(1).filter(|layer| !gatherer.is_joined_late(**layer)) {
        let [loose, linked] = gatherer.linked_bytes(*layer);
        let share = linked as f64 / ((loose + linked) as f64).max(1.0);
        only_linked[*layer as usize] = (MOSTLY_LINKED..1.0).contains(&share);
    }
    only_linked
}

/// Tries the linking on the first records.
fn tried(header: &Header, first: &[Record], layers: &[Layer], scope: Scope) -> Gatherer {
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
    gatherer
}
