//! Tasks: process, name, and current system call.

use crate::hashing::WordMap;

use super::call::Call;
use super::net::Connection;
use super::record_builder::RecordBuilder;
use super::roles::{Role, Roles};
use crate::model::{CommId, Event, RequestId};
use crate::tracepoints::{Comm, Tracepoint};

#[derive(Debug, Default)]
pub(in crate::mapping) struct Task {
    /// Observed or inferred.
    pub tgid: Option<u32>,
    pub comm: Comm,
    pub comm_id: CommId,
    pub role: Role,
    pub call: Option<Call>,
    /// The request of a client that this server task works on.
    pub serving: Option<Event>,
    /// True if it was seen to reply; other tasks' replies are sent by another task.
    pub answers: bool,
    pub last_read_from: Option<Connection>,
    /// The io_uring request that it is submitting.
    pub starting: RequestId,
}

impl Task {
    /// The task itself if the process is not known.
    pub(crate) fn process(&self, tid: u32) -> u32 {
        self.tgid.unwrap_or(tid)
    }

    pub(crate) fn is_client(&self) -> bool {
        matches!(self.role, Role::Client | Role::Daemon)
    }
}

#[derive(Debug, Default)]
pub(in crate::mapping) struct Tasks {
    tasks: WordMap<u32, Task>,
    roles: Roles,
}

impl Tasks {
    pub(crate) fn new(roles: Roles) -> Tasks {
        Tasks { tasks: WordMap::default(), roles }
    }

    /// The task of a record, updated from it.
    pub(crate) fn update(&mut self, point: &Tracepoint, builder: &mut RecordBuilder) -> &mut Task {
        let task = self.tasks.entry(point.tid).or_default();
        let is_new_process = point.tgid.is_some() && task.tgid != point.tgid;
        if task.comm == point.comm && task.comm_id != CommId::NONE && !is_new_process {
            return self.tasks.get_mut(&point.tid).expect("was made above");
        }
        task.tgid = point.tgid.or(task.tgid);
        if task.comm != point.comm || task.comm_id == CommId::NONE {
            task.comm = point.comm;
            task.comm_id = builder.comm(point.comm);
        }
        let tgid = task.tgid;
        let role = self.role(point.tid, tgid, point.comm);
        let task = self.tasks.get_mut(&point.tid).expect("was made above");
        task.role = role;
        task
    }

    /// By its own name, unless its process is a known server or client.
    fn role(&self, tid: u32, tgid: Option<u32>, comm: Comm) -> Role {
        let own = self.roles.of(&comm.to_text());
        let leader = tgid.filter(|&tgid| tgid != tid).and_then(|tgid| self.tasks.get(&tgid));
        match leader.map(|leader| leader.role) {
            Some(role @ (Role::Server | Role::Client)) => role,
            _ => own,
        }
    }

    pub(crate) fn get(&mut self, tid: u32) -> Option<&mut Task> {
        self.tasks.get_mut(&tid)
    }

    pub(crate) fn created(&mut self, parent: u32, tid: u32, is_thread: bool) {
        let process = self.tasks.get(&parent).map_or(parent, |task| task.process(parent));
        let tgid = Some(if is_thread { process } else { tid });
        let task = Task { tgid, ..Task::default() };
        self.tasks.insert(tid, task);
    }

    /// Sets the process of a task if it is not known.
    pub(crate) fn adopt(&mut self, tid: u32, tgid: u32) {
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.tgid.get_or_insert(tgid);
        }
    }

    pub(crate) fn remove(&mut self, tid: u32) -> Option<Task> {
        self.tasks.remove(&tid)
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Task> + '_ {
        self.tasks.drain().map(|(_, task)| task)
    }
}
