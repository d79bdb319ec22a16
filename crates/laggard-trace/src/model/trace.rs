//! The records of a trace, and a whole trace in memory.

use super::event::Event;
use super::footer::Footer;
use super::header::Header;
use super::ids::{CommId, ObjectId};
use super::link::Edge;
use super::names::{Names, Object};

/// A record between header and footer. A name precedes the first event that refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Event(Event),
    Edge(Edge),
    Object(ObjectId, Object),
    Comm(CommId, String),
}

/// A whole trace, for tests and small files. Large ones are processed as a stream of [`Record`]s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    pub header: Header,
    pub names: Names,
    /// Ordered by time.
    pub events: Vec<Event>,
    pub edges: Vec<Edge>,
    pub footer: Footer,
}

impl Trace {
    pub fn take(&mut self, record: Record) {
        match record {
            Record::Event(event) => self.events.push(event),
            Record::Edge(edge) => self.edges.push(edge),
            Record::Object(id, object) => {
                self.names.set_object(id, object);
            }
            Record::Comm(id, comm) => {
                self.names.set_comm(id, comm);
            }
        }
    }
}
