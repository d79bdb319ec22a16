//! What the descriptors of processes stand for, and where they are in it.

use crate::hashing::WordMap;

use super::scribe::Scribe;
use crate::model::{Object, ObjectId};
use crate::tracepoints::Descriptor;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Target {
    /// Not known; a file as likely as not.
    #[default]
    Unknown,
    /// A file or a device.
    File,
    /// A connection to elsewhere.
    Socket,
    /// `/dev/fuse`.
    Fuse,
    /// A pipe, a terminal, a file of the kernel.
    Aside,
}

impl Target {
    fn of(name: &str) -> Target {
        const ASIDE: [&str; 9] = [
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
            _ if ASIDE.iter().any(|start| name.starts_with(start)) => Target::Aside,
            _ => Target::File,
        }
    }
}

/// An open descriptor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Opened {
    pub target: Target,
    pub object: ObjectId,
    pub position: Option<u64>,
    pub is_direct: bool,
}

#[derive(Debug, Default)]
struct Process {
    parent: Option<u32>,
    opened: WordMap<i32, Opened>,
}

/// Descriptors of all processes.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    processes: WordMap<u32, Process>,
    /// Numbers of descriptors seen as `/dev/fuse`, for traces that do not tell processes.
    fuse_numbers: Vec<i32>,
}

/// Deeper families are cut off.
const MOST_ANCESTORS: usize = 8;

impl Descriptors {
    /// A descriptor of a process; one that was never seen stands for itself.
    pub fn get(&mut self, tgid: u32, fd: i32, scribe: &mut Scribe) -> &mut Opened {
        let inherited = self.known(tgid, fd);
        let process = self.processes.entry(tgid).or_default();
        process.opened.entry(fd).or_insert_with(|| {
            inherited.unwrap_or_else(|| Opened {
                object: scribe.object(Object::Descriptor { tgid, fd }),
                ..Opened::default()
            })
        })
    }

    /// Its own, or one that came from the process it was forked from.
    pub fn known(&self, tgid: u32, fd: i32) -> Option<Opened> {
        let mut tgid = tgid;
        for _ in 0..MOST_ANCESTORS {
            let process = self.processes.get(&tgid)?;
            if let Some(opened) = process.opened.get(&fd) {
                return Some(*opened);
            }
            tgid = process.parent?;
        }
        None
    }

    /// A file that was opened in the trace, or before it.
    pub fn open(&mut self, tgid: u32, descriptor: &Descriptor, scribe: &mut Scribe) {
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
        let object = scribe.object(object);
        let (position, is_direct) = (descriptor.position, descriptor.is_direct);
        self.set(tgid, descriptor.fd, Opened { target, object, position, is_direct });
    }

    pub fn set(&mut self, tgid: u32, fd: i32, opened: Opened) {
        self.processes.entry(tgid).or_default().opened.insert(fd, opened);
    }

    pub fn close(&mut self, tgid: u32, fd: i32) {
        if let Some(process) = self.processes.get_mut(&tgid) {
            process.opened.remove(&fd);
        }
    }

    pub fn forked(&mut self, parent: u32, child: u32) {
        self.processes.insert(child, Process { parent: Some(parent), opened: WordMap::default() });
    }

    pub fn ended(&mut self, tgid: u32) {
        self.processes.remove(&tgid);
    }

    /// A descriptor through which requests of FUSE were answered.
    pub fn is_fuse_device(&mut self, tgid: u32, fd: i32, scribe: &mut Scribe) {
        let opened = self.get(tgid, fd, scribe);
        if opened.target == Target::Unknown {
            opened.target = Target::Fuse;
            if !self.fuse_numbers.contains(&fd) {
                self.fuse_numbers.push(fd);
            }
        }
    }

    /// Whether a descriptor whose target is not known bears the number of a FUSE device elsewhere.
    pub fn may_be_fuse(&self, fd: i32) -> bool {
        self.fuse_numbers.contains(&fd)
    }
}
