//! From a model to a deed: every choice is made here, and nothing is changed.

use std::time::Duration;

use super::deed::Deed;
use super::model::Model;
use super::node::Node;
use super::{models, refusal};
use crate::machine::LabError;

/// Nobody watches for longer than that.
const LONGEST_SECONDS: u64 = 24 * 3600;

/// Makes a deed of a model: what happens on each target, and what undoes it. Reads the targets and changes nothing;
/// refuses what must not be hurt. `all` are the nodes of the system: a partition needs the addresses of the others.
pub fn resolve(
    model: &Model,
    targets: &[Node],
    all: &[Node],
    seed: u64,
    ttl: Duration,
) -> Result<Deed, LabError> {
    let ttl_seconds = ttl.as_secs();
    if targets.is_empty() {
        return Err(LabError::Input("no node is named: whom to hurt?".into()));
    }
    if let Some(twice) = targets
        .iter()
        .enumerate()
        .find(|(place, node)| targets.iter().skip(place + 1).any(|other| other.name == node.name))
    {
        return Err(LabError::Input(format!("{} is named twice", twice.1.name)));
    }
    if !(1..=LONGEST_SECONDS).contains(&ttl_seconds) {
        return Err(LabError::Input("a fault lasts for a second at least, and a day at the most".into()));
    }
    let id = id(model, targets, seed, ttl_seconds)?;
    let aim = models::Aim { id: &id, targets, all, seed, ttl_seconds };
    let mut parts = vec![];
    for node in targets {
        refusal::check(model, node)?;
        let part = models::part(model, node, &aim)?;
        refusal::check_link(node, &part.choices)?;
        parts.push(part);
    }
    Ok(Deed { id, model: model.clone(), seed, ttl_seconds, parts })
}

/// The same for the same, whenever and wherever.
fn id(model: &Model, targets: &[Node], seed: u64, ttl_seconds: u64) -> Result<String, LabError> {
    let names: Vec<&str> = targets.iter().map(|node| node.name.as_str()).collect();
    let text = serde_json::to_string(&(model, names, seed, ttl_seconds));
    let text = text.map_err(|error| LabError::Input(error.to_string()))?;
    Ok(format!("{:08x}", crc32fast::hash(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::node;

    #[test]
    fn an_id_follows_from_what_is_done_to_whom() {
        let of = |model: &Model, seed| id(model, &[node()], seed, 60).unwrap();
        let full = Model::Full { leave: 1 };
        assert_eq!(of(&full, 1), of(&full, 1));
        assert_ne!(of(&full, 1), of(&full, 2));
        assert_ne!(of(&full, 1), of(&Model::Full { leave: 2 }, 1));
    }

    #[test]
    fn a_fault_has_a_target_and_an_end() {
        let told = |targets: &[Node], seconds| {
            let model = Model::Full { leave: 1 };
            resolve(&model, targets, targets, 1, Duration::from_secs(seconds)).unwrap_err().to_string()
        };
        assert!(told(&[], 60).contains("whom to hurt"));
        assert_eq!(told(&[node(), node()], 60), "here is named twice");
        assert!(told(&[node()], 0).contains("a second at least"));
        assert!(told(&[node()], 60).contains("has no brick") || told(&[node()], 60).contains("marker"));
    }
}
