//! System calls, asynchronous I/O and io_uring.

use laggard_trace::model::{Flags, Layer, LinkRule, NO_OFFSET, ObjectId, Op};

use super::support::{ftrace, imported, micros, request, requests};

#[test]
fn asynchronous_reads_are_issued_by_the_system_calls_of_a_helper_thread() {
    let trace = ftrace(&[
        "fio-7 10: aio_read: (0x7f) cb=0x55 fd=6 nbytes=65536 off=131072",
        "fio-7 11: aio_read: (0x7f) cb=0x66 fd=6 nbytes=65536 off=0",
        "fio-8 20: sys_pread64(fd: 6, buf: 0x1, count: 0x10000, pos: 0x20000)",
        "fio-8 30: sys_pread64 -> 0x10000",
        "fio-8 31: sys_pread64(fd: 6, buf: 0x1, count: 0x10000, pos: 0)",
        "fio-8 50: sys_pread64 -> 0x10000",
        "fio-7 60: aio_return: (0x7f) cb=0x55 ret=65536",
        "fio-7 61: aio_return: (0x7f) cb=0x66 ret=-5",
    ]);
    let (aio, sys) = (requests(&trace, Layer::Aio), requests(&trace, Layer::Sys));
    assert_eq!(sys.iter().map(|call| call.parent).collect::<Vec<_>>(), [aio[0].id, aio[1].id]);
    assert!(
        sys.iter().all(|call| call.link == LinkRule::Descriptor && call.tgid == 7 && call.obj == aio[0].obj)
    );
    assert_eq!((micros(&aio[0])[3], aio[1].status, aio[1].done), (Some(60), -5, 0));
}

#[test]
fn control_blocks_of_forked_processes_at_the_same_address_are_not_mixed() {
    let trace = ftrace(&[
        "fio-7(7) 10: aio_read: (0x7f) cb=0x55 fd=6 nbytes=4096 off=0",
        "fio-9(9) 11: aio_read: (0x7f) cb=0x55 fd=6 nbytes=4096 off=0",
        "fio-10(9) 20: sys_pread64(fd: 6, buf: 0x1, count: 0x1000, pos: 0)",
        "fio-10(9) 30: sys_pread64 -> 0x1000",
        "fio-7(7) 40: aio_return: (0x7f) cb=0x55 ret=4096",
        "fio-9(9) 50: aio_return: (0x7f) cb=0x55 ret=4096",
    ]);
    let aio = requests(&trace, Layer::Aio);
    assert_eq!(request(&trace, Layer::Sys).parent, aio[1].id);
    assert_eq!(aio.iter().map(|one| micros(one)[3]).collect::<Vec<_>>(), [Some(40), Some(50)]);
}

#[test]
fn a_reused_control_block_replaces_the_request_before() {
    let trace = ftrace(&[
        "fio-7 10: aio_read: (0x7f) cb=0x55 fd=6 nbytes=4096 off=0",
        "fio-7 20: aio_read: (0x7f) cb=0x55 fd=6 nbytes=4096 off=4096",
        "fio-7 30: aio_return: (0x7f) cb=0x55 ret=4096",
    ]);
    let aio = requests(&trace, Layer::Aio);
    assert_eq!((micros(&aio[0])[3], micros(&aio[1])[3]), (None, Some(30)));
    assert_eq!(trace.footer.total().unmatched_begin, 1);
}

#[test]
fn positions_are_followed_through_opening_seeking_and_duplicates() {
    let trace = ftrace(&[
        "a-7 10: sys_openat(dfd: 0xffffff9c, filename: 0x55 \"/mnt/f\", flags: 0x4000, mode: 0)",
        "a-7 11: sys_openat -> 0x3",
        "a-7 12: sys_read(fd: 3, buf: 0x1, count: 0x1000)",
        "a-7 13: sys_read -> 0x800",
        "a-7 14: sys_read(fd: 3, buf: 0x1, count: 0x1000)",
        "a-7 15: sys_read -> 0x800",
        "a-7 16: sys_lseek(fd: 3, offset: 0x10000, whence: 0)",
        "a-7 17: sys_lseek -> 0x10000",
        "a-7 18: sys_dup(fildes: 3)",
        "a-7 19: sys_dup -> 0x4",
        "a-7 20: sys_read(fd: 4, buf: 0x1, count: 0x1000)",
        "a-7 21: sys_read -> 0xfffffffffffffffb",
    ]);
    let reads: Vec<_> = requests(&trace, Layer::Sys).into_iter().filter(|call| call.op == Op::Read).collect();
    assert_eq!(reads.iter().map(|read| read.offset).collect::<Vec<_>>(), [0, 0x800, 0x10000]);
    assert_eq!(
        reads.iter().map(|read| (read.done, read.status)).collect::<Vec<_>>(),
        [(0x800, 0), (0x800, 0), (0, -5)]
    );
    assert!(reads.iter().all(|read| trace.names.object(read.obj).unwrap().label() == "/mnt/f"));
    assert!(reads.iter().all(|read| read.flags.has(Flags::DIRECT)));
}

#[test]
fn calls_that_lost_their_begin_or_end_are_counted_and_kept() {
    let trace = ftrace(&[
        "a-7 10: sys_fsync -> 0x0",
        "a-7 11: sys_pwrite64(fd: 3, buf: 0x1, count: 0x10, pos: 0)",
        "a-7 20: sys_fsync(fd: 3)",
        "a-7 25: sys_fsync -> 0x0",
        "a-7 30: sys_pwrite64(fd: 3, buf: 0x1, count: 0x10, pos: 0)",
    ]);
    let counters = trace.footer.total();
    assert_eq!((counters.unmatched_end, counters.unmatched_begin), (1, 2));
    let calls = requests(&trace, Layer::Sys);
    assert_eq!(calls.iter().map(|call| micros(call)[3]).collect::<Vec<_>>(), [None, Some(25), None]);
}

#[test]
fn losses_and_disorder_are_counted_in_the_footer() {
    let text = "# tracer: nop\n# entries-in-buffer/entries-written: 2/9   #P:2\n\
        a-7 [000] ..... 2.000000: sys_fsync(fd: 3)\nCPU:0 [LOST 30 EVENTS]\ngarbage\n\
        a-7 [000] ..... 1.500000: sys_fsync -> 0x0\n";
    let (trace, outcomes) = imported(&[("trace", text.as_bytes().to_vec())]);
    let counters = trace.footer.total();
    assert_eq!((counters.lost, counters.dropped, counters.out_of_order, counters.negative), (37, 1, 1, 1));
    assert!(
        outcomes[0].first_dropped.as_ref().unwrap().to_string().starts_with("line 5: expected a line like")
    );
    assert!(request(&trace, Layer::Sys).flags.has(Flags::DISORDERED));
    assert!(counters.loss() > 0.9);
}

#[test]
fn bios_belong_to_the_io_uring_request_of_their_task() {
    let trace = ftrace(&[
        "fio-7 10: io_uring_submit_req: ring ab, req c1, user_data 0x1, opcode READ, flags 0x0, sq_thread 0",
        "fio-7 11: block_bio_queue: 8,0 R 100 + 8 [fio]",
        "fio-7 12: io_uring_submit_req: ring ab, req c2, user_data 0x2, opcode WRITE, flags 0x0, sq_thread 0",
        "fio-7 13: block_bio_queue: 8,0 W 200 + 8 [fio]",
        "fio-7 40: io_uring_complete: ring ab, req c2, user_data 0x2, result 4096, cflags 0x0",
        "fio-7 50: io_uring_complete: ring ab, req c1, user_data 0x1, result -5, cflags 0x0",
    ]);
    let (uring, blk) = (requests(&trace, Layer::Uring), requests(&trace, Layer::Blk));
    assert_eq!(blk.iter().map(|bio| bio.parent).collect::<Vec<_>>(), [uring[0].id, uring[1].id]);
    assert_eq!((uring[0].op, uring[0].status, micros(&uring[0])[3]), (Op::Read, -5, Some(50)));
    assert_eq!((uring[1].op, uring[1].done), (Op::Write, 4096));
}

#[test]
fn io_uring_reports_the_file_after_the_begin_and_the_size_at_the_end() {
    let trace = ftrace(&[
        "fio-7 5: sys_openat(dfd: 0xffffff9c, filename: 0x1 \"/data/x\", flags: 0x4000, mode: 0)",
        "fio-7 6: sys_openat -> 0x4",
        "fio-7 10: io_uring_submit_req: ring ab, req c1, user_data 0x1, opcode READ, flags 0x0, sq_thread 0",
        "fio-7 11: io_uring_file_get: ring ab, req c1, user_data 0x1, fd 4",
        "fio-7 12: io_uring_queue_async_work: ring ab, request c1, user_data 0x1, opcode READ, flags 0x0, \
         normal queue, work ff",
        "fio-7 20: io_uring_submit_req: ring ab, req c2, user_data 0x2, opcode READ, flags 0x0, sq_thread 0",
        "fio-7 40: io_uring_complete: ring ab, req c1, user_data 0x1, result 65536, cflags 0x0",
        "fio-7 50: io_uring_complete: ring ab, req c2, user_data 0x2, result 4096, cflags 0x0",
    ]);
    let uring = requests(&trace, Layer::Uring);
    let named = trace.names.object(uring[0].obj).map(|object| object.label());
    assert_eq!((named.as_deref(), uring[0].fd), (Some("/data/x"), 4));
    assert!(uring[0].flags.has(Flags::DIRECT));
    assert_eq!(micros(&uring[0]), [Some(10), Some(12), None, Some(40)]);
    assert_eq!(uring.iter().map(|one| one.nbytes).collect::<Vec<_>>(), [65536, 4096]);
    // Not reported, so not known.
    assert_eq!((uring[0].offset, uring[1].offset, uring[1].fd), (NO_OFFSET, NO_OFFSET, -1));
    assert_eq!(uring[1].obj, ObjectId::NONE);
}

#[test]
fn a_throttled_writer_gets_a_mark() {
    let trace = ftrace(&[
        "a-7 10: sys_write(fd: 3, buf: 0x1, count: 0x1000)",
        "a-7 11: balance_dirty_pages: bdi 8:0: limit=1 paused=0 pause=20 period=20",
        "a-7 30: sys_write -> 0x1000",
    ]);
    let mark = trace.events.iter().find(|event| event.layer == Layer::Cache).unwrap();
    assert_eq!((mark.nbytes, mark.req), (20_000_000, request(&trace, Layer::Sys).id));
}
