//! Events, real faults and others, and their effects on servers and LUNs.

use laggard_core::diagnosis::Cause;
use laggard_core::model::time::Timestamp;

use super::topology::{Lun, Server, Side, array_name, controller_name};
use laggard_core::diagnosis::label::Label;

/// Something that happens to a part of the system for some time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub begin: Timestamp,
    pub end: Timestamp,
    pub what: What,
    /// The faulty component and the cause; none for ordinary incidents.
    pub blame: Option<(String, Cause)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A controller is gone; so are the devices of its servers.
    Controller(usize, Side),
    /// A server is down, and its recorder with it.
    Down(Server),
    /// Servers do not reach LUNs.
    Lost(Lost),
    /// Requests to some LUNs of an array are delayed again and again.
    Jitter { array: usize, luns: usize },
    /// A LUN is slow, or asked for more than others.
    Slow(Slow),
    /// The controllers of an array reset its LUNs: requests wait for up to 103 s.
    Resets(usize),
    /// A server itself uses all LUNs that it reaches, a little.
    Workload(Server),
}

/// The servers that do not reach some LUNs.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    pub array: usize,
    pub who: Who,
    pub which: Which,
    /// True if the device is still present, but idle.
    pub is_there: bool,
}

/// Servers of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Who {
    /// By place.
    Places(Vec<usize>),
    /// The servers with the first priorities for the LUN.
    First(usize),
    /// At the controller that does not own the LUN.
    NotOwner,
}

/// LUNs of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Which {
    All,
    /// From that number on.
    From(usize),
}

/// How one LUN is slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slow {
    pub lun: Lun,
    /// The server that sees it.
    pub place: usize,
    /// How many times slower than its peers.
    pub slowness: f64,
    /// Requests a second that only this one is asked.
    pub own: f64,
    /// Milliseconds that each of those waits, whatever the load.
    pub own_ms: f64,
}

/// The conditions of a LUN at a time, beyond its own nature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// How many times slower than its peers.
    pub slowness: f64,
    /// True if requests are delayed again and again.
    pub jitters: bool,
    /// True during a reset.
    pub resets: bool,
}

/// Nothing is wrong.
pub(crate) const SOUND: Condition = Condition { slowness: 1.0, jitters: false, resets: false };

/// The share of time in which a jittering LUN does not answer makes it this much slower for who waits for it.
const SLOWNESS_OF_JITTER: f64 = 1.3;
const SLOWNESS_OF_RESETS: f64 = 2000.0;

impl Event {
    /// True if the event is active at that time.
    pub fn holds(&self, time: Timestamp) -> bool {
        (self.begin..self.end).contains(&time)
    }

    pub fn label(&self) -> Option<Label> {
        let (component, cause) = self.blame.clone()?;
        Some(Label { component, begin: self.begin, end: self.end, cause })
    }

    /// How slow the slowest LUN is by it; jobs wait for that one.
    pub fn slowest(&self) -> f64 {
        match &self.what {
            What::Slow(slow) => slow.slowness,
            What::Jitter { .. } => SLOWNESS_OF_JITTER,
            What::Resets(_) => SLOWNESS_OF_RESETS,
            _ => 1.0,
        }
    }
}

impl What {
    /// True if the server cannot reach the LUN because of the event.
    pub fn parts(&self, lun: Lun, place: usize) -> bool {
        let server = Server { array: lun.array, place };
        match self {
            What::Controller(array, side) => lun.array == *array && server.side() == *side,
            What::Down(down) => server == *down,
            What::Lost(lost) => lost.parts(lun, place),
            _ => false,
        }
    }

    /// True if the event removes the device.
    pub fn removes(&self, lun: Lun, place: usize) -> bool {
        let leaves_device = matches!(self, What::Lost(lost) if lost.is_there);
        self.parts(lun, place) && !leaves_device
    }

    /// Worsens what holds for a LUN.
    pub fn worsen(&self, lun: Lun, condition: &mut Condition) {
        match self {
            What::Slow(slow) if slow.lun == lun => condition.slowness *= slow.slowness,
            What::Jitter { array, luns } if lun.array == *array => {
                condition.jitters |= is_of_drawer(lun, *luns);
            }
            What::Resets(array) if lun.array == *array => condition.resets = true,
            _ => {}
        }
    }
}

/// True if a LUN has a disk in the drawer: `count` LUNs, spread over the array.
fn is_of_drawer(lun: Lun, luns: usize) -> bool {
    (lun.number * 29 + 7) % super::topology::LUNS < luns
}

impl Lost {
    fn parts(&self, lun: Lun, place: usize) -> bool {
        let is_concerned = match &self.who {
            Who::Places(places) => places.contains(&place),
            Who::First(priorities) => lun.priority(place) <= *priorities,
            Who::NotOwner => Server { array: lun.array, place }.side() != lun.owner(),
        };
        let is_of_them = match self.which {
            Which::All => true,
            Which::From(first) => lun.number >= first,
        };
        lun.array == self.array && is_concerned && is_of_them
    }
}

/// A controller's failure.
pub(super) fn controller(array: usize, side: Side) -> (What, Option<(String, Cause)>) {
    (What::Controller(array, side), Some((controller_name(array, side), Cause::ControllerTrouble)))
}

/// A server's failure.
pub(super) fn down(server: Server) -> (What, Option<(String, Cause)>) {
    (What::Down(server), Some((server.name(), Cause::ServerDown)))
}

/// Errors of a drawer.
pub(super) fn jitter(array: usize, luns: usize) -> (What, Option<(String, Cause)>) {
    (What::Jitter { array, luns }, Some((array_name(array), Cause::ArrayJitter)))
}

/// A slow LUN.
pub(super) fn slow(slow: Slow) -> (What, Option<(String, Cause)>) {
    (What::Slow(slow), Some((slow.lun.attachment(slow.place), Cause::SlowLun)))
}

/// Lost attachments; people would name that component.
pub(super) fn lost(lost: Lost, name: String) -> (What, Option<(String, Cause)>) {
    (What::Lost(lost), Some((name, Cause::LostAttachment)))
}

/// A server's own workload: no fault.
pub(super) fn workload(server: Server) -> (What, Option<(String, Cause)>) {
    (What::Workload(server), Some((server.name(), Cause::WorkloadSkew)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawer_has_as_many_luns_as_it_says() {
        for luns in [11, 37, 54, 60] {
            let (what, _) = jitter(6, luns);
            let jitters = |number: &usize| {
                let mut condition = SOUND;
                what.worsen(Lun { array: 6, number: *number }, &mut condition);
                condition.jitters
            };
            assert_eq!((0..72).filter(jitters).count(), luns);
        }
    }

    #[test]
    fn a_failed_controller_parts_its_four_servers_from_all_luns() {
        let (what, _) = controller(3, Side::B);
        let parted = |place: &usize| (0..72).all(|number| what.removes(Lun { array: 3, number }, *place));
        assert_eq!((0..8).filter(parted).collect::<Vec<_>>(), [1, 3, 5, 7]);
        assert!(!what.parts(Lun { array: 4, number: 0 }, 1));
    }

    #[test]
    fn controllers_that_do_not_share_leave_every_lun_to_four_servers() {
        let lost = Lost { array: 2, who: Who::NotOwner, which: Which::All, is_there: false };
        for number in 0..72 {
            let places = (0..8).filter(|place| !lost.parts(Lun { array: 2, number }, *place)).count();
            assert_eq!(places, 4);
        }
    }
}
