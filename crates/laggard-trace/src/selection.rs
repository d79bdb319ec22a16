//! Selects the processes, layers and objects to analyse, from the first records of a trace. A trace of a whole host is
//! full of other programs' requests.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use crate::characteristics::Collector;
use crate::hashing::WordMap;
use crate::linking::{Exclusions, Linker, NameFilter, Scope};
use crate::model::{Event, Header, Kind, Layer, Names, Record};

/// Records that are read before the analysis begins.
pub(crate) const FIRST_RECORDS: usize = 1 << 17;
/// Processes with a smaller share of the largest process's bytes at the top layer are left out.
const MIN_PROCESS_SHARE: f64 = 0.1;
/// From this share of linked bytes on, requests without a parent are attributed to other programs.
const MOSTLY_LINKED: f64 = 0.5;
/// A layer with a smaller share of the next layer's bytes that is not linked to it is left out.
const MIN_LAYER_SHARE: f64 = 0.02;
const MIN_LINKED_SHARE: f64 = 0.1;
/// Objects with a smaller share of the largest object's bytes are left out ...
const MIN_OBJECT_SHARE: f64 = 0.02;
/// ... if all of them together have at most this share of all bytes.
const MAX_SMALL_OBJECTS_SHARE: f64 = 0.05;
/// The start of a program is left out if it takes less than this share of the time.
const MAX_START_SHARE: f64 = 0.25;

/// The processes to analyse.
#[derive(Clone, Default)]
pub enum Selection {
    /// The processes with the most bytes at the top layer, unless the capture was limited already.
    #[default]
    Auto,
    All,
    /// A filter, and its description.
    Names(NameFilter, String),
    /// Process ids.
    Processes(HashSet<u32>),
}

pub(crate) struct ResolvedScope {
    /// Top layer first.
    pub(crate) layers: Vec<Layer>,
    pub(crate) scope: Scope,
    /// The scope in words.
    pub(crate) description: String,
}

pub(crate) fn resolve(
    header: &Header,
    names: &Names,
    first: &[Record],
    selection: Selection,
) -> ResolvedScope {
    let begins = begins(first);
    let layers: BTreeSet<Layer> = begins.iter().map(|event| event.layer).collect();
    let layers: Vec<Layer> = layers.into_iter().collect();
    let limits = limits(header);
    let is_auto = matches!(selection, Selection::Auto);
    let negligible = if is_auto { negligible(header, first, &layers) } else { Vec::new() };
    let layers: Vec<Layer> = layers.into_iter().filter(|layer| !negligible.contains(layer)).collect();
    let (mut scope, mut description) = select(limits, names, &begins, &layers, selection);
    negligible.iter().for_each(|layer| scope.excluded_layers[*layer as usize] = true);
    if is_auto && let Some(top) = layers.first() {
        let objects = small_objects(&begins, *top);
        let before_ns = program_start(header, first, &begins, (*top, &objects));
        scope.exclusions = Some(Exclusions { top: *top, objects, before_ns });
    }
    scope.only_linked = only_linked(header, first, &layers, scope.clone());
    let named = |layers: &[Layer]| layers.iter().map(|layer| layer.name()).collect::<Vec<_>>().join(", ");
    let partly: Vec<Layer> =
        layers.iter().copied().filter(|layer| scope.only_linked[*layer as usize]).collect();
    if !partly.is_empty() {
        description += &format!("; of {} only requests with a parent", named(&partly));
    }
    if !negligible.is_empty() {
        description += &format!("; not {}, which transfers hardly any bytes", named(&negligible));
    }
    ResolvedScope { layers, scope, description }
}

/// Layers at the top with hardly any bytes and no links to the layer below: requests of libaio make no system calls, but
/// the dynamic linker does.
fn negligible(header: &Header, first: &[Record], layers: &[Layer]) -> Vec<Layer> {
    let collector = try_linking(header, first, layers, Scope::default());
    let mut negligible = Vec::new();
    for pair in layers.windows(2) {
        let [own, below] = [pair[0], pair[1]].map(|layer| collector.linked_bytes(layer));
        let (bytes, bytes_below) = ((own[0] + own[1]) as f64, (below[0] + below[1]) as f64);
        let is_linked = below[1] as f64 >= MIN_LINKED_SHARE * bytes_below;
        if is_linked || bytes >= MIN_LAYER_SHARE * bytes_below {
            break;
        }
        negligible.push(pair[0]);
    }
    let bypassed = bypassed(&collector, layers).filter(|layer| !negligible.contains(layer));
    negligible.extend(bypassed);
    negligible
}

/// The layer of system calls, if io_uring requests bypass it.
fn bypassed(collector: &Collector, layers: &[Layer]) -> Option<Layer> {
    if !layers.contains(&Layer::Uring) || !layers.contains(&Layer::Sys) {
        return None;
    }
    let [unlinked, linked] = collector.linked_bytes(Layer::Sys);
    let ring = collector.linked_bytes(Layer::Uring).iter().sum::<u64>();
    let is_little = (unlinked as f64) < MIN_LAYER_SHARE * ring as f64;
    (linked == 0 && is_little).then_some(Layer::Sys)
}

/// Objects with hardly any bytes, such as a program's own libraries.
fn small_objects(begins: &[Event], top: Layer) -> HashSet<u32> {
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    for event in begins.iter().filter(|event| event.layer == top && event.op.is_data()) {
        *bytes.entry(event.obj.0).or_default() += event.nbytes;
    }
    let most = bytes.values().copied().max().unwrap_or(0) as f64;
    let all: u64 = bytes.values().sum();
    let small = |bytes: &u64| (*bytes as f64) < MIN_OBJECT_SHARE * most;
    let of_small: u64 = bytes.values().copied().filter(small).sum();
    if of_small as f64 > MAX_SMALL_OBJECTS_SHARE * all as f64 {
        return HashSet::new();
    }
    bytes.into_iter().filter(|(_, bytes)| small(bytes)).map(|(object, _)| object).collect()
}

/// The first events of requests, with object and size from later events.
fn begins(records: &[Record]) -> Vec<Event> {
    let mut begins: Vec<Event> = Vec::new();
    let mut incomplete: WordMap<u64, usize> = WordMap::default();
    for record in records {
        let Record::Event(event) = record else { continue };
        let place = incomplete.get(&event.req.0).copied();
        match (event.kind, place.and_then(|place| begins.get_mut(place))) {
            (Kind::Admit, Some(begun)) => begun.obj = event.obj,
            (Kind::Admit, None) => {
                if event.op.is_data() && event.nbytes == 0 {
                    incomplete.insert(event.req.0, begins.len());
                }
                begins.push(*event);
            }
            (Kind::Callback, Some(begun)) => {
                begun.nbytes = event.nbytes;
                incomplete.remove(&event.req.0);
            }
            _ => {}
        }
    }
    begins
}

/// The begin of the first typical data request: until then the program starts, opens files and reads its settings.
/// 0 if that took long: then it is analysed too.
fn program_start(
    header: &Header,
    first: &[Record],
    begins: &[Event],
    (top, small): (Layer, &HashSet<u32>),
) -> u64 {
    let matters = |event: &&Event| event.layer == top && event.op.is_data() && !small.contains(&event.obj.0);
    let (count, bytes) =
        begins.iter().filter(matters).fold((0, 0), |(count, bytes), event| (count + 1, bytes + event.nbytes));
    // A small read of a file's header is not typical.
    let is_usual = |event: &&Event| event.nbytes * 10 * count >= bytes;
    let Some(begin) = begins.iter().filter(matters).find(is_usual) else { return 0 };
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
    let is_short = (took_ns[0] as f64) < MAX_START_SHARE * (took_ns[0] + took_ns[1]) as f64;
    let offset_ns = header.hosts.get(usize::from(begin.host.0)).map_or(0, |host| host.offset_ns);
    if is_short { begin.ts_ns.saturating_add_signed(offset_ns) } else { 0 }
}

/// The filters of the capture.
fn limits(header: &Header) -> Vec<&str> {
    header.sources.iter().flat_map(|source| &source.filters).map(String::as_str).collect()
}

fn select(
    limits: Vec<&str>,
    names: &Names,
    begins: &[Event],
    layers: &[Layer],
    selection: Selection,
) -> (Scope, String) {
    match selection {
        Selection::All => (Scope::default(), "all requests".into()),
        Selection::Names(filter, words) => {
            (Scope::of(Some(filter), None), format!("processes named {words}"))
        }
        Selection::Processes(processes) => {
            let mut ids: Vec<String> = processes.iter().map(u32::to_string).collect();
            ids.sort();
            (Scope::of(None, Some(processes)), format!("processes {}", ids.join(", ")))
        }
        Selection::Auto if !limits.is_empty() => {
            (Scope::default(), format!("as captured: {}", limits.join(", ")))
        }
        Selection::Auto => largest(names, begins, layers),
    }
}

/// The processes with the most bytes at the top layer.
fn largest(names: &Names, begins: &[Event], layers: &[Layer]) -> (Scope, String) {
    let (mut by_name, mut by_process): (BTreeMap<&str, u64>, BTreeMap<u32, u64>) = Default::default();
    for event in begins.iter().filter(|event| event.op.is_data() && Some(&event.layer) == layers.first()) {
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
        .filter(|(_, bytes)| **bytes as f64 >= MIN_PROCESS_SHARE * most)
        .map(|(name, _)| (*name).into())
        .collect();
    let most = by_process.values().copied().max().unwrap_or(0) as f64;
    let processes: HashSet<u32> = by_process
        .into_iter()
        .filter(|(_, bytes)| *bytes as f64 >= MIN_PROCESS_SHARE * most)
        .map(|(id, _)| id)
        .collect();
    let listed: Vec<&str> = names.iter().map(String::as_str).collect();
    let description = format!("processes named {}, which have the most bytes", listed.join(", "));
    let filter: NameFilter = Rc::new(move |name: &str| names.contains(name));
    (Scope::of(Some(filter), Some(processes)), description)
}

/// Layers of which most requests, but not all, can be linked. Not layers such as the network, whose parents are known only
/// after the begin: all of their requests would be left out.
fn only_linked(header: &Header, first: &[Record], layers: &[Layer], scope: Scope) -> [bool; Layer::COUNT] {
    let collector = try_linking(header, first, layers, scope);
    let mut only_linked = [false; Layer::COUNT];
    for layer in layers.iter().skip(1).filter(|layer| !collector.is_joined_late(**layer)) {
        let [unlinked, linked] = collector.linked_bytes(*layer);
        let share = linked as f64 / ((unlinked + linked) as f64).max(1.0);
        only_linked[*layer as usize] = (MOSTLY_LINKED..1.0).contains(&share);
    }
    only_linked
}

/// Links the first records.
fn try_linking(header: &Header, first: &[Record], layers: &[Layer], scope: Scope) -> Collector {
    let mut linker = Linker::new(header, layers, scope);
    let mut collector = Collector::new(0, false);
    first.iter().for_each(|record| linker.record(record, &mut collector));
    collector
}
