use super::*;
use crate::formats::ReadCounts;
use crate::model::Op;
use crate::tracepoints::{BlockStep, Device, Payload, Syscall, Tracepoint};

fn points(text: &str) -> (Vec<Tracepoint>, ReadCounts) {
    let mut points = Vec::new();
    let mut counts = ReadCounts::default();
    read(text.as_bytes(), &mut counts, &mut |point| {
        points.push(point.clone());
        Ok(())
    })
    .unwrap();
    (points, counts)
}

fn point(line: &str) -> Tracepoint {
    let (mut points, tally) = points(line);
    assert_eq!((points.len(), tally.dropped), (1, 0), "{line}");
    points.remove(0)
}

#[test]
fn a_system_call_is_read_with_its_arguments_and_its_result() {
    let enter = point(
        "   fio-1554    [001] .....   932.729073: sys_pread64(fd: 3, buf: 0x7ff, count: 0x310, pos: 0x40)",
    );
    assert_eq!((enter.ts_ns, enter.cpu, enter.tid, enter.tgid), (932_729_073_000, 1, 1554, None));
    let args = [3, 0x7ff, 0x310, 0x40, 0, 0];
    assert_eq!(enter.payload, Payload::Enter { call: Syscall::Pread64, args, path: None });
    let exit = point("   fio-1554    [001] .....   932.729124: sys_pread64 -> 0xfffffffffffffffb");
    assert_eq!(exit.payload, Payload::Exit { call: Syscall::Pread64, result: -5 });
}

#[test]
fn names_with_spaces_and_processes_in_brackets_are_understood() {
    let line = "  lto cgu.01-14579   (  14570) [000] ..s2.  1301.8: sys_fsync(fd: 4)";
    let point = point(line);
    assert_eq!((point.comm.to_text().as_str(), point.tid, point.tgid), ("lto cgu.01", 14579, Some(14570)));
    let (points, _) = points("   <...>-9     (-----) [000] .....  1.5: sys_fsync(fd: 4)");
    assert_eq!(points[0].tgid, None);
}

#[test]
fn paths_are_taken_from_kernels_that_report_them() {
    let point = point(
        "a-1 [000] ..... 1.0: sys_openat(dfd: 0xffffff9c, filename: 0x55 \"/mnt/a, b\", flags: 0x4000, mode: 0)",
    );
    let Payload::Enter { args, path, .. } = point.payload else { panic!("{:?}", point.payload) };
    assert_eq!((path.as_deref(), args[2]), (Some("/mnt/a, b"), 0x4000));
}

#[test]
fn stations_of_a_block_request_are_read_with_their_sectors() {
    let lines = [
        ("block_bio_queue: 254,0 RA 20694936 + 32 [fio]", BlockStep::Queue, 0, 0),
        ("block_rq_issue: 254,0 RA 16384 () 20694936 + 32 be,0,4 [fio]", BlockStep::Issue, 16384, 0),
        ("block_rq_issue: 254,0 RA 16384 (12 00) 20694936 + 32 [a (b]", BlockStep::Issue, 16384, 0),
        ("block_rq_complete: 254,0 RA () 20694936 + 32 be,0,4 [-5]", BlockStep::Complete, 0, -5),
    ];
    for (line, step, bytes, error) in lines {
        let point = point(&format!("fio-1 [000] ..... 1.0: {line}"));
        let Payload::Block(found, fields) = point.payload else { panic!("{line}") };
        assert_eq!((found, fields.bytes, fields.error), (step, bytes, error), "{line}");
        assert_eq!(
            (fields.device, fields.sector, fields.sectors),
            (Device { major: 254, minor: 0 }, 20_694_936, 32)
        );
        assert!(fields.rwbs.has(b'A'));
    }
}

#[test]
fn splits_and_remappings_have_both_places() {
    let split = point("git-1 [000] ..... 1.0: block_split: 254,0 RA 100 / 164 [git]");
    let Payload::Block(BlockStep::Split, fields) = split.payload else { panic!() };
    assert_eq!((fields.sector, fields.other_sector, fields.sectors), (100, 164, 64));
    let remap = point("git-1 [000] ..... 1.0: block_bio_remap: 8,0 R 300 + 8 <- (8,2) 44");
    let Payload::Block(BlockStep::Remap, fields) = remap.payload else { panic!() };
    assert_eq!((fields.sector, fields.other_device.minor, fields.other_sector), (300, 2, 44));
}

#[test]
fn fuse_aio_and_uring_events_are_read() {
    let fuse = point(
        "fio-1 [000] ...1. 1.0: fuse_request_send: connection 49 req 992 opcode 16 (FUSE_WRITE) len 65616 ",
    );
    assert_eq!(fuse.payload, Payload::FuseSend { connection: 49, unique: 992, opcode: 16, bytes: 65616 });
    let end = point("glfs_epoll-2 [000] ..... 1.0: fuse_request_end: connection 49 req 990 len 16 error -61");
    assert_eq!(end.payload, Payload::FuseEnd { connection: 49, unique: 990, bytes: 16, error: -61 });
    let aio = point("fio-1 [001] DBZff 1.0: aio_read: (0x7f2b) cb=0x55eb fd=6 nbytes=65536 off=32374784");
    let submitted =
        Payload::AioSubmit { op: Op::Read, control: 0x55eb, fd: 6, bytes: 65536, offset: 32_374_784 };
    assert_eq!(aio.payload, submitted);
    let uring = point(
        "fio-1 [001] ..... 1.0: io_uring_submit_req: ring 00000000ab, req 00000000cd, user_data 0x7, opcode READ, flags 0x0, sq_thread 0",
    );
    assert_eq!(uring.payload, Payload::UringSubmit { ring: 0xab, request: 0xcd, user_data: 7, opcode: 22 });
}

#[test]
fn output_of_perf_and_trace_cmd_is_understood() {
    let perf = point("fio  1591 [001]   932.729073: block:block_bio_queue: 254,0 RA 20694936 + 32 [fio]");
    assert!(matches!(perf.payload, Payload::Block(BlockStep::Queue, _)));
    let trace_cmd = point(
        "fio-1591  [001]   932.729073: sys_enter_pread64: fd: 0x00000006, buf: 0x7f, count: 0x10, pos: 0x20",
    );
    assert_eq!(
        trace_cmd.payload,
        Payload::Enter { call: Syscall::Pread64, args: [6, 0x7f, 0x10, 0x20, 0, 0], path: None }
    );
}

#[test]
fn losses_and_unknown_lines_are_counted() {
    let text = "# tracer: nop\n# entries-in-buffer/entries-written: 5/12   #P:2\nCPU:1 [LOST 123 EVENTS]\nnonsense\n\
                a-1 [000] ..... 1.0: sched_switch: x\n";
    let (points, counts) = points(text);
    assert_eq!(
        points.iter().map(|point| &point.payload).collect::<Vec<_>>(),
        [&Payload::Lost { events: 123 }]
    );
    assert_eq!((counts.lost, counts.dropped, counts.ignored), (7, 1, 1));
    assert!(counts.first_dropped.unwrap().to_string().starts_with("line 4: expected a line like"));
}

#[test]
fn the_text_is_recognised() {
    assert!(recognises(b"# tracer: nop\n#\n"));
    assert!(recognises(b"  fio-1 [000] ..... 1.0: sys_fsync(fd: 4)\n"));
    assert!(!recognises(b"18081 1794772608.149202 io_submit(0x7f80, 1, []) = 1 <0.000049>\n"));
}
