//! One crossing of a boundary between two layers.

use serde::{Deserialize, Serialize};

use super::flags::Flags;
use super::layer::Layer;
use super::link::LinkRule;
use super::op::Op;

/// Which of its four boundaries a request crosses (paper section 3, Figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The layer gets the request from above.
    Admit,
    /// The layer hands it to the layer below.
    Issue,
    /// The layer below is done with it.
    Complt,
    /// The layer tells the layer above.
    Callback,
    /// A remark, on no request's boundary.
    Mark,
}

impl Kind {
    /// All kinds, in the order of a request's life.
    pub const ALL: [Kind; 5] = [Kind::Admit, Kind::Issue, Kind::Complt, Kind::Callback, Kind::Mark];

    /// Its number in a file.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The kind with a number.
    pub fn from_code(code: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(code)).copied()
    }

    /// Its word, as the paper writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Admit => "ADMIT",
            Kind::Issue => "ISSUE",
            Kind::Complt => "COMPLT",
            Kind::Callback => "CALLBACK",
            Kind::Mark => "MARK",
        }
    }
}

/// A host of a trace: its place in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostId(pub u16);

/// An object that was named in the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// No object is known.
    pub const NONE: ObjectId = ObjectId(0);
}

/// The name of a process that was named in the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommId(pub u16);

impl CommId {
    /// No name is known.
    pub const NONE: CommId = CommId(0);
}

/// A request, unique in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// Bits of the counter within a request's id.
const COUNTER_BITS: u32 = 40;

impl RequestId {
    /// No request.
    pub const NONE: RequestId = RequestId(0);

    /// The id of the `counter`th request of a layer of a host; counters begin at 1.
    pub const fn new(host: HostId, layer: Layer, counter: u64) -> RequestId {
        RequestId(
            (host.0 as u64) << 48
                | (layer.order() as u64) << COUNTER_BITS
                | counter & ((1 << COUNTER_BITS) - 1),
        )
    }

    /// Whether it is a request.
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Whether it is no request.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The host it was seen on.
    pub const fn host(self) -> HostId {
        HostId((self.0 >> 48) as u16)
    }

    /// The same request, of a host that has another number now.
    pub const fn on(self, host: HostId) -> RequestId {
        RequestId(self.0 & ((1 << 48) - 1) | (host.0 as u64) << 48)
    }

    /// The layer it is of.
    pub fn layer(self) -> Option<Layer> {
        Layer::from_order((self.0 >> COUNTER_BITS) as u8)
    }
}

/// An offset that is not known.
pub const NO_OFFSET: i64 = -1;

/// One crossing of a boundary by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, on the monotonic clock of the host; the header maps hosts onto the first one.
    pub ts_ns: u64,
    /// Which request.
    pub req: RequestId,
    /// The request of the nearest layer above that this one is for; told by `Admit`, else none.
    pub parent: RequestId,
    /// In bytes; [`NO_OFFSET`] if not known.
    pub offset: i64,
    /// Asked for at `Admit` and `Issue`, done at `Complt` and `Callback`.
    pub nbytes: u64,
    /// On what.
    pub obj: ObjectId,
    /// The file descriptor; -1 if there is none.
    pub fd: i32,
    /// The process; 0 if not known.
    pub tgid: u32,
    /// The thread.
    pub tid: u32,
    /// 0, or a negative error number (`Complt` and `Callback`).
    pub status: i32,
    /// What else is known.
    pub flags: Flags,
    /// Where.
    pub host: HostId,
    /// The name of the process.
    pub comm: CommId,
    /// In which layer.
    pub layer: Layer,
    /// Which boundary.
    pub kind: Kind,
    /// What is asked for.
    pub op: Op,
    /// Why `parent` is believed to be the parent.
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
    fn an_id_tells_host_and_layer() {
        let id = RequestId::new(HostId(3), Layer::Blk, 77);
        assert_eq!((id.host(), id.layer()), (HostId(3), Some(Layer::Blk)));
    }
}
