//! The options that select nodes.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use laggard_lab::inject::Node;
use laggard_lab::setup::Lab;
use serde::Deserialize;

use crate::commands::lab::{chosen, explained};

#[derive(Args)]
pub(crate) struct Nodes {
    /// Use the hosts of this lab. Default: the only lab.
    #[arg(long, value_name = "NAME", conflicts_with = "nodes")]
    lab: Option<String>,
    /// Use the nodes of a file: tables `[[node]]` with name, exec, brick and addresses (docs/inject.md).
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    node: Vec<Node>,
}

impl Nodes {
    /// Neither a lab nor a file is named.
    pub(crate) fn are_default(&self) -> bool {
        self.lab.is_none() && self.nodes.is_none()
    }

    pub(crate) fn all(&self) -> anyhow::Result<Vec<Node>> {
        let Some(path) = &self.nodes else {
            let lab = Lab::open(&chosen(self.lab.clone())?).map_err(explained)?;
            return Ok(Node::all_of(&lab));
        };
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
        let mut names: Vec<&str> = file.node.iter().map(|node| node.name.as_str()).collect();
        names.sort_unstable();
        if let Some([twin, _]) = names.array_windows().find(|[one, other]| one == other) {
            bail!("{}: two nodes have the name {twin}", path.display());
        }
        Ok(file.node)
    }
}

/// The nodes with these names, in this order.
pub(crate) fn named(all: &[Node], names: &[String]) -> anyhow::Result<Vec<Node>> {
    let find = |name: &String| {
        let found = all.iter().find(|node| node.name == *name).cloned();
        let known: Vec<&str> = all.iter().map(|node| node.name.as_str()).collect();
        found.with_context(|| format!("unknown node {name:?}: expected one of {}", known.join(", ")))
    };
    names.iter().map(find).collect()
}
