//! Converts lines to records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Read;

use super::call::{Effect, effect};
use super::libaio;
use super::line::{Line, LineKind, Outcome, parsed};
use crate::mapping::Mapper;
use crate::model::{Event, Flags, Layer, Object, Record};
use crate::tracepoints::{Comm, Descriptor, Payload, Syscall, Tracepoint};
use laggard_input::{Lines, ReadError};

/// If a time of `-tt` is earlier than the previous one by more than half a day, it is after midnight.
const HALF_A_DAY_NS: u64 = 12 * 3600 * 1_000_000_000;

/// Records reach `sink` ordered by time, except for those that the counters report. Returns the first line that is
/// not understood.
pub(crate) fn read(
    text: impl Read,
    mapper: &mut Mapper,
    sink: &mut dyn FnMut(&mut Vec<Record>) -> Result<(), ReadError>,
) -> (Option<ReadError>, Result<(), ReadError>) {
    let mut lines = Lines::new(text);
    let mut reader = Reader::new(mapper);
    let mut first_dropped = None;
    let result = loop {
        let (place, line) = match lines.read_line() {
            Ok(Some(line)) => (line.place(), line.bytes),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        if let Err(expected) = reader.line(line) {
            first_dropped.get_or_insert_with(|| ReadError::quoting(place, expected, line));
        }
        if let Err(error) = sink(&mut reader.records) {
            return (first_dropped, Err(error));
        }
    };
    reader.finish();
    let flushed = sink(&mut reader.records);
    (first_dropped, result.and(flushed))
}

/// An event with a later time than the line that reports it.
enum Pending {
    Exit { tid: u32, call: Syscall, result: i64 },
    Made { tid: u32, child: u32, is_thread: bool },
    Collected { results: Vec<i64> },
}

struct Reader<'r> {
    mapper: &'r mut Mapper,
    records: Vec<Record>,
    unfinished: HashMap<u32, (u64, Vec<u8>, Vec<u8>)>,
    pending: BTreeMap<(Reverse<u64>, Reverse<u64>), Pending>,
    serial: u64,
    submitted: VecDeque<Event>,
    targets: HashMap<(u32, i32), Box<str>>,
    day_ns: u64,
    last_ns: u64,
}

const EXPECTED: &str = "a line of `strace -f -ttt -T -y`";
const EXPECTED_TIME: &str = "a time in front of the call (run strace with -ttt -T)";

impl<'r> Reader<'r> {
    fn new(mapper: &'r mut Mapper) -> Reader<'r> {
        Reader {
            mapper,
            records: Vec::new(),
            unfinished: HashMap::new(),
            pending: BTreeMap::new(),
            serial: 0,
            submitted: VecDeque::new(),
            targets: HashMap::new(),
            day_ns: 0,
            last_ns: 0,
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        if line.trim_ascii().is_empty() || line.starts_with(b"strace: ") {
            return Ok(());
        }
        let Some(line) = parsed(line) else {
            self.mapper.builder().counters.dropped += 1;
            return Err(EXPECTED);
        };
        let Some(ts_ns) = line.ts_ns else {
            self.mapper.builder().counters.dropped += 1;
            return Err(EXPECTED_TIME);
        };
        let ts_ns = self.on_one_day(ts_ns);
        self.emit_ended(ts_ns);
        self.take(line, ts_ns);
        Ok(())
    }

    fn on_one_day(&mut self, ts_ns: u64) -> u64 {
        if ts_ns < HALF_A_DAY_NS * 2
            && ts_ns.saturating_add(self.day_ns).saturating_add(HALF_A_DAY_NS) < self.last_ns
        {
            self.day_ns = self.day_ns.saturating_add(2 * HALF_A_DAY_NS);
        }
        let ts_ns = ts_ns.saturating_add(self.day_ns);
        self.last_ns = self.last_ns.max(ts_ns);
        ts_ns
    }

    fn take(&mut self, line: Line<'_>, ts_ns: u64) {
        match line.kind {
            LineKind::Begun { name, args } => {
                self.enter(line.tid, ts_ns, name, args);
                self.unfinished.insert(line.tid, (ts_ns, name.to_vec(), args.to_vec()));
            }
            LineKind::Whole { name, args, result } => {
                self.enter(line.tid, ts_ns, name, args);
                self.exit(line.tid, ts_ns, ts_ns, (name, args), result);
            }
            LineKind::Resumed { name, args, result } => match self.unfinished.remove(&line.tid) {
                Some((begin_ns, begun, first)) if begun == name => {
                    let args = [first.as_slice(), args].concat();
                    self.exit(line.tid, begin_ns, ts_ns, (name, &args), result);
                }
                _ => self.mapper.builder().counters.unmatched_end += 1,
            },
            LineKind::Other { is_end: true } => {
                self.unfinished.remove(&line.tid);
                self.point(line.tid, ts_ns, Payload::TaskExit);
            }
            LineKind::Other { is_end: false } => {}
        }
    }

    fn enter(&mut self, tid: u32, ts_ns: u64, name: &[u8], args: &[u8]) {
        let Effect::Call { call, args, path, target } = effect(name, args) else { return };
        if let Some(target) = target {
            self.learn(tid, ts_ns, args[0] as i32, target);
        }
        self.point(tid, ts_ns, Payload::Enter { call, args, path });
    }

    /// `-y` prints the file of a descriptor at every call; it is recorded once.
    fn learn(&mut self, tid: u32, ts_ns: u64, fd: i32, target: Box<str>) {
        if self.targets.get(&(tid, fd)) == Some(&target) {
            return;
        }
        self.targets.insert((tid, fd), target.clone());
        let position = self.mapper.position(tid, fd);
        let descriptor = Descriptor { fd, target, position, ..Descriptor::default() };
        self.point(tid, ts_ns, Payload::Opened(descriptor));
    }

    /// The end is the begin plus the duration, or the time of the line that resumes the call.
    fn exit(
        &mut self,
        tid: u32,
        begin_ns: u64,
        line_ns: u64,
        (name, args): (&[u8], &[u8]),
        outcome: Outcome,
    ) {
        let end_ns = outcome.took_ns.map_or(line_ns, |took_ns| begin_ns.saturating_add(took_ns));
        let Some(value) = outcome.value else { return };
        let pending = match effect(name, args) {
            Effect::Call { call, .. } => Pending::Exit { tid, call, result: value },
            Effect::Made { is_thread } if value > 0 => {
                Pending::Made { tid, child: u32::try_from(value).unwrap_or(0), is_thread }
            }
            Effect::Submit => return self.submit(tid, line_ns, args, value),
            Effect::Collect => {
                let results = libaio::results(args, usize::try_from(value).unwrap_or(0));
                Pending::Collected { results }
            }
            _ => return,
        };
        self.serial += 1;
        self.pending.insert((Reverse(end_ns), Reverse(self.serial)), pending);
    }

    fn submit(&mut self, tid: u32, ts_ns: u64, args: &[u8], taken: i64) {
        for control_blocks in libaio::control_blocks(args, usize::try_from(taken).unwrap_or(0)) {
            if let Some(target) = control_blocks.target.clone() {
                self.learn(tid, ts_ns, control_blocks.fd, target);
            }
            let (tgid, opened) = self.mapper.opened(tid, control_blocks.fd);
            let builder = self.mapper.builder();
            std::mem::swap(&mut builder.records, &mut self.records);
            builder.counters.read += 1;
            let obj =
                opened.unwrap_or_else(|| builder.object(Object::Descriptor { tgid, fd: control_blocks.fd }));
            let draft = Event {
                tgid,
                tid,
                obj,
                fd: control_blocks.fd,
                offset: control_blocks.offset,
                nbytes: control_blocks.bytes,
                flags: Flags::INFERRED,
                ..builder.new_event(Layer::Sys, control_blocks.op, ts_ns)
            };
            let admit = builder.admit(draft, None);
            std::mem::swap(&mut builder.records, &mut self.records);
            self.submitted.push_back(admit);
        }
    }

    /// Emits all events up to this time.
    fn emit_ended(&mut self, until_ns: u64) {
        while let Some(entry) = self.pending.last_entry() {
            let ts_ns = entry.key().0.0;
            if ts_ns > until_ns {
                return;
            }
            match entry.remove() {
                Pending::Exit { tid, call, result } => self.point(tid, ts_ns, Payload::Exit { call, result }),
                Pending::Made { tid, child, is_thread } => {
                    self.point(tid, ts_ns, Payload::NewTask { tid: child, is_thread });
                }
                Pending::Collected { results } => {
                    results.into_iter().for_each(|result| self.collected(ts_ns, result))
                }
            }
        }
    }

    fn collected(&mut self, ts_ns: u64, result: i64) {
        let builder = self.mapper.builder();
        match libaio::ended(&mut self.submitted, result) {
            Some(admit) => {
                std::mem::swap(&mut builder.records, &mut self.records);
                let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
                builder.end(&admit, ts_ns, u64::try_from(result).unwrap_or(0), status);
                std::mem::swap(&mut builder.records, &mut self.records);
            }
            None => builder.counters.unmatched_end += 1,
        }
    }

    fn point(&mut self, tid: u32, ts_ns: u64, payload: Payload) {
        let point = Tracepoint { ts_ns, cpu: 0, tid, tgid: None, comm: Comm::default(), payload };
        self.mapper.take(&point, &mut self.records);
    }

    fn finish(&mut self) {
        self.emit_ended(u64::MAX);
        self.mapper.builder().counters.unmatched_begin += self.submitted.len() as u64;
    }
}
