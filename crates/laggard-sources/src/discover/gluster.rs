//! GlusterFS: volumes, servers and bricks from `gluster volume info --xml`, and the device of each brick from `gluster
//! volume status all detail --xml`.

use std::collections::BTreeMap;

use laggard_core::model::cluster::{ClusterFile, Pattern, Rule};
use laggard_core::model::component::{Kind, attachment};
use serde::Deserialize;

#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    #[error("expected the output of `{command}`: {problem}")]
    Xml { command: &'static str, problem: quick_xml::DeError },
    #[error("gluster reported: {0}")]
    Gluster(String),
    #[error("gluster has no volume: create one first, or run this on a host with its glusterd")]
    NoVolume,
}

pub const INFO_COMMAND: &str = "gluster volume info --xml";
/// Its output has the devices.
pub const STATUS_COMMAND: &str = "gluster volume status all detail --xml";

/// Without `status`, bricks have no devices.
pub fn cluster(info: &str, status: Option<&str>) -> Result<ClusterFile, DiscoverError> {
    let info: Output = parse(info, INFO_COMMAND)?;
    let devices =
        status.map(|text| parse(text, STATUS_COMMAND)).transpose()?.map(devices).unwrap_or_default();
    let volumes = info.information.map(|i| i.volumes.volume).unwrap_or_default();
    if volumes.is_empty() {
        return Err(DiscoverError::NoVolume);
    }
    let name = volumes.iter().map(|v| v.name.as_str()).collect::<Vec<_>>().join("+");
    let rules = servers(&volumes).into_iter().chain(attachments(&volumes, &devices)).collect();
    let group_by = ["kind", "volume", "priority", "cohort"].map(String::from).to_vec();
    Ok(ClusterFile { name, group_by, rules, ..ClusterFile::default() })
}

fn parse(text: &str, command: &'static str) -> Result<Output, DiscoverError> {
    let output: Output =
        quick_xml::de::from_str(text).map_err(|problem| DiscoverError::Xml { command, problem })?;
    match output.error_number {
        0 => Ok(output),
        _ => Err(DiscoverError::Gluster(output.error.unwrap_or_default())),
    }
}

/// One rule per host with a brick, with the volumes it serves.
fn servers(volumes: &[Volume]) -> Vec<Rule> {
    let mut served: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for volume in volumes {
        for (host, _) in volume.bricks.brick.iter().filter_map(Brick::place) {
            let names = served.entry(host).or_default();
            if !names.contains(&volume.name.as_str()) {
                names.push(&volume.name);
            }
        }
    }
    let rule = |(host, names): (&str, Vec<&str>)| rule(host, Kind::SERVER, [("volume", names.join("+"))]);
    served.into_iter().filter_map(rule).collect()
}

/// One rule per brick with a known device. Bricks of one replica or disperse set share a `subvolume`.
fn attachments(volumes: &[Volume], devices: &BTreeMap<(String, String), String>) -> Vec<Rule> {
    let mut rules = Vec::new();
    for volume in volumes {
        for (number, brick) in volume.bricks.brick.iter().enumerate() {
            let Some((host, path)) = brick.place() else { continue };
            let Some(device) = devices.get(&(host.into(), path.into())) else { continue };
            let subvolume = format!("{}-{}", volume.name, number / volume.set_size());
            let attributes =
                [("volume", volume.name.clone()), ("subvolume", subvolume), ("brick", path.to_owned())];
            rules.extend(rule(&attachment(host, device), Kind::ATTACHMENT, attributes));
        }
    }
    rules
}

/// None if the name cannot be written as a pattern.
fn rule<const N: usize>(name: &str, kind: Kind, attributes: [(&str, String); N]) -> Option<Rule> {
    let attributes = attributes.into_iter().map(|(a, value)| (a.to_owned(), value.into())).collect();
    Some(Rule { pattern: Pattern::new(name).ok()?, name: None, kind: Some(kind), attributes })
}

/// The device of each brick (host, path). Only plain device nodes: the number behind a mapped name is known only on its
/// own host.
fn devices(status: Output) -> BTreeMap<(String, String), String> {
    let nodes = status.status.into_iter().flat_map(|s| s.volumes.volume).flat_map(|v| v.node);
    let device = |node: Node| {
        let device = node.device?.strip_prefix("/dev/")?.to_owned();
        (!device.contains('/')).then_some(((node.hostname, node.path), device))
    };
    nodes.filter_map(device).collect()
}

impl Volume {
    /// The number of bricks that hold the same data.
    fn set_size(&self) -> usize {
        self.disperse_count.max(self.replica_count).max(1)
    }
}

impl Brick {
    fn place(&self) -> Option<(&str, &str)> {
        self.name.as_deref().or(self.text.as_deref())?.trim().split_once(':')
    }
}

#[derive(Deserialize)]
struct Output {
    #[serde(rename = "opErrno", default)]
    error_number: i64,
    #[serde(rename = "opErrstr")]
    error: Option<String>,
    #[serde(rename = "volInfo")]
    information: Option<Information>,
    #[serde(rename = "volStatus")]
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Information {
    volumes: Volumes,
}

#[derive(Deserialize)]
struct Volumes {
    #[serde(default)]
    volume: Vec<Volume>,
}

#[derive(Deserialize)]
struct Volume {
    name: String,
    #[serde(rename = "replicaCount", default)]
    replica_count: usize,
    #[serde(rename = "disperseCount", default)]
    disperse_count: usize,
    bricks: Bricks,
}

#[derive(Deserialize)]
struct Bricks {
    #[serde(default)]
    brick: Vec<Brick>,
}

/// Newer versions have the name in an element of its own, older ones only as text.
#[derive(Deserialize)]
struct Brick {
    name: Option<String>,
    #[serde(rename = "$text")]
    text: Option<String>,
}

#[derive(Deserialize)]
struct Status {
    volumes: StatusVolumes,
}

#[derive(Deserialize)]
struct StatusVolumes {
    #[serde(default)]
    volume: Vec<StatusVolume>,
}

#[derive(Deserialize)]
struct StatusVolume {
    #[serde(default)]
    node: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    hostname: String,
    path: String,
    device: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = include_str!("../../tests/fixtures/gluster/info.xml");
    const STATUS: &str = include_str!("../../tests/fixtures/gluster/status.xml");

    fn in_one_line(rule: &Rule) -> String {
        let kind = rule.kind.as_ref().unwrap();
        let attributes = rule.attributes.iter().map(|(a, v)| format!(" {a}={}", v.text()));
        format!("{} {kind}{}", rule.pattern, attributes.collect::<String>())
    }

    #[test]
    fn servers_and_bricks_become_rules() {
        let file = cluster(INFO, Some(STATUS)).unwrap();
        let rules: Vec<String> = file.rules.iter().map(in_one_line).collect();
        assert_eq!(
            rules,
            [
                "s1 server volume=v0",
                "s2 server volume=v0",
                "s1:loop0 attachment brick=/brick/b1 subvolume=v0-0 volume=v0",
                "s1:loop1 attachment brick=/brick/b2 subvolume=v0-0 volume=v0",
                "s2:sdb attachment brick=/brick/b4 subvolume=v0-1 volume=v0",
                "s2:sdc attachment brick=/brick/b5 subvolume=v0-1 volume=v0",
            ]
        );
        assert_eq!(ClusterFile::parse(&file.to_toml()).unwrap(), file);
    }

    #[test]
    fn without_devices_there_are_still_servers() {
        let file = cluster(INFO, None).unwrap();
        assert_eq!(file.rules.len(), 2);
    }

    #[test]
    fn other_input_is_refused_with_the_right_command() {
        let problem = cluster("no xml at all", None).unwrap_err().to_string();
        assert!(problem.starts_with("expected the output of `gluster volume info --xml`"), "{problem}");
        let none = "<cliOutput><opErrno>0</opErrno><volInfo><volumes><count>0</count></volumes></volInfo></cliOutput>";
        assert!(matches!(cluster(none, None), Err(DiscoverError::NoVolume)));
        let failed = "<cliOutput><opErrno>30800</opErrno><opErrstr>Connection failed</opErrstr></cliOutput>";
        assert_eq!(cluster(failed, None).unwrap_err().to_string(), "gluster reported: Connection failed");
    }
}
