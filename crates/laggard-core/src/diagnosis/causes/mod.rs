//! The causes, one file each: texts, decisive metrics, next steps, and how well the cause fits.
//! In: [`Facts`]. Out: a weight from 0 to 1, and why. Always: a cause is weighed without regard to the others.
//!
//! A new cause is a file here, and a variant of [`Cause`] with its line in `description`.

mod array_jitter;
mod controller_trouble;
mod cpu_hog;
mod disk_busy;
mod disk_hog;
mod lost_attachment;
mod memory_pressure;
mod network_hog;
mod packet_loss;
mod rerouted_load;
mod server_down;
mod slow_link;
mod slow_lun;
mod stalls;
mod unknown;
mod workload_skew;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::advice::Place;
use super::facts::Facts;
use crate::model::metric::MetricId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    DiskHog,
    DiskBusy,
    Stalls,
    NetworkHog,
    PacketLoss,
    SlowLink,
    CpuHog,
    MemoryPressure,
    LostAttachment,
    ReroutedLoad,
    ServerDown,
    ControllerTrouble,
    ArrayJitter,
    SlowLun,
    WorkloadSkew,
    Unknown,
}

struct Description {
    /// As in JSON and label files.
    name: &'static str,
    title: &'static str,
    /// A clause: "the device is slow".
    meaning: &'static str,
    /// The metrics that decide for this cause.
    decisive: &'static [MetricId],
    /// The next checks, with the placeholders of `advice.rs`.
    next: &'static [&'static str],
    /// How well the cause fits, and why.
    weigh: fn(&Facts) -> (f64, &'static str),
}

const LATENCY: &[MetricId] = &[
    MetricId::Await,
    MetricId::MinuteAwait,
    MetricId::RAwait,
    MetricId::WAwait,
    MetricId::Svctm,
    MetricId::Absence,
    MetricId::Idleness,
];
const TRAFFIC: &[MetricId] =
    &[MetricId::Throughput, MetricId::RdSec, MetricId::WrSec, MetricId::Tps, MetricId::Activity];
const ABSENCE: &[MetricId] = &[MetricId::Absence, MetricId::Idleness];

/// For a disk: which layer above it waits, and for what.
const TRACE: &str = "on {host}: `laggard trace record -o {device}.ltr --dev {trace} --duration 30s`, then `laggard trace \
    analyze {device}.ltr`: which requests are slow, and in which layer?";

/// A larger share of an array's LUNs than one drawer can affect.
const WHOLE_ARRAY: f64 = 0.9;

impl Cause {
    pub const ALL: [Cause; 16] = [
        Cause::DiskHog,
        Cause::DiskBusy,
        Cause::Stalls,
        Cause::NetworkHog,
        Cause::PacketLoss,
        Cause::SlowLink,
        Cause::CpuHog,
        Cause::MemoryPressure,
        Cause::LostAttachment,
        Cause::ReroutedLoad,
        Cause::ServerDown,
        Cause::ControllerTrouble,
        Cause::ArrayJitter,
        Cause::SlowLun,
        Cause::WorkloadSkew,
        Cause::Unknown,
    ];

    /// The probability of a cause without any evidence: all faults are alike.
    pub const PRIOR: f64 = 1.0 / (Cause::ALL.len() - 2) as f64;

    /// A component with another load than its peers is healthy, and an unknown cause says nothing.
    pub fn is_fault(self) -> bool {
        !matches!(self, Cause::WorkloadSkew | Cause::Unknown)
    }

    fn description(self) -> &'static Description {
        match self {
            Cause::DiskHog => &disk_hog::DESCRIPTION,
            Cause::DiskBusy => &disk_busy::DESCRIPTION,
            Cause::Stalls => &stalls::DESCRIPTION,
            Cause::NetworkHog => &network_hog::DESCRIPTION,
            Cause::PacketLoss => &packet_loss::DESCRIPTION,
            Cause::SlowLink => &slow_link::DESCRIPTION,
            Cause::CpuHog => &cpu_hog::DESCRIPTION,
            Cause::MemoryPressure => &memory_pressure::DESCRIPTION,
            Cause::LostAttachment => &lost_attachment::DESCRIPTION,
            Cause::ReroutedLoad => &rerouted_load::DESCRIPTION,
            Cause::ServerDown => &server_down::DESCRIPTION,
            Cause::ControllerTrouble => &controller_trouble::DESCRIPTION,
            Cause::ArrayJitter => &array_jitter::DESCRIPTION,
            Cause::SlowLun => &slow_lun::DESCRIPTION,
            Cause::WorkloadSkew => &workload_skew::DESCRIPTION,
            Cause::Unknown => &unknown::DESCRIPTION,
        }
    }

    /// As in JSON and label files: `disk-busy`.
    pub fn as_str(self) -> &'static str {
        self.description().name
    }

    pub fn named(name: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.as_str() == name)
    }

    /// `disk busy`.
    pub fn title(self) -> &'static str {
        self.description().title
    }

    /// A clause: `the device is slow, or another host is loading it`.
    pub fn meaning(self) -> &'static str {
        self.description().meaning
    }

    pub(super) fn decisive_metrics(self) -> &'static [MetricId] {
        self.description().decisive
    }

    /// How well the cause fits, and why.
    pub(super) fn weigh(self, facts: &Facts) -> (f64, &'static str) {
        (self.description().weigh)(facts)
    }

    /// The next checks for a place.
    pub(super) fn next_steps(self, place: &Place<'_>) -> Vec<String> {
        self.description().next.iter().filter_map(|line| place.fill(line)).collect()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Strengths are distinguished by their logarithm up to this multiple of the threshold.
pub(super) const STRONGEST: f64 = 8.0;

/// From 0 at the threshold to 1 at [`STRONGEST`].
fn weight(strength: f64) -> f64 {
    if strength <= 1.0 {
        return 0.0;
    }
    strength.min(STRONGEST).ln() / STRONGEST.ln() * 0.7 + 0.3
}

/// The share of a weight that counter-evidence leaves.
fn unless(against: f64) -> f64 {
    1.0 - 0.8 * weight(against)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::Component;
    use crate::model::component::Kind;
    use crate::model::device::DeviceClass;

    #[test]
    fn names_lead_back_to_causes() {
        assert!(Cause::ALL.into_iter().all(|cause| Cause::named(cause.as_str()) == Some(cause)));
    }

    #[test]
    fn the_priors_of_all_faults_are_one() {
        let faults = Cause::ALL.into_iter().filter(|cause| cause.is_fault()).count();
        assert!((faults as f64 * Cause::PRIOR - 1.0).abs() < 1e-9);
    }

    #[test]
    fn names_are_those_of_the_json_form() {
        for cause in Cause::ALL {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.as_str());
        }
    }

    #[test]
    fn commands_name_a_device_of_the_suspected_server() {
        let disk = Component {
            name: "lun7".into(),
            recorded: "oss3:sdb".into(),
            host: "oss3".into(),
            kind: Kind::ATTACHMENT,
            class: Some(DeviceClass::Disk),
            below: Vec::new(),
            attributes: [("server".to_owned(), "oss3".to_owned())].into(),
        };
        let next = Cause::DiskBusy.next_steps(&Place::new("oss3", Some(&disk)));
        assert!(next[0].contains("on oss3: `smartctl -a /dev/sdb`"), "{next:?}");
    }
}
