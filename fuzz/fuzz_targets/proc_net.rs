//! Any bytes as the files of `/proc/net` and `/proc/pressure`, and as an answer of sock_diag: no panic.
#![no_main]

use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::ABSENT;
use laggard_sources::live::clock::Moment;
use laggard_sources::live::connection::Connection;
use laggard_sources::live::net_dev::Interfaces;
use laggard_sources::live::pressure;
use laggard_sources::live::selection::Selection;
use laggard_sources::live::snmp::{COLUMNS, Pair};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| {
    let at = Moment { time: Timestamp::from_micros(0), uptime: Uptime::from_micros(0) };
    let mut interfaces = Interfaces::new("oss3", Selection::default());
    let (mut snmp, mut netstat) = (Pair::of_snmp(), Pair::of_netstat());
    let mut values = [ABSENT; COLUMNS];
    for part in [content, &content[content.len() / 2..]] {
        let _ = interfaces.parse(part, at);
        let _ = snmp.parse(part, &mut values);
        let _ = netstat.parse(part, &mut values);
        let _ = pressure::parse(part);
        let _ = Connection::read(part);
    }
});
