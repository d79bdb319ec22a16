//! Names that events refer to by number: objects and processes.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::ids::{CommId, ObjectId};

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Object {
    File {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
        /// Major and minor number of its device: the same path may be another file in another mount namespace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<(u32, u32)>,
    },
    Device {
        major: u32,
        minor: u32,
    },
    /// A descriptor whose file is not known.
    Descriptor {
        tgid: u32,
        fd: i32,
    },
    Fuse {
        /// The number under /sys/fs/fuse/connections.
        connection: u32,
    },
    /// A socket, as `src:port->dst:port` or `socket:[inode]`.
    Socket {
        name: String,
    },
    /// Any other named object: a file handle of a server, a collection.
    Named {
        name: String,
    },
}

impl Object {
    /// The name in reports.
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

/// The names of a trace up to this point. Number 0 means unknown in both tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    objects: Vec<Option<Object>>,
    comms: Vec<String>,
}

impl Names {
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id.0 as usize)?.as_ref()
    }

    /// Empty if not known.
    pub fn comm(&self, id: CommId) -> &str {
        self.comms.get(usize::from(id.0)).map_or("", String::as_str)
    }

    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.objects
            .iter()
            .enumerate()
            .filter_map(|(id, object)| Some((ObjectId(id as u32), object.as_ref()?)))
    }

    /// The highest object number plus 1.
    pub fn object_count(&self) -> usize {
        self.objects.len().max(1)
    }

    /// False unless the number is at most one higher than the highest so far.
    pub fn set_object(&mut self, id: ObjectId, object: Object) -> bool {
        set(&mut self.objects, id.0 as usize, Some(object))
    }

    /// False unless the number is at most one higher than the highest so far.
    pub fn set_comm(&mut self, id: CommId, comm: String) -> bool {
        set(&mut self.comms, usize::from(id.0), comm)
    }
}

/// Requires consecutive numbers, so that a damaged one cannot allocate memory.
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

/// Numbers names from 1.
#[derive(Debug)]
pub struct Interner<K> {
    numbers: HashMap<K, u32>,
    most: u32,
}

impl<K: Hash + Eq> Interner<K> {
    /// After `most` names every new one gets 0.
    pub fn new(most: u32) -> Interner<K> {
        Interner { numbers: HashMap::new(), most }
    }

    /// The number, and true if the name is new.
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
