//! Properties of every run of the test bench.

use laggard_core::model::cluster::ClusterFile;
use laggard_core::samples::RawTable;

use super::Testbench;
use crate::simulate::settings::{SettingError, pair};
use laggard_core::diagnosis::label;

fn scenario(settings: &[&str], seed: u64) -> Result<Testbench, SettingError> {
    let pairs: Vec<_> = settings.iter().map(|text| pair(text).unwrap()).collect();
    Testbench::parse(&pairs, seed)
}

fn tables(settings: &[&str], seed: u64) -> Vec<(String, RawTable)> {
    let mut tables = Vec::new();
    scenario(settings, seed).unwrap().run(&mut |host, table| tables.push((host.into(), table.clone())));
    tables
}

#[test]
fn the_same_seed_gives_the_same_counters_and_another_one_others() {
    for workload in ["workload=ddw", "workload=postmark"] {
        let settings = [workload, "seconds=30", "fault=receive-pktloss"];
        assert!(tables(&settings, 1) == tables(&settings, 1));
        assert!(tables(&settings, 1) != tables(&settings, 2));
    }
}

#[test]
fn every_host_has_its_tables() {
    let tables = tables(&["seconds=20", "servers=3", "clients=2", "nuisances=no"], 1);
    let named: Vec<String> = tables
        .iter()
        .map(|(host, table)| format!("{host} {} {}", table.schema().name, table.len()))
        .collect();
    assert_eq!(
        named[..5],
        ["oss1 disk 21", "oss1 net 21", "oss1 tcp 21", "oss1 pressure 21", "oss1 link 42"]
    );
    assert_eq!(
        named[15..],
        [
            "client1 net 21",
            "client1 tcp 21",
            "client1 pressure 21",
            "client1 link 63",
            "client2 net 21",
            "client2 tcp 21",
            "client2 pressure 21",
            "client2 link 63"
        ]
    );
}

#[test]
fn the_label_names_the_disturbed_server_and_its_time() {
    let scenario = scenario(&["fault=write-network-hog", "faulty=oss4"], 1).unwrap();
    let labels = label::csv(&scenario.labels());
    let line = "oss4,2026-11-15T12:02:00Z,2026-11-15T12:07:00Z,network-hog";
    assert_eq!(labels.lines().nth(1), Some(line));
    assert_eq!(Testbench { fault: None, ..scenario }.labels(), []);
}

#[test]
fn wrong_settings_are_told() {
    let problem = |setting: &str| scenario(&[setting], 1).unwrap_err().to_string();
    assert_eq!(problem("faulty=oss11"), "faulty=oss11: expected a server from oss1 to oss10");
    assert_eq!(problem("every=150ms"), "every=150ms: expected a multiple of 100ms");
    assert!(problem("fault=fire").contains("one of none, disk-hog, disk-busy"));
    assert!(problem("server=3").contains("it has fault, workload"));
}

#[test]
fn the_cluster_file_puts_every_component_into_a_group_of_its_kind_and_side() {
    use laggard_core::model::cluster::{Inventory, Recorded};
    let recorded: Vec<Recorded> = tables(&["seconds=10"], 1)
        .iter()
        .flat_map(|(host, table)| {
            let kind = table.schema().kind.clone();
            let recorded = move |name: &std::sync::Arc<str>| Recorded {
                name: name.to_string(),
                kind: kind.clone(),
                host: host.clone(),
            };
            table.names().iter().map(recorded)
        })
        .collect();
    let file = scenario(&[], 1).unwrap().cluster_file();
    let inventory = Inventory::new(&ClusterFile::parse(&file.to_toml()).unwrap(), &recorded);
    let groups: Vec<String> =
        inventory.groups.iter().map(|group| format!("{} {}", group.name, group.members.len())).collect();
    assert_eq!(
        groups,
        [
            "attachment cohort=servers 10",
            "client cohort=clients 10",
            "link cohort=to-clients 100",
            "link cohort=to-servers 100",
            "nic cohort=clients 10",
            "nic cohort=servers 10",
            "server cohort=servers 10"
        ]
    );
    assert_eq!((inventory.unruled.len(), inventory.unmatched.len()), (0, 0));
}

#[test]
fn another_run_on_the_same_bench_has_other_counters() {
    let of_run = |run: &str| tables(&["seconds=30", "workload=ddr", run], 1);
    assert!(of_run("run=1") == tables(&["seconds=30", "workload=ddr"], 1));
    assert!(of_run("run=1") != of_run("run=2"));
}
