//! Merges traces event by event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read, Write};

use super::clocks::Offset;
use crate::ltr::{Reader, Writer};
use crate::model::{CommId, Edge, Event, Footer, Header, HostId, Interner, ObjectId, Record, RequestId};

/// `offsets` are those of each trace's first host to the first trace; without an offset the times stay as they are.
pub fn merge<R: Read, W: Write>(
    traces: Vec<Reader<R>>,
    offsets: &[Option<Offset>],
    to: W,
) -> io::Result<(W, Footer)> {
    let (header, hosts) = header(&traces, offsets);
    let mut writer = Writer::new(to, &header)?;
    let shifts: Vec<Vec<i64>> = traces
        .iter()
        .zip(&hosts)
        .map(|(trace, first)| {
            let all = header.hosts.iter().skip(usize::from(first.0)).take(trace.header().hosts.len());
            all.map(|host| host.offset_ns).collect()
        })
        .collect();
    let mut inputs: Vec<Input<R>> = traces
        .into_iter()
        .zip(hosts)
        .zip(shifts)
        .map(|((trace, first), shifts)| Input::new(trace, first, shifts))
        .collect();
    let mut names = Names { objects: 0, comms: Interner::new(u32::from(u16::MAX)) };
    let mut order = BinaryHeap::new();
    for (place, input) in inputs.iter_mut().enumerate() {
        let head = input.advance(&mut names, &mut writer)?;
        order.extend(head.map(|time| Reverse((time, place))));
    }
    while let Some(Reverse((_, place))) = order.pop() {
        if let Some(event) = inputs[place].head.take() {
            writer.write(&Record::Event(event))?;
        }
        let head = inputs[place].advance(&mut names, &mut writer)?;
        order.extend(head.map(|time| Reverse((time, place))));
    }
    let footer = footer(&inputs);
    let footer = Footer { events: writer.events(), ..footer };
    Ok((writer.finish(footer.clone())?, footer))
}

/// The common header, and the number of each trace's first host in it.
fn header<R: Read>(traces: &[Reader<R>], offsets: &[Option<Offset>]) -> (Header, Vec<HostId>) {
    let mut all = Header::default();
    let mut firsts = Vec::new();
    for (nth, trace) in traces.iter().enumerate() {
        let first = HostId(all.hosts.len() as u16);
        let header = trace.header();
        let offset = offsets.get(nth).copied().flatten();
        all.hosts.extend(header.hosts.iter().cloned().map(|mut host| {
            if let Some(offset) = offset {
                host.offset_ns = host.offset_ns.saturating_add(offset.offset_ns);
                host.offset_err_ns = host.offset_err_ns.saturating_add(offset.err_ns);
            }
            host
        }));
        all.layers.extend(header.layers.iter().cloned().map(|mut layer| {
            layer.host.0 = layer.host.0.saturating_add(first.0);
            layer
        }));
        all.sources.extend(header.sources.iter().cloned().map(|mut source| {
            source.host.0 = source.host.0.saturating_add(first.0);
            source
        }));
        all.overhead = all.overhead.or(header.overhead);
        firsts.push(first);
    }
    (all, firsts)
}

fn footer<R: Read>(inputs: &[Input<R>]) -> Footer {
    let mut all = Footer::default();
    for input in inputs {
        let footer = input.trace.footer();
        all.sources.extend(footer.sources);
        all.layers.extend(footer.layers.into_iter().map(|mut layer| {
            layer.host.0 = layer.host.0.saturating_add(input.first.0);
            layer
        }));
        all.is_cut_short |= footer.is_cut_short;
    }
    all.layers.sort_by_key(|layer| (layer.order, layer.host));
    all
}

/// Objects are not shared between traces, since every host has a `/dev/sda`.
struct Names {
    objects: u32,
    comms: Interner<String>,
}

struct Input<R: Read> {
    trace: Reader<R>,
    first: HostId,
    shifts: Vec<i64>,
    head: Option<Event>,
    objects: Vec<ObjectId>,
    comms: Vec<CommId>,
}

impl<R: Read> Input<R> {
    fn new(trace: Reader<R>, first: HostId, shifts: Vec<i64>) -> Input<R> {
        let (objects, comms) = (vec![ObjectId::NONE], vec![CommId::NONE]);
        Input { trace, first, shifts, head: None, objects, comms }
    }

    /// The time of the next event on the first host's clock. Writes the records before it.
    fn advance<W: Write>(&mut self, names: &mut Names, writer: &mut Writer<W>) -> io::Result<Option<u64>> {
        while let Some(record) = self.trace.next_record() {
            match record {
                Record::Event(event) => {
                    let shift = self.shifts.get(usize::from(event.host.0)).copied().unwrap_or(0);
                    self.head = Some(self.renamed(event));
                    return Ok(Some(event.ts_ns.saturating_add_signed(shift)));
                }
                Record::Edge(edge) => {
                    let (parent, child) = (self.request(edge.parent), self.request(edge.child));
                    writer.write(&Record::Edge(Edge { parent, child, ..edge }))?;
                }
                Record::Object(_, object) => {
                    names.objects += 1;
                    self.objects.push(ObjectId(names.objects));
                    writer.write(&Record::Object(ObjectId(names.objects), object))?;
                }
                Record::Comm(_, comm) => {
                    let (number, is_new) = names.comms.number(comm.clone());
                    let id = CommId(number as u16);
                    self.comms.push(id);
                    if is_new {
                        writer.write(&Record::Comm(id, comm))?;
                    }
                }
            }
        }
        Ok(None)
    }

    fn renamed(&self, event: Event) -> Event {
        Event {
            host: HostId(event.host.0.saturating_add(self.first.0)),
            req: self.request(event.req),
            parent: self.request(event.parent),
            obj: self.objects.get(event.obj.0 as usize).copied().unwrap_or_default(),
            comm: self.comms.get(usize::from(event.comm.0)).copied().unwrap_or_default(),
            ..event
        }
    }

    fn request(&self, id: RequestId) -> RequestId {
        if id.is_none() { id } else { id.on(HostId(id.host().0.saturating_add(self.first.0))) }
    }
}
