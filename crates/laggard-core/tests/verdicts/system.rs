//! Made-up systems, as the pipeline reads them.
//! In: what each component does at each sample. Out: a [`System`], which can be cut and diagnosed. Always: the same
//! seed gives the same system, and a component's noise does not depend on what the others do.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use laggard_core::methods::choice::MethodChoice;
use laggard_core::model::cluster::{ClusterFile, Inventory, Recorded};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::random::Random;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::pipeline::{NoObserver, diagnose};
use laggard_core::recording::{ReadError, Recording, Visitor};
use laggard_core::report::Report;
use laggard_core::suspects::feedback::Feedback;
use laggard_core::tables::Table;
use laggard_core::tables::covered_times::{CoveredTime, joined, portions};
use laggard_core::tables::grid::Grid;
use laggard_core::tables::recorded_times::{FileTime, RecordedTimes};

/// The time between samples.
pub(crate) const STEP: Span = Span::from_seconds(5);
/// The first sample of every system.
pub(crate) const BEGIN: Timestamp = Timestamp::from_seconds(1_790_000_000);
/// The samples of an hour.
pub(crate) const HOUR: usize = 720;
const DISKS_OF_A_HOST: usize = 4;
const BYTES_OF_A_REQUEST: f64 = 8192.0;

/// A sample of a disk: latency in milliseconds and requests per second.
pub(crate) type DiskSample = Option<(f64, f64)>;

#[derive(Clone)]
pub(crate) struct System {
    /// Components other than hosts.
    components: Vec<Recorded>,
    hosts: Vec<String>,
    /// The samples of each metric and component, NaN where there is none.
    rows: BTreeMap<(MetricId, Arc<str>), Vec<f64>>,
    samples: usize,
    times: RecordedTimes,
    inventory: Inventory,
    feedback: Feedback,
}

/// `h1:sdc` is the disk number 6.
pub(crate) fn disk(number: usize) -> String {
    let letter = char::from(b'a' + (number % DISKS_OF_A_HOST) as u8);
    format!("h{}:sd{letter}", number / DISKS_OF_A_HOST)
}

pub(crate) fn at(sample: usize) -> Timestamp {
    BEGIN + STEP * sample as i64
}

impl System {
    /// Disks, four on each host; `sample` is called with the disk, the number of the sample and a source of noise.
    pub(crate) fn of_disks(
        seed: u64,
        disks: usize,
        samples: usize,
        sample: impl Fn(usize, usize, &mut Random) -> DiskSample,
    ) -> System {
        let mut system = System::empty(samples);
        for number in 0..disks {
            let mut random = Random::of(seed, &[number as u64]);
            let mut columns = [const { Vec::new() }; 3];
            for at in 0..samples {
                let (latency, requests) = sample(number, at, &mut random).unwrap_or((f64::NAN, f64::NAN));
                let latency = if requests == 0.0 { 0.0 } else { latency };
                let values = [latency, requests, BYTES_OF_A_REQUEST * requests];
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
            let metrics = [MetricId::Await, MetricId::Tps, MetricId::Throughput];
            let host = format!("h{}", number / DISKS_OF_A_HOST);
            system.add(&disk(number), Kind::ATTACHMENT, &host, metrics.into_iter().zip(columns));
        }
        system.described()
    }

    /// Hosts `h0`, `h1`, ... with rows of their own metrics: a value for each of these, host and sample.
    pub(crate) fn of_hosts(
        seed: u64,
        hosts: usize,
        samples: usize,
        metrics: &[MetricId],
        sample: impl Fn(usize, usize, &mut Random) -> Vec<f64>,
    ) -> System {
        let (mut system, kind) = (System::empty(samples), kind_of(metrics));
        for number in 0..hosts {
            let mut random = Random::of(seed, &[number as u64]);
            let mut columns = vec![Vec::new(); metrics.len()];
            for at in 0..samples {
                let values = sample(number, at, &mut random);
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
            let host = format!("h{number}");
            let name = if kind == Kind::NIC { format!("{host}/eth0") } else { host.clone() };
            system.add(&name, kind.clone(), &host, metrics.iter().copied().zip(columns));
        }
        system.described()
    }

    fn empty(samples: usize) -> System {
        System {
            components: Vec::new(),
            hosts: Vec::new(),
            rows: BTreeMap::new(),
            samples,
            times: RecordedTimes {
                files: Vec::new(),
                shortest_interval: STEP,
                longest_interval: STEP,
                from: Timestamp::MIN,
                to: Timestamp::MAX,
            },
            inventory: Inventory::default(),
            feedback: Feedback::default(),
        }
    }

    fn add(&mut self, name: &str, kind: Kind, host: &str, rows: impl Iterator<Item = (MetricId, Vec<f64>)>) {
        if !self.hosts.iter().any(|known| known == host) {
            self.hosts.push(host.into());
        }
        self.components.push(Recorded { name: name.into(), kind: kind.clone(), host: host.into() });
        let covered = CoveredTime { first: BEGIN, last: at(self.samples) };
        self.times.files.push(FileTime { host: host.into(), kind, covered });
        self.rows.extend(rows.map(|(metric, row)| ((metric, name.into()), row)));
    }

    fn described(mut self) -> System {
        let server = |host: &String| Recorded { name: host.clone(), kind: Kind::SERVER, host: host.clone() };
        let mut recorded: Vec<Recorded> = self.hosts.iter().map(server).collect();
        recorded.extend(self.components.iter().filter(|one| one.kind != Kind::SERVER).cloned());
        self.inventory = Inventory::new(&ClusterFile::default(), &recorded);
        self
    }

    /// The same recording, limited to the samples of a time.
    pub(crate) fn cut(&self, from: Timestamp, to: Timestamp) -> System {
        let mut cut = self.clone();
        (cut.times.from, cut.times.to) = (from, to);
        cut
    }

    pub(crate) fn report(mut self) -> Report {
        let length = self.times.length().expect("it has samples");
        let method = MethodChoice::default().method(length, false).expect("the default method");
        diagnose(&mut self, method.as_ref(), &mut NoObserver).expect("a report")
    }

    pub(crate) fn row(&self, metric: MetricId, component: &str) -> &[f64] {
        &self.rows[&(metric, component.into())]
    }

    fn table(&self, metric: &'static Metric, grid: Grid) -> Table {
        let mut table = Table::new(metric, grid);
        let each = (grid.step.micros() / STEP.micros()) as usize;
        for ((_, name), row) in self.rows.iter().filter(|((id, _), _)| *id == metric.id) {
            let weights = metric.weight.and_then(|weight| self.rows.get(&(weight, name.clone())));
            table.components.push(name.clone());
            table.values.extend(grid.instants().map(|instant| {
                let end = ((instant - BEGIN).micros() / STEP.micros()) as usize;
                mean(row, weights, end - each..end)
            }));
        }
        table
    }
}

fn kind_of(metrics: &[MetricId]) -> Kind {
    let is_of = |table: &str| metrics.iter().any(|metric| metric.metric().table == table);
    if is_of("net") { Kind::NIC } else { Kind::SERVER }
}

/// Counters increase from the first to the last sample: if one is missing, so is the mean. Without requests, it is 0.
pub(crate) fn mean(row: &[f64], weights: Option<&Vec<f64>>, range: std::ops::Range<usize>) -> f64 {
    let Some(weights) = weights else { return row[range.clone()].iter().sum::<f64>() / range.len() as f64 };
    let both = row[range.clone()].iter().zip(&weights[range]);
    let (sum, all) =
        both.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    if all == 0.0 { 0.0 } else { sum / all }
}

impl Recording for System {
    fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    fn times(&self) -> &RecordedTimes {
        &self.times
    }

    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    fn visit(
        &mut self,
        metrics: &[&'static Metric],
        step: Span,
        visitor: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let covered = joined(self.times.files.iter().map(|file| file.covered), step);
        let grids = covered.iter().filter_map(|covered| self.times.grid(*covered, step));
        for grid in grids.flat_map(|grid| portions(grid, 1024)) {
            let tables: Vec<Table> = metrics.iter().map(|metric| self.table(metric, grid)).collect();
            if visitor(&tables, 0.0).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The names of the suspects.
pub(crate) fn suspects(report: &Report) -> Vec<&str> {
    report.suspects.iter().map(|suspect| suspect.component.name.as_str()).collect()
}

/// True if a suspect or an observation names the component.
pub(crate) fn names(report: &Report, component: &str) -> bool {
    let explained = report.suspects.iter().flat_map(|suspect| &suspect.explains);
    let blamed = report.suspects.iter().map(|suspect| &suspect.component.name);
    let observed = report.observations.iter().flat_map(|observation| &observation.components);
    explained.chain(blamed).chain(observed).any(|name| name == component)
}

/// Suspects and observations, for messages.
pub(crate) fn shown(report: &Report) -> String {
    let suspects = report
        .suspects
        .iter()
        .map(|s| format!("{} {} {}..{}", s.component.name, s.severity, s.since, s.until));
    let observations = report.observations.iter().map(|o| format!("{}: {}", o.kind, o.text));
    suspects.chain(observations).collect::<Vec<_>>().join("\n  ")
}
