//! A whole trace in memory, and what one is made of while it flows.

use super::event::{CommId, Event, ObjectId};
use super::footer::Footer;
use super::header::Header;
use super::link::Edge;
use super::names::{Names, Object};

/// What flows between header and footer. A name comes before the first event that refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A boundary was crossed.
    Event(Event),
    /// A further parent of a request.
    Edge(Edge),
    /// The name of an object.
    Object(ObjectId, Object),
    /// The name of a process.
    Comm(CommId, String),
}

/// A whole trace; for tests and small files. Long ones flow as [`Record`]s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Before the events.
    pub header: Header,
    /// Names that the events refer to.
    pub names: Names,
    /// In the order of time.
    pub events: Vec<Event>,
    /// Further parents.
    pub edges: Vec<Edge>,
    /// After the events.
    pub footer: Footer,
}

impl Trace {
    /// Takes in a record.
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
