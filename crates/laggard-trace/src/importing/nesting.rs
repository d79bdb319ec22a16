//! Nested calls: a request of a thread belongs to the call of a higher layer that the thread is in.

use crate::hashing::WordMap;
use crate::model::{Event, Kind, Layer, LinkRule, RequestId};

/// By thread.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    open: WordMap<u64, Vec<(Layer, RequestId)>>,
}

/// With more open calls than this, the ends are assumed to be lost.
const MAX_DEPTH: usize = 64;

impl OpenCalls {
    /// Expects events ordered by time.
    pub(super) fn with_parent(&mut self, event: Event) -> Event {
        let thread = u64::from(event.tgid) << 32 | u64::from(event.tid);
        let calls = self.open.entry(thread).or_default();
        match event.kind {
            Kind::Admit => {
                let above = calls.iter().rev().find(|(layer, _)| *layer < event.layer).map(|(_, id)| *id);
                if calls.len() >= MAX_DEPTH {
                    calls.clear();
                }
                calls.push((event.layer, event.req));
                match above.filter(|_| event.parent.is_none()) {
                    Some(parent) => Event { parent, link: LinkRule::Thread, ..event },
                    None => event,
                }
            }
            Kind::Callback => {
                calls.retain(|(_, id)| *id != event.req);
                event
            }
            _ => event,
        }
    }
}
