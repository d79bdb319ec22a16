//! Builds a lab.

use super::{Lab, filesystem, network, storage};
use crate::filesystems::Adapter;
use crate::lab_file::contents::LabFile;
use crate::lab_file::host::HostPlan;
use crate::lab_manifest::{self, Lock, Manifest, Stage};
use crate::machine::place::Place;
use crate::machine::processes::Process;
use crate::machine::waiting::wait_for;
use crate::machine::{LabError, needs};

/// Progress of the construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Namespaces and links.
    Hosts,
    Disks,
    Daemons,
    FileSystem,
    Mounts,
}

/// Builds a lab. If it fails, what exists stays for [`super::down`].
pub fn up(file: LabFile, progress: &dyn Fn(Step)) -> Result<Lab, LabError> {
    let adapter = file.filesystem.as_deref().map(Adapter::named).transpose()?;
    check(&file, adapter.as_ref())?;
    let (mut lab, _lock) = found(file)?;
    let keeper = start_keeper(&lab)?;
    let inside = Place::Inside(keeper.number);
    let hosts = lab.hosts();
    let (servers, clients): (Vec<HostPlan>, Vec<HostPlan>) =
        hosts.iter().cloned().partition(HostPlan::is_server);

    progress(Step::Hosts);
    network::lay_switch(&keeper)?;
    in_parallel(&hosts, |host| network::make_host(&lab, &keeper, host))?;
    progress(Step::Disks);
    storage::mount_data(&lab, inside)?;
    in_parallel(&servers, |host| storage::make_disk(&lab, inside, host))?;
    if lab.manifest.lab.true_peers {
        storage::limit(&mut lab)?;
    }
    lab.write_through(lab.manifest.lab.write_through)?;
    if let Some(adapter) = &adapter {
        progress(Step::Daemons);
        in_parallel(&servers, |host| filesystem::start(&lab, adapter, host))?;
        progress(Step::FileSystem);
        filesystem::create(&lab, adapter)?;
        progress(Step::Mounts);
        in_parallel(&clients, |host| filesystem::mount(&lab, adapter, host))?;
    }
    lab.manifest.stage = Stage::Up;
    lab.manifest.write(&lab.folder)?;
    Ok(lab)
}

fn check(file: &LabFile, adapter: Option<&Adapter>) -> Result<(), LabError> {
    adapter.map_or(Ok(()), Adapter::check_lab)?;
    needs::check(adapter.map_or(&[], |adapter| adapter.needs.as_slice()))?;
    if let Some(adapter) = adapter
        && file.servers.count < adapter.least_servers
    {
        let (name, least) = (&adapter.name, adapter.least_servers);
        return Err(LabError::Input(format!(
            "{name} needs at least {least} servers, the lab has {}",
            file.servers.count
        )));
    }
    Ok(())
}

/// Writes the manifest before anything else exists.
fn found(file: LabFile) -> Result<(Lab, Lock), LabError> {
    let folder = lab_manifest::folder(&file.name);
    let name = file.name.clone();
    std::fs::create_dir_all(lab_manifest::FOLDER).map_err(LabError::at(lab_manifest::FOLDER.as_ref()))?;
    std::fs::create_dir(&folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => LabError::Input(format!(
            "a lab {name} exists, perhaps half-built: run `laggard lab down {name}` first"
        )),
        _ => LabError::at(&folder)(error),
    })?;
    let lock = Lock::take(&folder)?;
    let manifest = Manifest::new(file);
    manifest.write(&folder)?;
    for part in ["data", "disks", "logs", "own"] {
        let path = folder.join(part);
        std::fs::create_dir(&path).map_err(LabError::at(&path))?;
    }
    let lab = Lab { folder, manifest };
    for server in lab.hosts().iter().filter(|host| host.is_server()) {
        let path = lab.disk_folder(&server.name);
        std::fs::create_dir(&path).map_err(LabError::at(&path))?;
    }
    Ok((lab, lock))
}

fn start_keeper(lab: &Lab) -> Result<Process, LabError> {
    let program = super::program()?;
    let unshare = ["unshare", "--fork", "--kill-child", "--pid", "--mount", "--net", "--uts", "--ipc"];
    let more = ["--propagation", "private", "--mount-proc"];
    let words = [&unshare[..], &more[..], &[&program, "lab", "keep", &lab.manifest.mark]].concat();
    Place::Here.start(&words, &lab.log("keeper"))?;
    wait_for("the lab's first process", 10, || lab.keeper())
}

/// Works on several hosts in parallel; returns the first error.
fn in_parallel(
    hosts: &[HostPlan],
    work: impl Fn(&HostPlan) -> Result<(), LabError> + Sync,
) -> Result<(), LabError> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = hosts.iter().map(|host| scope.spawn(|| work(host))).collect();
        let outcomes: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        outcomes
            .into_iter()
            .try_for_each(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
