//! Calls within calls: what a thread asks of a lower layer while it is in a call of a higher one is for that call.

use crate::hashing::WordMap;
use crate::model::{Event, Kind, Layer, LinkRule, RequestId};

/// The calls that threads are in.
#[derive(Debug, Default)]
pub(super) struct Nest {
    open: WordMap<u64, Vec<(Layer, RequestId)>>,
}

/// Calls of a thread beyond this have lost their ends.
const DEEPEST: usize = 64;

impl Nest {
    /// An event in the order of time, with what it is for.
    pub fn placed(&mut self, event: Event) -> Event {
        let thread = u64::from(event.tgid) << 32 | u64::from(event.tid);
        let calls = self.open.entry(thread).or_default();
        match event.kind {
            Kind::Admit => {
                let above = calls.iter().rev().find(|(layer, _)| *layer < event.layer).map(|(_, id)| *id);
                if calls.len() >= DEEPEST {
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
