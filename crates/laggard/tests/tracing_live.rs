//! Recording on this host; needs root, tracefs, fio and GlusterFS, and reports what is missing.
//!
//! Asserts only properties that hold on any host, never speeds.
#![allow(clippy::unwrap_used)]

#[path = "tracing_live/gluster.rs"]
mod gluster;
#[path = "tracing_live/kernel.rs"]
mod kernel;
mod support;
#[path = "tracing_live/trace.rs"]
mod trace;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use gluster::Gluster;
use kernel::Kernel;
use laggard_trace::model::{Layer, MetaOp, Op};
use support::{command, errors, lab, laggard, left_out, prints, text};
use trace::Trace;

/// A lock: recordings share the kernel's probes and the host, so only one runs at a time.
fn exclusive() -> std::fs::File {
    let file = std::fs::File::create(std::env::temp_dir().join("laggard-trace-tests.lock")).unwrap();
    file.lock().unwrap();
    file
}

/// True if recording is possible here with these programs.
fn can_be(programs: &[&str]) -> bool {
    let output = laggard(&["trace", "doctor"]);
    if !output.status.success() {
        left_out(&format!("no recording on this machine: {}", errors(&output)));
        return false;
    }
    let is_there = |program: &&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).exists())
    };
    match programs.iter().find(|program| !is_there(program)) {
        Some(missing) => left_out(&format!("there is no {missing}")),
        None => return true,
    }
    false
}

/// A folder on a disk, where requests reach a block device.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// Records a command, which must succeed.
fn record(out: &Path, options: &[&str], words: &[&str]) -> Output {
    let before = ["trace", "record", "-o", text(out)];
    let output = laggard(&[&before[..], options, &["--"], words].concat());
    assert!(output.status.success(), "{words:?}: {}", errors(&output));
    output
}

fn analysed(path: &Path) -> serde_json::Value {
    let output = laggard(&["trace", "analyze", text(path), "--json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", errors(&output)))
}

/// Findings by severity; the severity depends on the host.
fn findings(path: &Path) -> Vec<String> {
    ids(&analysed(path))
}

fn ids(report: &serde_json::Value) -> Vec<String> {
    let found = report["findings"].as_array().unwrap().iter();
    found.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

/// fio on a file that exists already, so that the recording contains only reads.
fn fio(folder: &Path, options: &[&str]) -> Vec<String> {
    let folder = format!("--directory={}", text(folder));
    let all = ["fio", "--name=job", "--output-format=terse", "--size=16m", "--bs=64k", &folder];
    all.iter().chain(options).map(|word| (*word).to_owned()).collect()
}

fn lay_out(folder: &Path, options: &[&str]) {
    let words = fio(folder, &[options, &["--rw=write", "--ioengine=psync", "--end_fsync=1"]].concat());
    let status = std::process::Command::new(&words[0]).args(&words[1..]).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn the_c_librarys_aio_serves_one_descriptor_with_one_thread_and_others_do_not() {
    let _turn = exclusive();
    if !can_be(&["fio"]) {
        return;
    }
    let folder = folder();
    lay_out(folder.path(), &[]);
    let deep = ["--rw=randread", "--direct=1", "--iodepth=16", "--number_ios=250"];
    let play = |name: &str, options: &[&str]| {
        let out = folder.path().join(name);
        record(&out, &[], &words(&fio(folder.path(), &[&deep[..], options].concat())));
        (Trace::read(&out), out)
    };
    let (trace, out) = play("posixaio.ltr", &["--ioengine=posixaio"]);
    let (aio, sys) = (trace.requests(Layer::Aio, Op::Read), trace.requests(Layer::Sys, Op::Read));
    assert!(aio.len() >= 240, "{}", aio.len());
    assert!(trace::max_concurrency(&aio) >= 14, "{}", trace::max_concurrency(&aio));
    let own: Vec<_> = sys.into_iter().filter(|request| request.nbytes == 65536).collect();
    assert_eq!(trace::max_concurrency_per_descriptor(&own), 1);
    assert!(trace.linked_share(Layer::Sys, Layer::Aio) > 0.95);
    assert_eq!(findings(&out).first().map(String::as_str), Some("T01"));

    let (trace, out) = play("libaio.ltr", &["--ioengine=libaio"]);
    assert!(trace.requests(Layer::Aio, Op::Read).is_empty());
    assert!(trace::max_concurrency(&trace.requests(Layer::Blk, Op::Read)) >= 8);
    assert!(!findings(&out).contains(&"T01".into()));

    lay_out(folder.path(), &["--nrfiles=16"]);
    let (trace, out) = play("files.ltr", &["--ioengine=posixaio", "--nrfiles=16"]);
    let sys = trace.requests(Layer::Sys, Op::Read);
    assert!(trace::max_concurrency(&sys) >= 2, "{}", trace::max_concurrency(&sys));
    assert!(!findings(&out).contains(&"T01".into()));
}

#[test]
fn io_uring_has_its_bytes_and_its_queue_depth_and_is_not_blamed() {
    let _turn = exclusive();
    if !can_be(&["fio"]) {
        return;
    }
    let folder = folder();
    lay_out(folder.path(), &[]);
    let out = folder.path().join("uring.ltr");
    let deep = ["--rw=randread", "--direct=1", "--iodepth=16", "--number_ios=250", "--ioengine=io_uring"];
    let fio = fio(folder.path(), &deep);
    // Where io_uring is forbidden, fio fails.
    let alone = std::process::Command::new(&fio[0]).args(&fio[1..]).output().unwrap();
    if !alone.status.success() {
        return left_out(&format!("no io_uring: {}", errors(&alone)));
    }
    record(&out, &[], &words(&fio));
    let trace = Trace::read(&out);
    let ring = trace.requests(Layer::Uring, Op::Read);
    assert_eq!((ring.len(), trace::max_concurrency(&ring)), (250, 16));
    assert!(ring.iter().all(|request| request.offset == -1 && request.nbytes == 65536));
    let file = folder.path().join("job.0.0");
    // A file that is open for less than about 10 ms may be closed before it is looked up.
    assert!(ring[0].fd >= 0 && trace.path_of(&ring[0]).is_none_or(|path| path == text(&file)));
    assert!(trace.linked_share(Layer::Blk, Layer::Uring) > 0.95);
    let report = analysed(&out);
    let layer = |name: &str| report["layers"].as_array().unwrap().iter().find(|one| one["layer"] == name);
    let load = &layer("uring").expect("uring")["load"];
    assert_eq!((load["bytes"].as_u64(), load["requests"].as_u64()), (Some(250 * 65536), Some(250)));
    // How deep the queue is on average depends on the machine; what the trace contains does not.
    assert_eq!(load["concurrency"]["max"].as_u64(), Some(16));
    let (shown, expected) =
        (load["concurrency"]["busy_avg"].as_f64().unwrap(), trace::busy_concurrency(&ring));
    assert!((shown - expected).abs() < 0.01 * expected, "{shown} {expected}");
    assert!(layer("sys").is_none(), "system calls are not on the way");
    let found = ids(&report);
    assert!(!found.contains(&"T01".into()) && !found.contains(&"T22".into()), "{found:?}");
}

/// Sequential streams in one file, interleaved by a fixed rule, as a server reads a file for several clients.
fn interleaved(folder: &Path, streams: u64) -> PathBuf {
    let (bytes, each) = (65536, 16 * 1024 * 1024 / streams);
    let file = folder.join("job.0.0");
    let mut lines = vec![
        "fio version 2 iolog".to_owned(),
        format!("{} add", text(&file)),
        format!("{} open", text(&file)),
    ];
    let mut next: Vec<u64> = (0..streams).map(|stream| stream * each).collect();
    let mut state: u64 = 7;
    while next.iter().zip(1..).any(|(at, stream)| *at < stream * each) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let left: Vec<usize> =
            (0..next.len()).filter(|stream| next[*stream] < (*stream as u64 + 1) * each).collect();
        let stream = left[(state >> 33) as usize % left.len()];
        lines.push(format!("{} read {} {bytes}", text(&file), next[stream]));
        next[stream] += bytes;
    }
    // A file that is open for less than about 10 ms may be closed before it is looked up. fio waits for milliseconds here,
    // though its manual says microseconds.
    lines.push(format!("{} wait 200 0", text(&file)));
    lines.push(format!("{} close", text(&file)));
    let path = folder.join(format!("{streams}.iolog"));
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

#[test]
fn interleaved_streams_have_short_runs_and_one_stream_has_a_long_one() {
    let _turn = exclusive();
    if !can_be(&["fio"]) {
        return;
    }
    let folder = folder();
    lay_out(folder.path(), &[]);
    let play = |streams: u64| {
        let log = interleaved(folder.path(), streams);
        let out = folder.path().join(format!("{streams}.ltr"));
        let log = format!("--read_iolog={}", text(&log));
        let fio = ["fio", "--name=job", "--output-format=terse", &log, "--ioengine=psync"];
        record(&out, &["--mount", text(folder.path())], &fio);
        let trace = Trace::read(&out);
        let reads =
            trace.requests(Layer::Sys, Op::Read).into_iter().filter(|request| request.nbytes == 65536);
        trace::runs_bytes(&reads.collect::<Vec<_>>())
    };
    // With k randomly interleaved streams, a run has 1 / (1 - 1/k) requests on average.
    let runs = play(8);
    let mean = runs.iter().sum::<u64>() as f64 / runs.len() as f64;
    assert_eq!(runs.iter().sum::<u64>(), 16 * 1024 * 1024);
    assert!((mean / (65536.0 * 8.0 / 7.0) - 1.0).abs() < 0.15, "{mean}");
    assert_eq!(play(1), [16 * 1024 * 1024]);
}

#[test]
fn writes_wait_for_the_server_without_write_behind_and_do_not_with_it() {
    let _turn = exclusive();
    if !can_be(&["fio", "glusterd", "gluster", "unshare", "nsenter", "tc"]) {
        return;
    }
    let folder = folder();
    let gluster = Gluster::start(folder.path());
    let traced = |name: &str, program: &[&str]| {
        let out = folder.path().join(name);
        let inside = gluster.inside(program);
        let (mount, brick) = (gluster.mount(), format!("pid={}", gluster.brick()));
        let scope = ["--mount", text(&mount), "--server", &brick];
        record(&out, &scope, &words(&inside));
        (Trace::read(&out), out)
    };
    let play = |name: &str, options: &[&str]| {
        let fio = ["fio", "--name=w", "--output-format=terse", "--rw=write", "--ioengine=psync"];
        traced(name, &[&fio[..], &["--directory=/run/mnt"], options].concat())
    };
    // A file that is closed before it can be looked up is recognised by its requests to the mount.
    let brief = ["dd", "if=/dev/zero", "of=/run/mnt/brief", "bs=64k", "count=8", "status=none"];
    let (trace, _) = traced("brief.ltr", &brief);
    let calls = trace.requests(Layer::Sys, Op::Write).into_iter().filter(|call| call.nbytes == 65536);
    assert_eq!(calls.count(), 8);

    let (trace, out) = play("off.ltr", &["--bs=64k", "--size=32m", "--filename=off"]);
    let fuse = trace.requests(Layer::Fuse, Op::Write);
    assert_eq!(fuse.len(), 512);
    let written = trace.requests(Layer::Pfss, Op::Write);
    assert!(written.len() >= 512, "{}", written.len());
    assert!(trace::early_ack_share(&fuse, &written) <= 0.02);
    // Before every write the kernel asks for the capabilities of the file.
    let asked = trace.requests(Layer::Fuse, Op::Meta(MetaOp::Getxattr)).len();
    assert!((511..=515).contains(&asked), "{asked}");
    let found = findings(&out);
    assert!(found.contains(&"T03".into()) && found.contains(&"T04".into()), "{found:?}");

    // Before options are set, since the client then opens new connections asynchronously.
    let slow = gluster.inside(&["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "10mbit"]);
    let slow = [words(&slow), vec!["burst", "128kb", "latency", "200ms"]].concat();
    assert!(std::process::Command::new(slow[0]).args(&slow[1..]).status().unwrap().success());
    let (trace, out) = play("slow.ltr", &["--bs=64k", "--size=3m", "--filename=slow"]);
    let messages = trace.requests(Layer::Net, Op::Write);
    assert!(messages.len() >= 48, "{}", messages.len());
    let report = analysed(&out);
    let network = report["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "T13");
    let network = network.unwrap_or_else(|| panic!("no T13: {:?}", ids(&report)));
    assert!(network["confidence"].as_f64().unwrap() <= 0.7, "{network}");
    assert!(!ids(&report).contains(&"T15".into()));
    let fast = gluster.inside(&["tc", "qdisc", "del", "dev", "lo", "root"]);
    assert!(std::process::Command::new(&fast[0]).args(&fast[1..]).status().unwrap().success());

    gluster.set("performance.write-behind", "on");
    let (trace, out) = play("on.ltr", &["--bs=64k", "--size=32m", "--filename=on"]);
    let early = trace::early_ack_share(
        &trace.requests(Layer::Fuse, Op::Write),
        &trace.requests(Layer::Pfss, Op::Write),
    );
    assert!(early >= 0.9, "{early}");
    assert!(!findings(&out).contains(&"T03".into()));

    gluster.set("performance.write-behind", "off");
    let (trace, out) = play("large.ltr", &["--bs=4m", "--size=16m", "--filename=large"]);
    let large = trace.requests(Layer::Sys, Op::Write).into_iter().filter(|request| request.nbytes == 4 << 20);
    let parts = trace.requests(Layer::Fuse, Op::Write);
    assert_eq!((large.count(), parts.len()), (4, 128));
    assert!(findings(&out).contains(&"T05".into()));
}

#[test]
fn losses_of_a_small_buffer_are_counted_and_a_trace_with_large_losses_is_not_evaluated() {
    let _turn = exclusive();
    if !can_be(&["dd"]) {
        return;
    }
    let folder = folder();
    let out = folder.path().join("lossy.ltr");
    let dd = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1500000", "status=none"];
    let output = record(&out, &["--buf", "16k"], &dd);
    assert!(errors(&output).contains("records lost"), "{}", errors(&output));
    let trace = Trace::read(&out);
    let total = trace.footer.total();
    assert!(total.lost > total.read, "{total:?}");
    assert_eq!(laggard(&["trace", "analyze", text(&out)]).status.code(), Some(4));
}

#[test]
fn the_kernels_text_has_the_same_requests_as_its_pages() {
    let _turn = exclusive();
    if !can_be(&["dd"]) {
        return;
    }
    let folder = folder();
    let file = folder.path().join("data");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    let input = format!("if={}", text(&file));
    let reads = |name: &str, options: &[&str]| {
        let out = folder.path().join(name);
        record(&out, options, &["dd", &input, "of=/dev/null", "bs=64k", "status=none"]);
        let reads = Trace::read(&out).requests(Layer::Sys, Op::Read).into_iter();
        reads.filter(|read| read.nbytes == 65536).map(|read| read.offset).collect::<Vec<i64>>()
    };
    let pages = reads("pages.ltr", &[]);
    assert!(pages.len() >= 16, "{pages:?}");
    assert_eq!(reads("text.ltr", &["--text"]), pages);
}

#[test]
fn nothing_is_left_in_the_kernel_after_a_recording() {
    let _turn = exclusive();
    if !can_be(&["dd"]) {
        return;
    }
    let (before, folder) = (Kernel::now(), folder());
    record(
        &folder.path().join("x.ltr"),
        &[],
        &["dd", "if=/dev/zero", "of=/dev/null", "count=10", "status=none"],
    );
    assert_eq!(Kernel::now(), before);
    let failed =
        laggard(&["trace", "record", "-o", text(&folder.path().join("y.ltr")), "--", "/no/such/program"]);
    assert_eq!(failed.status.code(), Some(2));
    assert!(errors(&failed).contains("/no/such/program"), "{}", errors(&failed));
    assert_eq!(Kernel::now(), before);
}

#[test]
fn a_recorder_killed_at_any_moment_leaves_nothing_in_the_kernel() {
    let _turn = exclusive();
    if !can_be(&["sleep"]) {
        return;
    }
    let (before, folder) = (Kernel::now(), folder());
    for millis in [1, 10, 30, 60, 120, 250, 400, 600, 900, 1500] {
        let out = folder.path().join("killed.ltr");
        let mut recorder = command(&["trace", "record", "-o", text(&out), "--", "sleep", "2"]);
        let mut recorder = recorder.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(millis) && recorder.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = recorder.kill();
        recorder.wait().unwrap();
        assert_eq!(Kernel::settled(&before), before, "killed after {millis} ms");
    }
}

#[test]
fn the_doctor_removes_the_leftovers_of_a_killed_recorder_and_guard() {
    let _turn = exclusive();
    if !can_be(&["sleep"]) {
        return;
    }
    let (before, folder) = (Kernel::now(), folder());
    let out = folder.path().join("killed.ltr");
    let mut recorder = command(&["trace", "record", "-o", text(&out), "--", "sleep", "1"]);
    let mut recorder = recorder.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    let guard = loop {
        let ready = !Kernel::now().probes.is_empty();
        match kernel::guard_of(recorder.id()).filter(|_| ready) {
            Some(guard) => break guard,
            None if begin.elapsed() > Duration::from_secs(60) => panic!("no guard"),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    kernel::kill(guard);
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    assert_ne!(Kernel::now(), before);
    assert!(laggard(&["trace", "doctor"]).status.success());
    assert_eq!(Kernel::now(), before);
}

/// Programs with different names that read one file forever. Killed on drop.
struct Readers {
    folder: tempfile::TempDir,
    running: Vec<std::process::Child>,
}

impl Readers {
    fn new() -> Readers {
        let folder = folder();
        // A sparse file that takes a while to read.
        std::fs::File::create(folder.path().join("data")).unwrap().set_len(1 << 40).unwrap();
        Readers { folder, running: vec![] }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn start(&mut self, name: &str) -> u32 {
        let program = self.folder.path().join(name);
        if !program.exists() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let dd = std::env::split_paths(&path).map(|folder| folder.join("dd")).find(|dd| dd.exists());
            std::fs::copy(dd.unwrap(), &program).unwrap();
        }
        let input = format!("if={}", text(&self.file()));
        let words = [&input, "of=/dev/null", "bs=64k", "status=none"];
        self.running.push(std::process::Command::new(program).args(words).spawn().unwrap());
        self.running.last().unwrap().id()
    }

    /// The processes with reads in a trace; asserts that all reads are on the file.
    fn in_trace(&self, out: &Path) -> std::collections::BTreeSet<u32> {
        let trace = Trace::read(out);
        let reads = trace.requests(Layer::Sys, Op::Read).into_iter();
        let reads: Vec<_> = reads.filter(|request| request.nbytes == 65536).collect();
        let file = self.file();
        assert!(reads.iter().all(|read| trace.path_of(read) == Some(text(&file))));
        reads.iter().map(|read| read.tgid).collect()
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        for reader in &mut self.running {
            let _ = reader.kill();
            let _ = reader.wait();
        }
    }
}

#[test]
fn only_the_chosen_process_is_recorded() {
    let _turn = exclusive();
    if !can_be(&["dd"]) {
        return;
    }
    let mut readers = Readers::new();
    let (chosen, _) = (readers.start("reader"), readers.start("reader"));
    let out = readers.folder.path().join("pid.ltr");
    prints(&["trace", "record", "-o", text(&out), "--pid", &chosen.to_string(), "--duration", "500ms"]);
    assert_eq!(Vec::from_iter(readers.in_trace(&out)), [chosen]);
    let absent = laggard(&["trace", "record", "-o", text(&out), "--pid", "4194303", "--duration", "1s"]);
    assert!(errors(&absent).contains("no process 4194303"), "{}", errors(&absent));
}

#[test]
fn processes_are_recorded_by_name_including_later_ones() {
    let _turn = exclusive();
    if !can_be(&["dd"]) {
        return;
    }
    let mut readers = Readers::new();
    let (first, _) = (readers.start("chosen"), readers.start("other"));
    let out = readers.folder.path().join("comm.ltr");
    let words = ["trace", "record", "-o", text(&out), "--comm", "^chosen$", "--duration", "2s"];
    let before = Kernel::now().probes;
    let mut recorder = command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while Kernel::now().probes == before && recorder.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = readers.start("chosen");
    assert!(recorder.wait().unwrap().success());
    assert_eq!(Vec::from_iter(readers.in_trace(&out)), [first.min(second), first.max(second)]);
}

#[test]
fn processes_of_a_control_group_are_recorded() {
    let _turn = exclusive();
    let roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup", "/sys/fs/cgroup/freezer"];
    let Some(root) = roots.iter().map(Path::new).find(|root| root.join("cgroup.procs").exists()) else {
        return left_out("there are no control groups");
    };
    if !can_be(&["dd"]) {
        return;
    }
    let group = root.join(format!("laggard-trace-test-{}", std::process::id()));
    if std::fs::create_dir(&group).is_err() {
        return left_out("no control group can be made here");
    }
    let mut readers = Readers::new();
    let (chosen, _) = (readers.start("reader"), readers.start("reader"));
    std::fs::write(group.join("cgroup.procs"), chosen.to_string()).unwrap();
    let out = readers.folder.path().join("cgroup.ltr");
    let output =
        laggard(&["trace", "record", "-o", text(&out), "--cgroup", text(&group), "--duration", "500ms"]);
    let seen = output.status.success().then(|| readers.in_trace(&out));
    drop(readers);
    // A group is busy for a moment after the end of its last process.
    let begin = Instant::now();
    while std::fs::remove_dir(&group).is_err() && begin.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(seen.map(Vec::from_iter), Some(vec![chosen]), "{}", errors(&output));
}

/// AT-9. The disks are virtual; another workload loads one of them.
#[test]
fn the_one_slow_disk_is_named() {
    let _turns = (exclusive(), lab::turn());
    if !can_be(&["fio"]) || !lab::can_be() {
        return;
    }
    let hosts = "servers = { count = 3, prefix = 'oss' }\nclients = { count = 0, prefix = 'client' }";
    let lab = lab::Lab::plan("traced", hosts);
    lab.up();
    let devices = [0, 1, 2].map(|number| lab.device(number));
    let folder = folder();
    let jobs: Vec<String> = devices
        .iter()
        .flat_map(|device| [format!("--name={device}"), format!("--filename=/dev/{device}")])
        .collect();
    let options = ["--rw=read", "--direct=1", "--bs=64k", "--size=512m", "--runtime=3", "--time_based"];
    let fio = [&["fio", "--output-format=terse"], &options[..], &words(&jobs)[..]].concat();
    let slow = |out: &Path| {
        record(out, &[], &fio);
        let output = laggard(&["trace", "analyze", text(out), "--json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["id"] == "T12").map(|finding| finding.to_string())
    };
    let (well, ill) = (folder.path().join("well.ltr"), folder.path().join("ill.ltr"));
    assert_eq!(slow(&well), None);
    prints(&["lab", "fault", "disk-busy", "oss2", "--lab", "traced"]);
    let printed = slow(&ill).expect("T12");
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", devices[1])).unwrap();
    assert!(printed.contains(&format!("{} takes ", number.trim())), "{printed}");
}
