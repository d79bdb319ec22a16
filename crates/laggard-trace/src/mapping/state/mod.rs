//! The state at a point of the trace: tasks, descriptors and open requests of each layer.
//! In: changes by the handlers of tracepoints. Out: the same, to those that come later. Always: it knows no handler.

mod aio;
mod block;
mod call;
mod descriptors;
mod fuse;
mod net;
mod open_requests;
mod record_builder;
mod roles;
mod tasks;
mod uring;

use self::aio::Aio;
use self::block::Block;
pub(super) use self::call::Call;
use self::descriptors::Descriptors;
pub(super) use self::descriptors::{OpenFile, Target};
use self::fuse::Fuse;
pub(super) use self::fuse::Pending;
use self::net::Net;
pub(super) use self::net::{Connection, Message};
pub(super) use self::open_requests::{
    Bio, DeviceRequest, OpenRequests, RequestKey, is_same_direction, overlap,
};
pub(super) use self::record_builder::Link;
pub(crate) use self::record_builder::RecordBuilder;
pub(super) use self::roles::Role;
pub use self::roles::Roles;
use self::tasks::Tasks;
use self::uring::Uring;
use crate::model::HostId;

pub(in crate::mapping) struct State {
    pub builder: RecordBuilder,
    pub tasks: Tasks,
    pub descriptors: Descriptors,
    pub aio: Aio,
    pub uring: Uring,
    pub fuse: Fuse,
    pub net: Net,
    pub block: Block,
}

impl State {
    /// The task itself if the process is not known.
    pub(super) fn process(&mut self, tid: u32) -> u32 {
        self.tasks.get(tid).map_or(tid, |task| task.process(tid))
    }

    pub(super) fn new(host: HostId, roles: Roles) -> State {
        State {
            builder: RecordBuilder::new(host),
            tasks: Tasks::new(roles),
            descriptors: Descriptors::default(),
            aio: Aio::default(),
            uring: Uring::default(),
            fuse: Fuse::default(),
            net: Net::default(),
            block: Block::default(),
        }
    }
}
