//! A trace file in a form that the tests use.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use laggard_trace::ltr::Reader;
use laggard_trace::model::{Footer, Kind, Layer, Names, Object, ObjectId, Op, Record, RequestId};

/// A request that has a begin and an end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) tgid: u32,
    pub(crate) fd: i32,
    pub(crate) offset: i64,
    pub(crate) nbytes: u64,
    pub(crate) layer: Layer,
    pub(crate) op: Op,
    pub(crate) parent: RequestId,
    pub(crate) object: ObjectId,
}

/// A whole trace.
pub(crate) struct Trace {
    requests: HashMap<RequestId, Request>,
    names: Names,
    pub(crate) footer: Footer,
}

impl Trace {
    pub(crate) fn read(path: &Path) -> Trace {
        let mut reader = Reader::open(File::open(path).unwrap()).unwrap();
        let mut requests = HashMap::new();
        while let Some(record) = reader.next_record() {
            let Record::Event(event) = record else { continue };
            match event.kind {
                // A second event: the object is known now.
                Kind::Admit if requests.contains_key(&event.req) => {
                    let request: &mut Request = requests.get_mut(&event.req).unwrap();
                    (request.object, request.fd) = (event.obj, event.fd);
                }
                Kind::Admit => {
                    let request = Request {
                        begin_ns: event.ts_ns,
                        end_ns: 0,
                        tgid: event.tgid,
                        fd: event.fd,
                        offset: event.offset,
                        nbytes: event.nbytes,
                        layer: event.layer,
                        op: event.op,
                        parent: event.parent,
                        object: event.obj,
                    };
                    requests.insert(event.req, request);
                }
                Kind::Callback => {
                    if let Some(request) = requests.get_mut(&event.req) {
                        request.end_ns = event.ts_ns;
                        let is_unsized = request.nbytes == 0 && request.op.is_data();
                        request.nbytes = if is_unsized { event.nbytes } else { request.nbytes };
                    }
                }
                _ => {}
            }
        }
        requests.retain(|_, request| request.end_ns >= request.begin_ns);
        let names = reader.names().clone();
        let (footer, damage) = (reader.footer(), reader.damage());
        assert!(damage.cut_short.is_none() && damage.lines == 0, "{damage:?}");
        Trace { requests, names, footer }
    }

    /// The requests of a layer, by their begin.
    pub(crate) fn requests(&self, layer: Layer, op: Op) -> Vec<Request> {
        let mut all: Vec<Request> = self
            .requests
            .values()
            .filter(|request| request.layer == layer && request.op == op)
            .copied()
            .collect();
        all.sort_by_key(|request| request.begin_ns);
        all
    }

    /// The fraction of an upper layer's requests that have a request below.
    pub(crate) fn linked_share(&self, lower: Layer, upper: Layer) -> f64 {
        let of = |layer: Layer| self.requests.iter().filter(move |(_, request)| request.layer == layer);
        let parents: std::collections::HashSet<RequestId> =
            of(lower).map(|(_, request)| request.parent).collect();
        let linked = of(upper).filter(|(id, _)| parents.contains(id)).count();
        linked as f64 / of(upper).count() as f64
    }

    /// The file that a request is on.
    pub(crate) fn path_of(&self, request: &Request) -> Option<&str> {
        match self.names.object(request.object) {
            Some(Object::File { path, .. }) => Some(path),
            _ => None,
        }
    }
}

/// The highest concurrency.
pub(crate) fn max_concurrency(requests: &[Request]) -> usize {
    let begins = requests.iter().map(|request| (request.begin_ns, 1));
    let mut steps: Vec<(u64, i64)> =
        begins.chain(requests.iter().map(|request| (request.end_ns, -1))).collect();
    steps.sort();
    let depths = steps.iter().scan(0, |depth, (_, step)| {
        *depth += step;
        Some(*depth)
    });
    depths.max().unwrap_or(0) as usize
}

/// The average concurrency while there is at least one request.
pub(crate) fn busy_concurrency(requests: &[Request]) -> f64 {
    let mut spans: Vec<(u64, u64)> =
        requests.iter().map(|request| (request.begin_ns, request.end_ns)).collect();
    spans.sort();
    let (mut busy_ns, mut until_ns) = (0, 0);
    for (begin_ns, end_ns) in &spans {
        busy_ns += end_ns.saturating_sub(until_ns.max(*begin_ns));
        until_ns = until_ns.max(*end_ns);
    }
    let waited_ns: u64 = spans.iter().map(|(begin_ns, end_ns)| end_ns - begin_ns).sum();
    waited_ns as f64 / busy_ns.max(1) as f64
}

/// The highest concurrency of a single descriptor.
pub(crate) fn max_concurrency_per_descriptor(requests: &[Request]) -> usize {
    let mut groups: HashMap<(u32, i32), Vec<Request>> = HashMap::new();
    for request in requests {
        groups.entry((request.tgid, request.fd)).or_default().push(*request);
    }
    groups.values().map(|group| max_concurrency(group)).max().unwrap_or(0)
}

/// The lengths of consecutive runs.
pub(crate) fn runs_bytes(requests: &[Request]) -> Vec<u64> {
    let mut runs: Vec<u64> = vec![];
    let mut end = -1;
    for request in requests {
        match runs.last_mut() {
            Some(run) if request.offset == end => *run += request.nbytes,
            _ => runs.push(request.nbytes),
        }
        end = request.offset + request.nbytes as i64;
    }
    runs
}

/// The fraction of writes that were acknowledged before the server received their first byte.
pub(crate) fn early_ack_share(writes: &[Request], served: &[Request]) -> f64 {
    let covers = |write: &Request, one: &Request| {
        one.offset <= write.offset && write.offset < one.offset + one.nbytes as i64
    };
    let mut linked = 0;
    let mut early = 0;
    for write in writes {
        let of = served.iter().find(|one| covers(write, one) && one.end_ns > write.begin_ns);
        linked += usize::from(of.is_some());
        early += usize::from(of.is_some_and(|one| write.end_ns < one.end_ns));
    }
    assert!(linked * 2 > writes.len(), "{linked} of {} writes were found at the server", writes.len());
    early as f64 / linked as f64
}
