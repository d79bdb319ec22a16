//! FUSE, and the daemons of a file system on both ends.

use laggard_trace::model::{Flags, Layer, LinkRule, MetaOp, Op};

use super::support::{ftrace, micros, request, requests};

#[test]
fn a_large_write_becomes_fuse_requests_one_after_the_other() {
    let trace = ftrace(&[
        "fio-7 10: sys_pwrite64(fd: 5, buf: 0x1, count: 0x40000, pos: 0x100000)",
        "fio-7 11: fuse_request_send: connection 4 req 2 opcode 22 (FUSE_GETXATTR) len 68",
        "glfs_epoll000-20 12: fuse_request_end: connection 4 req 2 len 16 error -61",
        "fio-7 13: fuse_request_send: connection 4 req 4 opcode 16 (FUSE_WRITE) len 131152",
        "fio-7 14: fuse_request_send: connection 4 req 6 opcode 16 (FUSE_WRITE) len 131152",
        "glfs_epoll000-20 20: fuse_request_end: connection 4 req 6 len 24 error 0",
        "glfs_epoll000-20 22: fuse_request_end: connection 4 req 4 len 24 error 0",
        "fio-7 25: sys_pwrite64 -> 0x40000",
    ]);
    let (sys, fuse) = (request(&trace, Layer::Sys), requests(&trace, Layer::Fuse));
    assert!(
        fuse.iter().all(|one| one.parent == sys.id && one.link == LinkRule::Thread && one.obj == sys.obj)
    );
    assert_eq!((fuse[0].op, fuse[0].status), (Op::Meta(MetaOp::Getxattr), -61));
    assert_eq!((fuse[1].offset, fuse[1].nbytes), (0x100000, 131072));
    assert_eq!((fuse[2].offset, fuse[2].done), (0x120000, 131072));
    assert_eq!((micros(&fuse[1])[3], micros(&fuse[2])[3]), (Some(22), Some(20)));
}

#[test]
fn a_read_through_fuse_gets_its_size_at_its_end() {
    let trace = ftrace(&[
        "fio-7 10: sys_pread64(fd: 5, buf: 0x1, count: 0x3000, pos: 0x1000)",
        "fio-7 11: fuse_request_send: connection 4 req 2 opcode 15 (FUSE_READ) len 80",
        "d-20 12: fuse_request_end: connection 4 req 2 len 8208 error 0",
        "fio-7 13: fuse_request_send: connection 4 req 4 opcode 15 (FUSE_READ) len 80",
        "d-20 14: fuse_request_end: connection 4 req 4 len 4112 error 0",
        "fio-7 25: sys_pread64 -> 0x3000",
    ]);
    let fuse = requests(&trace, Layer::Fuse);
    assert_eq!(
        fuse.iter().map(|one| (one.offset, one.done)).collect::<Vec<_>>(),
        [(0x1000, 0x2000), (0x3000, 0x1000)]
    );
    assert!(fuse[0].flags.has(Flags::INFERRED));
}

#[test]
fn a_client_forwards_fuse_requests_and_a_server_replies() {
    let round = |micros: u64, offset: u64| {
        [
            format!("fio-7 {}: sys_pwrite64(fd: 5, buf: 0x1, count: 0x10000, pos: 0x{offset:x})", micros),
            format!(
                "fio-7 {}: fuse_request_send: connection 4 req {micros} opcode 16 (FUSE_WRITE) len 65616",
                micros + 1
            ),
            format!("glfs_iotwr000-21 {}: sys_writev(fd: 9, vec: 0x1, vlen: 4)", micros + 2),
            format!("glfs_iotwr000-21 {}: sys_writev -> 0x10088", micros + 3),
            format!(
                "glfs_iotwr000-31 {}: sys_pwrite64(fd: 12, buf: 0x1, count: 0x10000, pos: 0x{offset:x})",
                micros + 10
            ),
            format!("glfs_iotwr000-31 {}: sys_pwrite64 -> 0x10000", micros + 15),
            format!("glfs_iotwr000-31 {}: sys_writev(fd: 0x10d, vec: 0x1, vlen: 3)", micros + 17),
            format!("glfs_iotwr000-31 {}: sys_writev -> 0x158", micros + 18),
            format!("glfs_epoll001-22 {}: sys_writev(fd: 7, vec: 0x1, vlen: 2)", micros + 20),
            format!(
                "glfs_epoll001-22 {}: fuse_request_end: connection 4 req {micros} len 24 error 0",
                micros + 21
            ),
            format!("glfs_epoll001-22 {}: sys_writev -> 0x18", micros + 22),
            format!("fio-7 {}: sys_pwrite64 -> 0x10000", micros + 25),
        ]
    };
    let lines = [round(100, 0), round(200, 0x10000)].concat();
    let trace = ftrace(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let (fuse, pfss, ssys) =
        (requests(&trace, Layer::Fuse), requests(&trace, Layer::Pfss), requests(&trace, Layer::Ssys));
    assert_eq!((fuse.len(), pfss.len(), ssys.len()), (2, 2, 2));
    // The replies of a thread are known from its second request.
    assert_eq!(micros(&pfss[1]), [Some(210), Some(210), Some(215), Some(217)]);
    assert_eq!((pfss[1].offset, pfss[1].done), (0x10000, 0x10000));
    assert_eq!((ssys[1].parent, micros(&ssys[1])), (pfss[1].id, [Some(210), None, None, Some(215)]));
    let sent = requests(&trace, Layer::Net).into_iter().filter(|net| net.done == 0x10088).collect::<Vec<_>>();
    let links: Vec<_> = trace.edges.iter().map(|edge| (edge.parent, edge.child)).collect();
    assert_eq!(links, [(fuse[0].id, sent[0].id), (fuse[1].id, sent[1].id)]);
    // The calls of the daemons are not attributed to an application.
    assert_eq!(requests(&trace, Layer::Sys).len(), 2);
}

#[test]
fn a_message_ends_when_its_reply_is_read() {
    let trace = ftrace(&[
        // The FUSE device is recognised by the replies written to it.
        "fio-7 1: fuse_request_send: connection 4 req 2 opcode 1 (FUSE_LOOKUP) len 44",
        "glfs_epoll001-22(20) 2: sys_writev(fd: 7, vec: 0x1, vlen: 2)",
        "glfs_epoll001-22(20) 3: fuse_request_end: connection 4 req 2 len 24 error 0",
        "glfs_epoll001-22(20) 4: sys_writev -> 0x18",
        "glfs_fuseproc-20(20) 9: sys_readv(fd: 7, vec: 0x1, vlen: 2)",
        "fio-7 10: sys_pread64(fd: 5, buf: 0x1, count: 0x10000, pos: 0)",
        "fio-7 11: fuse_request_send: connection 4 req 4 opcode 15 (FUSE_READ) len 80",
        "glfs_fuseproc-20(20) 14: sys_readv -> 0x50",
        "glfs_iotwr000-21(20) 15: sys_writev(fd: 9, vec: 0x1, vlen: 4)",
        "glfs_iotwr000-21(20) 17: sys_writev -> 0x8c",
        "glfs_epoll001-22(20) 30: sys_readv(fd: 9, vec: 0x1, vlen: 1)",
        "glfs_epoll001-22(20) 31: sys_readv -> 0x4",
        // The rest follows.
        "glfs_epoll001-22(20) 32: sys_readv(fd: 9, vec: 0x1, vlen: 1)",
        "glfs_epoll001-22(20) 33: sys_readv -> 0xfffffffffffffff5",
        "glfs_epoll001-22(20) 34: sys_epoll_wait(epfd: 4, events: 0x1, maxevents: 1, timeout: 0xffffffff)",
        "glfs_epoll001-22(20) 60: sys_readv(fd: 9, vec: 0x1, vlen: 1)",
        "glfs_epoll001-22(20) 61: sys_readv -> 0x10080",
        "glfs_epoll001-22(20) 62: sys_writev(fd: 7, vec: 0x1, vlen: 2)",
        "glfs_epoll001-22(20) 63: fuse_request_end: connection 4 req 4 len 65552 error 0",
        "glfs_epoll001-22(20) 64: sys_writev -> 0x10010",
        "fio-7 65: sys_pread64 -> 0x10000",
    ]);
    let (fuse, pfsc) = (requests(&trace, Layer::Fuse), requests(&trace, Layer::Pfsc));
    let net = requests(&trace, Layer::Net).into_iter().find(|net| net.fd == 9).unwrap();
    assert_eq!((pfsc.len(), pfsc[0].parent, pfsc[0].op), (1, fuse[1].id, Op::Read));
    assert_eq!(micros(&pfsc[0]), [Some(14), None, None, Some(63)]);
    assert_eq!(micros(&net), [Some(15), Some(17), None, Some(62)]);
    assert_eq!(net.done, 0x8c + 4 + 0x10080);
    assert_eq!(
        trace.edges.iter().map(|edge| (edge.parent, edge.child)).collect::<Vec<_>>(),
        [(pfsc[0].id, net.id)]
    );
}
