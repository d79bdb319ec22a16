//! `laggard trace record`: captures the requests of this host in every layer.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::Args;
use laggard_core::model::time::Span;
use laggard_trace::Roles;
use laggard_trace::capture::{
    CaptureError, LAYERS, Mount, Plan, Recording, Scope, Session, Summary, default_kib_per_cpu, device, guard,
};
use laggard_trace::model::Layer;
use regex::Regex;

use super::starter::Starter;
use crate::arguments::{positive_span, size};
use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;
use crate::stop_signal::StopSignal;

/// How often the kernel's buffers are emptied.
const EVERY: Span = Span::from_millis(10);

/// Capture the I/O requests of this host in every layer.
///
/// Records system calls, asynchronous I/O, FUSE, block queues and devices through the kernel's tracepoints, in separate
/// trace instances. Removes everything at the end, even if the recorder is killed. Needs root. Stop with Ctrl-C.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace record -o run.ltr -- fio job.fio       a command and its children
  laggard trace record -o run.ltr --pid 4711 --duration 10s
  laggard trace record -o run.ltr --mount /mnt/gluster --server comm=glusterfsd -- dd if=/dev/zero of=/mnt/gluster/x
  laggard trace record -o run.ltr --dev sdb --layers blk,dev --duration 30s")]
pub(crate) struct Record {
    /// The trace file.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Only this process and its children.
    #[arg(long, value_name = "PID")]
    pid: Vec<u32>,
    /// Only processes with a matching name and their children, including processes that start later.
    #[arg(long, value_name = "REGEX")]
    comm: Option<Regex>,
    /// Only processes of this control group: a folder below /sys/fs/cgroup or its name.
    #[arg(long, value_name = "GROUP")]
    cgroup: Option<PathBuf>,
    /// Only files of the file system mounted there.
    #[arg(long, value_name = "DIR")]
    mount: Option<PathBuf>,
    /// Only this block device: sdb, /dev/sdb or 8:16.
    #[arg(long, value_name = "DEVICE")]
    dev: Option<String>,
    /// Layers to capture: aio, uring, sys, fuse, pfsc, net, pfss, ssys, blk, dev; auto captures all.
    #[arg(long, value_name = "LAYERS", value_delimiter = ',', default_value = "auto")]
    layers: Vec<String>,
    /// Stop after this time. Default: when the command ends, or with Ctrl-C.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    duration: Option<Span>,
    /// Buffer memory per processor. Default: 64MiB, at most 1/16 of the available memory for all processors.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    buf: Option<u64>,
    /// Do not set probes on the asynchronous I/O of the C library.
    #[arg(long)]
    no_aio: bool,
    /// Read the kernel's text instead of its pages.
    #[arg(long, hide = true)]
    text: bool,
    /// Also capture servers of the file system on this host: comm=NAME or pid=PID.
    #[arg(long, value_name = "SERVER", value_parser = server)]
    server: Vec<Server>,
    /// Print errors only.
    #[arg(long, short)]
    quiet: bool,
    /// The command to capture, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Server {
    Comm(String),
    Process(u32),
}

/// Removes the kernel objects of a killed recorder.
#[derive(Args)]
pub(crate) struct Guard {
    manifest: PathBuf,
}

impl Guard {
    pub(crate) fn run(self) -> Outcome {
        guard::run(&self.manifest)?;
        Ok(Done::Well)
    }
}

impl Record {
    pub(crate) fn run(self) -> Outcome {
        let mut starter = Starter::new(&self.command)?;
        let plan = self.plan(starter.as_ref().map(Starter::task)).map_err(explained)?;
        let file = File::create(&self.out).with_context(|| self.out.display().to_string())?;
        let (stop, handle) = StopSignal::install()?;
        let session = Session::prepare(plan.clone(), guard_command()?).map_err(explained)?;
        let mut recording = Recording::begin(session, &plan, self.roles(), file).map_err(explained)?;
        let status = match &mut starter {
            Some(starter) => starter.start(handle).map(|()| None)?,
            None => Some(handle),
        };
        if !self.quiet && self.command.is_empty() && self.duration.is_none() {
            tell(format_args!("recording to {}; stop with Ctrl-C", self.out.display()));
        }
        let begin = Instant::now();
        while !self.is_over(begin) && !stop.arrives_within(EVERY) {
            recording.step().map_err(explained)?;
        }
        drop(status);
        let (summary, file) = recording.finish().map_err(explained)?;
        file.sync_all().with_context(|| self.out.display().to_string())?;
        if !self.quiet {
            self.tell(&summary, file.metadata()?.len());
        }
        Ok(starter.map_or(Done::Well, Starter::finish))
    }

    fn is_over(&self, begin: Instant) -> bool {
        let limit = self.duration.map(|span| Duration::from_micros(span.micros().unsigned_abs()));
        limit.is_some_and(|limit| begin.elapsed() >= limit)
    }

    fn plan(&self, starter: Option<u32>) -> Result<Plan, CaptureError> {
        let kib = self.buf.map(|bytes| bytes / 1024);
        Ok(Plan {
            layers: self.layers()?,
            scope: self.scope()?,
            kib_per_cpu: kib.unwrap_or_else(|| default_kib_per_cpu(Path::new("/proc"))),
            has_probes: !self.no_aio,
            as_text: self.text,
            starter,
        })
    }

    fn layers(&self) -> Result<Vec<Layer>, CaptureError> {
        let mut layers = vec![];
        for word in &self.layers {
            if word == "auto" {
                return Ok(LAYERS.into());
            }
            let layer: Layer =
                word.parse().map_err(|error| CaptureError::Input(format!("--layers: {error}")))?;
            if !LAYERS.contains(&layer) {
                let names: Vec<&str> = LAYERS.iter().map(|layer| layer.name()).collect();
                let can = names.join(", ");
                return Err(CaptureError::Input(format!(
                    "--layers: {layer} cannot be captured; available: {can}"
                )));
            }
            layers.push(layer);
        }
        Ok(layers)
    }

    fn scope(&self) -> Result<Scope, CaptureError> {
        let exact = |name: &String| Regex::new(&format!("^{}$", regex::escape(name)));
        let servers: Result<Vec<Regex>, regex::Error> = self.server_names().iter().map(exact).collect();
        let processes = self.server.iter().filter_map(|server| match server {
            Server::Process(number) => Some(*number),
            Server::Comm(_) => None,
        });
        Ok(Scope {
            processes: self.pid.clone(),
            comm: self.comm.clone(),
            cgroup: self.cgroup.as_deref().map(control_group),
            has_command: !self.command.is_empty(),
            servers: servers.map_err(|error| CaptureError::Input(format!("--server: {error}")))?,
            server_processes: processes.collect(),
            mount: self.mount.as_deref().map(Mount::of).transpose()?,
            device: self.dev.as_deref().map(|name| device(name, Path::new("/sys"))).transpose()?,
        })
    }

    fn roles(&self) -> Roles {
        Roles { servers: self.server_names(), ..Roles::default() }
    }

    fn server_names(&self) -> Vec<String> {
        let name = |server: &Server| match server {
            Server::Comm(name) => Some(name.clone()),
            Server::Process(_) => None,
        };
        self.server.iter().filter_map(name).collect()
    }

    fn tell(&self, summary: &Summary, bytes: u64) {
        let out = self.out.display();
        let seconds = summary.lasted.as_secs_f64();
        let events = output::count(summary.events, "event");
        let lost: u64 = summary.lost.iter().map(|(_, lost)| lost).sum();
        let loss = match lost {
            0 => "none lost".to_owned(),
            lost => format!("{lost} of {} records lost: use a larger --buf", lost + summary.read),
        };
        tell(format_args!("{out}: {events} in {seconds:.1} s, {}; {loss}", output::bytes(bytes)));
        tell(cost(summary));
        tell(format_args!("next: laggard trace analyze {out}"));
    }
}

/// `cost: 0.14 s of CPU time for recording (10 % of one CPU), 75000 records/s; ...`
fn cost(summary: &Summary) -> String {
    let seconds = summary.lasted.as_secs_f64().max(1e-9);
    let own = summary.processor_time.as_secs_f64();
    let single = |ns: Option<f64>| ns.map_or_else(|| "unknown".into(), |ns| format!("{:.2} us", ns / 1000.0));
    format!(
        "cost: {own:.2} s of CPU time for recording ({:.0} % of one CPU), {:.0} records/s; {} per system call, {} per probe: \
         {:.2} s in the recorded processes",
        100.0 * own / seconds,
        summary.read as f64 / seconds,
        single(summary.overhead.syscall_ns),
        single(summary.overhead.uprobe_ns),
        summary.counts.cost(&summary.overhead).as_secs_f64(),
    )
}

fn guard_command() -> anyhow::Result<Command> {
    let own = std::env::current_exe().context("the guard")?;
    let mut command = Command::new(own);
    command.args(["trace", "guard"]);
    Ok(command)
}

/// A name is relative to the mount point of control groups.
fn control_group(path: &Path) -> PathBuf {
    if path.join("cgroup.procs").exists() { path.to_owned() } else { Path::new("/sys/fs/cgroup").join(path) }
}

fn server(text: &str) -> Result<Server, String> {
    let wrong = || format!("{text:?}: expected comm=NAME or pid=PID");
    match text.split_once('=') {
        Some(("comm", name)) if !name.is_empty() => Ok(Server::Comm(name.to_owned())),
        Some(("pid", number)) => number.parse().map(Server::Process).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// A missing kernel feature has its own exit status.
pub(crate) fn explained(error: CaptureError) -> anyhow::Error {
    match error {
        CaptureError::Lacking(text) => Lacking(text).into(),
        other => anyhow!(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_selected_by_name_or_process_id() {
        assert_eq!(server("comm=glusterfsd"), Ok(Server::Comm("glusterfsd".into())));
        assert_eq!(server("pid=7"), Ok(Server::Process(7)));
        assert!(server("glusterfsd").is_err() && server("pid=x").is_err() && server("comm=").is_err());
    }
}
