//! A fleet of storage servers, from single requests: disks with queues, elevators and caches, heavy-tailed load, shared
//! links, and faults of any component.
//! In: settings and a seed. Out: recordings of all hosts, labels and a cluster file. Always: counters follow from completed
//! requests as the kernel counts them. Nothing here depends on a method of diagnosis.

mod counters;
mod disk;
mod fault;
mod flash;
mod hardware;
mod hdd;
mod host;
mod jobs;
mod load;
mod network;
mod plan;
mod recorder;
mod request;
pub mod suite;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use laggard_core::diagnosis::Cause;
use laggard_core::diagnosis::label::Label;
use laggard_core::model::cluster::{Attribute, ClusterFile, Ignore, Pattern, Rule};
use laggard_core::model::component::Kind;
use laggard_core::model::random::Random;
use laggard_core::model::time::{Span, Timestamp, Uptime};
use laggard_core::samples::RawTable;

use super::settings::{Pair, SettingError, Settings, wrong};
use fault::{Fault, FaultKind};
use hardware::{Machines, Media, Sizes};
use host::Host;
use jobs::JobKind;
use plan::{LoadSettings, Plan};
use request::SECOND;

type Moment = (Timestamp, Option<Uptime>);

#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    pub start: Timestamp,
    pub every: Span,
    pub length: Span,
    pub seed: u64,
    sizes: Sizes,
    load: f64,
    is_hashed: bool,
    has_maintenance: bool,
    has_links: bool,
    is_old_kernel: bool,
    faults: Vec<Fault>,
}

/// The keys of its settings.
pub const KEYS: [&str; 21] = [
    "servers",
    "clients",
    "disks",
    "media",
    "generations",
    "spares",
    "extras",
    "layout",
    "load",
    "maintenance",
    "fault",
    "magnitude",
    "target",
    "begin",
    "duration",
    "length",
    "every",
    "start",
    "links",
    "kernel",
    "hour",
];

/// 2026-11-16T00:00:00Z, a Monday.
const DATE: Timestamp = Timestamp::from_seconds(1_794_787_200);
const OF_TARGETS: u64 = 171;
/// The usual length of a reboot.
const REBOOT: Span = Span::from_seconds(180);

impl Fleet {
    pub fn parse(pairs: &[Pair], seed: u64) -> Result<Fleet, SettingError> {
        let settings = Settings::new("fleet", &KEYS, pairs)?;
        let media = [("hdd", Media::Hdd), ("ssd", Media::Ssd), ("nvme", Media::Nvme)];
        let servers = settings.number("servers", 8, 1, 1000)? as usize;
        let sizes = Sizes {
            servers,
            clients: settings.number("clients", 6, 1, 1000)? as usize,
            disks: settings.number("disks", 4, 1, 60)? as usize,
            spares: settings.number("spares", 0, 0, 20)? as usize,
            generations: settings.number("generations", 1, 1, servers.min(4) as u64)? as usize,
            media: settings.choice("media", Media::Hdd, &media)?,
            has_extras: settings.yes("extras", false)?,
        };
        let every = settings.span("every", Span::from_seconds(5), Span::SECOND, Span::from_seconds(60))?;
        if every.micros() % Span::SECOND.micros() != 0 {
            return Err(wrong("every", &every.to_string(), "whole seconds".into()));
        }
        let length =
            settings.span("length", Span::from_seconds(3600), Span::from_seconds(60), Span::DAY * 14)?;
        let hour = settings.number("hour", 9, 0, 23)?;
        let start = settings.time("start", DATE + Span::from_seconds(3600 * hour as i64))?;
        let mut fleet = Fleet {
            start,
            every,
            length,
            seed,
            sizes,
            load: settings.number("load", 100, 1, 1000)? as f64 / 100.0,
            is_hashed: settings.choice("layout", false, &[("striped", false), ("hashed", true)])?,
            has_maintenance: settings.yes("maintenance", true)?,
            has_links: settings.yes("links", true)?,
            is_old_kernel: settings.choice("kernel", false, &[("new", false), ("old", true)])?,
            faults: Vec::new(),
        };
        fleet.faults = fleet.parse_faults(&settings)?;
        Ok(fleet)
    }

    /// One fault, or several at the same server and time: `fault=slow+network-hog`.
    fn parse_faults(&self, settings: &Settings) -> Result<Vec<Fault>, SettingError> {
        let text = settings.text("fault").unwrap_or("none");
        let machines = self.machines();
        let disk = self.target(settings, &machines)?;
        if text == "none" {
            return Ok(Vec::new());
        }
        let third = Span::from_micros(self.length.micros() / 3);
        let begin = settings.span("begin", third, Span::ZERO, self.length)?;
        let duration = settings.span("duration", third, Span::SECOND, Span::DAY * 14)?;
        let has_duration = settings.text("duration").is_some();
        let length = |kind| if kind == FaultKind::Reboot && !has_duration { REBOOT } else { duration };
        let magnitudes: Vec<&str> =
            settings.text("magnitude").map_or(Vec::new(), |text| text.split('+').collect());
        let fault = |(number, word): (usize, &str)| {
            let kinds = FaultKind::names();
            let kind = kinds.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
            let names = || kinds.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            let kind = kind.ok_or_else(|| wrong("fault", word, format!("none, or one of {}", names())))?;
            let (least, most) = kind.magnitudes();
            let magnitude = match magnitudes.get(number) {
                None => kind.usual_magnitude(),
                Some(text) => {
                    let valid = text.parse::<f64>().ok().filter(|value| (least..=most).contains(value));
                    valid
                        .ok_or_else(|| wrong("magnitude", text, format!("a number from {least} to {most}")))?
                }
            };
            let begin_us = begin.micros().unsigned_abs();
            Ok(Fault {
                kind,
                server: machines.data[disk].0,
                disk,
                magnitude,
                begin: begin_us / SECOND * SECOND,
                end: (begin_us + length(kind).micros().unsigned_abs()) / SECOND * SECOND,
                seed: self.seed,
            })
        };
        text.split('+').enumerate().map(fault).collect()
    }

    /// A disk such as `st3:sdc`, or a server such as `st3`; by default a random one.
    fn target(&self, settings: &Settings, machines: &Machines) -> Result<usize, SettingError> {
        let mut random = Random::of(self.seed, &[OF_TARGETS]);
        let Some(text) = settings.text("target") else { return Ok(random.below(machines.data.len())) };
        let is_named = |disk: &usize| {
            let name = machines.disk_name(*disk);
            name == text || name.split(':').next() == Some(text)
        };
        let disk = (0..machines.data.len()).find(is_named);
        let example = machines.disk_name(machines.data.len() - 1);
        disk.ok_or_else(|| wrong("target", text, format!("a server, or a data disk such as {example}")))
    }

    fn machines(&self) -> Machines {
        Machines::new(&self.sizes, self.seed)
    }

    fn every_seconds(&self) -> u64 {
        (self.every.micros() / Span::SECOND.micros()).unsigned_abs().max(1)
    }

    fn load_settings(&self) -> LoadSettings {
        let of_day = self.start.micros().rem_euclid(Span::DAY.micros());
        LoadSettings {
            seed: self.seed,
            seconds: (self.length.micros() / Span::SECOND.micros()).unsigned_abs(),
            second_of_day: of_day.unsigned_abs() / SECOND,
            load: self.load,
            is_hashed: self.is_hashed,
            has_maintenance: self.has_maintenance,
        }
    }

    fn time(&self, micros: u64) -> Timestamp {
        let last = self.length.micros().unsigned_abs();
        self.start + Span::from_micros(micros.min(last) as i64)
    }

    pub fn labels(&self) -> Vec<Label> {
        let machines = self.machines();
        let label = |fault: &Fault| {
            let component = match fault.kind.is_of_disk() {
                true => machines.disk_name(fault.disk),
                false => machines.servers[fault.server].name.clone(),
            };
            let (begin, end) = (self.time(fault.begin), self.time(fault.end));
            fault.kind.cause().map(|cause| Label { component, begin, end, cause })
        };
        self.faults.iter().filter_map(label).collect()
    }

    /// Maintenance of single disks and servers, and storms on single servers: they differ from their peers for a while and
    /// are not faulty.
    pub fn ordinary(&self) -> Vec<Label> {
        let (machines, settings) = (self.machines(), self.load_settings());
        let server_name = |server: usize| machines.servers[server].name.clone();
        let span =
            |begin: u64, seconds: u64| (self.time(begin * SECOND), self.time((begin + seconds) * SECOND));
        let storms = plan::storms(&machines, &settings);
        let mut labels: Vec<Label> = storms
            .iter()
            .filter_map(|storm| {
                let (begin, end) = span(storm.begin, storm.end - storm.begin);
                let component = server_name(storm.server?);
                Some(Label { component, begin, end, cause: Cause::WorkloadSkew })
            })
            .collect();
        if self.has_maintenance {
            let LoadSettings { seed, seconds, second_of_day, .. } = settings;
            for job in jobs::maintenance(&machines, seed, seconds, second_of_day) {
                let (begin, end) = span(job.begin, (job.volume / job.wanted) as u64 + 1);
                let component = match job.kind {
                    JobKind::Backup => server_name(machines.data[job.disks.start].0),
                    _ if job.disks.len() == 1 => machines.disk_name(job.disks.start),
                    _ => continue,
                };
                labels.push(Label { component, begin, end, cause: Cause::DiskHog });
            }
        }
        labels
    }

    pub fn host_count(&self) -> usize {
        self.sizes.servers + self.sizes.clients
    }

    /// Groups by generation and role; left out is what is not a plain disk in use.
    pub fn cluster_file(&self) -> ClusterFile {
        let machines = self.machines();
        let mut rules = Vec::new();
        for (number, server) in machines.servers.iter().enumerate() {
            let (name, generation) = (&server.name, server.generation);
            let mut add = |pattern: String, kind, role: &str| {
                let cohort = format!("{role}-{generation}");
                rules.push(rule(&pattern, None, kind, &[("cohort", &cohort)]));
            };
            add(format!("{name}:sda"), None, "system");
            add(format!("{name}:{{disk}}"), None, "data");
            add(format!("{name}/eth0"), None, "servers");
            add(name.clone(), Some(Kind::SERVER), "servers");
            rules.push(rule(
                &format!("cn{{client}}>{}", hardware::server_address(number)),
                Some(&format!("cn{{client}}>{name}")),
                None,
                &[("cohort", "to-servers"), ("client", "cn{client}"), ("server", name)],
            ));
        }
        for (number, client) in machines.clients.iter().enumerate() {
            let address = hardware::client_address(number);
            let better = format!("st{{server}}>{}", client.name);
            let pattern = format!("st{{server}}>{address}");
            rules.push(rule(&pattern, Some(&better), None, &[("cohort", "to-clients")]));
        }
        rules.push(rule("cn{n}:sda", None, None, &[("cohort", "clients"), ("server", "cn{n}")]));
        rules.push(rule("cn{n}/eth0", None, None, &[("cohort", "clients"), ("server", "cn{n}")]));
        rules.push(rule("cn{n}", None, Some(Kind::CLIENT), &[("cohort", "clients")]));
        let ignore = |(name, reason): (String, &str)| {
            Pattern::new(&format!("*:{name}")).ok().map(|pattern| Ignore { pattern, reason: reason.into() })
        };
        let left_out = machines.servers.first().into_iter().flat_map(|server| &server.devices);
        let ignored = left_out
            .filter(|device| matches!(device.role, hardware::Role::Idle | hardware::Role::Stacked))
            .map(|device| (device.name.clone(), "not in use, or stacked"))
            .filter_map(ignore)
            .collect();
        ClusterFile { name: "fleet".into(), ignored, rules, ..ClusterFile::default() }
    }

    pub(super) fn record(&self) -> Recorded {
        let plan = Plan::new(&self.load_settings(), &self.machines(), &self.faults);
        Recorded { fleet: self.clone(), plan }
    }
}

/// A fleet with its load; hosts can be simulated in any order.
pub(super) struct Recorded {
    fleet: Fleet,
    plan: Plan,
}

impl Recorded {
    pub(super) fn hosts(&self) -> Vec<String> {
        let machines = &self.plan.machines;
        machines.servers.iter().chain(&machines.clients).map(|machine| machine.name.clone()).collect()
    }

    pub(super) fn rows(&self, host: usize, sink: &mut dyn FnMut(RawTable)) {
        Host::new(&self.fleet, &self.plan, host).run(sink);
    }
}

fn rule(pattern: &str, name: Option<&str>, kind: Option<Kind>, attributes: &[(&str, &str)]) -> Rule {
    let attribute = |&(key, value): &(&str, &str)| (key.to_owned(), Attribute::Text(value.into()));
    let attributes: BTreeMap<String, Attribute> = attributes.iter().map(attribute).collect();
    let pattern = Pattern::new(pattern).expect("the patterns above are valid");
    Rule { pattern, name: name.map(String::from), kind, attributes }
}
