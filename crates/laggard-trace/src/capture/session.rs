//! A capture session: creates the kernel objects, reads the events, removes the objects.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::CaptureError;
use super::buffers::{Counts, now_ns};
use super::capture_plan::Plan;
use super::events::Reach;
use super::guard::Guard;
use super::instance::Instance;
use super::manifest::{self, LockedManifest, Manifest};
use super::overhead;
use super::page::Header;
use super::probes;
use super::record_source::RecordSource;
use super::scope::{self, Process};
use super::stream::Stream;
use super::tracefs::Tracefs;
use super::undo;
use crate::model::{Layer, Overhead};
use crate::tracepoints::Tracepoint;

#[derive(Debug)]
pub struct Session {
    plan: Plan,
    chosen: Instance,
    everyone: Instance,
    source: RecordSource,
    stream: Stream,
    overhead: Overhead,
    absent: Vec<String>,
    members_read: Instant,
    /// Last, so that files are closed before their instances are removed.
    objects: KernelObjects,
}

/// The kernel objects of this session. Removes them on drop.
#[derive(Debug)]
struct KernelObjects {
    tracefs: Arc<Tracefs>,
    written: Option<LockedManifest>,
    guard: Option<Guard>,
}

const INSTANCES: u64 = 2;
const READ_MEMBERS_EVERY: Duration = Duration::from_millis(200);
/// For further processes, descriptors are looked up when they are used.
const SNAPSHOT: usize = 1000;

const PROCFS: &str = "/proc";
const SYSFS: &str = "/sys";

impl Session {
    /// Creates everything without starting. `guard` is a program that calls [`super::guard::run`] with its last
    /// argument.
    pub fn prepare(plan: Plan, guard: Command) -> Result<Session, CaptureError> {
        let tracefs = Arc::new(Tracefs::open()?);
        undo::undo_orphans(&tracefs, Path::new(manifest::FOLDER))?;
        let header = tracefs.read("events/header_page").and_then(|text| Header::parse(&text));
        let objects = KernelObjects::begin(&tracefs, guard)?;
        let [chosen, everyone] = objects.instances(plan.kib_per_cpu / INSTANCES)?;
        let overhead = overhead::calibrate(&tracefs, &chosen, &objects.manifest()?.probes)?;
        let mut session = Session {
            source: RecordSource::open(&[chosen.clone(), everyone.clone()], header, plan.as_text)?,
            stream: Stream::new(&plan.scope, plan.starter, Path::new(PROCFS), Path::new(SYSFS)),
            plan,
            chosen,
            everyone,
            overhead,
            absent: vec![],
            members_read: Instant::now(),
            objects,
        };
        session.limit()?;
        session.enable()?;
        session.probe()?;
        Ok(session)
    }

    pub fn overhead(&self) -> Overhead {
        self.overhead
    }

    /// Tracepoints that this kernel does not have.
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// Begins with the open descriptors of the captured processes.
    pub fn start(&mut self, mut each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        let processes = self.processes()?;
        for process in processes.iter().take(SNAPSHOT) {
            self.stream.choose(process, now_ns(), &mut each);
            if self.plan.scope.is_daemon(Path::new(PROCFS), process.number) {
                self.stream.is_daemon(process.number);
            }
        }
        self.everyone.start()?;
        self.chosen.start()
    }

    /// Passes on the events since the last call that are complete and ordered.
    pub fn read(&mut self, mut each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        self.source.read(&mut self.stream)?;
        self.stream.give(&mut each);
        self.add_new_processes(&mut each)
    }

    /// Passes on the rest.
    pub fn stop(&mut self, mut each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        self.chosen.stop()?;
        self.everyone.stop()?;
        self.source.finish(&mut self.stream)?;
        self.stream.give(&mut each);
        Ok(())
    }

    pub fn counts(&self) -> Vec<Counts> {
        self.source.counts()
    }

    pub fn resolution_ns(&self) -> u64 {
        self.source.resolution_ns()
    }

    /// Records that arrived after later ones were passed on.
    pub fn late(&self) -> u64 {
        self.source.late()
    }

    /// Records of other processes.
    pub fn left_out(&self) -> u64 {
        self.stream.left_out()
    }

    pub fn undo(self) -> Result<(), CaptureError> {
        let Session { source, mut objects, .. } = self;
        drop(source);
        objects.undo()
    }

    fn limit(&mut self) -> Result<(), CaptureError> {
        if !self.plan.scope.is_chosen() {
            self.chosen.set("set_event_pid", "")?;
            return self.chosen.ignore(&scope::threads(Path::new(PROCFS), std::process::id()));
        }
        let mut tasks: Vec<u32> = self.plan.starter.into_iter().collect();
        for process in self.processes()? {
            tasks.extend(scope::threads(Path::new(PROCFS), process.number));
        }
        // An empty list would mean all tasks.
        if tasks.is_empty() {
            tasks.push(NO_TASK);
        }
        self.chosen.follow(&tasks)
    }

    fn enable(&mut self) -> Result<(), CaptureError> {
        for wanted in self.plan.wanted(Path::new(SYSFS)) {
            let instance = if wanted.reach == Reach::Chosen { &self.chosen } else { &self.everyone };
            match instance.enable(&wanted.event, &wanted.filter)? {
                Some(format) => _ = self.stream.decoder.learn(&format),
                None => self.absent.push(wanted.event),
            }
        }
        Ok(())
    }

    fn probe(&mut self) -> Result<(), CaptureError> {
        if !self.plan.has_probes || !self.plan.layers.contains(&Layer::Aio) {
            return Ok(());
        }
        let group = self.objects.manifest()?.probes.clone();
        let numbers: Vec<u32> = self.processes()?.iter().map(|process| process.number).collect();
        let libraries = probes::libraries(Path::new(PROCFS), &numbers);
        for (number, library) in libraries.iter().enumerate() {
            let probes = probes::probes(&group, library, number)?;
            probes::set(&self.objects.tracefs, &probes)?;
            for probe in probes {
                let event = format!("{group}/{}", probe.event);
                let format = self.chosen.enable(&event, &probe.filter)?;
                format.iter().for_each(|format| _ = self.stream.decoder.learn(format));
            }
        }
        Ok(())
    }

    fn processes(&self) -> Result<Vec<Process>, CaptureError> {
        if self.plan.scope.is_chosen() {
            return self.plan.scope.now(Path::new(PROCFS));
        }
        let own = std::process::id();
        let all = scope::processes(Path::new(PROCFS));
        Ok(all.into_iter().filter(|process| process.number != own).collect())
    }

    fn add_new_processes(&mut self, each: &mut impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        let mut found = self.stream.new_processes();
        if self.plan.scope.cgroup.is_some() && self.members_read.elapsed() > READ_MEMBERS_EVERY {
            self.members_read = Instant::now();
            let members = self.plan.scope.members()?.into_iter();
            found.extend(members.map(|number| Process { number, comm: String::new() }));
        }
        for process in found {
            let ts_ns = self.stream.last_ns();
            if self.stream.choose(&process, ts_ns, each) {
                // A process that has ended has no threads.
                self.chosen.also_follow(&scope::threads(Path::new(PROCFS), process.number))?;
            }
        }
        Ok(())
    }
}

/// Larger than any task number.
const NO_TASK: u32 = 4_194_304;

impl KernelObjects {
    /// Writes the manifest and starts the guard.
    fn begin(tracefs: &Arc<Tracefs>, guard: Command) -> Result<KernelObjects, CaptureError> {
        let written = LockedManifest::create(Path::new(manifest::FOLDER), Manifest::new())?;
        let mut objects = KernelObjects { tracefs: tracefs.clone(), written: Some(written), guard: None };
        objects.guard = objects.written.as_ref().map(|written| Guard::start(guard, written)).transpose()?;
        Ok(objects)
    }

    fn manifest(&self) -> Result<&Manifest, CaptureError> {
        let gone = || CaptureError::Input("the session has already ended".into());
        self.written.as_ref().map(|written| &written.manifest).ok_or_else(gone)
    }

    fn instances(&self, kib_per_cpu: u64) -> Result<[Instance; 2], CaptureError> {
        let mut instances = vec![];
        for name in &self.manifest()?.instances {
            instances.push(Instance::create(&self.tracefs, name, kib_per_cpu)?);
        }
        <[Instance; 2]>::try_from(instances)
            .map_err(|all| CaptureError::Input(format!("expected 2 instances, found {}", all.len())))
    }

    fn undo(&mut self) -> Result<(), CaptureError> {
        let Some(written) = self.written.take() else { return Ok(()) };
        undo::undo(&self.tracefs, &written.manifest)?;
        written.remove()?;
        self.guard.take().into_iter().for_each(Guard::end);
        Ok(())
    }
}

impl Drop for KernelObjects {
    fn drop(&mut self) {
        // The guard and the next recorder try again.
        let _ = self.undo();
    }
}
