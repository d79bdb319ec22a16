//! One crossing of a boundary between two layers.

use serde::{Deserialize, Serialize};

use super::flags::Flags;
use super::layer::Layer;
use super::link::LinkRule;
use super::op::Op;

named_enum! {
    /// The boundary that a request crosses (paper section 3, Figure 5).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum Kind {
        /// The layer gets the request from above.
        Admit "ADMIT",
        /// The layer hands it to the layer below.
        Issue "ISSUE",
        /// The layer below has finished it.
        Complt "COMPLT",
        /// The layer reports completion to the layer above.
        Callback "CALLBACK",
        /// A note that is not on the boundary of a request.
        Mark "MARK",
    }
}

impl Kind {
    pub const fn code(self) -> u8 {
        self as u8
    }

    pub fn from_code(code: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(code)).copied()
    }
}

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

pub const NO_OFFSET: i64 = -1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// On the monotonic clock of the host; the header has the offset to the first host's clock.
    pub ts_ns: u64,
    pub req: RequestId,
    /// The request of the nearest layer above that caused this one. Set on `Admit` only.
    pub parent: RequestId,
    /// In bytes; [`NO_OFFSET`] if not known.
    pub offset: i64,
    /// Requested at `Admit` and `Issue`, completed at `Complt` and `Callback`.
    pub nbytes: u64,
    pub obj: ObjectId,
    /// The file descriptor; -1 if there is none.
    pub fd: i32,
    /// 0 if not known.
    pub tgid: u32,
    pub tid: u32,
    /// 0, or a negative error number (`Complt` and `Callback`).
    pub status: i32,
    pub flags: Flags,
    pub host: HostId,
    pub comm: CommId,
    pub layer: Layer,
    pub kind: Kind,
    pub op: Op,
    pub link: LinkRule,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_small() {
        assert!(size_of::<Event>() <= 80);
    }

    #[test]
    fn an_id_contains_host_and_layer() {
        let id = RequestId::new(HostId(3), Layer::Blk, 77);
        assert_eq!((id.host(), id.layer()), (HostId(3), Some(Layer::Blk)));
    }
}
