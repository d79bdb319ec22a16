//! Messages between clients and servers.

/// Time since the run began, in microseconds.
pub(super) type Micros = u64;

/// One second.
pub(super) const SECOND: Micros = 1_000_000;

/// A request to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
    /// To put its cache on the platters.
    Flush,
}

/// Work for a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    pub direction: Direction,
    pub bytes: u64,
}

/// A request of a client to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub client: usize,
    pub server: usize,
    /// The client's own id.
    pub number: u64,
    /// Nothing for what the server has in memory, such as a lookup.
    pub work: Option<Work>,
    /// How large the answer is.
    pub answer_bytes: u64,
}

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Order(Order),
    /// That an order was carried out.
    Answer(Order),
    /// Zeros of a network hog.
    Zeros,
}

/// The head of a request or an answer.
pub(super) const HEAD_BYTES: u64 = 250;

impl Order {
    /// To write bytes that come along.
    pub(super) fn write(client: usize, server: usize, number: u64, bytes: u64) -> Order {
        let work = Some(Work { direction: Direction::Write, bytes });
        Order { client, server, number, work, answer_bytes: HEAD_BYTES }
    }

    /// To read bytes.
    pub(super) fn read(client: usize, server: usize, number: u64, bytes: u64) -> Order {
        let work = Some(Work { direction: Direction::Read, bytes });
        Order { client, server, number, work, answer_bytes: HEAD_BYTES + bytes }
    }

    /// To have all on the platters.
    pub(super) fn sync(client: usize, server: usize, number: u64) -> Order {
        let work = Some(Work { direction: Direction::Flush, bytes: 0 });
        Order { client, server, number, work, answer_bytes: HEAD_BYTES }
    }

    /// To tell what is in memory.
    pub(super) fn lookup(client: usize, server: usize, number: u64) -> Order {
        Order { client, server, number, work: None, answer_bytes: HEAD_BYTES }
    }

    /// True if it writes at most `limit` bytes.
    pub(super) fn changes_at_most(&self, bytes: u64) -> bool {
        self.work.is_some_and(|work| work.direction == Direction::Write && work.bytes <= bytes)
    }

    /// How large the request is: what is written comes along.
    pub(super) fn request_bytes(&self) -> u64 {
        match self.work {
            Some(Work { direction: Direction::Write, bytes }) => HEAD_BYTES + bytes,
            _ => HEAD_BYTES,
        }
    }
}
