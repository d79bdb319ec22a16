//! Properties of the simulated counters.

use std::collections::BTreeMap;

use laggard_core::model::random::Random;
use laggard_core::samples::RawTable;

use super::*;
use crate::simulate::settings::pair;

fn fleet(words: &str, seed: u64) -> Fleet {
    let pairs: Vec<Pair> = words.split_whitespace().map(|word| pair(word).unwrap()).collect();
    Fleet::parse(&pairs, seed).unwrap()
}

fn tables(fleet: &Fleet) -> Vec<RawTable> {
    let recorded = fleet.record();
    let mut tables = Vec::new();
    for host in 0..recorded.hosts().len() {
        recorded.rows(host, &mut |table| tables.push(table));
    }
    tables
}

/// The rows of each component: time, uptime and counts.
type Rows = BTreeMap<String, Vec<(i64, i64, Vec<u64>)>>;

fn rows(tables: &[RawTable], schema: &str) -> Rows {
    let mut rows = Rows::new();
    for table in tables.iter().filter(|table| table.schema().name == schema) {
        for row in 0..table.len() {
            let counts = (0..table.schema().columns.len()).map(|c| table.counts(c).unwrap()[row]).collect();
            let name = table.names()[table.component[row] as usize].to_string();
            rows.entry(name).or_default().push((table.time[row], table.uptime[row], counts));
        }
    }
    rows
}

const SMALL: &str = "servers=3 disks=2 clients=2 length=20m every=5s";
/// Columns of the table `disk`.
const READS: usize = 0;
const READ_MS: usize = 3;
const WRITES: usize = 4;
const WRITE_MS: usize = 7;
const IN_FLIGHT: usize = 8;
const IO_MS: usize = 9;
const WEIGHTED_MS: usize = 10;

#[test]
fn counters_only_grow() {
    use laggard_core::model::schema::Form;
    for media in ["hdd", "ssd", "nvme"] {
        let tables = tables(&fleet(&format!("{SMALL} media={media} extras=yes spares=1"), 3));
        for schema in ["disk", "net", "tcp", "pressure", "link", "recorder"] {
            let forms = &Schema::named(schema).unwrap().columns;
            for (name, rows) in rows(&tables, schema) {
                for pair in rows.windows(2) {
                    assert!(pair[0].0 < pair[1].0, "{name}: time");
                    for (column, form) in forms.iter().enumerate().filter(|(_, c)| c.form == Form::Counter) {
                        assert!(pair[0].2[column] <= pair[1].2[column], "{name}: {}", form.name);
                    }
                }
            }
        }
    }
}

use laggard_core::model::schema::Schema;

/// The increase of a counter of 32 bits.
fn increase(rows: &[(i64, i64, Vec<u64>)], column: usize) -> u64 {
    rows.windows(2).map(|pair| pair[1].2[column].wrapping_sub(pair[0].2[column]) & 0xffff_ffff).sum()
}

#[test]
fn a_disk_is_never_busy_for_longer_than_time_passes() {
    for fault in ["none", "slow", "disk-hog", "stalls"] {
        let tables = tables(&fleet(&format!("{SMALL} media=hdd fault={fault}"), 4));
        for (name, rows) in rows(&tables, "disk") {
            for pair in rows.windows(2) {
                let passed_ms = (pair[1].1 - pair[0].1) as u64 / 1000;
                let busy_ms = pair[1].2[IO_MS].wrapping_sub(pair[0].2[IO_MS]) & 0xffff_ffff;
                assert!(busy_ms <= passed_ms + 1, "{name}: {busy_ms} of {passed_ms} ms");
            }
        }
    }
}

/// Little's law: the integral of the requests in flight is the sum of their times.
#[test]
fn the_weighted_time_is_the_sum_of_the_times_of_requests() {
    for media in ["hdd", "nvme"] {
        let tables = tables(&fleet(&format!("{SMALL} media={media} kernel=old maintenance=no"), 5));
        let mut checked = 0;
        for (name, rows) in rows(&tables, "disk") {
            let first_and_last = [&rows[0].2, &rows[rows.len() - 1].2];
            // Requests in flight at the first and the last sample, and flushes, are counted on one side only.
            let sum = increase(&rows, READ_MS) + increase(&rows, WRITE_MS);
            let weighted = increase(&rows, WEIGHTED_MS);
            let edges: u64 = first_and_last.iter().map(|row| row[IN_FLIGHT]).sum::<u64>() * 2000;
            let slack = edges + weighted / 10 + 2000;
            assert!(weighted.abs_diff(sum) <= slack, "{name}: {weighted} {sum}");
            checked += u64::from(weighted > 1000);
        }
        assert!(checked > 2, "{media}: {checked}");
    }
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_one_others() {
    let of = |seed| tables(&fleet(SMALL, seed));
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

/// The mean time of a request, by disk, from the second on.
fn latencies(tables: &[RawTable], from_second: usize, to_second: usize) -> BTreeMap<String, f64> {
    let mut means = BTreeMap::new();
    for (name, rows) in rows(tables, "disk") {
        let start = rows[0].0;
        let at = |second: usize| rows.partition_point(|row| row.0 < start + second as i64 * 1_000_000);
        let some = &rows[at(from_second)..at(to_second)];
        if let (Some(first), Some(last)) = (some.first(), some.last()) {
            let count = last.2[READS] + last.2[WRITES] - first.2[READS] - first.2[WRITES];
            let time = increase(some, READ_MS) + increase(some, WRITE_MS);
            means.insert(name, time as f64 / count.max(1) as f64);
        }
    }
    means
}

#[test]
fn a_slow_disk_is_slower_while_the_fault_lasts() {
    for media in ["hdd", "ssd", "nvme"] {
        let disk = if media == "nvme" { "st2:nvme0n1" } else { "st2:sdb" };
        let words = "servers=4 disks=2 clients=3 length=30m every=5s maintenance=no fault=slow magnitude=4";
        let fleet = fleet(&format!("{words} media={media} target={disk}"), 7);
        assert_eq!(fleet.labels()[0].component, disk);
        let tables = tables(&fleet);
        let (before, during) = (latencies(&tables, 0, 590), latencies(&tables, 620, 1190));
        let others = |means: &BTreeMap<String, f64>| {
            let is_peer = |name: &str| name.starts_with("st") && !name.ends_with("sda") && name != disk;
            let others: Vec<f64> = means.iter().filter(|(n, _)| is_peer(n)).map(|(_, v)| *v).collect();
            others.iter().sum::<f64>() / others.len() as f64
        };
        assert!(before[disk] < 1.8 * others(&before), "{before:?}");
        assert!(during[disk] > 2.5 * others(&during), "{during:?}");
    }
}

#[test]
fn a_lost_disk_and_a_server_that_is_down_have_no_rows() {
    let words = "servers=3 disks=2 clients=2 length=30m every=5s fault=lost-disk target=st2:sdc duration=15m";
    let disks = rows(&tables(&fleet(words, 1)), "disk");
    assert!(disks["st2:sdc"].len() < disks["st2:sdb"].len() * 6 / 10);
    let down = rows(&tables(&fleet(&words.replace("lost-disk", "server-down"), 1)), "net");
    assert!(down["st2/eth0"].len() < down["st1/eth0"].len() * 6 / 10);
}

#[test]
fn after_a_reboot_counters_and_uptime_start_again() {
    let words = "servers=3 disks=1 clients=1 length=20m every=5s fault=reboot target=st1";
    let fleet = fleet(words, 1);
    assert_eq!(fleet.labels()[0].end - fleet.labels()[0].begin, Span::from_seconds(180));
    let disks = rows(&tables(&fleet), "disk");
    let rows = &disks["st1:sdb"];
    let resets = rows.windows(2).filter(|pair| pair[1].1 < pair[0].1 && pair[1].2[READS] < pair[0].2[READS]);
    assert_eq!(resets.count(), 1);
}

#[test]
fn lost_samples_are_missing_on_one_host_and_counted_by_its_recorder() {
    let words = "servers=3 disks=1 clients=1 length=30m every=5s fault=sample-loss magnitude=0.4 target=st2 begin=0s duration=30m";
    let fleet = fleet(words, 1);
    assert!(fleet.labels().is_empty());
    let tables = tables(&fleet);
    let nets = rows(&tables, "net");
    let share = nets["st2/eth0"].len() as f64 / nets["st1/eth0"].len() as f64;
    assert!((0.5..0.7).contains(&share), "{share}");
    let recorders = rows(&tables, "recorder");
    assert!(recorders["st2@clock"].last().unwrap().2[1] > 50);
}

#[test]
fn lost_packets_are_sent_again_and_windows_shrink() {
    let words = "servers=4 disks=2 clients=2 length=20m every=5s fault=packet-loss magnitude=0.05 target=st3 begin=0s duration=20m";
    let tcp = rows(&tables(&fleet(words, 2)), "tcp");
    let share = |name: &str| {
        let rows = &tcp[name];
        let increase = |column: usize| rows[rows.len() - 1].2[column] - rows[0].2[column];
        increase(7) as f64 / increase(6) as f64
    };
    assert!(share("st3") > 0.01, "{}", share("st3"));
    assert!(share("st1") < 0.001, "{}", share("st1"));
}

#[test]
fn requests_in_flight_and_their_waiting_time_agree() {
    use super::disk::{Disk, SecondLoad};
    let machines = fleet("media=ssd", 1).machines();
    let mut disk = Disk::new(machines.device(0), None, Random::of(1, &[]));
    let (waiting, times) =
        (disk.counters.waiting_us(), disk.counters.reads.time_us + disk.counters.writes.time_us);
    for second in 0..200 {
        let load = SecondLoad {
            second,
            small: if second < 190 { 400.0 } else { 0.0 },
            read_share: 0.6,
            hits: 0.0,
            paging: 0.0,
            jobs: &[],
            is_hashed: false,
            seed: 1,
            disk: 0,
        };
        disk.load(&load);
        disk.run_until((second + 1) * SECOND - 1);
    }
    let counters = &disk.counters;
    assert_eq!(counters.in_flight, 0);
    let sum = counters.reads.time_us + counters.writes.time_us + counters.flushes.time_us - times;
    assert_eq!(counters.waiting_us() - waiting, sum);
}

#[test]
fn every_fault_can_be_simulated() {
    for (name, _) in FaultKind::names() {
        let tables = tables(&fleet(&format!("servers=3 disks=1 clients=1 length=3m fault={name}"), 1));
        assert!(tables.iter().map(RawTable::len).sum::<usize>() > 500, "{name}");
    }
    let both = fleet("fault=slow+network-hog magnitude=3+0.9 target=st1", 1);
    let labels: Vec<String> = both.labels().into_iter().map(|label| label.component).collect();
    assert_eq!(labels, ["st1:sdb", "st1"]);
}
