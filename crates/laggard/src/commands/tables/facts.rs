//! The recorded facts of each host: block devices, interfaces, addresses, listening ports.

use std::collections::BTreeMap;
use std::net::IpAddr;

use laggard_core::model::component::natural_order;
use laggard_core::model::device::{DeviceClass, classify};
use laggard_core::model::host_facts::{DeviceFacts, InterfaceFacts, Item, PortFacts, RecordedHost};
use laggard_core::model::time::Timestamp;
use serde::Serialize;

use crate::output;

/// The facts of one host in the JSON form.
#[derive(Serialize)]
pub(super) struct Host<'a> {
    host: &'a str,
    devices: Vec<Device<'a>>,
    interfaces: Vec<&'a InterfaceFacts>,
    addresses: Vec<IpAddr>,
    listening_ports: Vec<&'a PortFacts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    appeared: Vec<Event<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<Event<'a>>,
}

#[derive(Serialize)]
struct Device<'a> {
    class: DeviceClass,
    #[serde(flatten)]
    facts: &'a DeviceFacts,
}

#[derive(Serialize)]
struct Event<'a> {
    time: Timestamp,
    #[serde(flatten)]
    item: &'a Item,
}

pub(super) fn document(hosts: &BTreeMap<String, RecordedHost>) -> Vec<Host<'_>> {
    hosts.iter().map(|(name, host)| of_host(name, host)).collect()
}

fn of_host<'a>(host: &'a str, recorded: &'a RecordedHost) -> Host<'a> {
    let event = |(item, time): (&'a Item, &Timestamp)| Event { time: *time, item };
    let facts = &recorded.facts;
    Host {
        host,
        devices: classified(recorded).into_iter().map(|(class, facts)| Device { class, facts }).collect(),
        interfaces: facts.interfaces.values().collect(),
        addresses: facts.addresses.iter().copied().collect(),
        listening_ports: facts.ports.values().collect(),
        appeared: recorded.appeared.iter().map(event).collect(),
        gone: recorded.gone.iter().map(event).collect(),
    }
}

fn classified(recorded: &RecordedHost) -> Vec<(DeviceClass, &DeviceFacts)> {
    let devices = &recorded.facts.devices;
    let names: Vec<&str> = devices.keys().map(String::as_str).collect();
    let classes = classify(&names, Some(&recorded.facts));
    let mut classified: Vec<_> =
        devices.iter().map(|(name, facts)| (classes[name.as_str()].class, facts)).collect();
    classified.sort_by_key(|(_, facts)| natural_order(&facts.name));
    classified
}

pub(super) fn lines(hosts: &BTreeMap<String, RecordedHost>) -> comfy_table::Table {
    let mut lines = output::table(&["host", "what", "name", "class", "size", "details"], &[4]);
    let mut hosts: Vec<_> = hosts.iter().collect();
    hosts.sort_by_key(|(host, _)| natural_order(host));
    for (host, recorded) in hosts {
        let mut add =
            |what: &str, item: &Item, name: String, class: &str, size: String, mut details: Vec<String>| {
                details.extend(recorded.appeared.get(item).map(|time| format!("since {time}")));
                details.extend(recorded.gone.get(item).map(|time| format!("gone at {time}")));
                lines.add_row([host.clone(), what.into(), name, class.into(), size, details.join(", ")]);
            };
        for (class, facts) in classified(recorded) {
            let item = Item::Device(facts.name.clone());
            add(
                "device",
                &item,
                facts.name.clone(),
                class.as_str(),
                output::bytes(facts.size_bytes),
                device(facts),
            );
        }
        for (name, facts) in &recorded.facts.interfaces {
            let speed =
                facts.speed_mbit_per_second.map_or_else(String::new, |speed| format!("{speed} Mbit/s"));
            let class = if facts.physical { "physical" } else { "virtual" };
            add(
                "interface",
                &Item::Interface(name.clone()),
                name.clone(),
                class,
                speed,
                vec![facts.state.clone()],
            );
        }
        for address in &recorded.facts.addresses {
            let item = Item::Address(*address);
            add("address", &item, address.to_string(), "", String::new(), Vec::new());
        }
        for (number, facts) in &recorded.facts.ports {
            let local = facts.loopback_only.then(|| "loopback only".to_owned());
            let details = facts.process.iter().cloned().chain(local).collect();
            add("port", &Item::Port(*number), number.to_string(), "tcp", String::new(), details);
        }
    }
    lines
}

fn device(facts: &DeviceFacts) -> Vec<String> {
    let mut details: Vec<String> = Vec::new();
    details.extend(facts.model.clone());
    details.extend(facts.transport.map(|transport| transport.as_str().to_owned()));
    details.extend(facts.mapper_name.clone());
    details.extend(facts.removable.then(|| "removable".to_owned()));
    details.extend(facts.partition_of.as_ref().map(|disk| format!("of {disk}")));
    details.extend((!facts.stacked_on.is_empty()).then(|| format!("on {}", facts.stacked_on.join(" "))));
    details.extend(facts.backing_file.as_ref().map(|file| format!("on {file}")));
    details
}
