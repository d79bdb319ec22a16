//! The cluster file of a lab.

use laggard_core::model::cluster::{Attribute, ClusterFile, Ignore, Pattern, Rule};
use laggard_core::model::component::Kind;

use crate::lab_file::host::HostPlan;
use crate::machine::LabError;
use crate::setup::Lab;

/// Servers, clients, and links by the names of both ends.
pub(super) fn file(lab: &Lab) -> Result<ClusterFile, LabError> {
    let hosts = lab.hosts();
    let (servers, clients): (Vec<&HostPlan>, Vec<&HostPlan>) =
        hosts.iter().partition(|host| host.is_server());
    let mut rules = vec![];
    for server in &servers {
        let name = &server.name;
        let cohort = ("cohort", "servers");
        if let Some(device) = lab.device(name) {
            rules.push(rule(&format!("{name}:{device}"), &format!("{name}:disk"), None, &[cohort])?);
        }
        rules.push(rule(&format!("{name}/eth0"), &format!("{name}/eth0"), None, &[cohort])?);
        for client in &clients {
            let (other, address) = (&client.name, client.address);
            let attributes = [("cohort", "to-clients")];
            rules.push(rule(&format!("{name}>{address}"), &format!("{name}>{other}"), None, &attributes)?);
        }
        rules.push(rule(name, name, Some(Kind::SERVER), &[cohort])?);
    }
    for client in &clients {
        let name = &client.name;
        let own = [("cohort", "clients"), ("server", name.as_str())];
        rules.push(rule(&format!("{name}/eth0"), &format!("{name}/eth0"), None, &own)?);
        for server in &servers {
            let (other, address) = (&server.name, server.address);
            let attributes =
                [("cohort", "to-servers"), ("client", name.as_str()), ("server", other.as_str())];
            rules.push(rule(&format!("{name}>{address}"), &format!("{name}>{other}"), None, &attributes)?);
        }
        rules.push(rule(name, name, Some(Kind::CLIENT), &[("cohort", "clients")])?);
    }
    // Traffic between servers does not serve clients, and is not alike for all.
    let between = |server: &&HostPlan| {
        let links = format!("{}{{n}}>{}", lab.manifest.lab.servers.prefix, server.address);
        Ok(Ignore { pattern: pattern(&links)?, reason: "between servers".to_owned() })
    };
    let ignored = servers.iter().map(between).collect::<Result<_, LabError>>()?;
    Ok(ClusterFile { name: lab.manifest.lab.name.clone(), ignored, rules, ..ClusterFile::default() })
}

fn rule(
    recorded: &str,
    name: &str,
    kind: Option<Kind>,
    attributes: &[(&str, &str)],
) -> Result<Rule, LabError> {
    let attribute = |&(key, value): &(&str, &str)| (key.to_owned(), Attribute::Text(value.into()));
    let attributes = attributes.iter().map(attribute).collect();
    Ok(Rule { pattern: pattern(recorded)?, name: Some(name.to_owned()), kind, attributes })
}

fn pattern(text: &str) -> Result<Pattern, LabError> {
    Pattern::new(text).map_err(|error| LabError::Input(error.to_string()))
}
