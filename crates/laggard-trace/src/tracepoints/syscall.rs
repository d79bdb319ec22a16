//! The system calls that are relevant for I/O.

macro_rules! syscalls {
    ($($call:ident $name:literal,)*) => {
        /// A system call, with its name in tracefs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Syscall {
            $($call,)*
        }

        impl Syscall {
            pub const ALL: &[(Syscall, &str)] = &[$((Syscall::$call, $name),)*];
        }
    };
}

syscalls! {
    Read "read",
    Pread64 "pread64",
    Readv "readv",
    Preadv "preadv",
    Preadv2 "preadv2",
    Write "write",
    Pwrite64 "pwrite64",
    Writev "writev",
    Pwritev "pwritev",
    Pwritev2 "pwritev2",
    Fsync "fsync",
    Fdatasync "fdatasync",
    SyncFileRange "sync_file_range",
    Sync "sync",
    Syncfs "syncfs",
    Sendfile64 "sendfile64",
    Splice "splice",
    CopyFileRange "copy_file_range",
    Sendto "sendto",
    Sendmsg "sendmsg",
    Recvfrom "recvfrom",
    Recvmsg "recvmsg",
    IoSubmit "io_submit",
    IoGetevents "io_getevents",
    IoUringEnter "io_uring_enter",
    Open "open",
    Openat "openat",
    Openat2 "openat2",
    Creat "creat",
    Close "close",
    Dup "dup",
    Dup2 "dup2",
    Dup3 "dup3",
    Fcntl "fcntl",
    Lseek "lseek",
    Ftruncate "ftruncate",
    Fallocate "fallocate",
    Newfstat "newfstat",
    Statx "statx",
    Unlink "unlink",
    Unlinkat "unlinkat",
    Rename "rename",
    Renameat2 "renameat2",
    Mkdir "mkdir",
    Getdents64 "getdents64",
    EpollWait "epoll_wait",
    EpollPwait "epoll_pwait",
    Poll "poll",
    Ppoll "ppoll",
}

impl Syscall {
    /// True if the first argument is the descriptor that the call works on.
    pub fn takes_descriptor(self) -> bool {
        use Syscall as S;
        let takes_name = matches!(self, S::Open | S::Openat | S::Openat2 | S::Creat | S::Statx | S::Mkdir);
        let changes_name = matches!(self, S::Unlink | S::Unlinkat | S::Rename | S::Renameat2);
        let takes_many = matches!(self, S::Sync | S::IoSubmit | S::IoGetevents | S::IoUringEnter);
        let waits = matches!(self, S::EpollWait | S::EpollPwait | S::Poll | S::Ppoll);
        !(takes_name || changes_name || takes_many || waits)
    }

    /// True if the call returns a new descriptor.
    pub fn opens_descriptor(self) -> bool {
        use Syscall as S;
        matches!(self, S::Open | S::Openat | S::Openat2 | S::Creat | S::Dup | S::Dup2 | S::Dup3 | S::Fcntl)
    }

    /// The call with the name that follows `sys_enter_` or `sys_exit_`.
    pub fn from_name(name: &[u8]) -> Option<Syscall> {
        // Fast path: these make up nearly all of a trace.
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

    pub fn name(self) -> &'static str {
        Syscall::ALL[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_listed_in_the_order_of_their_names() {
        for (at, &(call, name)) in Syscall::ALL.iter().enumerate() {
            assert_eq!(call as usize, at);
            assert_eq!((call.name(), Syscall::from_name(name.as_bytes())), (name, Some(call)));
        }
    }
}
