//! Traces of strace, fio, blktrace, Darshan, DFTracer, Recorder, and of the paper.

use laggard_trace::importing::Format;
use laggard_trace::model::{Flags, Kind, Layer, LinkRule, MetaOp, Op, Trace};

use super::making;
use super::support::{imported, imported_as, micros, request, requests};

fn text(lines: &str) -> Trace {
    imported(&[("file", lines.as_bytes().to_vec())]).0
}

#[test]
fn calls_that_strace_prints_in_two_parts_are_joined() {
    let trace = text(
        "18 1000.000010 openat(AT_FDCWD, \"/mnt/f\", O_RDWR|O_DIRECT) = 3 <0.000010>\n\
         18 1000.000050 pwrite64(3, \"a) = 5\\\"\"..., 131072, 262144 <unfinished ...>\n\
         19 1000.000055 read(4</etc/my, file>, \"x\", 10) = 10 <0.000003>\n\
         18 1000.000523 <... pwrite64 resumed>) = 131072 <0.000473>\n\
         18 1000.000600 pread64(3, 0x7f, 4096, 0) = -1 EIO (Input/output error) <0.000100>\n\
         18 1000.000800 +++ exited with 0 +++\n",
    );
    let calls = requests(&trace, Layer::Sys);
    let write = calls.iter().find(|call| call.op == Op::Write).unwrap();
    assert_eq!(micros(write), [Some(1_000_000_050), None, None, Some(1_000_000_523)]);
    assert_eq!((write.offset, write.nbytes, write.done), (262144, 131072, 131072));
    assert_eq!(trace.names.object(write.obj).unwrap().label(), "/mnt/f");
    assert!(write.flags.has(Flags::DIRECT));
    let other = calls.iter().find(|call| call.tid == 19).unwrap();
    assert_eq!(trace.names.object(other.obj).unwrap().label(), "/etc/my, file");
    assert_eq!(calls.last().unwrap().status, -5);
    assert!(trace.events.is_sorted_by_key(|event| event.ts_ns));
}

#[test]
fn vectors_threads_and_libaio_of_strace_are_understood() {
    let trace = text(
        "18 5.0 openat(AT_FDCWD, \"f\", O_RDONLY) = 3 <0.000010>\n\
         18 5.1 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, tls=0x7f) = 19 <0.000010>\n\
         19 5.2 preadv(3, [{iov_base=\"a\", iov_len=100}, {iov_base=\"b\", iov_len=28}], 2, 512) = 128 <0.001000>\n\
         18 5.3 io_submit(0x7f80, 2, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x1, aio_nbytes=4096, aio_offset=8192}, \
         {aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, aio_buf=0x1, aio_nbytes=512, aio_offset=0}]) = 2 <0.000049>\n\
         18 5.4 io_getevents(0x7f80, 1, 2, [{data=0, obj=0x5, res=512, res2=0}, {data=0, obj=0x6, res=4096, res2=0}], NULL) = 2 <0.100000>\n",
    );
    let calls = requests(&trace, Layer::Sys);
    let of = |op: Op, nbytes: u64| *calls.iter().find(|call| call.op == op && call.nbytes == nbytes).unwrap();
    let vector = of(Op::Read, 128);
    assert_eq!((vector.tgid, vector.tid, vector.offset, vector.done), (18, 19, 512, 128));
    assert_eq!(trace.names.object(vector.obj).unwrap().label(), "f");
    let (read, write) = (of(Op::Read, 4096), of(Op::Write, 512));
    assert_eq!(micros(&read), [Some(5_300_000), None, None, Some(5_500_000)]);
    assert_eq!((read.offset, write.done, write.obj == read.obj), (8192, 512, true));
}

#[test]
fn strace_without_times_is_an_error_with_a_remedy() {
    let (_, outcomes) = imported_as(
        Some(Format::Strace),
        &[("calls", b"18 close(3) = 0\n18 1000.5 close(3) = 0 <0.0001>\n".to_vec())],
    );
    let first = outcomes[0].first_dropped.as_ref().unwrap().to_string();
    assert_eq!(
        first,
        "line 1: expected a time in front of the call (run strace with -ttt -T), found \"18 close(3) = 0\""
    );
    assert_eq!(outcomes[0].counters.dropped, 1);
}

#[test]
fn logs_of_fio_have_the_requests_of_the_application() {
    let (trace, outcomes) = imported(&[
        ("fio_lat.1.log", b"3, 3328374, 0, 65536, 196608, 0\n4, 1000000, 1, 4096, 0, 0\n".to_vec()),
        ("fio_lat.2.log", b"2, 500000, 0, 4096, 8192, 0\nnonsense\n".to_vec()),
    ]);
    let app = requests(&trace, Layer::App);
    assert_eq!(app.len(), 3);
    // Latency in nanoseconds, end in milliseconds: the first request begins before time 0.
    assert_eq!((app[0].at(Kind::Admit), app[0].offset), (Some(0), 196608));
    assert!(app.iter().all(|one| one.flags.has(Flags::LOWRES)));
    assert_eq!(app[1].latency_ns(), Some(500_000));
    assert_eq!(outcomes[1].counters.dropped, 1);
}

#[test]
fn a_bandwidth_log_is_not_read_as_a_latency_log() {
    let (_, outcomes) = imported(&[("fio_bw.1.log", b"3, 3328374, 0, 65536, 196608, 0\n".to_vec())]);
    let why = outcomes[0].cut_short.as_ref().unwrap().to_string();
    assert_eq!(why, "expected the log of total latencies (_lat), found \"a log of bandwidth\"");
}

#[test]
fn an_iolog_has_the_begin_of_requests() {
    let trace = text(
        "fio version 3 iolog\n0 /mnt/a b add\n5 /mnt/a b open\n10 /mnt/a b write 65536 4096\n20 /mnt/a b sync 0 0\n30 /mnt/a b close\n",
    );
    let app = requests(&trace, Layer::App);
    assert_eq!(
        (app[0].op, app[0].offset, app[0].nbytes, micros(&app[0])[0]),
        (Op::Write, 65536, 4096, Some(10))
    );
    assert_eq!(trace.names.object(app[0].obj).unwrap().label(), "/mnt/a b");
    assert_eq!(app[1].op, Op::Sync);
    let (_, outcomes) = imported(&[("il", b"fio version 2 iolog\n/mnt/a add\n".to_vec())]);
    assert!(outcomes[0].cut_short.as_ref().unwrap().to_string().contains("version 3 of the log"));
}

#[test]
fn the_papers_own_lines_are_requests() {
    let trace = text(
        "Time: 2650212.242744\tEVENT: AIO_ISSUE\tOP: READ\tFD: 15\tOFFSET: 712114176\tNBYTES: 65536\n\
         Time: 2650212.244758\tEVENT: AIO_COMPLT\tOP: READ\tFD: 15\tOFFSET: 712114176\tNBYTES: 65536\n\
         .....\n\
         Time: 2650212.244823\tEVENT: AIO_ISSUE\tOP: READ\tFD: 15\tOFFSET: 712179712\tNBYTES: 65536\n\
         Time: 2653111.280135\tEVENT: PVFS2_ISSUE\tOP: READ\tFD: 15\tOFFSET: 192151552\tNBYTES: 65536\n",
    );
    let aio = requests(&trace, Layer::Aio);
    assert_eq!(aio[0].latency_ns(), Some(2_014_000));
    assert_eq!(micros(&aio[1])[3], None);
    assert_eq!(request(&trace, Layer::Pfss).offset, 192_151_552);
    assert_eq!(trace.footer.total().unmatched_begin, 2);
}

#[test]
fn records_of_blktrace_are_read_in_both_byte_orders_and_across_files() {
    for is_big in [false, true] {
        let file = making::blktrace(is_big);
        // Two processors: the order of the files is not the order of time.
        let (head, tail) = file.split_at(52 + 48);
        let (trace, _) =
            imported(&[("loop6.blktrace.1", tail.to_vec()), ("loop6.blktrace.0", head.to_vec())]);
        let blk = request(&trace, Layer::Blk);
        assert_eq!(blk.t, [Some(1_000), Some(2_000), Some(9_000), Some(9_000)]);
        assert_eq!((blk.offset, blk.nbytes, blk.op, blk.tid), (64 * 512, 4096, Op::Read, 42));
        assert_eq!(trace.names.object(blk.obj).unwrap().label(), "7:6");
        assert_eq!(trace.footer.total().read, 4);
    }
}

#[test]
fn a_damaged_blktrace_is_read_on_at_the_next_record() {
    let file = making::blktrace(false);
    let damaged = [&file[..52], b"rubbish", &file[52..], &file[52..70]].concat();
    let (trace, outcomes) = imported(&[("x.blktrace.0", damaged)]);
    assert_eq!(request(&trace, Layer::Dev).t[3], Some(9_000));
    assert_eq!(outcomes[0].counters.dropped, 1);
    let dropped = outcomes[0].first_dropped.as_ref().unwrap().to_string();
    assert!(dropped.starts_with("byte 52: expected the magic word"), "{dropped}");
    assert!(
        outcomes[0].cut_short.as_ref().unwrap().to_string().contains("in the middle of a blktrace record")
    );
}

#[test]
fn the_output_of_blkparse_equals_the_records() {
    let printed = "  7,6    1        0     0.000001000    42  Q   R 64 + 8 [fio]\n\
                   \x20 7,6    1        0     0.000001500    42  P   N [fio]\n\
                   \x20 7,6    1        0     0.000002000    42  D   R 64 + 8 [fio]\n\
                   \x20 7,6    1        0     0.000009000     0  C   R 64 + 8 [0]\n\
                   CPU1 (loop6):\n Reads Queued:  1,  4KiB\n\nEvents (loop6): 4 entries\n";
    let (from_text, outcomes) = imported(&[("blkparse.txt", printed.as_bytes().to_vec())]);
    let (from_records, _) = imported(&[("x.blktrace.1", making::blktrace(false))]);
    let plain = |trace: &Trace| {
        requests(trace, Layer::Blk).iter().map(|r| (r.t, r.offset, r.op, r.done)).collect::<Vec<_>>()
    };
    assert_eq!(plain(&from_text), plain(&from_records));
    assert_eq!(outcomes[0].counters.dropped, 0);
}

#[test]
fn a_darshan_log_has_segments_of_both_layers() {
    for compression in 0..3 {
        let (trace, outcomes) = imported(&[("job.darshan", making::darshan_job(compression))]);
        assert!(outcomes[0].cut_short.is_none(), "{compression}: {:?}", outcomes[0].cut_short);
        let (mpiio, sys) = (request(&trace, Layer::Mpiio), requests(&trace, Layer::Sys));
        assert_eq!(mpiio.at(Kind::Admit), Some(1_619_109_091_500_000_000));
        assert_eq!(trace.names.object(mpiio.obj).unwrap().label(), "/scratch/out.h5");
        assert_eq!((mpiio.tgid, trace.names.comm(mpiio.comm)), (1, "node1"));
        assert!(sys[..2].iter().all(|one| one.parent == mpiio.id && one.link == LinkRule::Nesting));
        assert_eq!(
            (sys[2].op, sys[2].offset, sys[2].done, sys[2].parent.is_none()),
            (Op::Read, 100, 50, true)
        );
    }
}

#[test]
fn a_rank_that_writes_for_others_is_linked_to_their_requests_by_bytes() {
    let segment = |is_mpiio, rank, offset, length, begin_s, end_s| making::Segment {
        is_mpiio,
        file: 7,
        rank,
        is_write: true,
        offset,
        length,
        begin_s,
        end_s,
    };
    let log = making::darshan(
        0,
        &[
            segment(true, 0, 0, 1000, 1.0, 2.0),
            segment(true, 1, 1000, 1000, 1.0, 2.1),
            // Much earlier, with the same bytes.
            segment(true, 2, 1000, 1000, 0.1, 0.2),
            segment(false, 0, 0, 1500, 1.2, 1.4),
            segment(false, 5, 1500, 500, 1.3, 1.5),
        ],
    );
    let (trace, _) = imported(&[("job.darshan", log)]);
    let (mpiio, sys) = (requests(&trace, Layer::Mpiio), requests(&trace, Layer::Sys));
    let of = |rank: u32| mpiio.iter().find(|one| one.tgid == rank).unwrap().id;
    assert_eq!((sys[0].parent, sys[0].link), (of(0), LinkRule::Nesting));
    assert_eq!((sys[1].parent, sys[1].link), (of(1), LinkRule::Collective));
    let edges: Vec<_> = trace.edges.iter().map(|edge| (edge.parent, edge.child, edge.bytes)).collect();
    assert_eq!(edges, [(of(1), sys[0].id, 500)]);
}

#[test]
fn a_truncated_darshan_log_is_read_up_to_its_end() {
    let whole = making::darshan_job(2);
    let (trace, outcomes) = imported(&[("job.darshan", whole[..whole.len() - 40].to_vec())]);
    let why = outcomes[0].cut_short.as_ref().unwrap().to_string();
    assert!(why.contains("the segments of MPI-IO"), "{why}");
    assert_eq!(requests(&trace, Layer::Sys).len(), 3);
}

#[test]
fn events_of_dftracer_are_read_with_the_names_of_their_files() {
    let trace = text(
        "[\n{\"id\":0,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ph\":\"M\",\"args\":{\"name\":\"/mnt/f\",\"value\":\"a1\"}}\n\
         {\"id\":1,\"name\":\"pread64\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":20,\"ph\":\"X\",\"args\":{\"fhash\":\"a1\",\"offset\":4096,\"count\":512,\"ret\":512}}\n\
         {\"id\":2,\"name\":\"stat\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":130,\"dur\":1,\"ph\":\"X\",\"args\":{}}\n]\n",
    );
    let sys = requests(&trace, Layer::Sys);
    assert_eq!(
        (micros(&sys[0]), sys[0].offset, sys[0].done),
        ([Some(100), None, None, Some(120)], 4096, 512)
    );
    assert_eq!(trace.names.object(sys[0].obj).unwrap().label(), "/mnt/f");
    assert_eq!(sys[1].op, Op::Meta(MetaOp::Getattr));
}

#[test]
fn recorder_text_has_nested_calls_of_each_rank() {
    let lines = "0.000010 0.000400 MPI_File_write_at 0 1 ( 7 0 0x7f 4096 MPI_BYTE 0x1 )\n\
        0.000020 0.000300 pwrite 1 0 ( /scratch/f 0x7f 4096 8192 )\n\
        0.000500 0.000600 MPI_Barrier 0 2 ( MPI_COMM_WORLD )\n\
        0.000700 0.000800 fread 0 0 ( 0x7f 8 512 5 )\nnothing\n";
    let (trace, outcomes) = imported(&[("job/_text/3.txt", lines.into())]);
    assert_eq!((outcomes[0].format, outcomes[0].counters.dropped), (Format::RecorderText, 1));
    let (mpiio, sys) = (request(&trace, Layer::Mpiio), requests(&trace, Layer::Sys));
    assert_eq!((mpiio.op, mpiio.tgid, micros(&mpiio)[3]), (Op::Write, 3, Some(400)));
    assert_eq!((sys[0].parent, sys[0].link), (mpiio.id, LinkRule::Thread));
    assert_eq!((sys[0].offset, sys[0].nbytes), (8192, 4096));
    assert_eq!(trace.names.object(sys[0].obj).unwrap().label(), "/scratch/f");
    assert_eq!((sys[1].op, sys[1].nbytes, sys[1].parent.is_none()), (Op::Read, 4096, true));
    assert_eq!(trace.names.object(sys[1].obj).unwrap().label(), "fd 5 of process 3");
}

#[test]
fn every_format_has_a_name_that_is_understood() {
    for (format, name) in Format::all() {
        assert_eq!(name.parse(), Ok(format));
        assert_eq!(format.to_string(), name);
    }
    assert!("sar".parse::<Format>().unwrap_err().to_string().contains("write one of blktrace, dxt"));
}
