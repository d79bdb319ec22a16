//! The files behind the descriptors of processes, and their positions.

use crate::hashing::WordMap;

use super::record_builder::RecordBuilder;
use crate::model::{Object, ObjectId};
use crate::tracepoints::Descriptor;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::mapping) enum Target {
    /// Not known; treated as a file.
    #[default]
    Unknown,
    File,
    Socket,
    /// `/dev/fuse`.
    Fuse,
    /// A pipe, a terminal, or a file of the kernel.
    NotData,
}

impl Target {
    fn of(name: &str) -> Target {
        const NOT_DATA: [&str; 9] = [
            "pipe:",
            "anon_inode:",
            "/dev/pts",
            "/dev/null",
            "/dev/tty",
            "/dev/zero",
            "/proc/",
            "/sys/",
            "/memfd:",
        ];
        match name {
            "" => Target::Unknown,
            "/dev/fuse" => Target::Fuse,
            _ if name.starts_with("socket:") => Target::Socket,
            _ if NOT_DATA.iter().any(|start| name.starts_with(start)) => Target::NotData,
            _ => Target::File,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mapping) struct OpenFile {
    pub target: Target,
    pub object: ObjectId,
    pub position: Option<u64>,
    pub is_direct: bool,
}

#[derive(Debug, Default)]
struct Process {
    parent: Option<u32>,
    opened: WordMap<i32, OpenFile>,
}

#[derive(Debug, Default)]
pub(in crate::mapping) struct Descriptors {
    processes: WordMap<u32, Process>,
    /// Descriptor numbers of `/dev/fuse` devices, for traces without process ids.
    fuse_numbers: Vec<i32>,
}

const MAX_ANCESTORS: usize = 8;

impl Descriptors {
    /// An unknown descriptor becomes an object of its own.
    pub(crate) fn get(&mut self, tgid: u32, fd: i32, builder: &mut RecordBuilder) -> &mut OpenFile {
        let inherited = self.known(tgid, fd);
        let process = self.processes.entry(tgid).or_default();
        process.opened.entry(fd).or_insert_with(|| {
            inherited.unwrap_or_else(|| OpenFile {
                object: builder.object(Object::Descriptor { tgid, fd }),
                ..OpenFile::default()
            })
        })
    }

    /// Its own, or one inherited from the process it was forked from.
    pub(crate) fn known(&self, tgid: u32, fd: i32) -> Option<OpenFile> {
        let mut tgid = tgid;
        for _ in 0..MAX_ANCESTORS {
            let process = self.processes.get(&tgid)?;
            if let Some(opened) = process.opened.get(&fd) {
                return Some(*opened);
            }
            tgid = process.parent?;
        }
        None
    }

    /// A file that was opened during the trace or before it.
    pub(crate) fn open(&mut self, tgid: u32, descriptor: &Descriptor, builder: &mut RecordBuilder) {
        let target = Target::of(&descriptor.target);
        let name = descriptor.target.to_string();
        let object = match target {
            Target::Unknown => Object::Descriptor { tgid, fd: descriptor.fd },
            Target::Socket => Object::Socket { name },
            _ => {
                let device = descriptor.device.map(|device| (device.major, device.minor));
                Object::File { path: name, inode: descriptor.inode, device }
            }
        };
        let object = builder.object(object);
        let (position, is_direct) = (descriptor.position, descriptor.is_direct);
        self.set(tgid, descriptor.fd, OpenFile { target, object, position, is_direct });
    }

    pub(crate) fn set(&mut self, tgid: u32, fd: i32, opened: OpenFile) {
        self.processes.entry(tgid).or_default().opened.insert(fd, opened);
    }

    pub(crate) fn close(&mut self, tgid: u32, fd: i32) {
        if let Some(process) = self.processes.get_mut(&tgid) {
            process.opened.remove(&fd);
        }
    }

    pub(crate) fn forked(&mut self, parent: u32, child: u32) {
        self.processes.insert(child, Process { parent: Some(parent), opened: WordMap::default() });
    }

    pub(crate) fn ended(&mut self, tgid: u32) {
        self.processes.remove(&tgid);
    }

    /// Marks a descriptor through which FUSE requests were answered.
    pub(crate) fn is_fuse_device(&mut self, tgid: u32, fd: i32, builder: &mut RecordBuilder) {
        let opened = self.get(tgid, fd, builder);
        if opened.target == Target::Unknown {
            opened.target = Target::Fuse;
            if !self.fuse_numbers.contains(&fd) {
                self.fuse_numbers.push(fd);
            }
        }
    }

    /// True if a FUSE device has this descriptor number in some process.
    pub(crate) fn may_be_fuse(&self, fd: i32) -> bool {
        self.fuse_numbers.contains(&fd)
    }
}
