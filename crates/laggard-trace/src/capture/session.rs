//! A capture: what it makes in the kernel, from begin to end.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::CaptureError;
use super::buffers::{Counts, now_ns};
use super::events::Reach;
use super::feed::Feed;
use super::guard::Guard;
use super::instance::Instance;
use super::manifest::{self, Manifest, Written};
use super::overhead;
use super::page::Header;
use super::plan::Plan;
use super::probes;
use super::scope::{self, Process};
use super::stream::Stream;
use super::tracefs::Tracefs;
use super::undo;
use crate::model::{Layer, Overhead};
use crate::tracepoints::Tracepoint;

/// A capture.
#[derive(Debug)]
pub struct Session {
    plan: Plan,
    chosen: Instance,
    everyone: Instance,
    feed: Feed,
    stream: Stream,
    overhead: Overhead,
    absent: Vec<String>,
    looked: Instant,
    /// Last, so that files are closed before what they are of is removed.
    made: Made,
}

/// What there is to undo. Whoever drops it undoes it.
#[derive(Debug)]
struct Made {
    tracefs: Arc<Tracefs>,
    written: Option<Written>,
    guard: Option<Guard>,
}

/// The memory goes to so many instances.
const INSTANCES: u64 = 2;
/// How often a control group is looked at for new members.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Descriptors beyond so many processes are looked up when they are used.
const SNAPSHOT: usize = 1000;

const PROCFS: &str = "/proc";
const SYSFS: &str = "/sys";

impl Session {
    /// Makes all that is needed, and starts nothing. `guard` is a program that calls [`super::guard::keep`] with its
    /// last argument.
    pub fn prepare(plan: Plan, guard: Command) -> Result<Session, CaptureError> {
        let tracefs = Arc::new(Tracefs::open()?);
        undo::sweep(&tracefs, Path::new(manifest::FOLDER))?;
        let header = tracefs.read("events/header_page").and_then(|text| Header::parse(&text));
        let made = Made::begin(&tracefs, guard)?;
        let [chosen, everyone] = made.instances(plan.kib_per_cpu / INSTANCES)?;
        let overhead = overhead::calibrate(&tracefs, &chosen, &made.manifest()?.probes)?;
        let mut session = Session {
            feed: Feed::open(&[chosen.clone(), everyone.clone()], header, plan.as_text)?,
            stream: Stream::new(&plan.scope, plan.starter, Path::new(PROCFS), Path::new(SYSFS)),
            plan,
            chosen,
            everyone,
            overhead,
            absent: vec![],
            looked: Instant::now(),
            made,
        };
        session.limit()?;
        session.enable()?;
        session.probe()?;
        Ok(session)
    }

    /// What capturing costs here.
    pub fn overhead(&self) -> Overhead {
        self.overhead
    }

    /// Tracepoints that this kernel does not have.
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// Begins, with what the chosen processes have open.
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

    /// Gives out what has come since the last time and is in order.
    pub fn read(&mut self, mut each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        self.feed.read(&mut self.stream)?;
        self.stream.give(&mut each);
        self.welcome(&mut each)
    }

    /// Stops, and gives out the rest.
    pub fn stop(&mut self, mut each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        self.chosen.stop()?;
        self.everyone.stop()?;
        self.feed.finish(&mut self.stream)?;
        self.stream.give(&mut each);
        Ok(())
    }

    /// What became of the records, buffer by buffer.
    pub fn counts(&self) -> Vec<Counts> {
        self.feed.counts()
    }

    /// How fine its times are.
    pub fn resolution_ns(&self) -> u64 {
        self.feed.resolution_ns()
    }

    /// How many records came too late for their place.
    pub fn late(&self) -> u64 {
        self.feed.late()
    }

    /// How many records were those of others, and left out.
    pub fn left_out(&self) -> u64 {
        self.stream.left_out()
    }

    /// Takes away all that was made.
    pub fn undo(self) -> Result<(), CaptureError> {
        let Session { feed, mut made, .. } = self;
        drop(feed);
        made.undo()
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
        // An empty list would mean everyone.
        if tasks.is_empty() {
            tasks.push(NOBODY);
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
        let group = self.made.manifest()?.probes.clone();
        let numbers: Vec<u32> = self.processes()?.iter().map(|process| process.number).collect();
        let libraries = probes::libraries(Path::new(PROCFS), &numbers);
        for (number, library) in libraries.iter().enumerate() {
            let probes = probes::probes(&group, library, number)?;
            probes::set(&self.made.tracefs, &probes)?;
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

    /// Takes in processes that have come since.
    fn welcome(&mut self, each: &mut impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        let mut found = self.stream.newcomers();
        if self.plan.scope.cgroup.is_some() && self.looked.elapsed() > LOOK_EVERY {
            self.looked = Instant::now();
            let members = self.plan.scope.members()?.into_iter();
            found.extend(members.map(|number| Process { number, comm: String::new() }));
        }
        for process in found {
            let ts_ns = self.stream.last_ns();
            if self.stream.choose(&process, ts_ns, each) {
                // A process that has ended meanwhile has no threads.
                self.chosen.also_follow(&scope::threads(Path::new(PROCFS), process.number))?;
            }
        }
        Ok(())
    }
}

/// A number that no task has.
const NOBODY: u32 = 4_194_304;

impl Made {
    /// Writes down what will be made, and has a guard look after it.
    fn begin(tracefs: &Arc<Tracefs>, guard: Command) -> Result<Made, CaptureError> {
        let written = Written::create(Path::new(manifest::FOLDER), Manifest::fresh())?;
        let mut made = Made { tracefs: tracefs.clone(), written: Some(written), guard: None };
        made.guard = made.written.as_ref().map(|written| Guard::start(guard, written)).transpose()?;
        Ok(made)
    }

    fn manifest(&self) -> Result<&Manifest, CaptureError> {
        let gone = || CaptureError::Input("what was made is undone already".into());
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
        self.guard.take().into_iter().for_each(Guard::dismiss);
        Ok(())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // Whatever fails here is tried again by the guard, and by the next recorder.
        let _ = self.undo();
    }
}
