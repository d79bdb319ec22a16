//! `laggard simulate`: simulated datasets with labels.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use laggard_core::diagnosis::label;
use laggard_core::samples::RawTable;
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
/// (component,begin,end,cause) and cluster.toml. The same seed gives the same counters.
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

Examples:
  laggard simulate testbench -o bench --set fault=disk-busy --set workload=ddr
  laggard simulate testbench -o calm --seed 7 --set servers=12 --set clients=6
  laggard simulate intrepid-day -o day --set groups=4 --set every=15s --set event=drawer-errors
  laggard simulate scale -o large --set components=10000")]
pub struct Simulate {
    /// testbench, intrepid-day, intrepid-study or scale.
    scenario: String,
    /// The folder for the dataset; it is created if it does not exist.
    #[arg(short, long, value_name = "DATASET")]
    out: PathBuf,
    /// The seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// A setting of the scenario; can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

impl Simulate {
    pub fn run(self) -> Outcome {
        let pairs = self.settings.iter().map(|text| settings::pair(text));
        let pairs: Vec<Pair> = pairs.collect::<Result<_, _>>()?;
        let scenario = Scenario::parse(&self.scenario, &pairs, self.seed)?;
        self.check_empty()?;
        std::fs::create_dir_all(&self.out).with_context(|| self.out.display().to_string())?;
        self.write("cluster.toml", &scenario.cluster_file().to_toml())?;
        self.write("labels.csv", &label::csv(&scenario.labels()))?;
        let ordinary = scenario.ordinary();
        if !ordinary.is_empty() {
            self.write("ordinary.csv", &label::csv(&ordinary))?;
        }
        let work = Work::new(&self, &scenario);
        scenario.days().try_for_each(|day| work.write_day(&day))?;
        work.finish(&self.out, scenario.labels().len())
    }

    /// Two simulations in one folder would overwrite each other's labels.
    fn check_empty(&self) -> anyhow::Result<()> {
        let has_files = self.out.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if has_files {
            let out = self.out.display();
            bail!("{out} is not empty: name a new folder, or remove this one first");
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.out.join(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    }
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
    fn new(command: &Simulate, scenario: &Scenario) -> Work {
        let source = format!("laggard simulate {} seed {}", command.scenario, command.seed);
        let every = Some(scenario.every());
        Work {
            dataset: Dataset::in_folder(&command.out),
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

    fn finish(self, out: &Path, labels: usize) -> Outcome {
        self.bar.finish_and_clear();
        let tally = self.tally.into_inner().expect("all threads have ended");
        tell(format_args!(
            "{}: {} in {}, {}; {} in labels.csv",
            out.display(),
            output::count(tally.rows, "row"),
            output::count(tally.files, "file"),
            output::bytes(tally.bytes),
            output::count(labels as u64, "labelled fault"),
        ));
        Ok(Done::Well)
    }
}

/// The next host that no thread has taken.
fn take<'a>(hosts: &'a [String], next: &AtomicUsize) -> Option<(usize, &'a str)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    Some((number, hosts.get(number)?))
}
