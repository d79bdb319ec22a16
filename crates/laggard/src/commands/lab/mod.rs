//! `laggard lab`: a real storage system on one machine.

mod overhead;
mod run;
mod suite;
mod timing;
mod workloads;

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use laggard_lab::faults::Fault;
use laggard_lab::filesystems;
use laggard_lab::lab_file::contents::LabFile;
use laggard_lab::lab_manifest;
use laggard_lab::machine::{LabError, needs};
use laggard_lab::setup::{self, Step};
use laggard_lab::undo;

use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;

/// Build a small storage cluster on this machine.
///
/// Hosts are network and mount namespaces on a private switch. Disks are files with the service times of real disks
/// below loop devices, so that faults show in the kernel's own counters. Needs root.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard lab doctor                          check the requirements
  laggard lab up lab.toml                     build what a lab file describes (docs/lab.md)
  laggard lab status
  laggard lab exec oss3 -- gluster volume status
  laggard lab fault disk-busy oss3            inject a fault; --revert reverts it
  laggard lab run --fault disk-busy --server oss3 -o data
  laggard lab suite -o suite --runs 3         all of the paper's faults with all of its workloads
  laggard lab down                            remove the lab")]
pub(crate) struct Lab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the requirements, and how to meet missing ones.
    Doctor,
    /// Build a lab.
    Up {
        /// The lab file. Default: 6 servers and 3 clients without a file system.
        file: Option<PathBuf>,
    },
    /// Remove a lab, also a half-built one.
    Down {
        /// Its name. Default: the only one there is.
        name: Option<String>,
    },
    /// Show the hosts and disks of a lab.
    Status {
        /// Its name. Default: the only one there is.
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run a command on a host.
    Exec {
        /// The host.
        host: String,
        /// Which lab. Default: the only one there is.
        #[arg(long, value_name = "NAME")]
        lab: Option<String>,
        /// The command and its arguments.
        #[arg(last = true, required = true, value_name = "COMMAND")]
        words: Vec<String>,
    },
    /// Inject a fault on a server, or revert it.
    Fault {
        /// disk-hog, disk-busy, write-network-hog, read-network-hog, receive-pktloss, send-pktloss, slow-link, stalls,
        /// lost-disk, cpu-hog, memory-pressure, server-down, or another fault of `laggard inject list`.
        fault: String,
        /// The server.
        server: String,
        /// Revert the fault.
        #[arg(long)]
        revert: bool,
        /// Which lab. Default: the only one there is.
        #[arg(long, value_name = "NAME")]
        lab: Option<String>,
    },
    /// Run an experiment: a workload on all clients, a fault on one server, a recorder on every host.
    Run(run::Run),
    /// Run many experiments: all faults with all workloads, repeated. Continues where it ended.
    Suite(suite::Suite),
    /// Measure how much recording slows workloads down.
    Overhead(overhead::Overhead),
    #[command(hide = true)]
    Keep(Marked),
    #[command(hide = true)]
    Hold(Marked),
    #[command(hide = true)]
    Disk(Marked),
}

/// Options of the lab's own processes, which are found by the mark.
#[derive(Args)]
struct Marked {
    #[arg(long)]
    #[allow(dead_code, reason = "read from the command line by other processes")]
    mark: String,
    #[arg(long, default_value = "")]
    host: String,
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Lab {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Doctor => doctor(),
            Command::Up { file } => up(file),
            Command::Down { name } => down(name),
            Command::Status { name, json } => status(name, json),
            Command::Exec { host, lab, words } => exec(&host, lab, &words),
            Command::Fault { fault, server, revert, lab } => set_fault(&fault, &server, revert, lab),
            Command::Run(run) => run.run(),
            Command::Suite(suite) => suite.run(),
            Command::Overhead(overhead) => overhead.run(),
            Command::Keep(_) => setup::keep(),
            Command::Hold(_) => setup::hold(),
            Command::Disk(disk) => {
                setup::serve_disk(&disk.folder.unwrap_or_default(), &disk.host).map_err(explained)?;
                Ok(Done::Well)
            }
        }
    }
}

fn doctor() -> Outcome {
    let systems = filesystems::all().map_err(explained)?.into_iter().flat_map(|adapter| adapter.needs);
    let workloads =
        laggard_lab::workloads::all().map_err(explained)?.into_iter().flat_map(|workload| workload.needs);
    let mut tools: Vec<needs::Tool> = systems.chain(workloads).chain(needs::injecting()).collect();
    tools.dedup();
    let needs = needs::all(&tools);
    let mut table = output::table(&["requirement", "met", "how to meet it"], &[]);
    for need in &needs {
        let (there, remedy) = if need.is_met { ("yes", "") } else { ("no", need.remedy.as_str()) };
        table.add_row([need.what.as_str(), there, remedy]);
    }
    output::print(&table)?;
    match needs.iter().filter(|need| !need.is_met).count() {
        0 => Ok(Done::Well),
        missing => Err(Lacking(format!("{} missing", output::count(missing as u64, "thing"))).into()),
    }
}

fn up(file: Option<PathBuf>) -> Outcome {
    let lab_file = match &file {
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
            LabFile::parse(&text).map_err(explained).with_context(|| path.display().to_string())?
        }
        None => LabFile::default(),
    };
    let begin = Instant::now();
    let name = lab_file.name.clone();
    let lab = setup::up(lab_file, &|step| tell(describe(step))).map_err(explained);
    let lab = lab.with_context(|| format!("the lab {name} did not come up"))?;
    let (hosts, seconds) = (lab.hosts().len() as u64, begin.elapsed().as_secs_f64());
    tell(format_args!("{name}: {} up in {seconds:.1} s", output::count(hosts, "host")));
    Ok(Done::Well)
}

fn describe(step: Step) -> &'static str {
    match step {
        Step::Hosts => "hosts",
        Step::Disks => "disks",
        Step::Daemons => "daemons",
        Step::FileSystem => "file system",
        Step::Mounts => "mounts",
    }
}

fn down(name: Option<String>) -> Outcome {
    let name = chosen(name)?;
    let begin = Instant::now();
    setup::down(&name).map_err(explained)?;
    tell(format_args!("{name}: down in {:.1} s", begin.elapsed().as_secs_f64()));
    Ok(Done::Well)
}

fn status(name: Option<String>, json: bool) -> Outcome {
    let lab = setup::Lab::open(&chosen(name)?).map_err(explained)?;
    let status = lab.status(undo::faults_of(&lab).map_err(explained)?);
    if json {
        output::json(&status)?;
        return Ok(Done::Well);
    }
    let mut table =
        output::table(&["host", "address", "up", "device", "reads", "writes", "errors"], &[4, 5, 6]);
    for host in &status.hosts {
        let number = |of: fn(&laggard_lab::disks::control::DiskStatus) -> u64| {
            host.disk.as_ref().map_or_else(String::new, |disk| of(disk).to_string())
        };
        table.add_row([
            host.name.clone(),
            host.address.clone(),
            if host.is_there { "yes" } else { "no" }.to_owned(),
            host.device.clone().unwrap_or_default(),
            number(|disk| disk.reads),
            number(|disk| disk.writes),
            number(|disk| disk.errors),
        ]);
    }
    output::print(&table)?;
    for (fault, server) in &status.faults {
        tell(format_args!("{fault} at {server}: `laggard lab fault {fault} {server} --revert` reverts it"));
    }
    let is_whole =
        status.is_kept && status.stage == lab_manifest::Stage::Up && status.hosts.iter().all(|h| h.is_there);
    if !is_whole {
        bail!("the lab {0} is incomplete: run `laggard lab down {0}`", status.name);
    }
    match status.complaint {
        Some(complaint) => bail!("the file system is not healthy: {complaint}"),
        None => Ok(Done::Well),
    }
}

fn set_fault(fault: &str, server: &str, revert: bool, lab: Option<String>) -> Outcome {
    let fault = Fault::named(fault).map_err(explained)?;
    let lab = setup::Lab::open(&chosen(lab)?).map_err(explained)?;
    let change = if revert { undo::revert_in_lab } else { undo::apply_in_lab };
    let outcome = change(&lab, &fault, server);
    outcome.map_err(explained)?;
    Ok(Done::Well)
}

fn exec(host: &str, lab: Option<String>, words: &[String]) -> Outcome {
    let place = setup::Lab::open(&chosen(lab)?).and_then(|lab| lab.host_place(host)).map_err(explained)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let status = place.command(&words).stdin(Stdio::inherit()).status().context("nsenter")?;
    std::process::exit(exit_status(status))
}

/// The exit status that a shell would report.
fn exit_status(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// The lab of that name, or the only one there is.
pub(crate) fn chosen(name: Option<String>) -> anyhow::Result<String> {
    let mut names = lab_manifest::names();
    match (name, names.len()) {
        (Some(name), _) if names.contains(&name) => Ok(name),
        (Some(name), 0) => bail!("there is no lab {name:?}: none is up"),
        (Some(name), _) => bail!("there is no lab {name:?}; expected one of {}", names.join(", ")),
        (None, 1) => Ok(names.remove(0)),
        (None, 0) => bail!("no lab is up: `laggard lab up` builds one"),
        (None, _) => bail!("there are several labs: name one of {}", names.join(", ")),
    }
}

/// A missing requirement has its own exit status.
pub(crate) fn explained(error: LabError) -> anyhow::Error {
    match error {
        LabError::Lacking(text) => Lacking(text).into(),
        other => other.into(),
    }
}
