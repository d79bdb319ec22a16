//! Requests of block devices: from the queue (blk) to the device (dev) and back, merged, split and requeued.

use super::state::{
    Bio, DeviceRequest, Link, OpenRequests, RequestKey, Role, State, is_same_direction, overlap,
};
use crate::model::{Edge, Event, Flags, Kind, Layer, LinkRule, Object, Op, Record};
use crate::tracepoints::{BlockFields, BlockStep, Device, Rwbs, Tracepoint};

/// Independent of the device's own sector size.
const SECTOR: u64 = 512;

/// Operation and flags from the letters in a tracepoint.
fn op(rwbs: &Rwbs, has_sectors: bool) -> (Op, Flags) {
    let letters = rwbs.letters();
    let op = if rwbs.has(b'F') && !has_sectors {
        Op::Sync
    } else if rwbs.has(b'D') {
        Op::Discard
    } else if rwbs.has(b'R') {
        Op::Read
    } else if rwbs.has(b'W') {
        Op::Write
    } else if rwbs.has(b'F') {
        Op::Sync
    } else {
        Op::Other
    };
    let mut flags = Flags::NONE;
    for (letter, flag) in [(b'S', Flags::SYNC), (b'A', Flags::RA), (b'M', Flags::META)] {
        if rwbs.has(letter) {
            flags |= flag;
        }
    }
    // An F before the operation is a flush, an F after it is FUA.
    let after = letters.iter().skip_while(|&&letter| letter == b'F').any(|&letter| letter == b'F');
    (op, if after { flags | Flags::FUA } else { flags })
}

pub(super) fn step(state: &mut State, point: &Tracepoint, step: BlockStep, fields: &BlockFields) {
    if fields.sectors == 0 || fields.sector == u64::MAX {
        return step_without_sectors(state, point, step, fields);
    }
    match step {
        BlockStep::Queue => queue(state, point, fields),
        BlockStep::Issue => issue(state, point, fields),
        BlockStep::Complete => complete(state, point, fields),
        BlockStep::BioComplete => complete_bio(state, point, fields),
        BlockStep::Requeue => requeue(state, fields),
        BlockStep::BackMerge | BlockStep::FrontMerge => mark(state, fields, |bio| bio.is_merged = true),
        BlockStep::Split => mark(state, fields, |bio| bio.is_split = true),
        BlockStep::Remap => remap(state, point, fields),
        BlockStep::Get | BlockStep::Insert | BlockStep::RequestMerge | BlockStep::Error => {}
    }
}

fn range(fields: &BlockFields) -> (u64, u64) {
    (fields.sector, fields.sector.saturating_add(u64::from(fields.sectors)))
}

fn draft(state: &mut State, point: &Tracepoint, layer: Layer, fields: &BlockFields) -> Event {
    let (op, mut flags) = op(&fields.rwbs, fields.sectors > 0);
    let device = fields.device;
    let builder = &mut state.builder;
    let task = state.tasks.update(point, builder);
    let (tgid, comm) = (task.process(point.tid), task.comm_id);
    if task.role == Role::Kernel && op == Op::Write && layer == Layer::Blk {
        flags |= Flags::WRITEBACK;
    }
    let named = || builder.object(Object::Device { major: device.major, minor: device.minor });
    let obj = *state.block.objects.entry(device).or_insert_with(named);
    let offset = fields.sector.checked_mul(SECTOR).and_then(|offset| i64::try_from(offset).ok());
    Event {
        tgid,
        tid: point.tid,
        comm,
        obj,
        offset: offset.unwrap_or(-1),
        nbytes: if fields.sectors > 0 { u64::from(fields.sectors) * SECTOR } else { fields.bytes.into() },
        flags,
        ..state.builder.new_event(layer, op, point.ts_ns)
    }
}

/// The request for which a task queues a bio.
fn above(state: &mut State, point: &Tracepoint, to: (Device, u64)) -> Link {
    if let Some((target, from)) = state.block.remapped.remove(&point.tid)
        && target == to
        && from.is_some()
    {
        return Some((from, LinkRule::Remap));
    }
    let task = state.tasks.get(point.tid)?;
    if task.starting.is_some() {
        return Some((task.starting, LinkRule::Thread));
    }
    let admit = task.call.as_ref()?.admit.as_ref()?;
    Some((admit.req, LinkRule::Thread))
}

fn queue(state: &mut State, point: &Tracepoint, fields: &BlockFields) {
    let draft = draft(state, point, Layer::Blk, fields);
    let link = above(state, point, (fields.device, fields.sector));
    let admit = state.builder.admit(draft, link);
    let (begin, end) = range(fields);
    let sectors = end - begin;
    let bio =
        Bio { admit, end, unissued: sectors, undone: sectors, status: 0, is_merged: false, is_split: false };
    state.builder.counters.unmatched_begin += state.block.queued.put(fields.device, begin, sectors, bio);
}

fn issue(state: &mut State, point: &Tracepoint, fields: &BlockFields) {
    let (begin, end) = range(fields);
    let draft = draft(state, point, Layer::Dev, fields);
    let members = members(&mut state.block.queued, fields.device, (begin, end), draft.op);
    if members.is_empty() && reissue(state, point, fields, (end, draft.op)) {
        return;
    }
    let parent = members.first().map(|(_, bio)| (bio.admit.req, LinkRule::Same));
    let flags = members.iter().fold(draft.flags, |flags, (_, bio)| flags | bio.admit.flags);
    let admit = state.builder.admit(Event { flags, ..draft }, parent);
    for (nth, (place, bio)) in members.iter().enumerate() {
        let bytes = overlap((begin, end), (place.1, bio.end)) * SECTOR;
        if nth > 0 {
            let (parent, child, rule) = (bio.admit.req, admit.req, LinkRule::Same);
            let confidence = rule.confidence();
            state.builder.records.push(Record::Edge(Edge { parent, child, bytes, rule, confidence }));
        }
        state.builder.step(&bio.admit, Kind::Issue, point.ts_ns, marks(bio));
    }
    let members = members.into_iter().map(|(place, _)| place).collect();
    let issued = DeviceRequest { admit, end, sectors: end - begin, members, status: 0 };
    state.builder.counters.unmatched_begin +=
        state.block.issued.put(fields.device, begin, end - begin, issued);
}

fn marks(bio: &Bio) -> Flags {
    let merged = if bio.is_merged { Flags::MERGED } else { Flags::NONE };
    let split = if bio.is_split { Flags::SPLIT } else { Flags::NONE };
    merged | split
}

/// The bios that a device request consists of. If several bios cover the same sectors, only one of them belongs to
/// it.
fn members(
    queued: &mut OpenRequests<Bio>,
    device: Device,
    range: (u64, u64),
    op: Op,
) -> Vec<(RequestKey, Bio)> {
    let mut members = Vec::new();
    let mut covered_until = range.0;
    for (place, bio) in queued.near(device, range.0, range.1) {
        let shared = overlap(range, (place.1, bio.end));
        let is_covered = place.1.max(range.0) < covered_until;
        if shared == 0 || bio.unissued < shared || is_covered || !is_same_direction(op, bio.admit.op) {
            continue;
        }
        bio.is_split |= shared < bio.end - place.1;
        bio.unissued = bio.unissued.saturating_sub(shared);
        covered_until = bio.end.min(range.1);
        members.push((place, *bio));
    }
    if members.len() > 1 {
        members.iter_mut().for_each(|(_, bio)| bio.is_merged = true);
    }
    members
}

/// The device was busy and receives the same request again: its timestamps start over.
fn reissue(state: &mut State, point: &Tracepoint, fields: &BlockFields, (end, op): (u64, Op)) -> bool {
    let place = {
        let mut open = state.block.issued.at(fields.device, fields.sector);
        open.find(|(_, open)| open.end == end && open.admit.op == op).map(|(place, _)| place)
    };
    let Some(open) = place.and_then(|place| state.block.issued.get(place)) else { return false };
    open.admit.flags |= Flags::REQUEUED;
    let again = Event { ts_ns: point.ts_ns, ..open.admit };
    let members = open.members.clone();
    state.builder.records.push(Record::Event(again));
    open.admit.ts_ns = point.ts_ns;
    for member in members {
        if let Some(bio) = state.block.queued.get(member) {
            bio.admit.flags |= Flags::REQUEUED;
            let bio = *bio;
            state.builder.step(&bio.admit, Kind::Issue, point.ts_ns, marks(&bio));
        }
    }
    true
}

fn requeue(state: &mut State, fields: &BlockFields) {
    let place = state.block.issued.at(fields.device, fields.sector).map(|(place, _)| place).next();
    if let Some(open) = place.and_then(|place| state.block.issued.get(place)) {
        open.admit.flags |= Flags::REQUEUED;
    }
}

fn complete(state: &mut State, point: &Tracepoint, fields: &BlockFields) {
    let (begin, end) = range(fields);
    let place = state.block.issued.at(fields.device, begin).map(|(place, _)| place).next();
    let Some((mut issued, place)) = place.and_then(|place| Some((state.block.issued.take(place)?, place)))
    else {
        state.builder.counters.unmatched_end += 1;
        let (op, _) = op(&fields.rwbs, true);
        let members = members(&mut state.block.queued, fields.device, (begin, end), op);
        return members
            .into_iter()
            .for_each(|(place, _)| return_bio(state, point, place, (begin, end), fields.error));
    };
    issued.status = if fields.error != 0 { fields.error } else { issued.status };
    for member in issued.members.clone() {
        return_bio(state, point, member, (begin, end), fields.error);
    }
    if end < issued.end {
        state.block.issued.put(place.0, end, issued.end - end, issued);
        return;
    }
    let status = issued.status.min(0);
    let done = if status == 0 { issued.sectors * SECTOR } else { 0 };
    state.builder.end(&issued.admit, point.ts_ns, done, status);
}

/// Marks sectors of a bio as completed; the last ones end it.
fn return_bio(state: &mut State, point: &Tracepoint, place: RequestKey, range: (u64, u64), error: i32) {
    let Some(bio) = state.block.queued.get(place) else { return };
    bio.undone = bio.undone.saturating_sub(overlap(range, (place.1, bio.end)));
    bio.status = if error != 0 { error } else { bio.status };
    if bio.undone > 0 {
        return;
    }
    let Some(bio) = state.block.queued.take(place) else { return };
    let status = bio.status.min(0);
    let admit = Event { flags: bio.admit.flags | marks(&bio), ..bio.admit };
    state.builder.step(&Event { status, ..admit }, Kind::Complt, point.ts_ns, Flags::NONE);
    state.builder.end(&admit, point.ts_ns, if status == 0 { admit.nbytes } else { 0 }, status);
}

/// Ends a bio for which no device request was created: on stacked devices.
fn complete_bio(state: &mut State, point: &Tracepoint, fields: &BlockFields) {
    let (begin, end) = range(fields);
    let unissued = {
        let mut queued = state.block.queued.at(fields.device, begin);
        queued.find(|(place, bio)| bio.end == end && bio.unissued == end - place.1).map(|(place, _)| place)
    };
    if let Some(place) = unissued {
        return_bio(state, point, place, (begin, end), fields.error);
    }
}

fn mark(state: &mut State, fields: &BlockFields, with: impl Fn(&mut Bio)) {
    let place = state.block.queued.at(fields.device, fields.sector).map(|(place, _)| place).last();
    if let Some(bio) = place.and_then(|place| state.block.queued.get(place)) {
        with(bio);
    }
}

fn remap(state: &mut State, point: &Tracepoint, fields: &BlockFields) {
    let from =
        state.block.queued.at(fields.other_device, fields.other_sector).map(|(_, bio)| bio.admit.req).last();
    let to = (fields.device, fields.sector);
    state.block.remapped.insert(point.tid, (to, from.unwrap_or_default()));
}

fn step_without_sectors(state: &mut State, point: &Tracepoint, step: BlockStep, fields: &BlockFields) {
    let device = fields.device;
    match step {
        BlockStep::Queue => {
            let draft = Event { offset: -1, ..draft(state, point, Layer::Blk, fields) };
            let link = above(state, point, (device, fields.sector));
            let admit = state.builder.admit(draft, link);
            state.block.flushes.queued.entry(device).or_default().push_back(admit);
        }
        BlockStep::Issue => {
            let bio = state.block.flushes.queued.get_mut(&device).and_then(|queued| queued.pop_front());
            let draft = Event { offset: -1, ..draft(state, point, Layer::Dev, fields) };
            let admit = state.builder.admit(draft, bio.map(|bio| (bio.req, LinkRule::Same)));
            if let Some(bio) = &bio {
                state.builder.step(bio, Kind::Issue, point.ts_ns, Flags::NONE);
            }
            state.block.flushes.issued.entry(device).or_default().push_back((admit, bio));
        }
        BlockStep::Complete => {
            let issued = state.block.flushes.issued.get_mut(&device).and_then(|issued| issued.pop_front());
            let Some((admit, bio)) = issued else { return };
            let status = fields.error.min(0);
            state.builder.end(&admit, point.ts_ns, 0, status);
            if let Some(bio) = bio {
                state.builder.step(&Event { status, ..bio }, Kind::Complt, point.ts_ns, Flags::NONE);
                state.builder.end(&bio, point.ts_ns, 0, status);
            }
        }
        _ => {}
    }
}
