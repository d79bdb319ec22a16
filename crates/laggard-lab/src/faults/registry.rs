//! The registry of all faults: one line each.

use std::collections::BTreeMap;

use laggard_core::diagnosis::Cause;
use serde::{Deserialize, Serialize};

use super::model::{Area, FaultModel, LabFault, Mechanism, PlanContext};
use super::models::{
    bitflip, cpu_hog, daemons, dev_fail, disk_hog, full, inconsist, memory_pressure, network_hog,
    packet_loss, partition, server_down, slow_dev, slow_link, virtual_disk,
};
use super::parameters::Parameters;
use super::steps::{FaultName, NodeSteps};
use crate::machine::LabError;
use crate::nodes::Node;

/// An entry of the registry, for lists.
#[derive(Clone, Copy)]
pub struct FaultEntry {
    pub name: &'static str,
    /// Parameters with their defaults.
    pub parameters: &'static str,
    pub summary: &'static str,
    pub(crate) mechanisms: &'static [Mechanism],
}

macro_rules! registry {
    ($($variant:ident: $model:ty,)*) => {
        /// A fault with its parameters, not yet planned for any node.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Fault {
            $($variant($model),)*
        }

        /// All faults.
        pub const FAULTS: &[FaultEntry] = &[$(FaultEntry {
            name: <$model as FaultModel>::NAME,
            parameters: <$model as FaultModel>::PARAMETERS,
            summary: <$model as FaultModel>::SUMMARY,
            mechanisms: <$model as FaultModel>::MECHANISMS,
        },)*];

        impl Fault {
            fn read(name: &str, given: &BTreeMap<String, String>) -> Result<Fault, LabError> {
                $(if name == <$model as FaultModel>::NAME {
                    let mut parameters = Parameters::new(<$model as FaultModel>::NAME, given);
                    let model = <$model as FaultModel>::read(&mut parameters)?;
                    return match parameters.unknown() {
                        None => Ok(Fault::$variant(model)),
                        Some(key) => Err(unknown_parameter(name, key, <$model as FaultModel>::PARAMETERS)),
                    };
                })*
                Err(unknown_fault(name))
            }

            pub fn name(&self) -> &'static str {
                match self { $(Fault::$variant(_) => <$model as FaultModel>::NAME,)* }
            }

            /// The cause that a diagnosis should name.
            pub fn cause(&self) -> Cause {
                match self { $(Fault::$variant(model) => model.cause(),)* }
            }

            pub(crate) fn affects(&self, area: Area) -> bool {
                match self { $(Fault::$variant(model) => model.affects().contains(&area),)* }
            }

            pub(super) fn plan(&self, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
                match self { $(Fault::$variant(model) => model.plan(node, aim),)* }
            }

            /// The operations of a fault that a lab applies itself.
            pub(crate) fn in_lab(&self) -> Result<&dyn LabFault, LabError> {
                let found = match self { $(Fault::$variant(model) => model.in_lab(),)* };
                found.ok_or_else(|| LabError::Input(format!("{} is not applied by a lab", self.name())))
            }
        }
    };
}

registry! {
    DevFail: dev_fail::DevFail,
    Inconsist: inconsist::Inconsist,
    Bitflip: bitflip::Bitflip,
    Partition: partition::Partition,
    Full: full::Full,
    Kill: daemons::Kill,
    Pause: daemons::Pause,
    SlowDev: slow_dev::SlowDev,
    DiskHog: disk_hog::DiskHog,
    DiskBusy: virtual_disk::DiskBusy,
    WriteNetworkHog: network_hog::WriteNetworkHog,
    ReadNetworkHog: network_hog::ReadNetworkHog,
    ReceivePktloss: packet_loss::ReceivePacketLoss,
    SendPktloss: packet_loss::SendPacketLoss,
    SlowLink: slow_link::SlowLink,
    Stalls: virtual_disk::DiskStalls,
    LostDisk: virtual_disk::LostDisk,
    CpuHog: cpu_hog::CpuHog,
    MemoryPressure: memory_pressure::MemoryPressure,
    ServerDown: server_down::ServerDown,
}

impl Fault {
    /// The fault of that name, with parameters.
    pub fn parse(name: &str, given: &BTreeMap<String, String>) -> Result<Fault, LabError> {
        let mut given = given.clone();
        // Two mechanisms of a failed device are faults of its daemons.
        let name = match (name, given.get("mechanism").map(String::as_str)) {
            ("dev-fail", Some("brick-kill")) => given.remove("mechanism").map_or(name, |_| "kill"),
            ("dev-fail", Some("pause")) => given.remove("mechanism").map_or(name, |_| "pause"),
            ("slow-net", _) => "slow-link",
            _ => name,
        };
        Fault::read(name, &given)
    }

    /// The fault of that name, with its defaults.
    pub fn named(name: &str) -> Result<Fault, LabError> {
        Fault::parse(name, &BTreeMap::new())
    }

    pub(crate) fn of(name: &FaultName) -> Result<Fault, LabError> {
        Fault::named(&name.0)
    }
}

fn unknown_fault(name: &str) -> LabError {
    let names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
    LabError::Input(format!("unknown fault {name:?}: expected {}", names.join(", ")))
}

fn unknown_parameter(name: &str, key: &str, known: &str) -> LabError {
    let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {known}") };
    LabError::Input(format!("{name} has no parameter {key:?}: {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, parameters: &[(&str, &str)]) -> Result<Fault, String> {
        let parameters = parameters.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Fault::parse(name, &parameters).map_err(|error| error.to_string())
    }

    #[test]
    fn every_fault_is_found_by_its_name_and_saved_under_it() {
        for entry in FAULTS {
            let fault = Fault::named(entry.name).unwrap();
            assert_eq!(fault.name(), entry.name);
            let saved = serde_json::to_value(&fault).unwrap();
            assert!(saved.get(entry.name).is_some(), "{saved}");
            assert_eq!(serde_json::from_value::<Fault>(saved).unwrap(), fault);
        }
        assert!(parse("fire", &[]).unwrap_err().contains("expected dev-fail, inconsist,"));
    }

    #[test]
    fn hogs_and_losses_have_the_causes_that_a_diagnosis_names() {
        let cause = |name: &str| Fault::named(name).unwrap().cause();
        assert_eq!(cause("write-network-hog"), Cause::NetworkHog);
        assert_eq!(cause("read-network-hog"), Cause::NetworkHog);
        assert_eq!(cause("server-down"), Cause::ServerDown);
        assert_eq!(cause("lost-disk"), Cause::LostAttachment);
        assert_eq!(cause("cpu-hog"), Cause::CpuHog);
    }

    #[test]
    fn defaults_are_the_papers_numbers() {
        let Ok(Fault::Inconsist(inconsist)) = parse("inconsist", &[("delete_pct", "5")]) else {
            panic!("not inconsist");
        };
        assert_eq!((inconsist.delete_pct, inconsist.corrupt_max_bytes), (5, 200));
        assert_eq!(parse("full", &[("leave", "64K")]), Ok(Fault::Full(full::Full { leave: 65536 })));
        assert_eq!(parse("dev-fail", &[("mechanism", "brick-kill")]), parse("kill", &[]));
        assert_eq!(parse("slow-net", &[]), parse("slow-link", &[]));
        let slow =
            |factor, bytes_per_second| Ok(Fault::SlowDev(slow_dev::SlowDev { factor, bytes_per_second }));
        assert_eq!(parse("slow-dev", &[]), slow(Some(5.0), None));
        assert_eq!(parse("slow-dev", &[("write_bps", "1M")]), slow(None, Some(1 << 20)));
    }

    #[test]
    fn errors_name_the_parameter_and_what_is_expected() {
        let error = |name, parameters: &[(&str, &str)]| parse(name, parameters).unwrap_err();
        assert!(error("partition", &[("mod", "x")]).contains("no parameter \"mod\": it has mechanism=nft|"));
        assert!(
            error("partition", &[("mode", "x")]).starts_with("partition, parameter mode: unknown variant")
        );
        assert!(error("inconsist", &[("delete_pct", "101")]).contains("from 0 to 100"));
        assert!(error("full", &[("leave", "x")]).contains("is not a size"));
        for factor in ["1", "101", "x", "NaN"] {
            assert!(error("slow-dev", &[("factor", factor)]).contains("more than 1 and at most 100"));
        }
        assert!(error("slow-dev", &[("factor", "2"), ("write_bps", "1M")]).contains("either this or"));
        assert!(error("disk-busy", &[("x", "1")]).ends_with("it has none"));
    }
}
