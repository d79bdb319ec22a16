//! Names that events refer to by number: objects, and names of processes.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::event::{CommId, ObjectId};

/// What a request is on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Object {
    /// A file, by path where it is known.
    File {
        /// Its path.
        path: String,
        /// Its inode, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
        /// The numbers of the device it is on, where known: the same path may be another file in another mount namespace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<(u32, u32)>,
    },
    /// A block device.
    Device {
        /// Its major number.
        major: u32,
        /// Its minor number.
        minor: u32,
    },
    /// A descriptor of a process whose file is not known.
    Descriptor {
        /// The process.
        tgid: u32,
        /// The descriptor.
        fd: i32,
    },
    /// A FUSE mount, by its connection.
    Fuse {
        /// The number under /sys/fs/fuse/connections.
        connection: u32,
    },
    /// A socket, as `src:port->dst:port` or `socket:[inode]`.
    Socket {
        /// Its name.
        name: String,
    },
    /// Anything else with a name: a server's file handle, a collection.
    Named {
        /// Its name.
        name: String,
    },
}

impl Object {
    /// What it is called in reports.
    pub fn label(&self) -> String {
        match self {
            Object::File { path, .. } => path.clone(),
            Object::Device { major, minor } => format!("{major}:{minor}"),
            Object::Descriptor { tgid, fd } => format!("fd {fd} of process {tgid}"),
            Object::Fuse { connection } => format!("fuse connection {connection}"),
            Object::Socket { name } | Object::Named { name } => name.clone(),
        }
    }
}

/// The names of a trace so far. Number 0 stands for none in both tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    objects: Vec<Option<Object>>,
    comms: Vec<String>,
}

impl Names {
    /// The object with a number.
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id.0 as usize)?.as_ref()
    }

    /// The name of a process; empty if not known.
    pub fn comm(&self, id: CommId) -> &str {
        self.comms.get(usize::from(id.0)).map_or("", String::as_str)
    }

    /// All objects with their numbers.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.objects
            .iter()
            .enumerate()
            .filter_map(|(id, object)| Some((ObjectId(id as u32), object.as_ref()?)))
    }

    /// How many numbers of objects are taken, with 0.
    pub fn object_count(&self) -> usize {
        self.objects.len().max(1)
    }

    /// Takes in an object; its number must be the next one or lower.
    pub fn set_object(&mut self, id: ObjectId, object: Object) -> bool {
        set(&mut self.objects, id.0 as usize, Some(object))
    }

    /// Takes in the name of a process; its number must be the next one or lower.
    pub fn set_comm(&mut self, id: CommId, comm: String) -> bool {
        set(&mut self.comms, usize::from(id.0), comm)
    }
}

/// Numbers come one after the other, so that a damaged one asks for no memory.
fn set<T: Default>(table: &mut Vec<T>, at: usize, value: T) -> bool {
    if table.is_empty() {
        table.push(T::default());
    }
    if at == 0 || at > table.len() {
        return false;
    }
    if at == table.len() {
        table.push(value);
    } else {
        table[at] = value;
    }
    true
}

/// Gives numbers to names, from 1 on.
#[derive(Debug)]
pub struct Interner<K> {
    numbers: HashMap<K, u32>,
    most: u32,
}

impl<K: Hash + Eq> Interner<K> {
    /// Gives out at most `most` numbers; whatever comes after gets 0.
    pub fn new(most: u32) -> Interner<K> {
        Interner { numbers: HashMap::new(), most }
    }

    /// The number of a name, and whether it is new.
    pub fn number(&mut self, key: K) -> (u32, bool) {
        let next = self.numbers.len() as u32 + 1;
        if let Some(&number) = self.numbers.get(&key) {
            return (number, false);
        }
        if next > self.most {
            return (0, false);
        }
        self.numbers.insert(key, next);
        (next, true)
    }
}
