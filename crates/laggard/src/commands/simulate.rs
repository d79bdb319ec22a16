//! `laggard simulate`: simulated datasets with labels.

mod overlay;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use laggard_core::diagnosis::label;
use laggard_core::samples::RawTable;
use laggard_eval::simulate::fleet::suite::{self, Case};
use laggard_eval::simulate::settings::{self, Pair};
use laggard_eval::simulate::{Day, Scenario};
use laggard_store::dataset::Dataset;
use laggard_store::error::StoreError;
use laggard_store::import::Importer;
use laggard_store::origin::Origin;

use crate::failure::{Done, Outcome, tell};
use crate::{output, progress};

/// Simulate a storage system and write a labelled dataset.
///
/// Clients issue requests that are striped over servers and wait for the slowest. Disks, caches, interfaces and TCP
/// windows are modelled. The dataset contains the kernel's counters as `laggard record` writes them, labels.csv
/// (component,begin,end,cause) and cluster.toml. The same seed gives the same counters. The scenario overlay copies an existing
/// dataset and makes one of its disks slower.
#[derive(Args)]
#[command(after_help = "\
Scenarios and their settings (see docs/simulation.md):
  testbench       fault=none|disk-hog|disk-busy|write-network-hog|read-network-hog|receive-pktloss|send-pktloss
                  workload=ddw|ddr|iozonew|iozoner|postmark  system=pvfs|lustre  servers=10  clients=10
                  faulty=oss3  seconds=600  every=1s  start=TIME  cache=direct|buffered  nuisances=yes|no  run=1
  intrepid-day    every=1s|15s  groups=1..16  date=2011-05-09  nuisances=yes|no
                  event=none|controller-failure|server-down|bad-state|drawer-errors|slow-lun|lun-resets|server-workload
  intrepid-study  from=2011-04-13  days=474  every=15s  groups=4  nuisances=yes|no
  scale           components=100000  samples=240  every=15s  slow=N  nuisances=yes|no
  fleet           servers=8  clients=6  disks=4  media=hdd|ssd|nvme  generations=1  spares=0  extras=yes|no
                  layout=striped|hashed  load=100  maintenance=yes|no  length=1h  every=5s  hour=9  start=TIME
                  fault=none|slow|ramp|stalls|retries|lost-disk|server-down|slow-link|packet-loss|cpu-hog|disk-hog|
                  network-hog|memory-pressure|hot-spot|sample-loss|reboot|late-join
                  magnitude=X  target=st3:sdc  begin=20m  duration=20m  links=yes|no  kernel=new|old
                  suites: quick, faults, healthy, mild
  overlay         component=st3:sdc  pattern=constant|ramp|stalls|sample-loss  factor=3  stall=5s  share=0.15
                  begin=20m|TIME  duration=20m
                  suites: quick, full

Examples:
  laggard simulate testbench -o bench --set fault=disk-busy --set workload=ddr
  laggard simulate testbench -o calm --seed 7 --set servers=12 --set clients=6
  laggard simulate intrepid-day -o day --set groups=4 --set every=15s --set event=drawer-errors
  laggard simulate scale -o large --set components=10000
  laggard simulate fleet -o fleet --set fault=stalls --set magnitude=4 --set media=ssd
  laggard simulate fleet --suite faults -o suite
  laggard simulate overlay --on data -o slower --set component=oss3:sdb --set factor=1.5 --set duration=1h
  laggard simulate overlay --on data -o overlays --suite full")]
pub(crate) struct Simulate {
    /// testbench, intrepid-day, intrepid-study, scale, fleet or overlay.
    scenario: String,
    /// The dataset that overlay copies and changes.
    #[arg(long, value_name = "DATASET")]
    on: Option<PathBuf>,
    /// The folder for the dataset; it is created if it does not exist.
    #[arg(short, long, value_name = "DATASET")]
    out: PathBuf,
    /// The seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// A setting of the scenario; can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Write a suite of datasets, each in a folder of its own. Settings apply to all of them.
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Do not write cluster.toml.
    #[arg(long)]
    no_cluster_file: bool,
}

impl Simulate {
    pub(crate) fn run(self) -> Outcome {
        let pairs = self.settings.iter().map(|text| settings::pair(text));
        let pairs: Vec<Pair> = pairs.collect::<Result<_, _>>()?;
        if self.scenario == "overlay" {
            return overlay::write(&self, &pairs);
        }
        if self.on.is_some() {
            bail!("--on is for overlay: {} does not use a dataset", self.scenario);
        }
        let Some(suite) = &self.suite else {
            let scenario = Scenario::parse(&self.scenario, &pairs, self.seed)?;
            check_empty(&self.out)?;
            let (tally, labels) = self.write_dataset(&self.out, &scenario, self.seed)?;
            return Ok(tally.report(&self.out, labels));
        };
        let cases = self.cases(suite, &pairs)?;
        check_empty(&self.out)?;
        let (mut total, mut labels) = (Tally::default(), 0);
        for (name, scenario, seed) in &cases {
            let (tally, labelled) = self.write_dataset(&self.out.join(name), scenario, *seed)?;
            total.add(&tally);
            labels += labelled;
        }
        Ok(total.report(&self.out, labels))
    }

    /// The datasets of a suite, with their seeds.
    fn cases(&self, suite: &str, pairs: &[Pair]) -> anyhow::Result<Vec<(String, Scenario, u64)>> {
        let cases = (self.scenario == "fleet").then(|| suite::cases(suite, self.seed)).flatten();
        let Some(cases) = cases else {
            bail!("there is no suite {suite:?} of {}: fleet has {}", self.scenario, suite::SUITES.join(", "));
        };
        let scenario = |case: Case| {
            let settings = [&case.settings, pairs].concat();
            Ok((case.name, Scenario::parse(&self.scenario, &settings, case.seed)?, case.seed))
        };
        cases.into_iter().map(scenario).collect()
    }

    /// Returns the number of labels also.
    fn write_dataset(&self, out: &Path, scenario: &Scenario, seed: u64) -> anyhow::Result<(Tally, usize)> {
        std::fs::create_dir_all(out).with_context(|| out.display().to_string())?;
        if !self.no_cluster_file {
            write(out, "cluster.toml", &scenario.cluster_file().to_toml())?;
        }
        let labels = scenario.labels();
        write(out, "labels.csv", &label::csv(&labels))?;
        let ordinary = scenario.ordinary();
        if !ordinary.is_empty() {
            write(out, "ordinary.csv", &label::csv(&ordinary))?;
        }
        let source = format!("laggard simulate {} seed {seed}", self.scenario);
        let work = Work::new(out, source, scenario);
        scenario.days().try_for_each(|day| work.write_day(&day))?;
        Ok((work.finish(), labels.len()))
    }
}

/// Two simulations in one folder would overwrite each other's labels.
fn check_empty(out: &Path) -> anyhow::Result<()> {
    let has_files = out.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if has_files {
        bail!("{} is not empty: name a new folder, or remove this one first", out.display());
    }
    Ok(())
}

fn write(out: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let path = out.join(name);
    std::fs::write(&path, text).with_context(|| path.display().to_string())
}

struct Work {
    dataset: Dataset,
    origin: Origin,
    bar: ProgressBar,
    tally: Mutex<Tally>,
}

#[derive(Default)]
struct Tally {
    files: u64,
    rows: u64,
    bytes: u64,
}

impl Work {
    fn new(out: &Path, source: String, scenario: &Scenario) -> Work {
        let every = Some(scenario.every());
        Work {
            dataset: Dataset::in_folder(out),
            origin: Origin { host: String::new(), every, wraps_at_32_bits: false, source },
            bar: progress::over_hosts(scenario.host_days()),
            tally: Mutex::default(),
        }
    }

    /// Simulates hosts in parallel on its own threads. An importer compresses in the shared thread pool and would
    /// deadlock if it waited for that pool from within.
    fn write_day(&self, day: &Day) -> Result<(), StoreError> {
        self.bar.set_message(day.start().to_string());
        let (hosts, next) = (day.hosts(), AtomicUsize::new(0));
        let write_some = || -> Result<(), StoreError> {
            while let Some((number, host)) = take(hosts, &next) {
                self.write_host(day, number, host)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..rayon::current_num_threads()).map(|_| scope.spawn(write_some)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("threads do not panic"))
        })
    }

    fn write_host(&self, day: &Day, number: usize, host: &str) -> Result<(), StoreError> {
        let mut importer = Importer::into(self.dataset.clone())?;
        let origin = Origin { host: host.into(), ..self.origin.clone() };
        let mut written = Ok(());
        day.rows(number, &mut |table: RawTable| {
            if written.is_ok() {
                written = importer.take(&origin, table);
            }
        });
        written?;
        let files = importer.finish()?;
        let mut tally = self.tally.lock().expect("threads do not panic");
        tally.files += files.len() as u64;
        tally.rows += files.iter().map(|file| file.rows).sum::<u64>();
        tally.bytes += files.iter().map(|file| file.bytes).sum::<u64>();
        self.bar.inc(1);
        Ok(())
    }

    fn finish(self) -> Tally {
        self.bar.finish_and_clear();
        self.tally.into_inner().expect("all threads have ended")
    }
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.files += other.files;
        self.rows += other.rows;
        self.bytes += other.bytes;
    }

    fn report(&self, out: &Path, labels: usize) -> Done {
        tell(format_args!(
            "{}: {} in {}, {}; {} in labels.csv",
            out.display(),
            output::count(self.rows, "row"),
            output::count(self.files, "file"),
            output::bytes(self.bytes),
            output::count(labels as u64, "labelled fault"),
        ));
        Done::Well
    }
}

/// The next host that no thread has taken.
fn take<'a>(hosts: &'a [String], next: &AtomicUsize) -> Option<(usize, &'a str)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    Some((number, hosts.get(number)?))
}
