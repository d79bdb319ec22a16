//! Converts the bytes of a record to a [`Tracepoint`], using the kernel's description of its fields.

use std::collections::HashMap;

use super::field_layout::{FieldKind, FieldLayout, Format};
use super::tasks::Tasks;
use crate::model::Op;
use crate::tracepoints::{BlockFields, BlockStep, Comm, Device, Payload, Rwbs, Syscall, Tracepoint};

/// `CLONE_THREAD` in the flags of a new task.
const IS_THREAD: i64 = 0x1_0000;
/// Operations of an entry of `lio_listio`.
const LIO_READ: i64 = 0;
const LIO_WRITE: i64 = 1;

/// Decodes the records of known tracepoints.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    plans: HashMap<u16, Plan>,
}

/// The fields of a tracepoint.
#[derive(Clone, Debug)]
struct Plan {
    kind: Kind,
    tid: Option<FieldLayout>,
    /// In the order of [`Kind::fields`]; absent ones read as zero.
    layouts: Vec<Option<FieldLayout>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Enter(Syscall),
    Exit(Syscall),
    Block(BlockStep),
    FuseSend,
    FuseEnd,
    AioSubmit(Op),
    AioList,
    AioReturn,
    UringSubmit,
    UringFile,
    UringAsync,
    UringComplete,
    NewTask,
    Rename,
    TaskExit,
    Throttled,
}

impl Kind {
    /// By the name of a tracepoint or probe.
    fn named(name: &str) -> Option<Kind> {
        if let Some(call) = name.strip_prefix("sys_enter_") {
            return Syscall::from_name(call.as_bytes()).map(Kind::Enter);
        }
        if let Some(call) = name.strip_prefix("sys_exit_") {
            return Syscall::from_name(call.as_bytes()).map(Kind::Exit);
        }
        if let Some(step) = BlockStep::from_tracepoint(name.as_bytes()) {
            return Some(Kind::Block(step));
        }
        Some(match name {
            "fuse_request_send" => Kind::FuseSend,
            "fuse_request_end" => Kind::FuseEnd,
            _ if is_probe(name, "aio_read") => Kind::AioSubmit(Op::Read),
            _ if is_probe(name, "aio_write") => Kind::AioSubmit(Op::Write),
            _ if is_probe(name, "aio_fsync") => Kind::AioSubmit(Op::Sync),
            _ if is_probe(name, "aio_return") => Kind::AioReturn,
            _ if is_probe(name, "lio_listio") => Kind::AioList,
            "io_uring_submit_req" | "io_uring_submit_sqe" => Kind::UringSubmit,
            "io_uring_file_get" => Kind::UringFile,
            "io_uring_queue_async_work" => Kind::UringAsync,
            "io_uring_complete" => Kind::UringComplete,
            "task_newtask" => Kind::NewTask,
            "task_rename" => Kind::Rename,
            "sched_process_exit" => Kind::TaskExit,
            "balance_dirty_pages" => Kind::Throttled,
            _ => return None,
        })
    }

    fn fields(self) -> &'static [&'static str] {
        match self {
            Kind::Enter(_) => &[],
            Kind::Exit(_) => &["ret"],
            Kind::Block(_) => BLOCK,
            Kind::FuseSend => &["connection", "unique", "opcode", "len"],
            Kind::FuseEnd => &["connection", "unique", "len", "error"],
            Kind::AioSubmit(_) | Kind::AioList => &["cb", "fd", "nbytes", "off", "op"],
            Kind::AioReturn => &["cb", "ret"],
            Kind::UringSubmit => &["ctx", "req", "user_data", "opcode"],
            Kind::UringFile => &["ctx", "req", "fd"],
            Kind::UringAsync => &["ctx", "req"],
            Kind::UringComplete => &["ctx", "req", "user_data", "res"],
            Kind::NewTask => &["pid", "clone_flags", "comm"],
            Kind::Rename => &["pid", "newcomm"],
            Kind::TaskExit => &["pid"],
            Kind::Throttled => &["pause"],
        }
    }
}

const BLOCK: &[&str] = &["dev", "sector", "nr_sector", "bytes", "error", "other_sector", "old_dev", "rwbs"];
const RWBS: usize = 7;

impl Decoder {
    /// Adds a tracepoint; false if it is not known.
    pub fn learn(&mut self, format: &Format) -> bool {
        let Some(kind) = Kind::named(&format.name) else { return false };
        let layouts = match kind {
            Kind::Enter(_) => arguments(format),
            _ => kind.fields().iter().map(|name| found(format, name)).collect(),
        };
        self.plans.insert(format.id, Plan { kind, tid: format.layout("common_pid"), layouts });
        true
    }

    /// None if the tracepoint is not known, or if it only updates `tasks`.
    pub fn read(&self, record: &[u8], ts_ns: u64, cpu: u16, tasks: &mut Tasks) -> Option<Tracepoint> {
        let id = u16::from_le_bytes(*record.first_chunk()?);
        let plan = self.plans.get(&id)?;
        let tid = u32::try_from(plan.tid?.number(record)?).ok()?;
        let payload = plan.payload(record, tid, tasks)?;
        let task = tasks.get(tid);
        Some(Tracepoint { ts_ns, cpu, tid, tgid: task.tgid, comm: task.comm, payload })
    }
}

impl Plan {
    fn payload(&self, record: &[u8], tid: u32, tasks: &mut Tasks) -> Option<Payload> {
        let number = |at: usize| self.number(record, at);
        let at = |at: usize| number(at).unwrap_or(0);
        Some(match self.kind {
            Kind::Enter(call) => {
                let args = std::array::from_fn(|place| at(place) as u64);
                Payload::Enter { call, args, path: None }
            }
            Kind::Exit(call) => Payload::Exit { call, result: number(0)? },
            Kind::Block(step) => Payload::Block(step, self.block(record)),
            Kind::FuseSend => Payload::FuseSend {
                connection: at(0) as u32,
                unique: number(1)? as u64,
                opcode: at(2) as u32,
                bytes: at(3) as u32,
            },
            Kind::FuseEnd => Payload::FuseEnd {
                connection: at(0) as u32,
                unique: number(1)? as u64,
                bytes: at(2) as u32,
                error: at(3) as i32,
            },
            Kind::AioSubmit(op) => self.submission(record, op)?,
            Kind::AioList => {
                let op = match at(4) {
                    LIO_READ => Op::Read,
                    LIO_WRITE => Op::Write,
                    _ => return None,
                };
                self.submission(record, op)?
            }
            Kind::AioReturn => Payload::AioReturn { control: number(0)? as u64, result: at(1) },
            Kind::UringSubmit => Payload::UringSubmit {
                ring: at(0) as u64,
                request: number(1)? as u64,
                user_data: at(2) as u64,
                opcode: at(3) as u8,
            },
            Kind::UringFile => Payload::UringFile {
                ring: at(0) as u64,
                request: number(1)? as u64,
                fd: i32::try_from(number(2)?).ok()?,
            },
            Kind::UringAsync => Payload::UringAsync { ring: at(0) as u64, request: number(1)? as u64 },
            Kind::UringComplete => Payload::UringComplete {
                ring: at(0) as u64,
                request: number(1)? as u64,
                user_data: at(2) as u64,
                result: at(3),
            },
            Kind::NewTask => {
                let (new, is_thread) = (number(0)? as u32, at(1) & IS_THREAD != 0);
                tasks.made(new, tid, is_thread, Comm::new(self.text(record, 2)));
                Payload::NewTask { tid: new, is_thread }
            }
            Kind::Rename => {
                tasks.renamed(number(0)? as u32, Comm::new(self.text(record, 1)));
                return None;
            }
            Kind::TaskExit => Payload::TaskExit,
            // In milliseconds; negative if there is no pause.
            Kind::Throttled => Payload::Throttled { pause_ns: at(0).max(0) as u64 * 1_000_000 },
        })
    }

    fn submission(&self, record: &[u8], op: Op) -> Option<Payload> {
        let number = |at: usize| self.number(record, at).unwrap_or(0);
        // Empty entries, and entries beyond the end of the list, have no control block.
        let control = Some(number(0) as u64).filter(|control| *control != 0)?;
        Some(Payload::AioSubmit {
            op,
            control,
            fd: number(1) as i32,
            bytes: number(2) as u64,
            offset: number(3),
        })
    }

    fn block(&self, record: &[u8]) -> BlockFields {
        let number = |at: usize| self.number(record, at).unwrap_or(0);
        BlockFields {
            device: Device::from_kernel(number(0) as u32),
            sector: number(1) as u64,
            sectors: number(2) as u32,
            bytes: number(3) as u32,
            error: number(4) as i32,
            other_sector: number(5) as u64,
            other_device: Device::from_kernel(number(6) as u32),
            rwbs: Rwbs::new(self.text(record, RWBS)),
        }
    }

    fn number(&self, record: &[u8], at: usize) -> Option<i64> {
        self.layouts.get(at).copied().flatten()?.number(record)
    }

    fn text<'a>(&self, record: &'a [u8], at: usize) -> &'a [u8] {
        let layout = self.layouts.get(at).copied().flatten();
        layout.and_then(|layout| layout.text(record)).unwrap_or_default()
    }
}

/// All numbers after the number of the call.
fn arguments(format: &Format) -> Vec<Option<FieldLayout>> {
    let own = format.fields.iter().skip_while(|field| field.name != "__syscall_nr").skip(1);
    own.map(|field| field.layout).filter(|layout| layout.kind == FieldKind::Number).map(Some).collect()
}

fn found(format: &Format, name: &str) -> Option<FieldLayout> {
    match name {
        "other_sector" => format.layout("new_sector").or_else(|| format.layout("old_sector")),
        _ => format.layout(name),
    }
}

/// Names of probes have a unique suffix after two underscores.
fn is_probe(name: &str, function: &str) -> bool {
    name.split("__").next() == Some(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::page::{Header, Page};
    use std::path::Path;

    const COMMAND: &[u8] = include_bytes!("../../tests/fixtures/capture/command.page");
    const FORMATS: [&str; 7] = [
        include_str!("../../tests/fixtures/capture/sys_enter_pread64.format"),
        include_str!("../../tests/fixtures/capture/sys_exit_pread64.format"),
        include_str!("../../tests/fixtures/capture/task_newtask.format"),
        include_str!("../../tests/fixtures/capture/task_rename.format"),
        include_str!("../../tests/fixtures/capture/block_bio_queue.format"),
        include_str!("../../tests/fixtures/capture/block_rq_issue.format"),
        include_str!("../../tests/fixtures/capture/block_rq_complete.format"),
    ];

    fn decoder() -> Decoder {
        let mut decoder = Decoder::default();
        for format in FORMATS {
            assert!(decoder.learn(&Format::parse(format).unwrap()));
        }
        decoder
    }

    fn recorded() -> Vec<Tracepoint> {
        let (decoder, mut tasks) = (decoder(), Tasks::new(Path::new("/nowhere")));
        let page = Page::open(COMMAND, Header::default()).unwrap();
        page.filter_map(|(ts_ns, record)| decoder.read(record, ts_ns, 0, &mut tasks)).collect()
    }

    #[test]
    fn a_read_past_the_cache_is_queued_and_issued_with_its_place_and_size() {
        let points = recorded();
        let blocks: Vec<(BlockStep, BlockFields)> = points
            .iter()
            .filter_map(|point| {
                if let Payload::Block(step, fields) = point.payload { Some((step, fields)) } else { None }
            })
            .take(4)
            .collect();
        let steps: Vec<BlockStep> = blocks.iter().map(|(step, _)| *step).collect();
        assert_eq!(steps, [BlockStep::Queue, BlockStep::Issue, BlockStep::Queue, BlockStep::Issue]);
        let (queued, issued) = (blocks[0].1, blocks[1].1);
        assert_eq!((queued.device, queued.sectors), (Device { major: 254, minor: 0 }, 128));
        assert_eq!((issued.sector, issued.bytes), (queued.sector, 65536));
        assert_eq!(queued.rwbs.letters(), b"RS");
    }

    #[test]
    fn a_program_that_was_started_is_a_process_with_its_own_name() {
        let points = recorded();
        let new = points.iter().find_map(|point| match point.payload {
            Payload::NewTask { tid, is_thread } => Some((tid, is_thread)),
            _ => None,
        });
        assert_eq!(new, Some((6025, false)));
        let reads: Vec<&Tracepoint> =
            points.iter().filter(|point| matches!(point.payload, Payload::Enter { .. })).collect();
        assert_eq!(reads.len(), 2);
        assert_eq!((reads[0].tgid, reads[0].comm), (Some(6025), Comm::from("dd")));
        let Payload::Enter { call, args, .. } = &reads[0].payload else { unreachable!() };
        assert_eq!((*call, args[2], args[3]), (Syscall::Pread64, 784, 64));
    }

    #[test]
    fn records_of_unknown_tracepoints_and_cut_ones_are_left_out() {
        let (decoder, mut tasks) = (decoder(), Tasks::new(Path::new("/nowhere")));
        assert_eq!(decoder.read(&[0xff; 64], 1, 0, &mut tasks), None);
        assert_eq!(decoder.read(&[1], 1, 0, &mut tasks), None);
        let unknown = Format::parse("name: sched_switch\nID: 3\n").unwrap();
        assert!(!Decoder::default().learn(&unknown));
    }

    #[test]
    fn probes_are_known_by_what_comes_before_their_mark() {
        assert_eq!(Kind::named("aio_read__0_92d90"), Some(Kind::AioSubmit(Op::Read)));
        assert_eq!(Kind::named("lio_listio__1_1_7"), Some(Kind::AioList));
        assert_eq!(Kind::named("aio_readahead"), None);
    }
}
