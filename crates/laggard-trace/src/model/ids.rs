//! Ids of hosts, objects, programs and requests in a trace file.

use serde::{Deserialize, Serialize};

use super::layer::Layer;

/// The index of a host in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostId(pub u16);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectId(pub u32);

impl ObjectId {
    pub const NONE: ObjectId = ObjectId(0);
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommId(pub u16);

impl CommId {
    pub const NONE: CommId = CommId(0);
}

/// A request, unique in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// Bits of the counter within a request's id.
const COUNTER_BITS: u32 = 40;

impl RequestId {
    pub const NONE: RequestId = RequestId(0);

    /// The id of the `counter`th request of a layer of a host; counters begin at 1.
    pub const fn new(host: HostId, layer: Layer, counter: u64) -> RequestId {
        RequestId(
            (host.0 as u64) << 48
                | (layer.order() as u64) << COUNTER_BITS
                | counter & ((1 << COUNTER_BITS) - 1),
        )
    }

    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub const fn host(self) -> HostId {
        HostId((self.0 >> 48) as u16)
    }

    /// The same request after its host got another number.
    pub const fn on(self, host: HostId) -> RequestId {
        RequestId(self.0 & ((1 << 48) - 1) | (host.0 as u64) << 48)
    }

    pub fn layer(self) -> Option<Layer> {
        Layer::from_order((self.0 >> COUNTER_BITS) as u8)
    }
}
