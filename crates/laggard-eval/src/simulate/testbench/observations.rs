//! The seven observations of FAST '10, section 6.1, as tests: none of them is put into the model, all follow from it.

use std::collections::HashMap;

use laggard_core::model::metric::Metric;
use laggard_core::samples::RawTable;
use laggard_core::tables::counters::{Plan, Readings};

use super::Testbench;
use crate::simulate::settings::pair;

/// A run without nuisances, of ten servers and ten clients, with the third server disturbed.
struct Run {
    tables: HashMap<(String, &'static str), RawTable>,
}

fn run(workload: &str, fault: &str) -> Run {
    run_with(&[&format!("workload={workload}"), &format!("fault={fault}")])
}

fn run_with(settings: &[&str]) -> Run {
    let pairs: Vec<_> = ["faulty=3", "nuisances=no", "seconds=300"]
        .iter()
        .chain(settings)
        .map(|s| pair(s).unwrap())
        .collect();
    let scenario = Testbench::parse(&pairs, 1).unwrap();
    let mut tables = HashMap::new();
    scenario.run(&mut |host, table| {
        tables.insert((host.to_owned(), table.schema().name), table.clone());
    });
    Run { tables }
}

/// Before the fault, and while it holds, in a run of 300 s.
const CALM: (usize, usize) = (20, 60);
const DISTURBED: (usize, usize) = (75, 205);
const FAULTY: usize = 2;

impl Run {
    /// A metric of a component between two seconds.
    fn value(&self, metric: &str, host: &str, component: &str, (from, to): (usize, usize)) -> f64 {
        let plan = Plan::new(Metric::named(metric).unwrap(), false);
        let table = &self.tables[&(host.to_owned(), plan.metric().table)];
        let number = table.names().iter().position(|name| &**name == component).unwrap() as u32;
        let rows: Vec<usize> = (0..table.len()).filter(|&row| table.component[row] == number).collect();
        let both = [rows[from], rows[to]];
        let of_column = |column: &&str| {
            let counts = table.counts(table.schema().position(column).unwrap()).unwrap();
            both.map(|row| counts[row])
        };
        let counts: Vec<u64> = plan.columns().iter().flat_map(of_column).collect();
        let (time, uptime) = (both.map(|row| table.time[row]), both.map(|row| table.uptime[row]));
        let mut values = Vec::new();
        plan.append_values(Readings { time: &time, uptime: &uptime, counts: &counts }, &mut values);
        values[0]
    }

    /// A metric of the disks or interfaces of all servers.
    fn servers(&self, metric: &str, span: (usize, usize)) -> Vec<f64> {
        let part = if Metric::named(metric).unwrap().table == "disk" { ":sdb" } else { "/eth0" };
        let hosts = (1..=10).map(|n| format!("oss{n}"));
        hosts.map(|host| self.value(metric, &host, &format!("{host}{part}"), span)).collect()
    }

    /// The mean window of all clients to each server (or of each server to all clients), second by second.
    fn windows(&self, to_servers: bool, (from, to): (usize, usize)) -> Vec<f64> {
        let of_pair = |server: usize, client: usize, second: usize| {
            let (c, s) = (format!("client{client}"), format!("oss{server}"));
            match to_servers {
                true => self.value("cwnd", &c, &format!("{c}>198.18.0.{server}"), (second, second)),
                false => self.value("cwnd", &s, &format!("{s}>198.18.1.{client}"), (second, second)),
            }
        };
        let seconds = || (from..to).step_by(7);
        let of_server = |server| -> f64 {
            let all =
                (1..=10).flat_map(|client| seconds().map(move |second| of_pair(server, client, second)));
            all.sum::<f64>() / 10.0 / seconds().count() as f64
        };
        (1..=10).map(of_server).collect()
    }
}

/// The third server's value, and the smallest and largest of the others'.
fn apart(values: &[f64]) -> (f64, f64, f64) {
    let others = || values.iter().enumerate().filter(|(at, _)| *at != FAULTY).map(|(_, value)| *value);
    (values[FAULTY], others().fold(f64::INFINITY, f64::min), others().fold(0.0, f64::max))
}

const BULK: [&str; 4] = ["ddw", "ddr", "iozonew", "iozoner"];

#[test]
fn observation_1_healthy_servers_track_each_other() {
    for workload in BULK {
        let run = run(workload, "none");
        for (metric, spread) in [("throughput", 1.03), ("rxbyt", 1.1), ("txbyt", 1.1), ("await", 1.7)] {
            let (third, least, most) = apart(&run.servers(metric, DISTURBED));
            assert!(
                most.max(third) < spread * least.min(third),
                "{workload} {metric}: {least}..{most}, {third}"
            );
        }
    }
}

#[test]
fn observation_2_all_servers_lose_the_same_throughput() {
    for (workload, fault) in [("ddw", "disk-busy"), ("ddr", "disk-busy"), ("ddr", "send-pktloss")] {
        let run = run(workload, fault);
        let (calm, disturbed) = (run.servers("throughput", CALM), run.servers("throughput", DISTURBED));
        let kept: Vec<f64> = disturbed.iter().zip(&calm).map(|(now, before)| now / before).collect();
        let (third, least, most) = apart(&kept);
        assert!(most.max(third) < 0.85 && least.min(third) > 0.95 * most.max(third), "{workload}: {kept:?}");
    }
}

#[test]
fn observation_3_the_others_serve_a_request_as_fast_as_before() {
    let run = run("ddr", "disk-busy");
    let (calm, disturbed) = (run.servers("svctm", CALM), run.servers("svctm", DISTURBED));
    let ratio: Vec<f64> = disturbed.iter().zip(&calm).map(|(now, before)| now / before).collect();
    let (third, _, most) = apart(&ratio);
    assert!(third > 2.0 && most < 1.1, "{ratio:?}");
}

#[test]
fn observation_4_hogs_show_as_throughput_of_the_disturbed_server() {
    let hogged = run("iozoner", "disk-hog");
    let (third, least, most) = apart(&hogged.servers("rd_sec", DISTURBED));
    assert!(third > 2.0 * most, "{third} {most}");
    let (_, before, _) = apart(&hogged.servers("rd_sec", CALM));
    assert!(least < 0.8 * before);
    for (fault, metric) in [("write-network-hog", "rxbyt"), ("read-network-hog", "txbyt")] {
        let (third, _, most) = apart(&run("ddw", fault).servers(metric, DISTURBED));
        assert!(third > 1.5 * most, "{fault}: {third} {most}");
    }
}

#[test]
fn observation_5_busy_disks_and_losses_show_in_no_throughput() {
    for (workload, fault, metric) in [
        ("iozoner", "disk-busy", "rd_sec"),
        ("ddw", "disk-busy", "wr_sec"),
        ("ddw", "receive-pktloss", "rxbyt"),
    ] {
        let run = run(workload, fault);
        let (third, least, most) = apart(&run.servers(metric, DISTURBED));
        assert!(third < 1.1 * most && third > 0.9 * least, "{workload} {fault}: {least}..{most}, {third}");
        let (_, before, _) = apart(&run.servers(metric, CALM));
        assert!(most < 0.85 * before);
    }
}

#[test]
fn observation_6_disk_faults_show_as_latency_of_the_disturbed_server_only() {
    for workload in ["ddw", "ddr", "postmark"] {
        for fault in ["disk-hog", "disk-busy"] {
            let run = run(workload, fault);
            let (before, _, calm) = apart(&run.servers("await", CALM));
            let (third, _, most) = apart(&run.servers("await", DISTURBED));
            assert!(third > 2.0 * before && third > 5.0 * most, "{workload} {fault}: {third} {most}");
            assert!(most < 1.02 * calm, "{workload} {fault}: {most} {calm}");
            let (third, _, most) = apart(&run.servers("%util", DISTURBED));
            assert!(third > 1.4 * most && most < 70.0, "{workload} {fault}: {third} {most}");
        }
    }
}

#[test]
fn observation_7_losses_and_hogs_close_the_windows_of_one_server() {
    let (third, least, _) = apart(&run("ddw", "receive-pktloss").windows(true, DISTURBED));
    assert!(third < 6.0 && least > 15.0, "{third} {least}");
    let (third, least, _) = apart(&run("ddr", "send-pktloss").windows(false, DISTURBED));
    assert!(third < 6.0 && least > 15.0, "{third} {least}");
    let hogged = run("ddw", "write-network-hog");
    let (calm, disturbed) = (hogged.windows(true, CALM), hogged.windows(true, DISTURBED));
    let kept: Vec<f64> = disturbed.iter().zip(&calm).map(|(now, before)| now / before).collect();
    let (third, least, _) = apart(&kept);
    assert!(third < 0.95 * least, "{third} {least}");
}

#[test]
fn losses_against_the_stream_of_data_are_hardly_seen() {
    for (workload, fault) in [("ddr", "receive-pktloss"), ("ddw", "send-pktloss")] {
        let run = run(workload, fault);
        let (calm, disturbed) = (run.servers("throughput", CALM), run.servers("throughput", DISTURBED));
        assert!(disturbed[0] > 0.95 * calm[0], "{workload}");
        let (third, least, most) = apart(&run.windows(workload == "ddw", DISTURBED));
        assert!(third > 0.75 * least && third < 1.6 * most, "{workload}: {least}..{most}, {third}");
    }
}

#[test]
fn acknowledgements_of_a_lossy_server_hold_while_those_of_others_fall() {
    let run = run("ddw", "receive-pktloss");
    let (third, _, most) = apart(&run.servers("txbyt", DISTURBED));
    assert!(third > 1.4 * most, "{third} {most}");
}

#[test]
fn acknowledgements_of_a_network_hog_are_buried_in_large_writes() {
    let run = run("ddw", "read-network-hog");
    let (third, _, most) = apart(&run.servers("rxbyt", DISTURBED));
    assert!(third < 1.2 * most, "{third} {most}");
    let (third, _, most) = apart(&run.servers("rxpck", DISTURBED));
    assert!(third > 1.3 * most, "{third} {most}");
}

#[test]
fn metadata_loads_one_server_with_more_packets_than_others() {
    let packets = run("postmark", "none").servers("rxpck", DISTURBED);
    let (least, most) = packets.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), &p| (l.min(p), m.max(p)));
    assert!(most > 1.4 * least, "{packets:?}");
}

#[test]
fn a_write_back_cache_answers_early_and_works_in_bursts() {
    let run = run_with(&["workload=iozonew", "cache=buffered", "seconds=60"]);
    let (received, written) = (run.servers("rxbyt", (2, 5)), run.servers("throughput", (2, 5)));
    assert!(received.iter().sum::<f64>() > 1.1 * written.iter().sum::<f64>(), "{received:?} {written:?}");
}
