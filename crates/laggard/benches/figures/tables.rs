//! The model's samples as the recorder's rows.

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp, Uptime};
use laggard_core::samples::{ABSENT, RawTable};
use laggard_store::Origin;

use crate::day::{Disk, Server};

/// The rows of one host, by second. Names are created once.
pub(crate) struct Tables {
    disk: RawTable,
    net: RawTable,
    tcp: RawTable,
    pressure: RawTable,
    socket: RawTable,
}

impl Tables {
    pub(crate) fn new(host: &str, devices: usize, sockets: usize) -> Tables {
        let mut tables = Tables {
            disk: table("disk"),
            net: table("net"),
            tcp: table("tcp"),
            pressure: table("pressure"),
            socket: table("socket"),
        };
        for number in 0..devices {
            tables.disk.number(&component::attachment(host, &format!("dm-{number}")));
        }
        for number in 0..2 {
            tables.net.number(&component::nic(host, &format!("eth{number}")));
        }
        for number in 0..sockets {
            tables.socket.number(&format!(
                "{host}>198.18.{}.{}:{}",
                number / 250,
                number % 250,
                40_000 + number
            ));
        }
        tables.tcp.number(host);
        tables.pressure.number(host);
        tables
    }

    /// Removes the rows of the previous second.
    pub(crate) fn clear(&mut self) {
        self.each().for_each(RawTable::clear);
    }

    pub(crate) fn add(&mut self, server: &Server) {
        self.add_disks(server);
        let (time, uptime) = moment(server);
        for (number, nic) in (0..).zip(&server.nics) {
            let received = [nic.rx_bytes, nic.rx_packets, 0, 0, 0, 0, 0, nic.rx_multicast];
            let sent = [nic.tx_bytes, nic.tx_packets, 0, 0, 0, 0, 0, 0];
            self.net.push_counts(time, uptime, number, &[received, sent].concat());
        }
        let tcp = &server.tcp;
        let traffic =
            [tcp.active_opens, tcp.passive_opens, 0, 0, 400, tcp.in_segs, tcp.out_segs, tcp.retrans_segs];
        self.tcp.push_counts(time, uptime, 0, &[&traffic[..], &[0; 14]].concat());
        let stalls =
            [server.pressure.io_some_us, server.pressure.io_full_us, 0, 0, server.pressure.cpu_some_us, 0];
        self.pressure.push_counts(time, uptime, 0, &stalls);
        self.add_sockets(server);
    }

    /// Adds only the devices of a sample.
    pub(crate) fn add_disks(&mut self, server: &Server) {
        let (time, uptime) = moment(server);
        for (number, disk) in (0..).zip(server.disks()) {
            self.disk.push_counts(time, uptime, number, &counts(disk));
        }
    }

    /// Connections share the traffic of the first interface.
    fn add_sockets(&mut self, server: &Server) {
        let (time, uptime) = moment(server);
        let sockets = self.socket.names().len() as u64;
        for number in 0..sockets {
            let share = |total: u64| (total >> 8) + (total >> (9 + number % 7));
            let nic = &server.nics[0];
            let window = 10 + (nic.tx_packets >> (number % 16)) % 90;
            let round_trip = 150 + (nic.rx_packets >> (number % 8)) % 200;
            let state = [window, 60, round_trip, 20, 0, 0, 0];
            let traffic =
                [share(nic.tx_bytes), share(nic.rx_bytes), share(nic.tx_packets), share(nic.rx_packets)];
            self.socket.push_counts(time, uptime, number as u32, &[&state[..], &traffic].concat());
        }
    }

    /// The tables, in the order of the recorder.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = &mut RawTable> {
        let Tables { disk, net, tcp, pressure, socket } = self;
        [disk, net, tcp, pressure, socket].into_iter()
    }

    pub(crate) fn disk(&self) -> &RawTable {
        &self.disk
    }
}

/// As `laggard record` writes it.
pub(crate) fn origin(host: &str) -> Origin {
    let every = Some(Span::SECOND);
    Origin { host: host.into(), every, wraps_at_32_bits: false, source: "laggard record".into() }
}

fn table(name: &str) -> RawTable {
    RawTable::new(Schema::named(name).expect("the recorder's tables exist"))
}

fn moment(server: &Server) -> (Timestamp, Option<Uptime>) {
    (Timestamp::from_micros(server.time_us()), Some(Uptime::from_micros(server.uptime_us())))
}

/// In the order of /proc/diskstats: no discards, and no sum of reads and writes.
fn counts(disk: &Disk) -> [u64; 18] {
    let Disk { reads, writes, in_flight, io_ms, flushes, .. } = disk;
    let mut counts = [0; 18];
    counts[..4].copy_from_slice(&[reads.requests, reads.merged, reads.sectors, reads.ms()]);
    counts[4..8].copy_from_slice(&[writes.requests, writes.merged, writes.sectors, writes.ms()]);
    counts[8..11].copy_from_slice(&[*in_flight, *io_ms, disk.weighted_ms()]);
    counts[15..].copy_from_slice(&[*flushes, disk.flush_ms(), ABSENT]);
    counts
}
