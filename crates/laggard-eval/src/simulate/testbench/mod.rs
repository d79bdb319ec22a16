//! The test bench of FAST '10: clients that stripe their files over servers, and one server that is disturbed.
//! In: settings and a seed. Out: recordings of all hosts, and who was disturbed when. Always: what a server shows
//! follows from what clients, disks and connections do; nothing is drawn into the counters.

mod bench;
mod client;
mod database;
mod disk;
mod fault;
mod flow;
mod names;
mod network;
mod order;
mod postmark;
mod queue;
mod recording;
mod server;
mod workload;

#[cfg(test)]
mod observations;
#[cfg(test)]
mod tests;

use laggard_core::model::cluster::{Attribute, ClusterFile, Pattern, Rule};
use laggard_core::model::component::Kind;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;

use super::settings::{Pair, SettingError, Settings, wrong};
pub use fault::{FAULTS, Fault};
use laggard_core::diagnosis::label::Label;
use laggard_core::model::random::Random;
pub use workload::{SYSTEMS, System, WORKLOADS, Workload};

#[derive(Clone, Debug, PartialEq)]
pub struct Testbench {
    pub fault: Option<Fault>,
    pub workload: Workload,
    pub system: System,
    pub servers: usize,
    pub clients: usize,
    /// The server that is disturbed, from 0.
    pub faulty: usize,
    pub seconds: u64,
    pub every: Span,
    pub start: Timestamp,
    /// Servers answer writes from memory.
    pub buffered: bool,
    /// Lose samples and step clocks.
    pub nuisances: bool,
    /// Which run on the same bench: another one meets the same servers, and asks them at other moments.
    pub run: u64,
    /// The seed of everything random, together with the run.
    pub seed: u64,
}

/// The keys of its settings.
pub const KEYS: [&str; 12] = [
    "fault",
    "workload",
    "system",
    "servers",
    "clients",
    "faulty",
    "seconds",
    "every",
    "start",
    "cache",
    "nuisances",
    "run",
];

/// 2026-11-15T12:00:00Z.
const START: Timestamp = Timestamp::from_seconds(1_794_744_000);
const OF_THE_FAULT: u64 = 5;

impl Testbench {
    pub fn parse(pairs: &[Pair], seed: u64) -> Result<Testbench, SettingError> {
        let settings = Settings::new("testbench", &KEYS, pairs)?;
        let servers = settings.number("servers", 10, 1, 200)? as usize;
        let run = settings.number("run", 1, 1, 1_000_000)?;
        let faulty = of_run(seed, run, &[OF_THE_FAULT]).below(servers);
        Ok(Testbench {
            fault: settings.choice("fault", None, &FAULTS)?,
            workload: settings.choice("workload", Workload::Ddw, &WORKLOADS)?,
            system: settings.choice("system", System::Pvfs, &SYSTEMS)?,
            servers,
            clients: settings.number("clients", 10, 1, 200)? as usize,
            faulty: server(&settings, servers)?.unwrap_or(faulty),
            seconds: settings.number("seconds", 600, 10, 86_400)?,
            every: every(&settings)?,
            start: settings.time("start", START)?,
            buffered: settings.choice("cache", false, &[("direct", false), ("buffered", true)])?,
            nuisances: settings.yes("nuisances", true)?,
            run,
            seed,
        })
    }

    /// When the clients start: a while after the recording (15 s of 600 s).
    fn starts(&self) -> order::Micros {
        self.seconds * order::SECOND / 40
    }

    /// The generator of something that differs from run to run.
    fn random(&self, of: &[u64]) -> Random {
        of_run(self.seed, self.run, of)
    }

    /// The name of the server that is disturbed.
    pub fn faulty_name(&self) -> String {
        names::server(self.faulty)
    }

    /// The faulty server and the time of the fault; empty without a fault.
    pub fn labels(&self) -> Vec<Label> {
        let (begin, end) = fault::disturbed(self.seconds);
        let at = |us: u64| self.start + Span::from_micros(us as i64);
        let label = |fault: Fault| Label {
            component: self.faulty_name(),
            begin: at(begin),
            end: at(end),
            cause: fault.cause(),
        };
        self.fault.map(label).into_iter().collect()
    }

    /// The cluster file.
    pub fn cluster_file(&self) -> ClusterFile {
        let rules = vec![
            rule("oss{n}:sdb", None, None, &[("cohort", "servers")]),
            rule("oss{n}/eth0", None, None, &[("cohort", "servers")]),
            rule("oss{n}>198.18.1.{c}", Some("oss{n}>client{c}"), None, &[("cohort", "to-clients")]),
            rule("oss{n}", None, Some(Kind::SERVER), &[("cohort", "servers")]),
            rule("client{c}/eth0", None, None, &[("cohort", "clients"), ("server", "client{c}")]),
            rule(
                "client{c}>198.18.0.{n}",
                Some("client{c}>oss{n}"),
                None,
                &[("cohort", "to-servers"), ("client", "client{c}"), ("server", "oss{n}")],
            ),
            rule("client{c}", None, Some(Kind::CLIENT), &[("cohort", "clients")]),
        ];
        ClusterFile { name: "test bench".into(), rules, ..ClusterFile::default() }
    }

    pub fn record(&self) -> Recorded {
        let mut recording = recording::Recording::new(self);
        bench::SimulatedBench::new(self).run(self.seconds, &mut |bench, now| recording.observe(bench, now));
        Recorded(recording)
    }

    /// Runs it; hands out the tables of each host in turn.
    pub fn run(&self, sink: &mut dyn FnMut(&str, &RawTable)) {
        let recorded = self.record();
        for (number, host) in recorded.hosts().enumerate() {
            recorded.tables(number).for_each(|table| sink(host, table));
        }
    }
}

fn of_run(seed: u64, run: u64, of: &[u64]) -> Random {
    match run {
        1 => Random::of(seed, of),
        later => Random::of(seed, &[of, &[later]].concat()),
    }
}

/// The recordings of the hosts of a run.
pub struct Recorded(recording::Recording);

impl Recorded {
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.0.hosts.iter().map(|host| host.name.as_str())
    }

    /// The tables of a host; none if there is no such.
    pub fn tables(&self, host: usize) -> impl Iterator<Item = &RawTable> {
        self.0.hosts.get(host).into_iter().flat_map(|host| host.tables.filled())
    }
}

/// `faulty=oss3`, or `faulty=3`.
fn server(settings: &Settings, servers: usize) -> Result<Option<usize>, SettingError> {
    let Some(text) = settings.text("faulty") else { return Ok(None) };
    let number = text.strip_prefix("oss").unwrap_or(text).parse::<usize>().ok();
    let valid = number.filter(|number| (1..=servers).contains(number));
    let expected = || format!("a server from oss1 to oss{servers}");
    valid.map(|number| Some(number - 1)).ok_or_else(|| wrong("faulty", text, expected()))
}

/// Samples fall on ticks.
fn every(settings: &Settings) -> Result<Span, SettingError> {
    let (least, most) = (Span::from_millis(100), Span::from_seconds(60));
    let every = settings.span("every", Span::SECOND, least, most)?;
    match every.micros() % least.micros() {
        0 => Ok(every),
        _ => Err(wrong("every", &every.to_string(), "a multiple of 100ms".into())),
    }
}

fn rule(pattern: &str, name: Option<&str>, kind: Option<Kind>, attributes: &[(&str, &str)]) -> Rule {
    let attribute = |&(key, value): &(&str, &str)| (key.to_owned(), Attribute::Text(value.into()));
    Rule {
        pattern: Pattern::new(pattern).expect("the patterns above are valid"),
        name: name.map(String::from),
        kind,
        attributes: attributes.iter().map(attribute).collect(),
    }
}
