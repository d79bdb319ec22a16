//! Receives the requests of a trace as they begin, move between layers and end.

use super::open_requests::{OpenRequest, Parent};
use crate::model::{Event, LinkRule, Op};

pub(crate) trait Observer {
    /// A request begins.
    fn began(&mut self, open: &OpenRequest);
    /// A parent of a request is known; called once for each parent, after the child began.
    fn linked(&mut self, _child: &OpenRequest, _parent: &Parent, _link: &Link) {}
    /// The first parent of a request became known after its begin; called before `linked`.
    fn joined(&mut self, _child: &OpenRequest, _now_ns: u64) {}
    /// A request went to the layer below, or came back from it.
    fn moved(&mut self, _open: &OpenRequest, _now_ns: u64) {}
    /// A request ends. One without a CALLBACK was cut short.
    fn ended(&mut self, open: &OpenRequest, now_ns: u64);
    /// A request ended; called once for each parent, with that parent's end if it came before.
    fn child_ended(&mut self, _child: &OpenRequest, _parent: &Parent, _parent_callback_ns: Option<u64>) {}
    /// An event was used; its time is on the first host's clock.
    fn crossed(&mut self, _event: &Event) {}
    /// A request out of scope begins.
    fn left_out(&mut self, _event: &Event) {}
    /// An event of kind `Mark`.
    fn marked(&mut self, _event: &Event) {}
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) rule: LinkRule,
    /// Bytes of the child that belong to the parent.
    pub(crate) bytes: u64,
    pub(crate) parent_op: Op,
    pub(crate) parent_bytes: u64,
    pub(crate) parent_admit_ns: u64,
    /// Data requests in the child's layer so far.
    pub(crate) parent_children: u32,
    /// The first of them.
    pub(crate) is_parents_first: bool,
    /// The child's first parent.
    pub(crate) is_childs_first: bool,
}
