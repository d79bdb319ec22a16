//! Reads the lines of a trace.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Read;

use super::call::{Effect, effect};
use super::libaio;
use super::line::{Line, Outcome, What, parsed};
use crate::mapping::Mapper;
use crate::model::{Event, Flags, Layer, Object, Record};
use crate::reading::{Lines, Place, ReadError};
use crate::tracepoints::{Comm, Descriptor, Payload, Syscall, Tracepoint};

/// Half a day: times of `-tt` that fall back by more have passed midnight.
const HALF_A_DAY_NS: u64 = 12 * 3600 * 1_000_000_000;

/// Reads lines; what `sink` is given is in the order of time, but for what the counters tell. Gives the first line
/// that could not be understood.
pub(crate) fn read(
    text: impl Read,
    mapper: &mut Mapper,
    sink: &mut dyn FnMut(&mut Vec<Record>) -> Result<(), ReadError>,
) -> (Option<ReadError>, Result<(), ReadError>) {
    let mut lines = Lines::new(text);
    let mut reader = Reader::new(mapper);
    let mut first_dropped = None;
    let result = loop {
        let place = Place::Line(lines.number() + 1);
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break Ok(()),
            Err(error) => break Err(ReadError::Io { place, error }),
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

/// What happens later than the line that tells it.
enum Due {
    Exit { tid: u32, call: Syscall, result: i64 },
    Made { tid: u32, child: u32, is_thread: bool },
    Collected { results: Vec<i64> },
}

struct Reader<'r> {
    mapper: &'r mut Mapper,
    records: Vec<Record>,
    unfinished: HashMap<u32, (u64, Vec<u8>, Vec<u8>)>,
    due: BTreeMap<(Reverse<u64>, Reverse<u64>), Due>,
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
            due: BTreeMap::new(),
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
            self.mapper.scribe().counters.dropped += 1;
            return Err(EXPECTED);
        };
        let Some(ts_ns) = line.ts_ns else {
            self.mapper.scribe().counters.dropped += 1;
            return Err(EXPECTED_TIME);
        };
        let ts_ns = self.on_one_day(ts_ns);
        self.settle(ts_ns);
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
        match line.what {
            What::Begun { name, args } => {
                self.enter(line.tid, ts_ns, name, args);
                self.unfinished.insert(line.tid, (ts_ns, name.to_vec(), args.to_vec()));
            }
            What::Whole { name, args, result } => {
                self.enter(line.tid, ts_ns, name, args);
                self.exit(line.tid, ts_ns, ts_ns, (name, args), result);
            }
            What::Resumed { name, args, result } => match self.unfinished.remove(&line.tid) {
                Some((begin_ns, begun, first)) if begun == name => {
                    let args = [first.as_slice(), args].concat();
                    self.exit(line.tid, begin_ns, ts_ns, (name, &args), result);
                }
                _ => self.mapper.scribe().counters.unmatched_end += 1,
            },
            What::Aside { is_end: true } => {
                self.unfinished.remove(&line.tid);
                self.point(line.tid, ts_ns, Payload::TaskExit);
            }
            What::Aside { is_end: false } => {}
        }
    }

    fn enter(&mut self, tid: u32, ts_ns: u64, name: &[u8], args: &[u8]) {
        let Effect::Call { call, args, path, target } = effect(name, args) else { return };
        if let Some(target) = target {
            self.learn(tid, ts_ns, args[0] as i32, target);
        }
        self.point(tid, ts_ns, Payload::Enter { call, args, path });
    }

    /// `-y` tells what a descriptor stands for at every call; once is enough.
    fn learn(&mut self, tid: u32, ts_ns: u64, fd: i32, target: Box<str>) {
        if self.targets.get(&(tid, fd)) == Some(&target) {
            return;
        }
        self.targets.insert((tid, fd), target.clone());
        let position = self.mapper.position(tid, fd);
        let descriptor = Descriptor { fd, target, position, ..Descriptor::default() };
        self.point(tid, ts_ns, Payload::Opened(descriptor));
    }

    /// A call ended: when it began and took, or when the line that resumes it says.
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
        let due = match effect(name, args) {
            Effect::Call { call, .. } => Due::Exit { tid, call, result: value },
            Effect::Made { is_thread } if value > 0 => {
                Due::Made { tid, child: u32::try_from(value).unwrap_or(0), is_thread }
            }
            Effect::Submit => return self.submit(tid, line_ns, args, value),
            Effect::Collect => {
                let results = libaio::results(args, usize::try_from(value).unwrap_or(0));
                Due::Collected { results }
            }
            _ => return,
        };
        self.serial += 1;
        self.due.insert((Reverse(end_ns), Reverse(self.serial)), due);
    }

    fn submit(&mut self, tid: u32, ts_ns: u64, args: &[u8], taken: i64) {
        for asked in libaio::asked(args, usize::try_from(taken).unwrap_or(0)) {
            if let Some(target) = asked.target.clone() {
                self.learn(tid, ts_ns, asked.fd, target);
            }
            let (tgid, opened) = self.mapper.opened(tid, asked.fd);
            let scribe = self.mapper.scribe();
            std::mem::swap(&mut scribe.records, &mut self.records);
            scribe.counters.read += 1;
            let obj = opened.unwrap_or_else(|| scribe.object(Object::Descriptor { tgid, fd: asked.fd }));
            let draft = Event {
                tgid,
                tid,
                obj,
                fd: asked.fd,
                offset: asked.offset,
                nbytes: asked.bytes,
                flags: Flags::INFERRED,
                ..scribe.blank(Layer::Sys, asked.op, ts_ns)
            };
            let admit = scribe.admit(draft, None);
            std::mem::swap(&mut scribe.records, &mut self.records);
            self.submitted.push_back(admit);
        }
    }

    /// Tells all that ended before a moment.
    fn settle(&mut self, until_ns: u64) {
        while let Some(entry) = self.due.last_entry() {
            let ts_ns = entry.key().0.0;
            if ts_ns > until_ns {
                return;
            }
            match entry.remove() {
                Due::Exit { tid, call, result } => self.point(tid, ts_ns, Payload::Exit { call, result }),
                Due::Made { tid, child, is_thread } => {
                    self.point(tid, ts_ns, Payload::NewTask { tid: child, is_thread });
                }
                Due::Collected { results } => {
                    results.into_iter().for_each(|result| self.collected(ts_ns, result))
                }
            }
        }
    }

    fn collected(&mut self, ts_ns: u64, result: i64) {
        let scribe = self.mapper.scribe();
        match libaio::ended(&mut self.submitted, result) {
            Some(admit) => {
                std::mem::swap(&mut scribe.records, &mut self.records);
                let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
                scribe.end(&admit, ts_ns, u64::try_from(result).unwrap_or(0), status);
                std::mem::swap(&mut scribe.records, &mut self.records);
            }
            None => scribe.counters.unmatched_end += 1,
        }
    }

    fn point(&mut self, tid: u32, ts_ns: u64, payload: Payload) {
        let point = Tracepoint { ts_ns, cpu: 0, tid, tgid: None, comm: Comm::default(), payload };
        self.mapper.take(&point, &mut self.records);
    }

    fn finish(&mut self) {
        self.settle(u64::MAX);
        self.mapper.scribe().counters.unmatched_begin += self.submitted.len() as u64;
    }
}
