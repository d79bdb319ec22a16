//! Verifiable work, and campaigns on a lab of this machine. Campaigns need root, FUSE, loop devices and GlusterFS; what
//! is missing is printed.
#![allow(clippy::unwrap_used)]

#[path = "campaigning/ending.rs"]
mod ending;
#[path = "campaigning/killing.rs"]
mod killing;
#[path = "campaigning/plain.rs"]
mod plain;
mod support;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::lab::{can_be, turn};
use support::{command, errors, laggard, prints, text};

#[test]
fn written_files_are_verified_and_damage_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (work, manifest) = (folder.path().join("w"), folder.path().join("m.json"));
    let (work, manifest) = (text(&work), text(&manifest));
    prints(&["work", "write", "--dir", work, "--manifest", manifest, "--files", "20", "--size", "1k..40k"]);
    let verify = ["work", "verify", "--dir", work, "--manifest", manifest];
    assert_eq!(prints(&verify), "ok: 20 of 20 files are ok\n");
    let path = Path::new(work).join("d0/f7");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[10] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    std::fs::remove_file(Path::new(work).join("d0/f8")).unwrap();
    let output = laggard(&[&verify[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((reported["outcome"].as_str(), reported["errno"].as_i64()), (Some("corrupt"), Some(2)));
    assert_eq!(reported["tally"]["ok"], 18);
    let output = laggard(&["work", "verify", "--dir", work, "--manifest", "/no/such/file"]);
    assert_eq!(output.status.code(), Some(2));
    let output = laggard(&["work", "write", "--dir", work, "--manifest", manifest, "--size", "9k..1k"]);
    assert!(errors(&output).contains("write the smaller size first"), "{}", errors(&output));
}

/// Three servers, one client, few and small files; fsck never ends.
const SMALL: &str = r#"
[campaign]
name = "t"
seed = 3
[lab]
name = "t-campaign"
servers = { count = 3, prefix = "s" }
clients = { count = 1, prefix = "c" }
redundancy = 1
disk = { flavour = "flash", size_mib = 320, bandwidth_mb_per_second = 100.0 }
[target]
adapter = "gluster-dispersed"
[workload.init]
cmd = "laggard work write --dir {mnt}/v --files 12 --size 4k..64k --manifest {out}/m.json --seed {seed}"
timeout = "1m"
[check.read]
cmd = "laggard work verify --dir {mnt}/v --manifest {out}/m.json"
timeout = "1m"
[fsck]
run = "sleep inf"
delay = "2s"
timeout = "2s"
[[fault]]
id = "lost"
model = "dev-fail"
ttl = "5m"
[matrix]
nodes = { ONE = ["s2"] }
faults = ["lost"]
[timeouts]
term_grace = "1s"
kill_grace = "5s"
"#;

fn file(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("c.toml");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_plan_warns_of_warm_caches_and_mistakes_are_reported_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), SMALL);
    let plan = prints(&["campaign", "plan", text(&path)]);
    assert!(plan.contains("lost/ONE/1") && plan.contains("nothing outside the lab t-campaign"), "{plan}");
    assert!(!plan.contains("caches and is not reliable"), "{plan}");
    let warm = SMALL.replacen("timeout = \"1m\"\n[fsck]", "timeout = \"1m\"\nfresh_mount = false\n[fsck]", 1);
    let path = file(folder.path(), &warm);
    let plan = prints(&["campaign", "plan", text(&path)]);
    assert!(plan.contains("check.read: an ok may come from caches and is not reliable"), "{plan}");
    let path = file(folder.path(), &SMALL.replace("ONE = [\"s2\"]", "ONE = [\"s7\"]"));
    let output = laggard(&["campaign", "plan", text(&path)]);
    assert_eq!(output.status.code(), Some(2));
    let reported = errors(&output);
    assert!(reported.contains("c.toml: line 28: matrix.nodes.ONE: there is no node \"s7\""), "{reported}");
}

/// Removes a lab of that name that a killed test, or this one, has left.
struct NoLab(&'static str);

impl NoLab {
    fn is_up(&self) -> bool {
        Path::new("/run/laggard-lab").join(self.0).exists()
    }
}

impl Drop for NoLab {
    fn drop(&mut self) {
        if self.is_up() {
            laggard(&["inject", "recover"]);
            laggard(&["lab", "down", self.0]);
        }
    }
}

/// A campaign file, and where its runs go.
struct Ready {
    path: PathBuf,
    out: PathBuf,
    no_lab: NoLab,
    folder: tempfile::TempDir,
    _turn: std::fs::File,
}

/// Everything for a campaign on the lab `t-campaign`; none if this machine cannot run a lab.
fn ready(campaign: &str) -> Option<Ready> {
    let turn = turn();
    if !can_be() {
        return None;
    }
    drop(NoLab("t-campaign"));
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (file(folder.path(), campaign), folder.path().join("runs"));
    Some(Ready { path, out, no_lab: NoLab("t-campaign"), folder, _turn: turn })
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_hanging_fsck_is_reported_and_the_case_continues_and_leaves_nothing() {
    let Some(Ready { path, out, no_lab, folder, _turn }) = ready(SMALL) else { return };
    let run = ["campaign", "run", text(&path), "-o", text(&out), "--resume"];
    let output = laggard(&run);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(!no_lab.is_up());
    let case = |row: &str| out.join("t-3/case").join(row).join("1");
    for row in ["control/none", "lost/ONE"] {
        let result = json(&case(row).join("result.json"));
        assert_eq!(result["fsck"]["outcome"], "hang", "{row}: {result}");
        // One of three disks may be lost: all files can be read with the fault and after the revert.
        assert_eq!(result["checks"]["read"]["outcome"], "ok", "{row}: {result}");
        assert_eq!(result["reverted"]["outcome"], "ok", "{row}: {result}");
        assert_eq!(result["dirty"], Value::Array(vec![]), "{row}: {result}");
        let ends = std::fs::read_to_string(case(row).join("case.jsonl")).unwrap();
        assert!(ends.lines().last().unwrap().contains("CLEAN"), "{ends}");
    }
    let errors_of = |phase: &str| {
        let log = case("lost/ONE").join("logs").join(phase).join("s2/kmsg.log");
        std::fs::read_to_string(log).unwrap_or_default().matches("I/O error").count()
    };
    assert!(errors_of("init") == 0 && errors_of("observe") + errors_of("check") > 0);

    let index = std::fs::read_to_string(case("lost/ONE").join("logs/index.jsonl")).unwrap();
    let piece: Value = serde_json::from_str(index.lines().next().unwrap()).unwrap();
    assert!(piece["first_ts"].as_str().unwrap() <= piece["last_ts"].as_str().unwrap(), "{piece}");

    let again = laggard(&run);
    assert!(errors(&again).contains("0 cases run, 2 finished before"), "{}", errors(&again));
    let other = folder.path().join("other");
    prints(&["campaign", "run", text(&path), "-o", text(&other), "--case", "no-such-case"]);
    let schedule = |out: &Path| std::fs::read(out.join("t-3/schedule.json")).unwrap();
    assert_eq!(schedule(&out), schedule(&other));

    let run = out.join("t-3");
    let report: Value = serde_json::from_str(&prints(&["campaign", "report", text(&run), "--json"])).unwrap();
    assert_eq!(report["rows"][1]["verdict"][0][0], "survived", "{report}");
    assert_eq!(report["rows"][1]["logs"][0][0], "located", "{report}");
    let page = prints(&["campaign", "report", text(&run), "--html"]);
    assert!(page.contains("hang 1/1") && !page.contains("<script") && !page.contains("http://"), "{page}");
    assert!(
        prints(&["campaign", "report", text(&run), "--md"]).contains("| ONE (1) | lost | **hang 1/1** |")
    );
}

#[test]
fn an_interrupted_campaign_reverts_its_fault() {
    let patient = SMALL.replace("delay = \"2s\"", "delay = \"60s\"");
    let Some(ready) = ready(&patient) else { return };
    let out = &ready.out;
    let arguments = ["campaign", "run", text(&ready.path), "-o", text(out), "--case", "lost"];
    let mut run = command(&arguments).stderr(std::process::Stdio::null()).spawn().unwrap();
    let journal = out.join("t-3/case/lost/ONE/1/case.jsonl");
    let begin = Instant::now();
    while !std::fs::read_to_string(&journal).unwrap_or_default().contains("\"phase\":\"observe\"") {
        assert!(begin.elapsed() < Duration::from_secs(120), "no fault in two minutes");
        std::thread::sleep(Duration::from_millis(50));
    }
    let number = rustix::process::Pid::from_raw(run.id() as i32).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(2));
    assert!(!ready.no_lab.is_up());
    let status = prints(&["inject", "status"]);
    assert!(!status.contains("dev-fail"), "{status}");
    assert!(!out.join("t-3/case/lost/ONE/1/result.json").exists());
}

#[test]
fn a_node_without_the_marker_is_refused_before_anything_is_done() {
    // A fault that another test has not reverted yet would be refused first.
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (before, rest) = SMALL.split_once("[lab]").unwrap();
    let (_, rest) = rest.split_once("[target]").unwrap();
    let brick = folder.path().join("brick");
    std::fs::create_dir(&brick).unwrap();
    let node = |name: &str, role: &str| {
        format!("[[node]]\nname = '{name}'\nrole = '{role}'\nexec = 'local'\nbrick = '{}'\n", text(&brick))
    };
    let nodes = format!("{}{}", node("s2", "storage"), node("c1", "client"));
    let campaign =
        format!("{before}[target]{rest}{nodes}[safety]\nrequire_marker = '.test-me'\nforbid = ['DEVICE']\n");
    let out = folder.path().join("runs");
    let run = |campaign: &str| {
        let path = file(folder.path(), campaign);
        let output = laggard(&["campaign", "run", text(&path), "-o", text(&out), "--case", "lost"]);
        assert_eq!(output.status.code(), Some(2));
        std::fs::remove_dir_all(&out).unwrap();
        errors(&output)
    };
    let reported = run(&campaign.replace("DEVICE", "/dev/no-such"));
    assert!(
        reported.contains("refused: s2: the marker") && reported.contains("brick/.test-me is missing"),
        "{reported}"
    );
    std::fs::write(brick.join(".test-me"), "").unwrap();
    let device =
        std::process::Command::new("findmnt").args(["-no", "SOURCE", "--target", text(&brick)]).output();
    let device = String::from_utf8(device.unwrap().stdout).unwrap().trim().to_owned();
    if device.starts_with('/') {
        let reported = run(&campaign.replace("DEVICE", &device));
        assert!(reported.contains(&format!("is on {device}, which safety.forbid names")), "{reported}");
    }
}

#[test]
fn every_example_can_be_planned() {
    let folder = support::workspace().join("examples");
    let names = support::files(&folder, "campaign.toml");
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        assert!(
            prints(&["campaign", "plan", text(&folder.join(&name))]).contains("What could be affected"),
            "{name}"
        );
    }
}

/// One disk of three is lost: with two copies of each chunk all files can be read, and the check of MooseFS reports chunks
/// with one copy.
#[test]
fn moosefs_survives_a_lost_disk_and_reports_missing_copies() {
    let _turn = turn();
    drop(NoLab("moosefs"));
    let no_lab = NoLab("moosefs");
    let (folder, example) =
        (tempfile::tempdir().unwrap(), support::workspace().join("examples/moosefs-campaign.toml"));
    let words = ["--repeat", "1", "--case", "a-DevFail", "-o", text(folder.path())];
    let output = laggard(&[&["campaign", "run", text(&example)], &words[..]].concat());
    if output.status.code() == Some(3) {
        return support::left_out(&errors(&output));
    }
    assert!(output.status.success(), "{}", errors(&output));
    assert!(!no_lab.is_up());
    let result = json(&folder.path().join("moosefs-8/case/a-DevFail/ONE/1/result.json"));
    assert_eq!(
        (&result["fsck0"]["note"], &result["fsck"]["note"]),
        (&Value::Null, &Value::from("degraded")),
        "{result}"
    );
    for check in ["read", "write_sync"] {
        assert_eq!(result["checks"][check]["outcome"], "ok", "{result}");
    }
    assert_eq!(
        (&result["reverted"]["outcome"], &result["dirty"]),
        (&Value::from("ok"), &Value::Array(vec![])),
        "{result}"
    );
}
