//! Measures the cost of capturing on this host, before the capture begins.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::CaptureError;
use super::instance::Instance;
use super::probes;
use super::symbols;
use super::tracefs::Tracefs;
use crate::model::Overhead;

/// About a millisecond.
const CALLS: u32 = 2000;
/// The fastest round is used, since others may have been disturbed.
const ROUNDS: u32 = 7;
/// A function of the C library that the standard library calls and that does almost nothing.
const PROBED: &str = "getppid";

/// The cost of a traced system call and of a probe. The instance must be empty, stopped and unused.
pub(super) fn calibrate(
    tracefs: &Tracefs,
    instance: &Instance,
    group: &str,
) -> Result<Overhead, CaptureError> {
    let path = Path::new("/dev/null");
    let file = File::open(path).map_err(CaptureError::at(path))?;
    let call = || drop(file.read_at(&mut [0], 0));
    let calls = ["syscalls/sys_enter_pread64", "syscalls/sys_exit_pread64"];
    let syscall_ns = measure(instance, &calls, &call)?;
    let uprobe_ns = match probe(tracefs, group)? {
        Some(event) => measure(instance, &[&event], &|| _ = std::os::unix::process::parent_id())?,
        None => None,
    };
    Ok(Overhead { syscall_ns, uprobe_ns, block_ns: None })
}

/// The additional time per call; none if the tracepoints reported no events.
fn measure(instance: &Instance, events: &[&str], call: &impl Fn()) -> Result<Option<f64>, CaptureError> {
    instance.follow(&[rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()])?;
    let bare = fastest(call);
    for event in events {
        if instance.enable(event, "")?.is_none() {
            return Ok(None);
        }
    }
    instance.start()?;
    let traced = fastest(call);
    instance.stop()?;
    for event in events {
        instance.set(&format!("events/{event}/enable"), "0")?;
    }
    let seen: u64 = instance.processors().iter().map(|cpu| instance.seen(*cpu)).sum();
    instance.clear()?;
    let has_seen = seen >= u64::from(CALLS);
    let extra = traced.saturating_sub(bare).as_nanos() as f64 / f64::from(CALLS);
    Ok(has_seen.then_some(extra))
}

fn fastest(call: &impl Fn()) -> Duration {
    let round = || {
        let begin = Instant::now();
        (0..CALLS).for_each(|_| call());
        begin.elapsed()
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

/// Sets a probe in the recorder's own C library; none if it has no dynamic one.
fn probe(tracefs: &Tracefs, group: &str) -> Result<Option<String>, CaptureError> {
    let libraries = probes::libraries(Path::new("/proc"), &[std::process::id()]);
    for library in libraries {
        let places = symbols::places(&library, &[PROBED])?;
        if let Some(place) = places.keys().next() {
            let definition = format!("p:{group}/calibration {}:{place:#x}", library.display());
            tracefs.append("uprobe_events", &definition)?;
            return Ok(Some(format!("{group}/calibration")));
        }
    }
    Ok(None)
}

pub(super) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
