//! One crossing of a boundary between two layers.

use super::flags::Flags;
use super::ids::{CommId, HostId, ObjectId, RequestId};
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

impl Event {
    /// The begin of a request of which everything else is unknown.
    pub(crate) fn admit(host: HostId, layer: Layer, op: Op, ts_ns: u64) -> Event {
        Event {
            ts_ns,
            req: RequestId::NONE,
            parent: RequestId::NONE,
            offset: NO_OFFSET,
            nbytes: 0,
            obj: ObjectId::NONE,
            fd: -1,
            tgid: 0,
            tid: 0,
            status: 0,
            flags: Flags::NONE,
            host,
            comm: CommId::NONE,
            layer,
            kind: Kind::Admit,
            op,
            link: LinkRule::None,
        }
    }
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
