//! Checks whether this host supports capturing.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::CaptureError;
use super::capture_plan;
use super::host;
use super::instance::{CLOCK, Instance};
use super::manifest::{self, Manifest};
use super::probes;
use super::tracefs::Tracefs;
use super::undo;

/// Something that a capture requires or can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub what: String,
    pub is_there: bool,
    /// True if capturing is impossible without it.
    pub is_needed: bool,
    pub found: String,
    /// How to get it; empty if it is there.
    pub remedy: String,
}

/// Also undoes what killed recorders have left.
pub fn checks() -> Vec<Check> {
    let tracefs = Tracefs::open();
    let mut checks = vec![tracefs_check(&tracefs), lockdown(host::lockdown().as_deref())];
    let Ok(tracefs) = tracefs else { return checks };
    checks.push(undo_orphans(&tracefs));
    checks.extend(tracepoints(&tracefs));
    checks.push(clock(&tracefs));
    checks.push(buffers(tracefs));
    checks.push(library());
    checks
}

pub fn is_impossible(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.is_needed && !check.is_there)
}

fn tracefs_check(tracefs: &Result<Tracefs, CaptureError>) -> Check {
    let found = match tracefs {
        Ok(tracefs) if tracefs.is_mounted() => "mounted".to_owned(),
        Ok(_) => "not mounted; recorders use a private mount".to_owned(),
        Err(error) => error.to_string(),
    };
    required("tracefs", tracefs.is_ok(), found, "run as root, on a kernel with CONFIG_FTRACE")
}

fn lockdown(word: Option<&str>) -> Check {
    let found = word.unwrap_or("not reported by this kernel");
    let remedy = "boot with lockdown=integrity or without lockdown";
    required("lockdown", word != Some("confidentiality"), found.to_owned(), remedy)
}

fn undo_orphans(tracefs: &Tracefs) -> Check {
    let what = "no leftovers of killed recorders";
    match undo::undo_orphans(tracefs, Path::new(manifest::FOLDER)) {
        Ok(0) => optional(what, true, String::new(), ""),
        Ok(number) => optional(what, true, format!("{number} undone"), ""),
        Err(error) => {
            optional(what, false, error.to_string(), "end the processes that use it, and try again")
        }
    }
}

fn tracepoints(tracefs: &Tracefs) -> Vec<Check> {
    let there = |event: &str| tracefs.has(&format!("events/{event}/format"));
    let needed_events = [
        ("system calls", "syscalls/sys_enter_pread64", "a kernel with CONFIG_FTRACE_SYSCALLS"),
        ("tasks", "task/task_newtask", "a kernel with CONFIG_FTRACE"),
    ];
    let optional_events = [
        ("block requests", "block/block_rq_issue", "a kernel with CONFIG_BLOCK and CONFIG_FTRACE"),
        ("FUSE requests", "fuse/fuse_request_send", "`modprobe fuse`; a kernel since 6.11"),
        ("io_uring requests", "io_uring/io_uring_complete", "a kernel with CONFIG_IO_URING"),
        ("throttled writers", "writeback/balance_dirty_pages", "a kernel with CONFIG_FTRACE"),
    ];
    let name = |what: &str| format!("tracepoints for {what}");
    let needed_events = needed_events
        .map(|(what, event, remedy)| required(&name(what), there(event), event.to_owned(), remedy));
    let optional_events = optional_events
        .map(|(what, event, remedy)| optional(&name(what), there(event), event.to_owned(), remedy));
    let probes = optional(
        "probes in user programs",
        tracefs.has("uprobe_events"),
        "uprobe_events".to_owned(),
        "a kernel with CONFIG_UPROBE_EVENTS; or record with --no-aio",
    );
    needed_events.into_iter().chain(optional_events).chain([probes]).collect()
}

fn clock(tracefs: &Tracefs) -> Check {
    let clocks = tracefs.read("trace_clock").unwrap_or_default();
    let has = clocks.split_whitespace().any(|clock| clock.trim_matches(['[', ']']) == CLOCK);
    required("clock mono", has, clocks.trim().to_owned(), "a kernel since 3.17")
}

/// Creates and removes an instance.
fn buffers(tracefs: Tracefs) -> Check {
    let tracefs = Arc::new(tracefs);
    let manifest = Manifest::new();
    let outcome =
        manifest::LockedManifest::create(Path::new(manifest::FOLDER), manifest.clone()).and_then(|written| {
            let name = manifest.instances.first().map_or("", String::as_str);
            let made = Instance::create(&tracefs, name, 0).and_then(|instance| {
                let processors = instance.processors();
                instance.buffer(processors.first().copied().unwrap_or(0))?;
                Ok(processors.len())
            });
            undo::undo(&tracefs, &manifest)?;
            written.remove()?;
            made
        });
    let kib = capture_plan::default_kib_per_cpu(Path::new("/proc"));
    let is_there = outcome.is_ok();
    let found = match outcome {
        Ok(processors) => format!("{processors} processors, up to {} MiB each", kib / 1024),
        Err(error) => error.to_string(),
    };
    required("trace instances", is_there, found, "run as root; stop other tracers; free memory")
}

fn library() -> Check {
    let libraries = probes::libraries(Path::new("/proc"), &[]);
    let found = libraries
        .iter()
        .find(|library| probes::probes("laggard", library, 0).is_ok_and(|probes| !probes.is_empty()));
    let remedy = "programs with another C library are probed when they run; or record with --no-aio";
    let path = found.map_or_else(String::new, |path| path.display().to_string());
    optional("asynchronous I/O of the C library", found.is_some(), path, remedy)
}

fn required(what: &str, is_there: bool, found: String, remedy: &str) -> Check {
    Check { is_needed: true, ..optional(what, is_there, found, remedy) }
}

fn optional(what: &str, is_there: bool, found: String, remedy: &str) -> Check {
    let remedy = if is_there { String::new() } else { remedy.to_owned() };
    Check { what: what.into(), is_there, is_needed: false, found, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_impossible_only_without_a_requirement() {
        let optional_check = optional("x", false, String::new(), "get it");
        assert!(!is_impossible(std::slice::from_ref(&optional_check)) && optional_check.remedy == "get it");
        assert!(is_impossible(&[optional_check, lockdown(Some("confidentiality"))]));
        assert!(!is_impossible(&[lockdown(Some("integrity")), lockdown(None)]));
    }

    #[test]
    fn a_missing_kernel_feature_is_reported_with_its_remedy() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("events/block/block_rq_issue")).unwrap();
        std::fs::write(root.path().join("events/block/block_rq_issue/format"), "").unwrap();
        std::fs::write(root.path().join("trace_clock"), "[local] global mono boot\n").unwrap();
        let tracefs = Tracefs::at(root.path());
        let checks = tracepoints(&tracefs);
        let check = |what: &str| checks.iter().find(|check| check.what.contains(what)).unwrap();
        assert!(check("block").is_there && check("block").remedy.is_empty());
        assert!(!check("calls").is_there && check("calls").remedy.contains("CONFIG_FTRACE_SYSCALLS"));
        assert!(clock(&tracefs).is_there);
    }
}
