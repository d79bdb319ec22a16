//! Programs that run on many hosts of a lab, and end with this process: workloads and recorders.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use laggard_core::model::time::Span;

use crate::lab_file::host::HostPlan;
use crate::machine::processes::{self, Process};
use crate::machine::waiting::wait_for;
use crate::machine::{LabError, needs};
use crate::setup::{Lab, MOUNTPOINT};
use crate::undo;
use crate::workloads::{self, Workload};

/// Running programs of one kind.
pub(crate) struct Workers {
    lab: Lab,
    kind: &'static str,
    programs: Vec<(String, Child)>,
}

/// Pauses of clients between passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pauses {
    Some,
    /// The disks are the limit.
    None,
}

/// A program that is ready to be started.
struct Task {
    host: String,
    command: Command,
}

impl Workers {
    /// Starts the recorders of all hosts, each with its own disk only, for at most `seconds`.
    pub(crate) fn recorders(lab: &Lab, out: &Path, every: Span, seconds: u64) -> Result<Workers, LabError> {
        let (program, out, every) = (crate::setup::program()?, out.display().to_string(), every.to_string());
        let mut tasks = vec![];
        for host in lab.hosts() {
            let device = lab.device(&host.name).unwrap_or_else(|| NO_DEVICE.into());
            let record = [&program, "record", "-o", &out, "--every", &every, "--quiet"];
            // Single connections would be most of the recording. Pressure is the whole machine's.
            let only = ["--host", &host.name, "--devices", &device, "--interfaces", "eth0", "--sockets", "0"];
            let words = [&record[..], &only[..], &["--without", "pressure"]].concat();
            tasks.push(task(lab, &host.name, RECORDER, &words, seconds)?);
        }
        Workers::start(lab, RECORDER, tasks)
    }

    /// Starts a workload on all clients, for at most `seconds`.
    pub(crate) fn clients(
        lab: &Lab,
        workload: &Workload,
        seconds: u64,
        pauses: Pauses,
    ) -> Result<Workers, LabError> {
        let restless = if pauses == Pauses::None { "yes" } else { "" };
        let script = workload.script();
        let mib = workloads::pass_mib(&lab.manifest.lab).to_string();
        let mut tasks = vec![];
        for host in lab.hosts().iter().filter(|host| !host.is_server()) {
            let _ = std::fs::remove_file(log(lab, &host.name, WORKLOAD));
            let mut task = task(lab, &host.name, WORKLOAD, &["sh", "-ec", &script], seconds)?;
            task.command.env("FOLDER", format!("{MOUNTPOINT}/{}", host.name)).env("MIB", &mib);
            task.command.env("RESTLESS", restless);
            tasks.push(task);
        }
        Workers::start(lab, WORKLOAD, tasks)
    }

    /// Starts prepared programs together: preparing takes longer than starting.
    fn start(lab: &Lab, kind: &'static str, tasks: Vec<Task>) -> Result<Workers, LabError> {
        let mut workers = Workers { lab: lab.clone(), kind, programs: vec![] };
        for Task { host, mut command } in tasks {
            let path = log(lab, &host, kind);
            workers.programs.push((host, command.spawn().map_err(LabError::at(&path))?));
        }
        Ok(workers)
    }

    /// The host of the first program that has ended already.
    fn lost(&mut self) -> Option<String> {
        let has_ended = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)) | Err(_));
        self.programs.iter_mut().find_map(|(host, child)| has_ended(child).then(|| host.clone()))
    }

    /// Ends all programs and waits for them. Fails if one had ended before.
    pub(crate) fn end(mut self) -> Result<(), LabError> {
        if let Some(host) = self.lost() {
            let (kind, log) = (self.kind, log(&self.lab, &host, self.kind));
            return Err(LabError::Input(format!("the {kind} of {host} failed: see {}", log.display())));
        }
        dismiss(&self.lab, self.kind)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // A failure is repeated before the next experiment.
        let _ = dismiss(&self.lab, self.kind);
        for (_, child) in &mut self.programs {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Makes a lab ready for a workload. Refuses a lab that has a fault or is not healthy, and ends programs that a killed
/// experiment has left.
pub(crate) fn ready(lab: &Lab, workload: &str) -> Result<Workload, LabError> {
    let workload = Workload::named(workload)?;
    needs::check(&workload.needs)?;
    if lab.hosts().iter().all(HostPlan::is_server) || lab.manifest.lab.filesystem.is_none() {
        let needs = "an experiment needs clients and a file system: see the lab file";
        return Err(LabError::Input(needs.into()));
    }
    if let Some((fault, server)) = undo::faults_of(lab)?.first() {
        let next = format!("`laggard lab fault {fault} {server} --revert` reverts it");
        return Err(LabError::Input(format!("the lab still has {fault} at {server}: {next}")));
    }
    lab.health()?;
    dismiss(lab, WORKLOAD)?;
    dismiss(lab, RECORDER)?;
    lab.write_through(lab.manifest.lab.write_through || workload.is_cached)?;
    Ok(workload)
}

/// Each gets one signal: a recorder that gets two does not seal its files.
fn dismiss(lab: &Lab, kind: &str) -> Result<(), LabError> {
    let mut asked: Vec<u32> = vec![];
    wait_for("the programs of an experiment to end", SEALING_SECONDS, || {
        let mut left = processes::marked(&sign(lab, kind));
        left.retain(|process: &Process| process.words.first().is_some_and(|word| word == "timeout"));
        let new: Vec<u32> = left.iter().map(|p| p.number).filter(|number| !asked.contains(number)).collect();
        new.iter().for_each(|&number| processes::end(number));
        asked.extend(new);
        left.is_empty().then_some(())
    })
}

/// A program on a host. `timeout` ends it with all its children, also when `timeout` itself gets the signal.
fn task(lab: &Lab, host: &str, kind: &str, words: &[&str], seconds: u64) -> Result<Task, LabError> {
    let path = log(lab, host, kind);
    let log = File::options().create(true).append(true).open(&path).map_err(LabError::at(&path))?;
    let twin = log.try_clone().map_err(LabError::at(&path))?;
    let (length, sign) = (seconds.to_string(), sign(lab, kind));
    let kill_after = format!("--kill-after={SEALING_SECONDS}");
    let all = [&["timeout", &kill_after, &length, "env", &sign], words].concat();
    let mut command = lab.host_place(host)?.command(&all);
    command.stdout(log).stderr(twin);
    Ok(Task { host: host.to_owned(), command })
}

/// A recorder may take this long to seal its files on a busy machine.
pub(crate) const SEALING_SECONDS: u64 = 60;
/// A pattern that matches no device.
const NO_DEVICE: &str = "none";
const WORKLOAD: &str = "workload";
const RECORDER: &str = "recorder";

/// An environment variable by which the programs of a lab's experiments are found.
fn sign(lab: &Lab, kind: &str) -> String {
    format!("{kind}={}", lab.manifest.mark)
}

/// The output of a program; clients print the times of their passes.
pub(crate) fn log(lab: &Lab, host: &str, kind: &str) -> PathBuf {
    lab.folder.join("logs").join(format!("{host}.{kind}"))
}

/// The times at which clients finished a pass, in seconds since 1970. Other lines are error messages.
pub(crate) fn passes(lab: &Lab) -> Vec<f64> {
    let clients = lab.hosts().into_iter().filter(|host| !host.is_server());
    let texts = clients.filter_map(|host| std::fs::read_to_string(log(lab, &host.name, WORKLOAD)).ok());
    texts.flat_map(|text| text.lines().filter_map(|line| line.parse().ok()).collect::<Vec<f64>>()).collect()
}
