//! The scenarios there are, and how one is run.

use laggard_core::model::cluster::ClusterFile;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;

use super::fleet::{self, Fleet};
use super::intrepid::{self, HOSTS, IntrepidDay, Study};
use super::scale::Scale;
use super::settings::{Pair, SettingError};
use super::testbench::{Recorded, Testbench};
use laggard_core::diagnosis::label::Label;

#[derive(Clone, Debug, PartialEq)]
pub enum Scenario {
    Testbench(Testbench),
    IntrepidDay(IntrepidDay),
    /// Many days of it, one after the other.
    IntrepidStudy(Study),
    Scale(Scale),
    Fleet(Fleet),
}

/// A stretch of a scenario that is generated on its own: a day, or all of it.
pub struct Day {
    start: Timestamp,
    hosts: Vec<String>,
    made: Made,
}

enum Made {
    Testbench(Recorded),
    Intrepid(intrepid::Day),
    Scale(Scale, Vec<intrepid::load::Demand>),
    Fleet(Box<fleet::Recorded>),
}

impl Scenario {
    pub fn parse(name: &str, settings: &[Pair], seed: u64) -> Result<Scenario, SettingError> {
        Ok(match name {
            "testbench" => Scenario::Testbench(Testbench::parse(settings, seed)?),
            "intrepid-day" => Scenario::IntrepidDay(IntrepidDay::parse(settings, seed)?),
            "intrepid-study" => Scenario::IntrepidStudy(Study::parse(settings, seed)?),
            "scale" => Scenario::Scale(Scale::parse(settings, seed)?),
            "fleet" => Scenario::Fleet(Fleet::parse(settings, seed)?),
            _ => return Err(SettingError::Scenario(name.into())),
        })
    }

    pub fn every(&self) -> Span {
        match self {
            Scenario::Testbench(bench) => bench.every,
            Scenario::IntrepidDay(day) => day.setup.every,
            Scenario::IntrepidStudy(study) => study.setup.every,
            Scenario::Scale(scale) => scale.every,
            Scenario::Fleet(fleet) => fleet.every,
        }
    }

    /// The labels: faulty component, time and cause.
    pub fn labels(&self) -> Vec<Label> {
        match self {
            Scenario::Testbench(bench) => bench.labels(),
            Scenario::IntrepidDay(day) => day.labels(),
            Scenario::IntrepidStudy(study) => study.labels(),
            Scenario::Scale(scale) => scale.labels(),
            Scenario::Fleet(fleet) => fleet.labels(),
        }
    }

    /// Ordinary slow spells of any day: neither events nor false alarms.
    pub fn ordinary(&self) -> Vec<Label> {
        match self {
            Scenario::IntrepidDay(day) => day.day().ordinary(),
            Scenario::IntrepidStudy(study) => {
                (0..study.days).flat_map(|number| study.day(number).ordinary()).collect()
            }
            Scenario::Fleet(fleet) => fleet.ordinary(),
            Scenario::Testbench(_) | Scenario::Scale(_) => Vec::new(),
        }
    }

    /// The cluster file: attributes and peer groups of the recorded names.
    pub fn cluster_file(&self) -> ClusterFile {
        match self {
            Scenario::Testbench(bench) => bench.cluster_file(),
            Scenario::IntrepidDay(day) => day.cluster_file(),
            Scenario::IntrepidStudy(study) => study.cluster_file(),
            Scenario::Scale(scale) => scale.cluster_file(),
            Scenario::Fleet(fleet) => fleet.cluster_file(),
        }
    }

    pub fn day_count(&self) -> u64 {
        match self {
            Scenario::IntrepidStudy(study) => study.days,
            _ => 1,
        }
    }

    /// How many days of hosts there are at most.
    pub fn host_days(&self) -> u64 {
        match self {
            Scenario::Testbench(bench) => (bench.servers + bench.clients) as u64,
            Scenario::IntrepidDay(_) => HOSTS,
            Scenario::IntrepidStudy(study) => HOSTS * study.days,
            Scenario::Scale(scale) => scale.host_count(),
            Scenario::Fleet(fleet) => fleet.host_count() as u64,
        }
    }

    /// The days in order. Each is made when it is asked for, and nothing of the one before is kept.
    pub fn days(&self) -> impl Iterator<Item = Day> + '_ {
        (0..self.day_count()).map(|number| self.day(number))
    }

    /// The day of that number, from 0. Only a study has more than one.
    pub fn day(&self, number: u64) -> Day {
        match self {
            Scenario::Testbench(bench) => {
                let recorded = bench.record();
                let hosts = recorded.hosts().map(String::from).collect();
                Day { start: bench.start, hosts, made: Made::Testbench(recorded) }
            }
            Scenario::IntrepidDay(day) => Day::of_intrepid(day.day()),
            Scenario::IntrepidStudy(study) => Day::of_intrepid(study.day(number)),
            Scenario::Scale(scale) => {
                let hosts = (0..scale.host_count()).map(|number| scale.host(number)).collect();
                Day { start: scale.start(), hosts, made: Made::Scale(scale.clone(), scale.demands()) }
            }
            Scenario::Fleet(fleet) => {
                let recorded = fleet.record();
                Day { start: fleet.start, hosts: recorded.hosts(), made: Made::Fleet(Box::new(recorded)) }
            }
        }
    }
}

impl Day {
    fn of_intrepid(day: intrepid::Day) -> Day {
        Day { start: day.date(), hosts: day.hosts().collect(), made: Made::Intrepid(day) }
    }

    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// The hosts that recorded. One that was down all the time has no rows.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Produces the rows of one host, piece by piece, those of each table in the order of recording. Hosts do not
    /// depend on each other, so several threads may ask for several hosts.
    pub fn rows(&self, host: usize, sink: &mut dyn FnMut(RawTable)) {
        match &self.made {
            Made::Testbench(recorded) => recorded.tables(host).cloned().for_each(sink),
            Made::Intrepid(day) => day.rows(host, sink),
            Made::Scale(scale, demands) => scale.rows(host as u64, demands, sink),
            Made::Fleet(recorded) => recorded.rows(host, sink),
        }
    }
}

/// Hands out the rows of all hosts, day by day and host by host.
pub fn run(scenario: &Scenario, sink: &mut dyn FnMut(&str, &RawTable)) {
    for day in scenario.days() {
        for (number, host) in day.hosts().iter().enumerate() {
            day.rows(number, &mut |table| sink(host, &table));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_scenario_is_told_with_the_known_ones() {
        let error = Scenario::parse("intrepid", &[], 1).unwrap_err().to_string();
        assert!(error.contains("testbench, intrepid-day, intrepid-study, scale, fleet"), "{error}");
    }

    #[test]
    fn every_scenario_has_rows_and_a_cluster_file_that_can_be_read() {
        let small: [(&str, &[&str]); 5] = [
            ("testbench", &["seconds=10", "servers=3", "clients=2"]),
            ("intrepid-day", &["every=60s"]),
            ("intrepid-study", &["every=60s", "days=1", "groups=1"]),
            ("scale", &["components=30", "samples=5"]),
            ("fleet", &["servers=3", "length=2m", "extras=yes", "generations=2"]),
        ];
        for (name, settings) in small {
            let pairs: Vec<Pair> =
                settings.iter().map(|s| super::super::settings::pair(s).unwrap()).collect();
            let scenario = Scenario::parse(name, &pairs, 1).unwrap();
            let mut rows = 0;
            run(&scenario, &mut |_, table| rows += table.len());
            assert!(rows > 100, "{name}: {rows}");
            let file = scenario.cluster_file();
            assert_eq!(ClusterFile::parse(&file.to_toml()).unwrap(), file);
        }
    }
}
