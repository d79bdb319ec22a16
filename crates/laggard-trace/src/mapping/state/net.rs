//! Messages of client daemons that wait for a reply.

use std::collections::VecDeque;

use crate::hashing::WordMap;
use crate::model::{Event, RequestId};

/// Process and descriptor.
pub(in crate::mapping) type Connection = (u32, i32);

#[derive(Debug)]
pub(in crate::mapping) struct Message {
    pub admit: Event,
    pub parent: RequestId,
    pub sent: u64,
}

#[derive(Debug, Default)]
pub(in crate::mapping) struct ConnectionState {
    pub unanswered: VecDeque<Message>,
    pub received: u64,
}

#[derive(Debug, Default)]
pub(in crate::mapping) struct Net {
    pub connections: WordMap<Connection, ConnectionState>,
}

impl Net {
    pub(crate) fn open_count(&self) -> u64 {
        self.connections.values().map(|connection_state| connection_state.unanswered.len() as u64).sum()
    }

    pub(crate) fn find(
        &mut self,
        connection: Connection,
        id: RequestId,
    ) -> Option<(&mut VecDeque<Message>, usize)> {
        let open = &mut self.connections.get_mut(&connection)?.unanswered;
        let place = open.iter().position(|message| message.admit.req == id)?;
        Some((open, place))
    }
}
