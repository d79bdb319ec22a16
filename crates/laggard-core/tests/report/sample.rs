//! Small reports made by hand, for golden files and for looking at the page.

use laggard_core::diagnosis::detection_limit::{DetectionLimit, Pattern};
use laggard_core::diagnosis::{
    Alternative, Cause, Comparison, Evidence, HeatMap, Mark, Named, Node, Pictures, Suspect,
};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::{Group, Remark, Report, SCHEMA};

/// 2026-11-15T08:00:00Z, when all samples begin.
pub(crate) const START: Timestamp = Timestamp::from_seconds(1_794_729_600);
const MINUTE: Span = Span::from_seconds(60);
const MINUTES: usize = 270;
/// The minute from which the culprits are slow.
const ONSET: usize = 140;

fn after(minutes: usize) -> Timestamp {
    START + MINUTE * minutes as i64
}

fn named(kind: &str, name: &str) -> Named {
    Named::new(Kind::from(kind), name)
}

/// A number from -1 to 1 that only seems to be random.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491;
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 40) as f64 / (1u64 << 23) as f64) - 1.0
}

/// Up and down between -1 and 1, every 240 steps.
fn wave(k: usize) -> f64 {
    (k % 240).abs_diff(120) as f64 / 60.0 - 1.0
}

/// An empty report over the sample's time.
fn empty() -> Report {
    Report {
        schema: SCHEMA,
        method: "laggard".into(),
        from: Some(START),
        to: Some(after(MINUTES)),
        suspects: Vec::new(),
        groups: Vec::new(),
        observations: Vec::new(),
        left_out: Vec::new(),
        warnings: Vec::new(),
        detection_limits: Vec::new(),
        timings: None,
        pictures: Pictures::default(),
    }
}

fn group(name: &str, kind: &str, members: usize, note: &str) -> Group {
    Group {
        name: name.into(),
        kind: Kind::from(kind),
        members,
        active: members,
        is_evaluated: members >= 3,
        note: note.into(),
    }
}

/// A metric of a component that becomes `times` as large as its peers' at the onset.
fn comparison(
    component: &str,
    metric: &'static str,
    unit: &'static str,
    usual: f64,
    times: f64,
) -> Comparison {
    let base = |k: usize| usual * (1.0 + 0.25 * wave(k) + 0.06 * noise(k));
    let own = |k: usize| match k {
        60..75 => f64::NAN,
        k if k < ONSET => base(k) * (1.0 + 0.12 * noise(k + 9000)),
        k => base(k) * (times + 0.35 * times.min(3.0) * noise(k + 7000)).max(0.05),
    };
    let series = |value: &dyn Fn(usize) -> f64| (0..=MINUTES).map(value).collect();
    let scores = (1..=MINUTES / 10).map(|k| {
        let excess = if 10 * k > ONSET { 4.0 * times.max(1.0 / times).sqrt() } else { 0.0 };
        (after(10 * k), (1.0 + 0.8 * noise(k + 50)).abs() + excess, 3.5)
    });
    Comparison {
        component: component.into(),
        metric: id(metric),
        unit,
        start: START,
        step: MINUTE,
        own: series(&own),
        median: series(&base),
        low: series(&|k| base(k) * (0.82 + 0.05 * noise(k + 300))),
        high: series(&|k| base(k) * (1.22 + 0.06 * noise(k + 600))),
        scores: scores.collect(),
    }
}

fn heat(rows: &[(&str, f64)]) -> HeatMap {
    let columns = MINUTES / 10;
    let cell = |row: usize, column: usize, times: f64| match (row, column) {
        (_, 6..8) if row == 0 => f32::NAN,
        (_, column) if column * 10 >= ONSET && times > 1.0 => {
            (times * (1.0 + 0.3 * noise(column + 31))) as f32
        }
        _ => (0.35 + 0.3 * noise(row * 997 + column)).abs() as f32,
    };
    HeatMap {
        rows: rows.iter().map(|(name, _)| (*name).into()).collect(),
        edges: (0..=columns).map(|k| after(10 * k)).collect(),
        cells: rows
            .iter()
            .enumerate()
            .flat_map(|(row, (_, times))| (0..columns).map(move |column| cell(row, column, *times)))
            .collect(),
        left_out: 0,
    }
}

fn node(kind: &str, name: &str, mark: Mark, parts: Vec<Node>, others: usize) -> Node {
    Node { component: named(kind, name), mark, parts, others }
}

fn id(metric: &str) -> MetricId {
    Metric::named(metric).expect("a metric of the registry").id
}

fn evidence(
    component: &str,
    metric: (&'static str, &'static str),
    values: (Option<f64>, Option<f64>),
    score: f64,
    windows: usize,
) -> Evidence {
    let (metric, unit) = metric;
    Evidence {
        component: component.into(),
        metric: id(metric),
        unit,
        value: values.0,
        peers: values.1,
        score,
        windows,
        components: 1,
        held: 1,
    }
}

fn slow_disk() -> Suspect {
    let of = |metric, value, peers, score, windows| {
        evidence("oss3:sdb", metric, (Some(value), Some(peers)), score, windows)
    };
    Suspect {
        component: named("attachment", "oss3:sdb"),
        cause: Cause::DiskBusy,
        confidence: 0.82,
        support: None,
        severity: 4.1,
        peer_count: 11,
        persistence: 38.0,
        since: after(ONSET),
        until: after(MINUTES),
        is_ongoing: true,
        is_from_begin: false,
        usual_ratio: None,
        since_uncertainty_seconds: 60.0,
        until_uncertainty_seconds: 0.0,
        step: Span::from_seconds(60),
        other_times: Vec::new(),
        explains: vec!["oss3:sdb".into()],
        evidence: vec![
            of(("await", "ms"), 41.23, 10.06, 9.31, 38),
            of(("svctm", "ms"), 7.9, 2.1, 8.7, 37),
            of(("%util", "%"), 98.7, 41.2, 6.02, 35),
            of(("throughput", "B/s"), 61.4e6, 88.9e6, 4.4, 12),
        ],
        alternatives: vec![Alternative {
            cause: Cause::DiskHog,
            confidence: 0.12,
            because: "a hog would raise the device's throughput above its peers', and it is below".into(),
        }],
        summary: "Requests take four times as long at a lower throughput, and only on this disk of oss3."
            .into(),
        next: vec![
            "smartctl -a /dev/sdb on oss3: reallocated or pending sectors, media errors".into(),
            "dmesg on oss3 since 10:20 UTC: resets and timeouts of sdb".into(),
            "the RAID behind it: is it rebuilding or verifying?".into(),
        ],
    }
}

const DISKS: [&str; 12] = [
    "oss3:sdb", "oss1:sda", "oss1:sdb", "oss1:sdc", "oss2:sda", "oss2:sdb", "oss2:sdc", "oss3:sda",
    "oss3:sdc", "oss4:sda", "oss4:sdb", "oss4:sdc",
];

fn servers(culprit: &str) -> Vec<Node> {
    let disk = |host: usize, letter: char| {
        let name = format!("oss{host}:sd{letter}");
        let mark = if name == culprit { Mark::Suspect } else { Mark::Unremarkable };
        node("attachment", &name, mark, Vec::new(), 0)
    };
    let server = |host: usize| {
        let disks = ['a', 'b', 'c'].into_iter().map(|letter| disk(host, letter)).collect();
        node("server", &format!("oss{host}"), Mark::Unremarkable, disks, 0)
    };
    (1..=4).map(server).collect()
}

/// One slow disk among twelve.
pub(crate) fn one_suspect() -> Report {
    let rows: Vec<(&str, f64)> =
        DISKS.into_iter().map(|name| (name, if name == "oss3:sdb" { 2.7 } else { 1.0 })).collect();
    let pictures = vec![
        comparison("oss3:sdb", "await", "ms", 10.0, 4.1),
        comparison("oss3:sdb", "svctm", "ms", 2.1, 3.8),
        comparison("oss3:sdb", "throughput", "B/s", 88.9e6, 0.69),
    ];
    Report {
        suspects: vec![slow_disk()],
        groups: vec![
            group("attachment", "attachment", 12, ""),
            group("server", "server", 4, ""),
            group("client", "client", 2, "a comparison needs at least 3 peers"),
        ],
        observations: Vec::new(),
        left_out: Vec::new(),
        warnings: vec![Remark {
            text: "the recording has 1 gap".into(),
            next: "`laggard tables DATASET --json` lists the gaps".into(),
        }],
        pictures: Pictures { suspects: vec![pictures], heat: heat(&rows), topology: servers("oss3:sdb") },
        ..empty()
    }
}

fn bad_controller(luns: &[String]) -> Suspect {
    Suspect {
        component: named("controller", "ddn3-b"),
        cause: Cause::ControllerTrouble,
        confidence: 0.93,
        severity: 12.4,
        peer_count: 0,
        persistence: 44.0,
        explains: luns.to_vec(),
        evidence: vec![
            evidence("ddn3-lun50", ("await", "ms"), (Some(1240.0), Some(99.8)), 41.7, 44),
            evidence("ddn3-lun51", ("await", "ms"), (Some(1190.0), Some(99.8)), 40.2, 44),
            evidence("ddn3-lun52", ("tps", "/s"), (Some(0.0), Some(1812.0)), 22.0, 40),
            evidence("ddn3-lun53", ("await", "ms"), (None, Some(99.8)), 20.0, 40),
        ],
        alternatives: Vec::new(),
        summary: "All 50 LUNs of one controller became slow within the same minute.".into(),
        next: vec!["the log and cache state of controller ddn3-b".into()],
        ..slow_disk()
    }
}

fn lossy_server() -> Suspect {
    Suspect {
        component: named("server", "fs7"),
        cause: Cause::PacketLoss,
        confidence: 0.71,
        severity: 2.3,
        peer_count: 7,
        persistence: 9.0,
        until: after(200),
        is_ongoing: false,
        is_from_begin: false,
        usual_ratio: None,
        other_times: Vec::new(),
        explains: vec!["fs7".into(), "fs7/eth0".into()],
        evidence: vec![evidence("fs7", ("retrans", "/s"), (Some(41.0), Some(0.2)), 7.9, 9)],
        summary: "Its segments are retransmitted far more often than its peers'.".into(),
        next: vec![
            "ethtool -S eth0 on fs7: CRC errors and drops".into(),
            "the switch port and cable of fs7".into(),
        ],
        alternatives: vec![Alternative { cause: Cause::NetworkHog, confidence: 0.2, because: String::new() }],
        ..slow_disk()
    }
}

fn array(luns: &[String]) -> Node {
    let lun = |name: &String| node("lun", name, Mark::Explained, Vec::new(), 0);
    let calm =
        (0..12).map(|k| node("lun", &format!("ddn3-lun{k}"), Mark::Unremarkable, Vec::new(), 0)).collect();
    let controllers = vec![
        node("controller", "ddn3-a", Mark::Unremarkable, calm, 38),
        node("controller", "ddn3-b", Mark::Suspect, luns.iter().map(lun).collect(), 0),
    ];
    node("array", "ddn3", Mark::Unremarkable, controllers, 0)
}

/// A controller that takes fifty LUNs down, and a server whose packets are lost.
pub(crate) fn two_suspects() -> Report {
    let luns: Vec<String> = (50..100).map(|k| format!("ddn3-lun{k}")).collect();
    let nic = node("nic", "fs7/eth0", Mark::Explained, Vec::new(), 0);
    let topology = vec![
        array(&luns),
        node("array", "ddn4", Mark::Unremarkable, Vec::new(), 100),
        node("server", "fs7", Mark::Suspect, vec![nic], 12),
    ];
    let rows: Vec<(String, f64)> =
        luns[..14].iter().map(|name| (name.clone(), 5.5)).chain([("fs7".into(), 1.9)]).collect();
    let mut rows: Vec<(&str, f64)> = rows.iter().map(|(name, times)| (name.as_str(), *times)).collect();
    rows.swap(10, 14);
    Report {
        suspects: vec![bad_controller(&luns), lossy_server()],
        groups: vec![group("lun, priority 1", "lun", 200, ""), group("server", "server", 8, "")],
        pictures: Pictures {
            suspects: vec![
                vec![comparison("ddn3-lun50", "await", "ms", 99.8, 12.4)],
                vec![comparison("fs7", "retrans", "/s", 0.2, 205.0)],
            ],
            heat: heat(&rows),
            topology,
        },
        ..empty()
    }
}

/// A healthy system.
pub(crate) fn healthy() -> Report {
    let rows: Vec<(&str, f64)> = DISKS.into_iter().map(|name| (name, 1.0)).collect();
    Report {
        groups: vec![group("attachment", "attachment", 12, ""), group("server", "server", 4, "")],
        pictures: Pictures { suspects: Vec::new(), heat: heat(&rows), topology: servers("") },
        ..empty()
    }
}

/// No suspects, and what would have been found.
pub(crate) fn healthy_with_limits() -> Report {
    let limit = |pattern, minutes: f64, is_whole, magnitude| DetectionLimit {
        pattern,
        duration_seconds: 60.0 * minutes,
        is_whole,
        magnitude,
        largest_tried: if pattern == Pattern::Stalls { 10.0 } else { 5.0 },
        trials: 10,
        found: if magnitude.is_some() { 9 } else { 4 },
        disks: 8,
        all_disks: 12,
    };
    let mut report = healthy();
    report.set_detection_limits(vec![
        limit(Pattern::Constant, 60.0, false, Some(2.0)),
        limit(Pattern::Constant, 270.0, true, Some(1.3)),
        limit(Pattern::Stalls, 60.0, false, Some(1.0)),
        limit(Pattern::Ramp, 60.0, false, None),
    ]);
    report
}

/// Too little to evaluate.
pub(crate) fn only_warnings() -> Report {
    Report {
        to: Some(after(4)),
        groups: vec![group("server", "server", 2, "a comparison needs at least 3 peers")],
        warnings: vec![
            Remark {
                text: "the only peer group has 2 members: a comparison needs at least 3".into(),
                next: "record at least 3 servers that share the work, or write a cluster file".into(),
            },
            Remark {
                text: "clocks of oss1 and oss2 are 41 s apart".into(),
                next: "check the time service of both".into(),
            },
        ],
        ..empty()
    }
}

/// Names that contain markup and terminal control sequences.
pub(crate) fn hostile() -> Report {
    let evil = "<script>alert(1)</script>\"'&\x1b[2J\u{202e}]]>";
    let mut report = one_suspect();
    let suspect = &mut report.suspects[0];
    suspect.component = named(evil, evil);
    suspect.explains = vec![evil.into(); 20];
    (suspect.summary, suspect.next) = (evil.into(), vec![evil.into(); 2]);
    suspect.alternatives[0].because = evil.into();
    suspect.evidence[0].component = evil.into();
    report.method = evil.into();
    report.groups[2] = group(evil, evil, 2, evil);
    report.warnings[0] = Remark { text: evil.into(), next: evil.into() };
    report.pictures.suspects[0][0].component = evil.into();
    report.pictures.heat.rows[0] = evil.into();
    report.pictures.topology[0] = node(evil, evil, Mark::Suspect, servers(evil), 3);
    report
}
