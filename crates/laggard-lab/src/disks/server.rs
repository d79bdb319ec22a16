//! Serves a virtual disk: a FUSE file system that holds one file.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, WriteFlags,
};

use super::control::{self, DiskStatus, Order};
use super::delivery::Delivery;
use super::model::DiskModel;
use super::service_time::{Answer, Arm, Request};

#[derive(Clone, Debug)]
pub(crate) struct DiskSetup {
    /// The file for its data. Created, or resized to the disk's size.
    pub(crate) data: PathBuf,
    /// The mount point of the file system that contains the disk.
    pub(crate) mountpoint: PathBuf,
    /// The name of the file that is the disk.
    pub(crate) name: String,
    /// The socket for orders.
    pub(crate) socket: PathBuf,
    pub(crate) model: DiskModel,
    pub(crate) seed: u64,
}

/// Serves a disk until its file system is unmounted.
pub(crate) fn serve(setup: &DiskSetup) -> io::Result<()> {
    let data = File::options().read(true).write(true).create(true).truncate(false).open(&setup.data)?;
    data.set_len(setup.model.size_bytes())?;
    let listener = UnixListener::bind(&setup.socket)?;
    let disk = Disk::new(data, setup)?;
    let mechanics = disk.mechanics.clone();
    std::thread::spawn(move || control::attend(&listener, |order| lock(&mechanics).handle(order)));
    fuser::mount(disk, &setup.mountpoint, &config(&setup.mountpoint))
}

fn config(mountpoint: &Path) -> Config {
    let mut config = Config::default();
    let name = format!("laggard-disk:{}", mountpoint.display());
    config.mount_options = vec![MountOption::FSName(name), MountOption::NoDev, MountOption::NoExec];
    config
}

struct Disk {
    name: String,
    data: Arc<File>,
    bytes: u64,
    mechanics: Arc<Mutex<Mechanics>>,
    delivery: Delivery,
}

/// The arm, its clock and its counters.
struct Mechanics {
    arm: Arm,
    start: Instant,
    status: DiskStatus,
}

fn lock(mechanics: &Mutex<Mechanics>) -> std::sync::MutexGuard<'_, Mechanics> {
    mechanics.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mechanics {
    fn handle(&mut self, order: Order) -> DiskStatus {
        if let Order::SetFault(fault) = order {
            self.arm.set_fault(self.start.elapsed(), fault);
        }
        self.status.fault = self.arm.fault().clone();
        self.status.clone()
    }

    fn serve(&mut self, request: Request) -> (Instant, bool) {
        let Answer { at, succeeds } = self.arm.serve(self.start.elapsed(), request);
        match request {
            Request::Read { .. } => self.status.reads += 1,
            Request::Write { .. } => self.status.writes += 1,
            Request::Flush => {}
        }
        self.status.errors += u64::from(!succeeds);
        (self.start + at, succeeds)
    }
}

const ROOT: u64 = 1;
const DISK: u64 = 2;
/// The attributes of the file never change.
const FOR_EVER: Duration = Duration::from_secs(86_400);
/// The queue depth of a loop device.
const QUEUE_DEPTH: u16 = 128;

impl Disk {
    fn new(data: File, setup: &DiskSetup) -> io::Result<Disk> {
        let arm = Arm::new(setup.model.clone(), setup.seed);
        let mechanics = Mechanics { arm, start: Instant::now(), status: DiskStatus::default() };
        Ok(Disk {
            name: setup.name.clone(),
            data: Arc::new(data),
            bytes: setup.model.size_bytes(),
            mechanics: Arc::new(Mutex::new(mechanics)),
            delivery: Delivery::start()?,
        })
    }

    fn attributes(&self, node: u64) -> Option<FileAttr> {
        let (kind, size, perm) = match node {
            ROOT => (FileType::Directory, 0, 0o700),
            DISK => (FileType::RegularFile, self.bytes, 0o600),
            _ => return None,
        };
        Some(FileAttr {
            ino: INodeNo(node),
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for Disk {
    fn init(&mut self, _: &fuser::Request, config: &mut KernelConfig) -> io::Result<()> {
        // An older kernel without these serves requests one by one, which is slower but correct.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_MAX_PAGES);
        let _ = config.set_max_background(QUEUE_DEPTH);
        Ok(())
    }

    fn lookup(&self, _: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(DISK) {
            Some(disk) if parent.0 == ROOT && name == self.name.as_str() => {
                reply.entry(&FOR_EVER, &disk, Generation(0))
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &fuser::Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node.0) {
            Some(attributes) => reply.attr(&FOR_EVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Past the page cache: reads and writes must reach the arm.
    fn open(&self, _: &fuser::Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
    }

    fn read(
        &self,
        _: &fuser::Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let bytes = u64::from(size).min(self.bytes.saturating_sub(offset));
        let (at, succeeds) = lock(&self.mechanics).serve(Request::Read { offset, bytes });
        let data = self.data.clone();
        let deliver = move || {
            let mut content = vec![0; bytes as usize];
            match data.read_exact_at(&mut content, offset) {
                Ok(()) if succeeds => reply.data(&content),
                _ => reply.error(Errno::EIO),
            }
        };
        self.delivery.at(at, Box::new(deliver));
    }

    fn write(
        &self,
        _: &fuser::Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let bytes = data.len() as u64;
        if offset.saturating_add(bytes) > self.bytes {
            return reply.error(Errno::ENOSPC);
        }
        let (at, succeeds) = lock(&self.mechanics).serve(Request::Write { offset, bytes });
        let written = succeeds && self.data.write_all_at(data, offset).is_ok();
        let deliver = move || if written { reply.written(bytes as u32) } else { reply.error(Errno::EIO) };
        self.delivery.at(at, Box::new(deliver));
    }

    fn fsync(&self, _: &fuser::Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let (at, succeeds) = lock(&self.mechanics).serve(Request::Flush);
        let deliver = move || if succeeds { reply.ok() } else { reply.error(Errno::EIO) };
        self.delivery.at(at, Box::new(deliver));
    }
}
