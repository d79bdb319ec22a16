//! Requests of block devices.

use laggard_trace::model::{Flags, Layer, LinkRule, Op};

use super::support::{ftrace, micros, request, requests};

#[test]
fn a_request_goes_from_the_queue_to_the_device_and_back() {
    let trace = ftrace(&[
        "fio-7 10: sys_pread64(fd: 3, buf: 0x1, count: 0x1000, pos: 0x2000)",
        "fio-7 12: block_bio_queue: 8,0 R 100 + 8 [fio]",
        "fio-7 15: block_rq_issue: 8,0 R 4096 () 100 + 8 none,0,0 [fio]",
        "swapper/0-0 40: block_rq_complete: 8,0 R () 100 + 8 none,0,0 [0]",
        "fio-7 44: sys_pread64 -> 0x1000",
    ]);
    let (sys, blk, dev) =
        (request(&trace, Layer::Sys), request(&trace, Layer::Blk), request(&trace, Layer::Dev));
    assert_eq!(micros(&sys), [Some(10), None, None, Some(44)]);
    assert_eq!(micros(&blk), [Some(12), Some(15), Some(40), Some(40)]);
    assert_eq!(micros(&dev), [Some(15), None, None, Some(40)]);
    assert_eq!((blk.parent, blk.link), (sys.id, LinkRule::Thread));
    assert_eq!((dev.parent, dev.link), (blk.id, LinkRule::Same));
    assert_eq!((blk.offset, blk.nbytes, blk.done, blk.op), (51200, 4096, 4096, Op::Read));
    assert_eq!(trace.names.object(blk.obj).unwrap().label(), "8:0");
}

#[test]
fn merged_requests_go_to_the_device_as_one() {
    let trace = ftrace(&[
        "fio-7 10: block_bio_queue: 8,0 W 100 + 8 [fio]",
        "fio-7 11: block_bio_queue: 8,0 W 108 + 8 [fio]",
        "fio-7 11: block_bio_backmerge: 8,0 W 108 + 8 [fio]",
        "fio-7 15: block_rq_issue: 8,0 W 8192 () 100 + 16 none,0,0 [fio]",
        "swapper/0-0 40: block_rq_complete: 8,0 W () 100 + 16 none,0,0 [0]",
    ]);
    let (blk, dev) = (requests(&trace, Layer::Blk), request(&trace, Layer::Dev));
    assert_eq!(dev.nbytes, 8192);
    assert_eq!(dev.parent, blk[0].id);
    assert_eq!(
        trace.edges.iter().map(|edge| (edge.parent, edge.child, edge.bytes)).collect::<Vec<_>>(),
        [(blk[1].id, dev.id, 4096)]
    );
    assert!(
        blk.iter()
            .all(|bio| micros(bio)[1..] == [Some(15), Some(40), Some(40)] && bio.flags.has(Flags::MERGED))
    );
}

#[test]
fn a_split_request_ends_with_its_last_piece() {
    let trace = ftrace(&[
        "git-7 10: block_bio_queue: 8,0 RA 100 + 24 [git]",
        "git-7 11: block_split: 8,0 RA 100 / 116 [git]",
        "git-7 12: block_rq_issue: 8,0 RA 8192 () 100 + 16 none,0,0 [git]",
        "git-7 13: block_rq_issue: 8,0 RA 8192 () 100 + 16 none,0,0 [git]",
        "git-7 14: block_rq_issue: 8,0 RA 4096 () 116 + 8 none,0,0 [git]",
        "swapper/0-0 20: block_rq_complete: 8,0 RA () 116 + 8 none,0,0 [0]",
        "swapper/0-0 30: block_rq_complete: 8,0 RA () 100 + 16 none,0,0 [0]",
    ]);
    let (blk, dev) = (request(&trace, Layer::Blk), requests(&trace, Layer::Dev));
    assert_eq!(micros(&blk)[3], Some(30));
    assert!(blk.flags.has(Flags::SPLIT | Flags::RA));
    // The first piece was issued twice, since the device was busy.
    assert_eq!(
        dev.iter().map(micros).collect::<Vec<_>>(),
        [[Some(13), None, None, Some(30)], [Some(14), None, None, Some(20)],]
    );
    assert!(dev[0].flags.has(Flags::REQUEUED));
    assert!(dev.iter().all(|part| part.parent == blk.id));
}

#[test]
fn a_request_may_complete_in_pieces() {
    let trace = ftrace(&[
        "fio-7 10: block_bio_queue: 8,0 R 100 + 16 [fio]",
        "fio-7 12: block_rq_issue: 8,0 R 8192 () 100 + 16 none,0,0 [fio]",
        "swapper/0-0 20: block_rq_complete: 8,0 R () 100 + 8 none,0,0 [0]",
        "swapper/0-0 30: block_rq_complete: 8,0 R () 108 + 8 none,0,0 [-5]",
    ]);
    let (blk, dev) = (request(&trace, Layer::Blk), request(&trace, Layer::Dev));
    assert_eq!((micros(&blk)[3], blk.status, dev.status), (Some(30), -5, -5));
    assert_eq!((blk.done, dev.done), (0, 0));
}

#[test]
fn two_readers_of_the_same_sectors_are_two_requests() {
    let trace = ftrace(&[
        "a-7 10: block_bio_queue: 8,0 R 100 + 8 [a]",
        "b-8 11: block_bio_queue: 8,0 R 100 + 8 [b]",
        "a-7 12: block_rq_issue: 8,0 R 4096 () 100 + 8 none,0,0 [a]",
        "b-8 13: block_rq_issue: 8,0 R 4096 () 100 + 8 none,0,0 [b]",
        "swapper/0-0 20: block_rq_complete: 8,0 R () 100 + 8 none,0,0 [0]",
        "swapper/0-0 30: block_rq_complete: 8,0 R () 100 + 8 none,0,0 [0]",
    ]);
    let blk = requests(&trace, Layer::Blk);
    assert_eq!(
        blk.iter().map(micros).collect::<Vec<_>>(),
        [[Some(10), Some(12), Some(20), Some(20)], [Some(11), Some(13), Some(30), Some(30)],]
    );
}

#[test]
fn flushes_have_no_offset_and_kernel_writeback_is_flagged() {
    let trace = ftrace(&[
        "jbd2/sda-8-90 10: block_bio_queue: 8,0 FWS 0 + 0 [jbd2/sda-8]",
        "kworker/0:1-9 12: block_rq_issue: 8,0 FF 0 () 0 + 0 none,0,0 [kworker/0:1]",
        "swapper/0-0 30: block_rq_complete: 8,0 FF () 0 + 0 none,0,0 [0]",
        "kworker/u8:1-9 40: block_bio_queue: 8,0 WM 200 + 8 [kworker/u8:1]",
    ]);
    let blk = requests(&trace, Layer::Blk);
    assert_eq!((blk[0].op, blk[0].offset, micros(&blk[0])[3]), (Op::Sync, -1, Some(30)));
    assert!(blk[1].flags.has(Flags::WRITEBACK | Flags::META));
    assert_eq!(trace.footer.total().unmatched_begin, 1);
}

#[test]
fn a_device_on_top_of_another_is_its_parent() {
    let trace = ftrace(&[
        "fio-7 10: block_bio_queue: 9,0 R 100 + 8 [fio]",
        "fio-7 11: block_bio_remap: 8,0 R 612 + 8 <- (9,0) 100",
        "fio-7 12: block_bio_queue: 8,0 R 612 + 8 [fio]",
        "fio-7 13: block_rq_issue: 8,0 R 4096 () 612 + 8 none,0,0 [fio]",
        "swapper/0-0 30: block_rq_complete: 8,0 R () 612 + 8 none,0,0 [0]",
        "swapper/0-0 31: block_bio_complete: 9,0 R 100 + 8 [0]",
    ]);
    let blk = requests(&trace, Layer::Blk);
    assert_eq!((blk[1].parent, blk[1].link), (blk[0].id, LinkRule::Remap));
    assert_eq!(micros(&blk[0]), [Some(10), None, Some(31), Some(31)]);
}
