//! Open requests of block devices.

use super::open_requests::{Bio, DeviceRequest, Flushes, OpenRequests};
use crate::hashing::WordMap;
use crate::model::{ObjectId, RequestId};
use crate::tracepoints::Device;

#[derive(Debug, Default)]
pub(in crate::mapping) struct Block {
    pub queued: OpenRequests<Bio>,
    pub issued: OpenRequests<DeviceRequest>,
    pub flushes: Flushes,
    pub objects: WordMap<Device, ObjectId>,
    /// The last remap of each task: the target, and the request it came from.
    pub remapped: WordMap<u32, ((Device, u64), RequestId)>,
}

impl Block {
    pub(crate) fn open_count(&self) -> u64 {
        self.queued.count() + self.issued.count()
    }
}
