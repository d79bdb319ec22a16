//! Arrays, controllers, servers, LUNs, and which of them are attached (Intrepid paper, section 3.3).
//!
//! 16 arrays, ddn6 to ddn21, of two controllers and 72 LUNs each; 8 servers at each array. A LUN is attached to all
//! servers of its array. Its first is the one with the number of the LUN modulo 8, and the others follow in turn, as
//! the paper's examples have it. Servers 1, 3, 5 and 7 of an array are at controller a, the others at b, so that the
//! second path of a LUN goes through the other controller; how the real ones are cabled is not told.

use laggard_core::model::cluster::{Attribute, ClusterFile, Pattern, Rule};
use laggard_core::model::component;

/// How many of each there are.
pub(super) const ARRAYS: usize = 16;
/// At each array.
pub(super) const SERVERS: usize = 8;
/// Of each array.
pub(super) const LUNS: usize = 72;
/// Those that were there from the beginning.
pub(super) const OLD_LUNS: usize = 48;
/// Two cohorts of eight priorities.
pub(super) const GROUPS: usize = 16;
/// The number of the first array.
const FIRST_ARRAY: usize = 6;

/// A file server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Server {
    /// From 0.
    pub array: usize,
    /// Among the servers of its array, from 0.
    pub place: usize,
}

/// A LUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lun {
    /// From 0.
    pub array: usize,
    /// From 0.
    pub number: usize,
}

/// One of the two controllers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Of the even places.
    A,
    /// Of the odd ones.
    B,
}

impl Server {
    pub fn all() -> impl Iterator<Item = Server> {
        (0..ARRAYS).flat_map(|array| (0..SERVERS).map(move |place| Server { array, place }))
    }

    /// `fs1` to `fs128`.
    pub fn name(self) -> String {
        format!("fs{}", self.array * SERVERS + self.place + 1)
    }

    /// From its number, from 1.
    pub fn numbered(number: usize) -> Server {
        Server { array: (number - 1) / SERVERS, place: (number - 1) % SERVERS }
    }

    pub fn side(self) -> Side {
        if self.place.is_multiple_of(2) { Side::A } else { Side::B }
    }

    /// The LUNs whose attachment to it is in one of the first groups.
    pub fn luns(self, groups: usize) -> impl Iterator<Item = Lun> {
        let all = (0..LUNS).map(move |number| Lun { array: self.array, number });
        all.filter(move |lun| lun.group(self.place) <= groups)
    }
}

impl Lun {
    /// From the number of its array (6 to 21) and its own.
    pub fn named(array: usize, number: usize) -> Lun {
        Lun { array: array - FIRST_ARRAY, number }
    }

    /// `ddn6_lun000`.
    pub fn name(self) -> String {
        format!("{}_lun{:03}", array_name(self.array), self.number)
    }

    /// The server that is asked first, second, and so on: priorities count from 1.
    pub fn server(self, priority: usize) -> usize {
        (self.number + priority - 1) % SERVERS
    }

    /// The priority of a server for it.
    pub fn priority(self, place: usize) -> usize {
        (place + SERVERS - self.number % SERVERS) % SERVERS + 1
    }

    /// True for LUNs that exist from the beginning.
    pub fn is_old(self) -> bool {
        self.number < OLD_LUNS
    }

    /// The peer group of its attachment to a server: 1 is that of the primaries of old LUNs, 2 that of new ones, then
    /// the secondaries.
    pub fn group(self, place: usize) -> usize {
        2 * self.priority(place) - usize::from(self.is_old())
    }

    /// The controller that owns it, where controllers do not share.
    pub fn owner(self) -> Side {
        if (self.number / SERVERS).is_multiple_of(2) { Side::A } else { Side::B }
    }

    /// `fs1:ddn6_lun000`.
    pub fn attachment(self, place: usize) -> String {
        component::attachment(&Server { array: self.array, place }.name(), &self.name())
    }
}

/// `ddn6` to `ddn21`.
pub(super) fn array_name(array: usize) -> String {
    format!("ddn{}", array + FIRST_ARRAY)
}

/// `ddn6a`.
pub(super) fn controller_name(array: usize, side: Side) -> String {
    array_name(array) + if side == Side::A { "a" } else { "b" }
}

/// The attributes of every attachment of the first groups.
pub(super) fn cluster_file(groups: usize) -> ClusterFile {
    let rules = Server::all().flat_map(|server| server.luns(groups).map(move |lun| rule(server, lun)));
    ClusterFile { name: "Intrepid".into(), rules: rules.collect(), ..ClusterFile::default() }
}

fn rule(server: Server, lun: Lun) -> Rule {
    let attributes = [
        ("lun", lun.name()),
        ("controller", controller_name(server.array, server.side())),
        ("array", array_name(server.array)),
        ("server", server.name()),
        ("cohort", if lun.is_old() { "old" } else { "new" }.to_owned()),
    ];
    let priority = lun.priority(server.place) as i64;
    let named = attributes.map(|(key, value)| (key.to_owned(), Attribute::Text(value)));
    Rule {
        pattern: Pattern::new(&lun.attachment(server.place)).expect("a name is a pattern"),
        name: None,
        kind: None,
        attributes: named.into_iter().chain([("priority".into(), Attribute::Number(priority))]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachments(groups: usize) -> usize {
        Server::all().map(|server| server.luns(groups).count()).sum()
    }

    #[test]
    fn groups_have_the_sizes_of_the_paper() {
        assert_eq!([1, 2, 4, 16].map(attachments), [768, 1152, 2304, 9216]);
    }

    #[test]
    fn the_papers_attachments_have_their_places() {
        // 6.00.1, 21.71.128, 15.37.78, 9.04.29 are primary, 21.34.124 is secondary.
        let priority = |array, lun, server| {
            let server = Server::numbered(server);
            let lun = Lun::named(array, lun);
            assert_eq!(lun.array, server.array);
            lun.priority(server.place)
        };
        assert_eq!(priority(6, 0, 1), 1);
        assert_eq!(priority(21, 71, 128), 1);
        assert_eq!(priority(15, 37, 78), 1);
        assert_eq!(priority(9, 4, 29), 1);
        assert_eq!(priority(21, 34, 124), 2);
    }

    #[test]
    fn the_secondary_of_fs16_is_fs9_and_at_the_other_controller() {
        let server = Server::numbered(16);
        let lun = server.luns(1).next().unwrap();
        let second = Server { array: server.array, place: lun.server(2) };
        assert_eq!(second.name(), "fs9");
        assert_ne!(second.side(), server.side());
    }

    #[test]
    fn a_cluster_file_has_a_rule_for_each_attachment() {
        let file = cluster_file(1);
        assert_eq!(file.rules.len(), 768);
        let text = Rule { ..file.rules[0].clone() };
        assert_eq!(text.pattern.as_str(), "fs1:ddn6_lun000");
        assert_eq!(text.attributes["controller"].text(), "ddn6a");
        assert_eq!(text.attributes["priority"], Attribute::Number(1));
    }
}
