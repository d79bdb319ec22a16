//! Traces of other tools, imported and merged by the program.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::path::Path;

use laggard_trace::ltr::Reader;
use laggard_trace::model::{Event, Kind, Layer, Record};
use support::{corpus, errors, laggard, text};

const CALLS: &str = "18 1000.000050 pwrite64(3</mnt/f>, \"ab\"..., 131072, 262144) = 131072 <0.000473>\n";

fn events(file: &Path) -> Vec<Event> {
    let reader = Reader::open(File::open(file).unwrap()).unwrap();
    reader.filter_map(|record| if let Record::Event(event) = record { Some(event) } else { None }).collect()
}

fn admits(file: &Path, layer: Layer) -> usize {
    events(file).iter().filter(|event| event.layer == layer && event.kind == Kind::Admit).count()
}

#[test]
fn a_trace_is_imported_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (calls, out) = (folder.path().join("calls.txt.zst"), folder.path().join("run.ltr"));
    std::fs::write(&calls, zstd::encode_all(CALLS.as_bytes(), 1).unwrap()).unwrap();
    let output = laggard(&["trace", "import", text(&calls), "--host", "oss3", "-o", text(&out)]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(errors(&output).contains("1 file, 2 events"), "{}", errors(&output));
    let reader = Reader::open(File::open(&out).unwrap()).unwrap();
    assert_eq!(reader.header().hosts[0].name, "oss3");
    assert_eq!(reader.header().sources[0].tool, "strace");
    assert_eq!(
        events(&out).iter().map(|event| (event.kind, event.nbytes)).collect::<Vec<_>>(),
        [(Kind::Admit, 131072), (Kind::Callback, 131072)]
    );
}

#[test]
fn damage_is_reported_with_its_position_and_the_rest_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (calls, other, out) =
        (folder.path().join("calls.txt"), folder.path().join("other"), folder.path().join("run.ltr"));
    std::fs::write(&calls, format!("{CALLS}what is this?\n")).unwrap();
    std::fs::write(&other, "what is that?\n").unwrap();
    let output = laggard(&["trace", "import", text(&calls), text(&other), "-o", text(&out)]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let printed = errors(&output);
    assert!(
        printed.contains("calls.txt: 1 record not understood; the first: line 2: expected a line of `strace"),
        "{printed}"
    );
    assert!(printed.contains("other: expected a trace of ftrace"), "{printed}");
    assert!(printed.contains("what is that?"), "{printed}");
    assert_eq!(admits(&out, Layer::Sys), 1);
}

#[test]
fn no_file_is_written_if_nothing_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("file"), folder.path().join("run.ltr"));
    std::fs::write(&file, "what is this?\n").unwrap();
    let output = laggard(&["trace", "import", text(&file), "-o", text(&out)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!out.exists());
    std::fs::write(&file, "# tracer: nop\n#\n").unwrap();
    let output = laggard(&["trace", "import", text(&file), "-o", text(&out)]);
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    assert!(!out.exists());
    let output = laggard(&["trace", "import", text(&file), "--format", "sar", "-o", text(&out)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("write one of blktrace"), "{}", errors(&output));
}

/// The same ten reads on the clocks of a client and of a server that is an hour ahead.
fn two_hosts(folder: &Path) -> [std::path::PathBuf; 2] {
    let (mut client, mut server) = (String::new(), String::new());
    for nth in 0..10u64 {
        let (begin, offset) = (1000 + nth, nth * 4096);
        client += &format!(
            "fio-7 [000] ..... {begin}.000000: sys_pread64(fd: 3, buf: 0x1, count: 0x1000, pos: 0x{offset:x})\n"
        );
        client += &format!("fio-7 [000] ..... {begin}.000300: sys_pread64 -> 0x1000\n");
        let there = begin + 3600;
        server += &format!(
            "glusterfsd-9 [000] ..... {there}.000100: sys_pread64(fd: 5, buf: 0x1, count: 0x1000, pos: 0x{offset:x})\n"
        );
        server += &format!("glusterfsd-9 [000] ..... {there}.000200: sys_pread64 -> 0x1000\n");
    }
    [("client", client), ("server", server)].map(|(name, lines)| {
        let (from, to) = (folder.join(format!("{name}.txt")), folder.join(format!("{name}.ltr")));
        std::fs::write(&from, lines).unwrap();
        let output = laggard(&["trace", "import", text(&from), "--host", name, "-o", text(&to)]);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        to
    })
}

#[test]
fn traces_of_two_hosts_are_merged_on_one_clock() {
    let folder = tempfile::tempdir().unwrap();
    let [client, server] = two_hosts(folder.path());
    let all = folder.path().join("all.ltr");
    let output = laggard(&["trace", "merge", text(&client), text(&server), "-o", text(&all)]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(errors(&output).contains("from 10 requests"), "{}", errors(&output));
    let reader = Reader::open(File::open(&all).unwrap()).unwrap();
    let hosts = &reader.header().hosts;
    assert_eq!((hosts[0].offset_ns, hosts[1].offset_ns), (0, -3_600_000_000_000));
    assert_eq!(hosts[1].offset_err_ns, 100_000);
    let order: Vec<Layer> =
        events(&all).iter().filter(|event| event.kind == Kind::Admit).map(|event| event.layer).collect();
    assert_eq!(order[..6], [Layer::Sys, Layer::Pfss, Layer::Ssys, Layer::Sys, Layer::Pfss, Layer::Ssys]);
}

#[test]
fn a_truncated_trace_is_merged_up_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let [client, server] = two_hosts(folder.path());
    let (whole, all) = (std::fs::read(&server).unwrap(), folder.path().join("all.ltr"));
    std::fs::write(&server, &whole[..whole.len() - 8]).unwrap();
    let output = laggard(&["trace", "merge", text(&client), text(&server), "-o", text(&all)]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(errors(&output).contains("server.ltr: line"), "{}", errors(&output));
    assert_eq!(admits(&all, Layer::Sys), 10);
}

#[test]
fn real_traces_of_one_workload_are_imported_from_all_formats() {
    let Some(run) = corpus("traces/runA") else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run.ltr");
    let of = |names: &[&str]| {
        let paths: Vec<String> = names.iter().map(|name| run.join(name).display().to_string()).collect();
        let mut arguments = vec!["trace", "import", "-o", text(&out)];
        arguments.extend(paths.iter().map(String::as_str));
        let output = laggard(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    };
    of(&["fio_lat.1.log", "fio_lat.2.log"]);
    assert_eq!(admits(&out, Layer::App), 1140);
    of(&["ftrace_trace.txt"]);
    assert_eq!((admits(&out, Layer::Blk), admits(&out, Layer::Dev)), (1140, 1140));
}
