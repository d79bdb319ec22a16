//! The traffic of a host's connections: individually, and as totals per remote host. Pure: the caller passes the
//! connections of each tick.
//!
//! Totals only grow, while connections come and go. A connection adds the growth of its counters since the last tick.
//! One that existed before the first tick adds nothing for its earlier traffic; one that came later adds all its
//! traffic. Traffic between the last tick that saw a connection and its end is not seen.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::samples::{ABSENT, RawTable};

use super::clock::Moment;
use super::connection::Connection;
use super::link::{COLUMNS, Link, row};
use super::tcp_info::COUNTERS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections with rows of their own. A connection keeps its rows until it ends, so that its series has no gaps; a
    /// free slot goes to the busiest connection.
    pub sockets: usize,
    /// The number of remote hosts.
    pub links: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { sockets: 1000, links: 10_000 }
    }
}

/// A connection that the kernel left out of a dump stays known for this many ticks. If it were taken for a new one, all
/// its traffic would count again.
const TICKS_UNSEEN: u64 = 3;

/// Names of ended connections are dropped when a table has this many names per slot.
const NAMES_PER_PLACE: usize = 4;

const LINKS: usize = 0;
const SOCKETS: usize = 1;

#[derive(Debug)]
struct Socket {
    connection: Connection,
    /// The last tick with this connection.
    seen: u64,
    has_rows: bool,
    number: Option<u32>,
}

/// All known connections and their remote hosts.
#[derive(Debug)]
pub struct Traffic {
    host: String,
    bounds: Bounds,
    tick: u64,
    /// True after the first complete tick: from then on, an unknown connection is new.
    has_baseline: bool,
    /// By cookie.
    sockets: BTreeMap<u64, Socket>,
    links: BTreeMap<IpAddr, Link>,
    /// True if this tick already dropped links without rows.
    has_made_room: bool,
    left_out: u64,
    /// The tick of the last row of each component in the table of sockets.
    last_row: Vec<u64>,
    tables: [RawTable; 2],
}

impl Traffic {
    pub fn new(host: &str, bounds: Bounds) -> Traffic {
        let table = |name| RawTable::new(Schema::named(name).expect("the schemas of traffic exist"));
        Traffic {
            host: host.to_owned(),
            bounds,
            tick: 0,
            has_baseline: false,
            sockets: BTreeMap::new(),
            links: BTreeMap::new(),
            has_made_room: false,
            left_out: 0,
            last_row: Vec::new(),
            tables: [table("link"), table("socket")],
        }
    }

    /// The rows of the last tick: links, then sockets.
    pub fn tables(&self) -> &[RawTable] {
        &self.tables
    }

    /// The number of connections in the last tick without rows of their own or outside all totals.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    pub fn start(&mut self) {
        self.tick += 1;
        self.left_out = 0;
        self.has_made_room = false;
        self.forget_old_names();
        self.tables.iter_mut().for_each(RawTable::clear);
        self.links.values_mut().for_each(Link::start);
    }

    /// Adds a connection of this tick. A repeated connection counts once.
    pub fn see(&mut self, connection: &Connection, at: Moment) {
        let remote = connection.remote.ip();
        if !self.has_room_for(remote, at) {
            self.left_out += 1;
            return;
        }
        let known = self.sockets.get_mut(&connection.cookie).filter(|socket| socket.is(connection));
        let before = match &known {
            Some(socket) if socket.seen == self.tick => return,
            Some(socket) => socket.connection.info.counters,
            None if self.has_baseline => [0; COUNTERS],
            None => connection.info.counters,
        };
        let link = self.links.entry(remote).or_insert_with(|| Link::new(at.uptime));
        link.add(&connection.info, &before, at.uptime);
        match known {
            Some(socket) => socket.see(connection, self.tick),
            None => drop(self.sockets.insert(connection.cookie, Socket::new(connection, self.tick))),
        }
    }

    /// Ends a tick that has seen all connections, and makes its rows.
    pub fn finish(&mut self, at: Moment) {
        self.has_baseline = true;
        let tick = self.tick;
        self.sockets.retain(|_, socket| tick - socket.seen < TICKS_UNSEEN);
        self.give_places();
        self.push_links(at);
        self.push_sockets(at);
    }

    fn has_room_for(&mut self, remote: IpAddr, at: Moment) -> bool {
        if self.links.len() < self.bounds.links || self.links.contains_key(&remote) {
            return true;
        }
        if !self.has_made_room {
            self.has_made_room = true;
            self.links.retain(|_, link| link.is_shown(at.uptime));
        }
        self.links.len() < self.bounds.links
    }

    fn give_places(&mut self) {
        let taken = self.sockets.values().filter(|socket| socket.has_rows).count();
        let waiting = self.sockets.values().filter(|socket| !socket.has_rows).count();
        let free = self.bounds.sockets.saturating_sub(taken);
        if waiting <= free {
            self.sockets.values_mut().for_each(|socket| socket.has_rows = true);
            return;
        }
        for cookie in self.busiest_waiting(free) {
            if let Some(socket) = self.sockets.get_mut(&cookie) {
                socket.has_rows = true;
            }
        }
        let is_left_out = |socket: &&Socket| !socket.has_rows && socket.seen == self.tick;
        self.left_out += self.sockets.values().filter(is_left_out).count() as u64;
    }

    fn busiest_waiting(&self, places: usize) -> Vec<u64> {
        if places == 0 {
            return Vec::new();
        }
        let waiting = self.sockets.iter().filter(|(_, socket)| !socket.has_rows);
        let mut waiting: Vec<_> =
            waiting.map(|(&cookie, socket)| (Reverse(socket.bytes()), cookie)).collect();
        waiting.select_nth_unstable(places - 1);
        waiting.truncate(places);
        waiting.into_iter().map(|(_, cookie)| cookie).collect()
    }

    fn push_links(&mut self, at: Moment) {
        let table = &mut self.tables[LINKS];
        for (remote, link) in self.links.iter_mut().filter(|(_, link)| link.is_shown(at.uptime)) {
            let name = || component::link(&self.host, &remote.to_string());
            let number = *link.number.get_or_insert_with(|| table.number(&name()));
            table.push_counts(at.time, Some(at.uptime), number, &link.row());
        }
    }

    fn push_sockets(&mut self, at: Moment) {
        let table = &mut self.tables[SOCKETS];
        let shown = self.sockets.values_mut().filter(|socket| socket.has_rows && socket.seen == self.tick);
        for socket in shown {
            let mut number = socket.number.unwrap_or_else(|| table.number(&socket.name(&self.host)));
            if self.last_row.get(number as usize) == Some(&self.tick) {
                number = table.number(&socket.long_name(&self.host));
            }
            socket.number = Some(number);
            self.last_row.resize(table.names().len(), 0);
            self.last_row[number as usize] = self.tick;
            table.push_counts(at.time, Some(at.uptime), number, &socket.row());
        }
    }

    fn forget_old_names(&mut self) {
        let [links, sockets] = &mut self.tables;
        if links.names().len() > NAMES_PER_PLACE * self.bounds.links {
            *links = RawTable::new(links.schema());
            self.links.values_mut().for_each(|link| link.number = None);
        }
        if sockets.names().len() > NAMES_PER_PLACE * self.bounds.sockets {
            *sockets = RawTable::new(sockets.schema());
            self.last_row.clear();
            self.sockets.values_mut().for_each(|socket| socket.number = None);
        }
    }
}

impl Socket {
    fn new(connection: &Connection, tick: u64) -> Socket {
        Socket { connection: *connection, seen: tick, has_rows: false, number: None }
    }

    /// Old kernels may reuse the cookie of a closed socket.
    fn is(&self, other: &Connection) -> bool {
        self.connection.local == other.local && self.connection.remote == other.remote
    }

    fn see(&mut self, connection: &Connection, tick: u64) {
        self.connection = *connection;
        self.seen = tick;
    }

    fn bytes(&self) -> u64 {
        let [_, acked, received, ..] = self.connection.info.counters;
        let known = |count: u64| if count == ABSENT { 0 } else { count };
        known(acked).saturating_add(known(received))
    }

    /// `oss3:49152>198.18.0.7:1021`.
    fn name(&self, host: &str) -> String {
        let local = format!("{host}:{}", self.connection.local.port());
        component::link(&local, &self.connection.remote.to_string())
    }

    /// `oss3:198.18.0.3:49152>198.18.0.7:1021`, for a host with several addresses on which a remote host uses one port
    /// twice.
    fn long_name(&self, host: &str) -> String {
        let local = format!("{host}:{}", self.connection.local);
        component::link(&local, &self.connection.remote.to_string())
    }

    /// In the order of the schema.
    fn row(&self) -> [u64; COLUMNS] {
        let info = &self.connection.info;
        let gauges = [info.cwnd, info.ssthresh, info.rtt_us, info.rttvar_us, info.unacked, info.lost];
        row(gauges.map(u64::from), info.counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::tcp_info::TcpInfo;
    use laggard_core::model::time::{Timestamp, Uptime};
    use proptest::prelude::{prop, proptest};

    const ACKED: usize = 7;

    fn connection(cookie: u64, remote: &str, acked: u64) -> Connection {
        let local = format!("198.18.0.3:{}", 40_000 + cookie % 20_000);
        let counters = [0, acked, 0, 0, 0];
        let (rtt_us, rttvar_us) = (200, 50);
        let info = TcpInfo { cwnd: 10, ssthresh: 5, rtt_us, rttvar_us, unacked: 1, lost: 0, counters };
        Connection { cookie, local: local.parse().unwrap(), remote: remote.parse().unwrap(), info }
    }

    fn at(seconds: i64) -> Moment {
        Moment { time: Timestamp::from_seconds(seconds), uptime: Uptime::from_micros(seconds * 1_000_000) }
    }

    fn tick(traffic: &mut Traffic, seconds: i64, connections: &[Connection]) {
        traffic.start();
        connections.iter().for_each(|connection| traffic.see(connection, at(seconds)));
        traffic.finish(at(seconds));
    }

    fn names(table: &RawTable) -> Vec<&str> {
        table.component.iter().map(|&number| &*table.names()[number as usize]).collect()
    }

    fn traffic(sockets: usize) -> Traffic {
        Traffic::new("oss3", Bounds { sockets, ..Bounds::default() })
    }

    fn acked(traffic: &Traffic) -> &[u64] {
        traffic.tables()[LINKS].counts(ACKED).unwrap()
    }

    #[test]
    fn traffic_before_the_first_tick_does_not_count() {
        let mut traffic = traffic(10);
        tick(&mut traffic, 1, &[connection(1, "198.18.0.7:1021", 5000)]);
        assert_eq!(acked(&traffic), [0]);
        tick(&mut traffic, 2, &[connection(1, "198.18.0.7:1021", 5100)]);
        assert_eq!(acked(&traffic), [100]);
    }

    #[test]
    fn a_new_connection_counts_whole_and_one_that_ended_stays_in_the_sum() {
        let mut traffic = traffic(10);
        tick(&mut traffic, 1, &[connection(1, "198.18.0.7:1021", 5000)]);
        tick(
            &mut traffic,
            2,
            &[connection(1, "198.18.0.7:1021", 5100), connection(2, "198.18.0.7:1022", 30)],
        );
        assert_eq!(acked(&traffic), [130]);
        tick(&mut traffic, 3, &[connection(2, "198.18.0.7:1022", 31)]);
        assert_eq!(acked(&traffic), [131]);
        let table = &traffic.tables()[LINKS];
        assert_eq!(names(table), ["oss3>198.18.0.7"]);
        assert_eq!((0..6).map(|c| table.counts(c).unwrap()[0]).collect::<Vec<_>>(), [1, 10, 10, 200, 1, 0]);
    }

    #[test]
    fn a_connection_left_out_of_one_dump_does_not_count_twice() {
        let mut traffic = traffic(10);
        let socket = |acked| connection(1, "198.18.0.7:1021", acked);
        tick(&mut traffic, 1, &[]);
        tick(&mut traffic, 2, &[socket(1000)]);
        tick(&mut traffic, 3, &[]);
        tick(&mut traffic, 4, &[socket(1500), socket(1500)]);
        assert_eq!(acked(&traffic), [1500]);
        assert_eq!(traffic.tables()[LINKS].counts(0).unwrap(), [1]);
    }

    #[test]
    fn a_broken_dump_makes_no_rows_and_loses_nothing() {
        let mut traffic = traffic(10);
        let sockets = [connection(1, "198.18.0.7:1021", 10), connection(2, "198.18.0.8:1021", 10)];
        tick(&mut traffic, 1, &[]);
        tick(&mut traffic, 2, &sockets);
        traffic.start();
        traffic.see(&sockets[0], at(3));
        assert!(traffic.tables().iter().all(RawTable::is_empty));
        tick(&mut traffic, 4, &sockets);
        assert_eq!(acked(&traffic), [10, 10]);
    }

    #[test]
    fn a_remote_host_without_connections_lingers_as_zeros_and_then_goes() {
        let mut traffic = traffic(10);
        tick(&mut traffic, 1, &[]);
        tick(&mut traffic, 2, &[connection(1, "198.18.0.7:1021", 10)]);
        tick(&mut traffic, 60, &[]);
        let table = &traffic.tables()[LINKS];
        assert_eq!((table.counts(0).unwrap(), table.counts(2).unwrap()), (&[0][..], &[ABSENT][..]));
        tick(&mut traffic, 63, &[]);
        assert!(traffic.tables()[LINKS].is_empty());
        tick(&mut traffic, 64, &[connection(2, "198.18.0.7:1021", 5)]);
        assert_eq!(acked(&traffic), [15]);
    }

    #[test]
    fn places_go_to_the_busiest_and_are_kept() {
        let mut traffic = traffic(2);
        let shown = |traffic: &Traffic| traffic.tables()[SOCKETS].counts(ACKED).unwrap().to_vec();
        let remote = "198.18.0.7:1021";
        tick(
            &mut traffic,
            1,
            &[connection(1, remote, 5), connection(2, remote, 9), connection(3, remote, 7)],
        );
        assert_eq!((shown(&traffic), traffic.left_out()), (vec![9, 7], 1));
        tick(
            &mut traffic,
            2,
            &[connection(1, remote, 99), connection(2, remote, 9), connection(3, remote, 7)],
        );
        assert_eq!((shown(&traffic), traffic.left_out()), (vec![9, 7], 1));
        for second in 3..6 {
            tick(&mut traffic, second, &[connection(1, remote, 99), connection(3, remote, 8)]);
        }
        assert_eq!((shown(&traffic), traffic.left_out()), (vec![99, 8], 0));
        assert_eq!(acked(&traffic), [94 + 1]);
    }

    #[test]
    fn rows_are_as_wide_as_their_tables() {
        assert!(traffic(1).tables().iter().all(|table| table.schema().columns.len() == COLUMNS));
    }

    #[test]
    fn names_distinguish_connections() {
        let mut traffic = traffic(10);
        let v4 = connection(1, "198.18.0.7:1021", 0);
        let v6 = connection(2, "[2001:db8::7]:1021", 0);
        let other_address = Connection { cookie: 3, local: "198.18.0.4:40001".parse().unwrap(), ..v4 };
        for second in 1..3 {
            tick(&mut traffic, second, &[v4, v6, other_address]);
            assert_eq!(
                names(&traffic.tables()[SOCKETS]),
                [
                    "oss3:40001>198.18.0.7:1021",
                    "oss3:40002>[2001:db8::7]:1021",
                    "oss3:198.18.0.4:40001>198.18.0.7:1021"
                ]
            );
        }
    }

    #[test]
    fn memory_is_bounded_while_connections_and_remote_hosts_come_and_go() {
        let mut traffic = Traffic::new("oss3", Bounds { sockets: 8, links: 8 });
        for second in 0..2000i64 {
            let remote = format!("198.18.{}.{}:1021", second / 250, second % 250);
            tick(&mut traffic, second * 100, &[connection(second as u64, &remote, 1)]);
            assert_eq!(traffic.left_out(), 0);
        }
        assert!(traffic.links.len() <= 8 && traffic.sockets.len() <= 8);
        assert!(traffic.tables.iter().all(|table| table.names().len() <= 4 * 8 + 1));
    }

    #[test]
    fn remote_hosts_beyond_the_bound_are_counted_as_left_out() {
        let mut traffic = Traffic::new("oss3", Bounds { sockets: 8, links: 1 });
        tick(&mut traffic, 1, &[connection(1, "198.18.0.7:1", 1), connection(2, "198.18.0.8:1", 1)]);
        assert_eq!(traffic.left_out(), 1);
        assert_eq!(traffic.tables()[LINKS].len(), 1);
    }

    proptest! {
        #[test]
        fn sums_never_shrink_and_hold_all_that_was_carried(
            // For each tick and each of 6 sockets: 0 for "absent", else the growth of its traffic.
            ticks in prop::collection::vec(prop::collection::vec(0..5u64, 6), 1..20),
        ) {
            let mut traffic = traffic(3);
            tick(&mut traffic, 0, &[]);
            let (mut carried, mut alive, mut next_cookie) = ([0u64; 6], [None; 6], 0);
            let (mut total, mut before) = (0, 0);
            for (second, grown) in ticks.iter().enumerate() {
                let mut shown = Vec::new();
                for i in 0..6 {
                    if grown[i] == 0 {
                        alive[i] = None;
                        continue;
                    }
                    let cookie = *alive[i].get_or_insert_with(|| {
                        (carried[i], next_cookie) = (0, next_cookie + 1);
                        next_cookie
                    });
                    carried[i] += grown[i];
                    total += grown[i];
                    shown.push(connection(cookie, "198.18.0.7:1021", carried[i]));
                }
                tick(&mut traffic, second as i64 + 1, &shown);
                let sum = acked(&traffic).first().copied().unwrap_or(before);
                assert!(sum >= before);
                assert_eq!(sum, total);
                before = sum;
                assert!(traffic.tables()[SOCKETS].len() <= 3);
            }
        }
    }
}
