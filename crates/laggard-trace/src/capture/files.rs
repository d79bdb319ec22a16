//! The known descriptors of the captured processes, so that each is looked up once.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::descriptors;
use super::scope::{Mount, device_of};
use crate::tracepoints::{BlockStep, Descriptor, Device, Payload, Syscall, Tracepoint};

#[derive(Debug)]
pub(super) struct Files {
    procfs: PathBuf,
    /// The capture is limited to files of this mount.
    only: Option<Mount>,
    /// True for a descriptor on the mount.
    known: HashMap<(u32, i32), bool>,
    /// Devices of files found since [`Files::take_devices`].
    devices: HashSet<Device>,
}

impl Files {
    pub(super) fn new(procfs: &Path, only: Option<Mount>) -> Files {
        Files { procfs: procfs.to_owned(), only, known: HashMap::new(), devices: HashSet::new() }
    }

    /// All descriptors that are open now.
    pub(super) fn snapshot(&mut self, process: u32) -> Vec<Descriptor> {
        let all = descriptors::all(&self.procfs, process);
        for descriptor in &all {
            self.note(process, descriptor.fd);
        }
        all
    }

    /// The positions in a batch where a descriptor is opened and not opened or closed again: only for these does
    /// /proc still show the right file.
    pub(super) fn last_openings(batch: &[Tracepoint]) -> HashSet<usize> {
        let (mut touched, mut last) = (HashSet::new(), HashSet::new());
        for (place, tracepoint) in batch.iter().enumerate().rev() {
            let Some(process) = tracepoint.tgid else { continue };
            match &tracepoint.payload {
                Payload::Exit { call, result } if call.opens_descriptor() => {
                    let is_last = touched.insert((process, *result));
                    if is_last && *result >= 0 {
                        last.insert(place);
                    }
                }
                Payload::Enter { call: Syscall::Close, args, .. } => {
                    touched.insert((process, i64::from(args[0] as i32)));
                }
                _ => {}
            }
        }
        last
    }

    /// Descriptors of a batch whose calls caused requests to the mount, each with the number of times it was closed
    /// before in the batch. Identifies files that are closed before they can be looked up.
    pub(super) fn reached(&self, batch: &[Tracepoint]) -> HashSet<(u32, i32, u32)> {
        let mut reached = HashSet::new();
        if self.only.is_none() {
            return reached;
        }
        let mut closed: Closed = HashMap::new();
        let mut in_call: HashMap<u32, (u32, i32)> = HashMap::new();
        for tracepoint in batch {
            match &tracepoint.payload {
                Payload::Enter { call, args, .. } if call.takes_descriptor() => {
                    let Some(process) = tracepoint.tgid else { continue };
                    let fd = args[0] as i32;
                    match call {
                        Syscall::Close => *closed.entry((process, fd)).or_default() += 1,
                        _ => _ = in_call.insert(tracepoint.tid, (process, fd)),
                    }
                }
                Payload::Enter { .. } | Payload::Exit { .. } => _ = in_call.remove(&tracepoint.tid),
                Payload::FuseSend { .. } | Payload::Block(BlockStep::Queue, _) => {
                    let asked = in_call.get(&tracepoint.tid).copied();
                    reached.extend(asked.map(|(process, fd)| (process, fd, times(&closed, process, fd))));
                }
                _ => {}
            }
        }
        reached
    }

    /// None if it is closed already.
    pub(super) fn opened(&mut self, process: u32, fd: i32) -> Option<Descriptor> {
        let descriptor = descriptors::one(&self.procfs, process, fd)?;
        self.note(process, fd);
        // Its position was 0 when it was opened, and may have changed since.
        Some(Descriptor { position: Some(0), ..descriptor })
    }

    /// A descriptor at its first use, such as an inherited one; none if it was looked up before.
    pub(super) fn first_used(&mut self, process: u32, fd: i32) -> Option<Descriptor> {
        if self.known.contains_key(&(process, fd)) {
            return None;
        }
        // Also noted if it is closed, so that it is looked up only once.
        self.note(process, fd);
        descriptors::one(&self.procfs, process, fd)
    }

    pub(super) fn closed(&mut self, process: u32, fd: i32) {
        self.known.remove(&(process, fd));
    }

    /// The devices found since the last call.
    pub(super) fn take_devices(&mut self) -> HashSet<Device> {
        std::mem::take(&mut self.devices)
    }

    pub(super) fn ended(&mut self, process: u32) {
        self.known.retain(|(of, _), _| *of != process);
    }

    /// True for unknown descriptors.
    pub(super) fn is_wanted(&self, process: u32, fd: i32) -> bool {
        self.known.get(&(process, fd)).copied().unwrap_or(true)
    }

    fn note(&mut self, process: u32, fd: i32) {
        let path = self.procfs.join(process.to_string()).join("fd").join(fd.to_string());
        let device = device_of(&path);
        self.devices.extend(device);
        // A descriptor that is closed already may belong to any file.
        let fits = |only: &Mount| device.is_some_and(|device| only.has(device, &path));
        self.known.insert((process, fd), self.only.as_ref().is_none_or(fits));
    }
}

/// The number of times each descriptor was closed.
pub(super) type Closed = HashMap<(u32, i32), u32>;

pub(super) fn times(closed: &Closed, process: u32, fd: i32) -> u32 {
    closed.get(&(process, fd)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracepoints::Comm;

    fn at(payload: Payload) -> Tracepoint {
        Tracepoint { ts_ns: 1, cpu: 0, tid: 5, tgid: Some(5), comm: Comm::default(), payload }
    }

    fn open(fd: i64) -> Tracepoint {
        at(Payload::Exit { call: Syscall::Openat, result: fd })
    }

    fn close(fd: u64) -> Tracepoint {
        at(Payload::Enter { call: Syscall::Close, args: [fd, 0, 0, 0, 0, 0], path: None })
    }

    #[test]
    fn only_the_last_opening_of_a_descriptor_can_be_looked_up() {
        let batch = [open(3), close(3), open(3), open(4), close(4), open(-2)];
        assert_eq!(Files::last_openings(&batch), HashSet::from([2]));
    }

    #[test]
    fn a_closed_file_is_recognised_by_its_requests_to_the_mount() {
        let device = Device { major: 0, minor: 52 };
        let mount = Mount { folder: "/mnt".into(), device, is_fuse: true, below: None };
        let write =
            |fd: u64| at(Payload::Enter { call: Syscall::Pwrite64, args: [fd, 0, 0, 0, 0, 0], path: None });
        let done = || at(Payload::Exit { call: Syscall::Pwrite64, result: 1 });
        let asked = || at(Payload::FuseSend { connection: 52, unique: 2, opcode: 16, bytes: 96 });
        let batch = [
            open(3),
            write(3),
            done(),
            close(3),
            open(3),
            write(3),
            asked(),
            done(),
            asked(),
            close(3),
            asked(),
        ];
        let files = Files::new(Path::new("/nowhere"), Some(mount));
        assert_eq!(files.reached(&batch), HashSet::from([(5, 3, 1)]));
        assert!(Files::new(Path::new("/nowhere"), None).reached(&batch).is_empty());
    }

    #[test]
    fn descriptors_are_looked_up_once_until_they_are_closed() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("5/fd")).unwrap();
        std::os::unix::fs::symlink("/dev/null", root.path().join("5/fd/3")).unwrap();
        let device = Device { major: 900, minor: 1 };
        let other = Mount { folder: "/mnt".into(), device, is_fuse: false, below: None };
        let mut files = Files::new(root.path(), Some(other));
        assert!(files.is_wanted(5, 3));
        assert_eq!(&*files.first_used(5, 3).unwrap().target, "/dev/null");
        assert!(files.first_used(5, 3).is_none() && !files.is_wanted(5, 3));
        files.closed(5, 3);
        assert!(files.opened(5, 3).unwrap().position == Some(0));
        files.ended(5);
        assert!(files.first_used(5, 3).is_some());
        assert_eq!(files.snapshot(5).len(), 1);
    }
}
