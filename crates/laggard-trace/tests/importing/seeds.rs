//! Seeds for fuzzing: a small file of each format.

use std::path::PathBuf;

use laggard_trace::importing::{Format, Importer, Options};

use super::making;
use super::support::{imported, trace};

/// Name, format and content.
fn seeds() -> Vec<(&'static str, Format, Vec<u8>)> {
    let ftrace = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/12   #P:2\n\
        fio-7   (      7) [000] .....   1.000010: sys_pread64(fd: 3, buf: 0x1, count: 0x1000, pos: 0x2000)\n\
        fio-7   (      7) [000] .....   1.000012: block_bio_queue: 8,0 RA 100 + 8 [fio]\n\
        fio-7   (      7) [000] .....   1.000015: block_rq_issue: 8,0 RA 4096 () 100 + 8 none,0,0 [fio]\n\
        swapper/0-0   (-------) [001] ..s..   1.000040: block_rq_complete: 8,0 RA () 100 + 8 none,0,0 [0]\n\
        CPU:1 [LOST 30 EVENTS]\n\
        fio-7   (      7) [000] .....   1.000044: sys_pread64 -> 0x1000\n\
        fio-7   (      7) [000] DBZff   1.000050: aio_read: (0x7f) cb=0x55 fd=6 nbytes=4096 off=0\n\
        fio-7   (      7) [000] ...1.   1.000060: fuse_request_send: connection 4 req 2 opcode 16 (FUSE_WRITE) len 65616\n\
        glfs_epoll000-9   (      9) [000] .....   1.000070: fuse_request_end: connection 4 req 2 len 24 error 0\n\
        fio-7   (      7) [000] DBZff   1.000080: aio_return: (0x7f) cb=0x55 ret=4096\n";
    let blkparse = "  7,6    1        1     0.000001000    42  Q   R 64 + 8 [fio]\n\
        \x20 7,6    1        2     0.000001100    42  X   R 64 / 68 [fio]\n\
        \x20 7,6    1        3     0.000001200    42  A   R 64 + 8 <- (7,1) 60\n\
        \x20 7,6    1        4     0.000002000    42  D   R 64 + 8 [fio]\n\
        \x20 7,6    1        5     0.000009000     0  C   R 64 + 8 [0]\nCPU1 (loop6):\n";
    let strace = "18 1000.000010 openat(AT_FDCWD, \"/mnt/f\", O_RDWR|O_DIRECT) = 3 <0.000010>\n\
        18 1000.000050 pwrite64(3</mnt/f>, \"ab\"..., 131072, 262144 <unfinished ...>\n\
        18 1000.000523 <... pwrite64 resumed>) = 131072 <0.000473>\n\
        18 1000.000600 io_submit(0x7f, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_nbytes=4096, aio_offset=0}]) = 1 <0.0001>\n\
        18 1000.000900 io_getevents(0x7f, 1, 1, [{data=0, obj=0x5, res=4096, res2=0}], NULL) = 1 <0.000100>\n";
    let paper = "Time: 1.242744\tEVENT: AIO_ISSUE\tOP: READ\tFD: 15\tOFFSET: 712114176\tNBYTES: 65536\n\
        Time: 1.244758\tEVENT: AIO_COMPLT\tOP: READ\tFD: 15\tOFFSET: 712114176\tNBYTES: 65536\n";
    let pfw = "[\n{\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":20,\"ph\":\"X\",\"args\":{\"fname\":\"/f\",\"count\":512,\"ret\":512}}\n";
    let recorder = "0.000010 0.000400 MPI_File_write_at 0 1 ( 7 0 0x7f 4096 MPI_BYTE 0x1 )\n\
        0.000020 0.000300 pwrite 1 0 ( /f 0x7f 4096 8192 )\n";
    vec![
        ("trace_kernel/ftrace", Format::Ftrace, ftrace.into()),
        ("trace_kernel/blktrace", Format::Blktrace, making::blktrace(false)),
        ("trace_kernel/blkparse", Format::Blkparse, blkparse.into()),
        ("trace_calls/strace", Format::Strace, strace.into()),
        ("trace_calls/fio-lat", Format::FioLat, b"3, 3328374, 0, 65536, 196608, 0\n".to_vec()),
        (
            "trace_calls/fio-iolog",
            Format::FioIolog,
            b"fio version 3 iolog\n10 /f write 65536 4096\n".to_vec(),
        ),
        ("trace_calls/paper", Format::Paper, paper.into()),
        ("trace_calls/pfw", Format::Pfw, pfw.into()),
        ("trace_calls/recorder", Format::RecorderText, recorder.into()),
        ("trace_darshan/zlib", Format::Dxt, making::darshan_job(0)),
        ("trace_darshan/plain", Format::Dxt, making::darshan_job(2)),
    ]
}

/// A trace file as text, since a fuzzer does not compress.
#[test]
fn the_seed_of_a_trace_file_is_read() {
    let (_, _, ftrace) = seeds().remove(0);
    let mut importer = Importer::new(Vec::new(), Options { host: "here".into(), ..Options::default() });
    importer.file("ftrace", &ftrace, &mut ftrace.as_slice()).unwrap();
    let text = zstd::decode_all(importer.finish().unwrap().1.as_slice()).unwrap();
    let kept = kept("trace_file/text", &text);
    assert!(trace(&zstd::encode_all(kept.as_slice(), 1).unwrap()).events.len() > 4);
}

/// The stored seed. Set `LAGGARD_WRITE_SEEDS` to write it.
fn kept(name: &str, content: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    if std::env::var_os("LAGGARD_WRITE_SEEDS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
    }
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn seeds_are_recognised_and_contain_requests() {
    for (name, format, content) in seeds() {
        assert_eq!(kept(name, &content), content, "{name}: set LAGGARD_WRITE_SEEDS=1 to write it again");
        let (trace, outcomes) = imported(&[(name, content)]);
        assert_eq!(outcomes[0].format, format, "{name}");
        assert!(trace.events.len() >= 2 || format == Format::FioIolog, "{name}");
    }
}
