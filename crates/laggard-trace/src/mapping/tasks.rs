//! Tasks: which process each is of, what it is called, and which system call it is in.

use crate::hashing::WordMap;

use super::calls::Call;
use super::net::Connection;
use super::roles::{Role, Roles};
use super::scribe::Scribe;
use crate::model::{CommId, Event, RequestId};
use crate::tracepoints::{Comm, Tracepoint};

/// A task, as far as it was seen.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// Its process, where that was told or concluded.
    pub tgid: Option<u32>,
    pub comm: Comm,
    pub comm_id: CommId,
    pub role: Role,
    /// The system call it is in.
    pub call: Option<Call>,
    /// The request of a server's client that it serves.
    pub serving: Option<Event>,
    /// Whether it was seen to answer what it serves: others' answers come from elsewhere.
    pub answers: bool,
    /// The connection that it has just read from.
    pub heard: Option<Connection>,
    /// The io_uring request that it is starting.
    pub starting: RequestId,
}

impl Task {
    /// Its process; itself where that is not known.
    pub fn process(&self, tid: u32) -> u32 {
        self.tgid.unwrap_or(tid)
    }

    /// Whether it may talk to servers.
    pub fn is_client(&self) -> bool {
        matches!(self.role, Role::Client | Role::Daemon)
    }
}

/// All tasks that were seen.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    tasks: WordMap<u32, Task>,
    roles: Roles,
}

impl Tasks {
    pub fn new(roles: Roles) -> Tasks {
        Tasks { tasks: WordMap::default(), roles }
    }

    /// The task that a record is of, brought up to date by it.
    pub fn seen(&mut self, point: &Tracepoint, scribe: &mut Scribe) -> &mut Task {
        let task = self.tasks.entry(point.tid).or_default();
        let is_new_process = point.tgid.is_some() && task.tgid != point.tgid;
        if task.comm == point.comm && task.comm_id != CommId::NONE && !is_new_process {
            return self.tasks.get_mut(&point.tid).expect("was made above");
        }
        task.tgid = point.tgid.or(task.tgid);
        if task.comm != point.comm || task.comm_id == CommId::NONE {
            task.comm = point.comm;
            task.comm_id = scribe.comm(point.comm);
        }
        let tgid = task.tgid;
        let role = self.role(point.tid, tgid, point.comm);
        let task = self.tasks.get_mut(&point.tid).expect("was made above");
        task.role = role;
        task
    }

    /// By its own name, unless that of its process says more.
    fn role(&self, tid: u32, tgid: Option<u32>, comm: Comm) -> Role {
        let own = self.roles.of(&comm.to_text());
        let leader = tgid.filter(|&tgid| tgid != tid).and_then(|tgid| self.tasks.get(&tgid));
        match leader.map(|leader| leader.role) {
            Some(role @ (Role::Server | Role::Client)) => role,
            _ => own,
        }
    }

    pub fn get(&mut self, tid: u32) -> Option<&mut Task> {
        self.tasks.get_mut(&tid)
    }

    /// A task that another one made.
    pub fn made(&mut self, parent: u32, tid: u32, is_thread: bool) {
        let process = self.tasks.get(&parent).map_or(parent, |task| task.process(parent));
        let tgid = Some(if is_thread { process } else { tid });
        let task = Task { tgid, ..Task::default() };
        self.tasks.insert(tid, task);
    }

    /// Concludes that a task is of a process.
    pub fn adopt(&mut self, tid: u32, tgid: u32) {
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.tgid.get_or_insert(tgid);
        }
    }

    pub fn remove(&mut self, tid: u32) -> Option<Task> {
        self.tasks.remove(&tid)
    }

    pub fn drain(&mut self) -> impl Iterator<Item = Task> + '_ {
        self.tasks.drain().map(|(_, task)| task)
    }
}
