//! Building a lab.

use super::{Lab, filesystem, network, storage};
use crate::filesystems::Adapter;
use crate::machine::place::{Place, wait_for};
use crate::machine::processes::Process;
use crate::machine::{LabError, needs};
use crate::manifest::{self, Lock, Manifest, Stage};
use crate::plan::file::LabFile;
use crate::plan::host::HostPlan;

/// What is being done, for one who watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Namespaces and links.
    Hosts,
    /// Virtual disks.
    Disks,
    /// Daemons of the servers.
    Daemons,
    /// The file system itself.
    FileSystem,
    /// The clients' mounts.
    Mounts,
}

/// Builds a lab. One that is cut short stays as it is, for [`super::down`].
pub fn up(file: LabFile, tell: &dyn Fn(Step)) -> Result<Lab, LabError> {
    let adapter = file.filesystem.as_deref().map(Adapter::named).transpose()?;
    check(&file, adapter.as_ref())?;
    let (mut lab, _lock) = found(file)?;
    let keeper = start_keeper(&lab)?;
    let inside = Place::Inside(keeper.number);
    let hosts = lab.hosts();
    let (servers, clients): (Vec<HostPlan>, Vec<HostPlan>) =
        hosts.iter().cloned().partition(HostPlan::is_server);

    tell(Step::Hosts);
    network::lay_switch(&keeper)?;
    side_by_side(&hosts, |host| network::make_host(&lab, &keeper, host))?;
    tell(Step::Disks);
    storage::make_room(&lab, inside)?;
    side_by_side(&servers, |host| storage::make_disk(&lab, inside, host))?;
    if lab.manifest.lab.true_peers {
        storage::limit(&mut lab)?;
    }
    lab.write_through(lab.manifest.lab.write_through)?;
    if let Some(adapter) = &adapter {
        tell(Step::Daemons);
        side_by_side(&servers, |host| filesystem::start(&lab, adapter, host))?;
        tell(Step::FileSystem);
        filesystem::create(&lab, adapter)?;
        tell(Step::Mounts);
        side_by_side(&clients, |host| filesystem::mount(&lab, adapter, host))?;
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

/// Writes the manifest, before anything else exists.
fn found(file: LabFile) -> Result<(Lab, Lock), LabError> {
    let folder = manifest::folder(&file.name);
    let name = file.name.clone();
    std::fs::create_dir_all(manifest::FOLDER).map_err(LabError::at(manifest::FOLDER.as_ref()))?;
    std::fs::create_dir(&folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => LabError::Input(format!(
            "there is a lab {name} already, perhaps a half-built one: run `laggard lab down {name}` first"
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

/// Does the same for several hosts at once; the first failure is told.
fn side_by_side(
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
