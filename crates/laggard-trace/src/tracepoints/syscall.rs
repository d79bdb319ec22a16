//! The system calls that matter for I/O.

/// A system call, by its name in tracefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syscall {
    Read,
    Pread64,
    Readv,
    Preadv,
    Preadv2,
    Write,
    Pwrite64,
    Writev,
    Pwritev,
    Pwritev2,
    Fsync,
    Fdatasync,
    SyncFileRange,
    Sync,
    Syncfs,
    Sendfile64,
    Splice,
    CopyFileRange,
    Sendto,
    Sendmsg,
    Recvfrom,
    Recvmsg,
    IoSubmit,
    IoGetevents,
    IoUringEnter,
    Open,
    Openat,
    Openat2,
    Creat,
    Close,
    Dup,
    Dup2,
    Dup3,
    Fcntl,
    Lseek,
    Ftruncate,
    Fallocate,
    Newfstat,
    Statx,
    Unlink,
    Unlinkat,
    Rename,
    Renameat2,
    Mkdir,
    Getdents64,
    EpollWait,
    EpollPwait,
    Poll,
    Ppoll,
}

impl Syscall {
    /// Whether its first argument is a descriptor of what it is about.
    pub fn takes_descriptor(self) -> bool {
        use Syscall as S;
        let is_by_name = matches!(self, S::Open | S::Openat | S::Openat2 | S::Creat | S::Statx | S::Mkdir);
        let moves_name = matches!(self, S::Unlink | S::Unlinkat | S::Rename | S::Renameat2);
        let is_of_many = matches!(self, S::Sync | S::IoSubmit | S::IoGetevents | S::IoUringEnter);
        let waits = matches!(self, S::EpollWait | S::EpollPwait | S::Poll | S::Ppoll);
        !(is_by_name || moves_name || is_of_many || waits)
    }

    /// All of them with their names.
    pub const ALL: [(Syscall, &'static str); 49] = [
        (Syscall::Read, "read"),
        (Syscall::Pread64, "pread64"),
        (Syscall::Readv, "readv"),
        (Syscall::Preadv, "preadv"),
        (Syscall::Preadv2, "preadv2"),
        (Syscall::Write, "write"),
        (Syscall::Pwrite64, "pwrite64"),
        (Syscall::Writev, "writev"),
        (Syscall::Pwritev, "pwritev"),
        (Syscall::Pwritev2, "pwritev2"),
        (Syscall::Fsync, "fsync"),
        (Syscall::Fdatasync, "fdatasync"),
        (Syscall::SyncFileRange, "sync_file_range"),
        (Syscall::Sync, "sync"),
        (Syscall::Syncfs, "syncfs"),
        (Syscall::Sendfile64, "sendfile64"),
        (Syscall::Splice, "splice"),
        (Syscall::CopyFileRange, "copy_file_range"),
        (Syscall::Sendto, "sendto"),
        (Syscall::Sendmsg, "sendmsg"),
        (Syscall::Recvfrom, "recvfrom"),
        (Syscall::Recvmsg, "recvmsg"),
        (Syscall::IoSubmit, "io_submit"),
        (Syscall::IoGetevents, "io_getevents"),
        (Syscall::IoUringEnter, "io_uring_enter"),
        (Syscall::Open, "open"),
        (Syscall::Openat, "openat"),
        (Syscall::Openat2, "openat2"),
        (Syscall::Creat, "creat"),
        (Syscall::Close, "close"),
        (Syscall::Dup, "dup"),
        (Syscall::Dup2, "dup2"),
        (Syscall::Dup3, "dup3"),
        (Syscall::Fcntl, "fcntl"),
        (Syscall::Lseek, "lseek"),
        (Syscall::Ftruncate, "ftruncate"),
        (Syscall::Fallocate, "fallocate"),
        (Syscall::Newfstat, "newfstat"),
        (Syscall::Statx, "statx"),
        (Syscall::Unlink, "unlink"),
        (Syscall::Unlinkat, "unlinkat"),
        (Syscall::Rename, "rename"),
        (Syscall::Renameat2, "renameat2"),
        (Syscall::Mkdir, "mkdir"),
        (Syscall::Getdents64, "getdents64"),
        (Syscall::EpollWait, "epoll_wait"),
        (Syscall::EpollPwait, "epoll_pwait"),
        (Syscall::Poll, "poll"),
        (Syscall::Ppoll, "ppoll"),
    ];

    /// The call with a name: what follows `sys_enter_` or `sys_exit_`.
    pub fn from_name(name: &str) -> Option<Syscall> {
        Syscall::from_bytes(name.as_bytes())
    }

    /// The same for bytes.
    pub fn from_bytes(name: &[u8]) -> Option<Syscall> {
        // The few that make up nearly all of a trace first.
        match name {
            b"pread64" => Some(Syscall::Pread64),
            b"pwrite64" => Some(Syscall::Pwrite64),
            b"read" => Some(Syscall::Read),
            b"write" => Some(Syscall::Write),
            b"writev" => Some(Syscall::Writev),
            b"readv" => Some(Syscall::Readv),
            _ => Syscall::ALL.iter().find(|(_, known)| known.as_bytes() == name).map(|&(call, _)| call),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Syscall::ALL[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_listed_in_the_order_of_their_names() {
        for (at, (call, name)) in Syscall::ALL.into_iter().enumerate() {
            assert_eq!(call as usize, at);
            assert_eq!((call.name(), Syscall::from_name(name)), (name, Some(call)));
        }
    }
}
