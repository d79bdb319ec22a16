//! Measures the elapsed time, CPU time and memory of a program.

use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::sys::resource::{UsageWho, getrusage};

/// Resources used by a program from start to end.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    /// All threads, user and kernel mode.
    pub(crate) cpu: Duration,
    /// Peak resident memory, polled every [`POLL_EVERY`].
    pub(crate) peak_bytes: u64,
}

/// A running program. It is killed when this is dropped.
pub(crate) struct Running {
    name: String,
    child: Child,
    began: Instant,
    watcher: Option<JoinHandle<u64>>,
}

const POLL_EVERY: Duration = Duration::from_millis(5);

/// Starts a program without input and discards its output.
pub(crate) fn start(command: &mut Command) -> anyhow::Result<Running> {
    start_to(command, Stdio::null())
}

/// Starts a program without input.
pub(crate) fn start_to(command: &mut Command, output: Stdio) -> anyhow::Result<Running> {
    let name = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null()).spawn();
    let child = child.with_context(|| name.clone())?;
    let pid = child.id();
    let watcher = Some(std::thread::spawn(move || watch(pid)));
    Ok(Running { name, child, began, watcher })
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<Spent> {
    start(command)?.finish()
}

impl Running {
    /// Only one program may be waited for at a time: the kernel counts all children together.
    pub(crate) fn finish(mut self) -> anyhow::Result<Spent> {
        let watcher = self.watcher.take().context("a program is waited for once")?;
        let peak_bytes =
            watcher.join().map_err(|_| anyhow::anyhow!("the watcher of {} failed", self.name))?;
        let wall = self.began.elapsed();
        let before = cpu_of_children()?;
        let status = self.child.wait()?;
        anyhow::ensure!(status.success(), "{}: {status}", self.name);
        Ok(Spent { wall, cpu: cpu_of_children()? - before, peak_bytes })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Polls a process until it has ended; returns its peak resident memory. A process that has ended and was not waited
/// for has no memory, but keeps its PID.
fn watch(pid: u32) -> u64 {
    let mut most = 0;
    while let Some(bytes) = peak_memory(pid) {
        most = bytes;
        std::thread::sleep(POLL_EVERY);
    }
    most
}

fn peak_memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// CPU time of the children that were waited for.
fn cpu_of_children() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec().unsigned_abs(), 1000 * time.tv_usec().unsigned_abs() as u32)
    };
    Ok(micros(usage.user_time()) + micros(usage.system_time()))
}
