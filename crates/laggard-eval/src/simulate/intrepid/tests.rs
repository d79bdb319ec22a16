//! Properties of the Intrepid model, checked by counters only.

use std::collections::BTreeMap;

use laggard_core::samples::RawTable;

use super::{Day, IntrepidDay, Study};
use crate::simulate::settings::pair;
use laggard_core::diagnosis::label;

/// Reads and writes, and their time in ms, of every attachment between two samples; how many samples it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Activity {
    requests: u64,
    ms: u64,
    samples: u64,
}

impl Activity {
    fn wait_ms(&self) -> f64 {
        self.ms as f64 / self.requests.max(1) as f64
    }
}

fn day(settings: &[&str], seed: u64) -> IntrepidDay {
    let pairs: Vec<_> =
        ["every=60s", "nuisances=no"].iter().chain(settings).map(|text| pair(text).unwrap()).collect();
    IntrepidDay::parse(&pairs, seed).unwrap()
}

type Hours = (i64, i64);

/// Metrics of each attachment between two hours.
fn seen(day: &Day, hours: Hours) -> BTreeMap<String, Activity> {
    let [seen, _] = seen_twice(day, [hours, (0, 0)]);
    seen
}

/// The same for two stretches.
fn seen_twice(day: &Day, stretches: [Hours; 2]) -> [BTreeMap<String, Activity>; 2] {
    let mut seen = [BTreeMap::new(), BTreeMap::new()];
    for host in 0..day.hosts().count() {
        day.rows(host, &mut |table: RawTable| {
            for (seen, hours) in seen.iter_mut().zip(stretches) {
                look(&table, day.date().micros(), hours, seen);
            }
        });
    }
    seen
}

fn look(table: &RawTable, date: i64, (from, to): Hours, seen: &mut BTreeMap<String, Activity>) {
    let columns = [0, 4, 3, 7].map(|column| table.counts(column).unwrap());
    let mut before = vec![None; table.names().len()];
    let mut found = vec![Activity::default(); table.names().len()];
    for row in 0..table.len() {
        if !(from..to).contains(&(table.time[row] - date).div_euclid(3_600_000_000)) {
            continue;
        }
        let component = table.component[row] as usize;
        let counts = columns.map(|column| column[row]);
        if let Some(old) = before[component].replace(counts) {
            let grown = |column: usize| counts[column] - old[column];
            found[component].requests += grown(0) + grown(1);
            found[component].ms += grown(2) + grown(3);
        }
        found[component].samples += 1;
    }
    for (name, found) in table.names().iter().zip(found).filter(|(_, found)| found.samples > 0) {
        let entry: &mut Activity = seen.entry(name.to_string()).or_default();
        entry.requests += found.requests;
        entry.ms += found.ms;
        entry.samples += found.samples;
    }
}

#[test]
fn there_are_as_many_attachments_as_in_the_paper() {
    assert_eq!(seen(&day(&["groups=2"], 1).day(), (3, 4)).len(), 1152);
    let rules = |groups: &str| day(&[groups], 1).cluster_file().rules.len();
    assert_eq!((rules("groups=4"), rules("groups=16")), (2304, 9216));
}

#[test]
fn primaries_carry_the_load_and_are_alike() {
    let seen = seen(&day(&["groups=4"], 1).day(), (0, 24));
    let primary = &seen["fs1:ddn6_lun000"];
    let secondary = &seen["fs2:ddn6_lun000"];
    assert!(primary.requests > 20 * secondary.requests, "{primary:?} {secondary:?}");
    let peer = &seen["fs20:ddn8_lun003"];
    assert!((primary.requests as f64 / peer.requests as f64 - 1.0).abs() < 0.1);
    assert!((primary.wait_ms() / peer.wait_ms() - 1.0).abs() < 0.5, "{primary:?} {peer:?}");
}

/// The day's event begins by 10 o'clock; the first label, and what is seen before and after.
fn before_and_after(event: &str) -> (String, BTreeMap<String, Activity>, BTreeMap<String, Activity>) {
    let scenario = day(&["groups=4", &format!("event={event}")], 5);
    let component = scenario.labels()[0].component.clone();
    let [before, after] = seen_twice(&scenario.day(), [(0, 6), (11, 24)]);
    (component, before, after)
}

/// How many attachments of those that `of` chooses have samples and carry a load.
fn carrying(seen: &BTreeMap<String, Activity>, of: impl Fn(&str) -> bool) -> (usize, usize) {
    let chosen = || seen.iter().filter(|(name, _)| of(name));
    (chosen().count(), chosen().filter(|(_, seen)| seen.requests > 500).count())
}

#[test]
fn a_failed_controller_takes_devices_away_and_moves_the_load_to_secondaries() {
    let (component, before, after) = before_and_after("controller-failure");
    let array = format!(":{}_", &component[..component.len() - 1]);
    let of_array = |name: &str| name.contains(&array);
    assert_eq!(carrying(&before, of_array), (144, 72));
    assert_eq!(carrying(&after, of_array), (72, 72));
}

#[test]
fn a_server_that_is_down_records_nothing_and_its_neighbour_carries_more() {
    let (component, before, after) = before_and_after("server-down");
    let of_server = |name: &str| name.starts_with(&format!("{component}:"));
    assert_eq!(carrying(&before, of_server), (18, 9));
    assert_eq!(carrying(&after, of_server), (0, 0));
    let carried = |seen| carrying(seen, |_| true).1;
    assert_eq!((carried(&before), carried(&after)), (1152, 1152));
}

#[test]
fn a_bad_state_leaves_devices_with_nothing_to_do() {
    let (component, _, after) = before_and_after("bad-state");
    let of_server = |name: &str| name.starts_with(&format!("{component}:"));
    assert_eq!(carrying(&after, of_server), (18, 0));
}

#[test]
fn a_slow_lun_is_slower_than_its_peers_all_the_time() {
    let (component, before, after) = before_and_after("slow-lun");
    let (was, is) = (before[&component].wait_ms(), after[&component].wait_ms());
    let mut others: Vec<f64> = after.values().filter(|s| s.requests > 500).map(Activity::wait_ms).collect();
    others.sort_by(f64::total_cmp);
    let median = others[others.len() / 2];
    assert!(is > 1.35 * median && was < 1.6 * median, "{was} {is} {median}");
}

#[test]
fn errors_of_a_drawer_make_many_luns_of_one_array_wait() {
    let scenario = day(&["groups=1", "event=drawer-errors"], 5);
    let label = &scenario.labels()[0];
    let hour = (label.begin.micros() - scenario.date.micros()) / 3_600_000_000 + 1;
    let during = seen(&scenario.day(), (hour, hour + 3));
    let of_array = |name: &str| name.contains(&format!(":{}_", label.component));
    let slow = |chosen: bool| {
        during.iter().filter(|(name, seen)| of_array(name) == chosen && seen.wait_ms() > 30.0).count()
    };
    assert!(slow(true) > 5 && slow(false) < 3, "{} {}", slow(true), slow(false));
}

#[test]
fn the_study_has_the_events_of_the_tables() {
    let study = Study::parse(&[], 1).unwrap();
    let labels = label::csv(&study.labels());
    for line in [
        "ddn19a,2011-07-14T00:00:00Z,2011-08-08T19:12:00Z,controller-trouble",
        "fs25,2011-09-11T03:22:00Z,2011-09-12T14:58:00Z,server-down",
        "fs49,2011-05-18T00:35:00Z,2011-07-06T21:57:00Z,lost-attachment",
        "ddn12,2011-05-17T20:30:00Z,2011-05-18T00:24:00Z,array-jitter",
        "fs124:ddn21_lun034,2012-06-25T16:00:00Z,2012-07-02T06:24:00Z,slow-lun",
    ] {
        assert!(labels.lines().any(|found| found == line), "{line}\n{labels}");
    }
    let faults = labels.lines().filter(|line| !line.ends_with("workload-skew")).count() - 1;
    assert_eq!(faults, 10 + 5 + 6 + 4 + 5);
}

#[test]
fn a_day_is_the_same_alone_and_in_the_study() {
    let study = Study::parse(&[pair("every=60s").unwrap(), pair("groups=1").unwrap()], 3).unwrap();
    let pairs = ["every=60s", "groups=1", "date=2011-04-20"].map(|text| pair(text).unwrap());
    let alone = IntrepidDay::parse(&pairs, 3).unwrap().day();
    let of_study = study.day(7);
    let rows = |day: &Day| {
        let mut tables = Vec::new();
        day.rows(9, &mut |table| tables.push(table));
        tables
    };
    assert_eq!(alone.date(), of_study.date());
    assert!(rows(&alone) == rows(&of_study));
}

#[test]
fn some_days_of_the_study_have_the_labels_that_touch_them() {
    let settings = ["from=2011-06-20", "days=1"].map(|text| pair(text).unwrap());
    let study = Study::parse(&settings, 1).unwrap();
    let labels = study.labels();
    let named: Vec<&str> = labels.iter().map(|label| label.component.as_str()).collect();
    assert!(named.contains(&"fs78:ddn15_lun037") && named.contains(&"ddn12"), "{named:?}");
    assert!(!named.contains(&"ddn19a"), "{named:?}");
    assert_eq!(study.day(0).date().to_string(), "2011-06-20T00:00:00Z");
    assert!(Study::parse(&[pair("from=2013-01-01").unwrap()], 1).is_err());
}

#[test]
fn what_is_there_on_any_day_is_told_apart_from_events() {
    let (date, seed) = ("date=2011-05-10", 1);
    let ordinary = day(&[date], seed).day().ordinary();
    let hours = |label: &label::Label| (label.end - label.begin).micros() / 3_600_000_000;
    // 768 old LUNs, each with a spell every four days.
    assert!((150..240).contains(&ordinary.len()), "{}", ordinary.len());
    assert!(ordinary.iter().all(|label| hours(label) == 0 && label.component.contains(":ddn")));
    assert_eq!(day(&[date, "event=slow-lun"], seed).day().ordinary(), ordinary);
}
