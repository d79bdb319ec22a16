//! The shape of the source tree: which crate may use which, the order of core's stages, no module cycles, and paths in
//! ARCHITECTURE.md that exist.
#![allow(clippy::unwrap_used)]

mod modules;
mod uses;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use modules::CrateModules;

/// The crates of this workspace that each library crate may use.
const ALLOWED: [(&str, &[&str]); 9] = [
    ("laggard-kernels", &[]),
    ("laggard-core", &["laggard-kernels"]),
    ("laggard-input", &["laggard-core"]),
    ("laggard-sources", &["laggard-core", "laggard-input"]),
    ("laggard-store", &["laggard-core"]),
    ("laggard-trace", &["laggard-core", "laggard-input"]),
    ("laggard-logs", &["laggard-core"]),
    ("laggard-eval", &["laggard-core", "laggard-input", "laggard-store"]),
    ("laggard-lab", &["laggard-core", "laggard-store", "laggard-logs"]),
];

/// The stages of core, in the order of the flow. A stage imports only earlier ones.
const STAGES: [&str; 8] =
    ["model", "samples", "tables", "selection", "methods", "suspects", "diagnosis", "report"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn crates_use_only_what_the_design_allows() {
    for (name, allowed) in ALLOWED {
        let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let used: BTreeSet<&str> = manifest
            .get("dependencies")
            .and_then(toml::Value::as_table)
            .map(|table| table.keys().map(String::as_str).filter(|key| key.starts_with("laggard")).collect())
            .unwrap_or_default();
        let beyond: Vec<&&str> = used.iter().filter(|used| !allowed.contains(*used)).collect();
        assert!(beyond.is_empty(), "{name} must not use {beyond:?}");
    }
}

#[test]
fn every_crate_is_listed() {
    let folders = std::fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().file_name());
    let found: BTreeSet<String> = folders.map(|name| name.into_string().unwrap()).collect();
    let listed: BTreeSet<String> =
        ALLOWED.iter().map(|(name, _)| *name).chain(["laggard"]).map(String::from).collect();
    assert_eq!(found, listed);
}

#[test]
fn modules_have_no_cycles() {
    let mut cycles = Vec::new();
    for name in ALLOWED.iter().map(|(name, _)| *name).chain(["laggard"]) {
        let modules = CrateModules::read(&crates().join(name).join("src"));
        cycles.extend(modules.cycles().into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert!(cycles.is_empty(), "module cycles:\n{}", cycles.join("\n"));
}

#[test]
fn stages_of_core_import_only_earlier_ones() {
    let modules = CrateModules::read(&crates().join("laggard-core/src"));
    let stage = |name: &str| STAGES.iter().position(|stage| *stage == name);
    let backwards: Vec<String> = modules
        .edges_at("")
        .filter(|(from, to, _)| stage(from).zip(stage(to)).is_some_and(|(from, to)| from < to))
        .map(|(from, to, file)| format!("{from} imports {to} in {}", file.display()))
        .collect();
    assert!(backwards.is_empty(), "{}", backwards.join("\n"));
    for stage in STAGES {
        assert!(modules.contains(stage), "core has no stage {stage}");
    }
}

#[test]
fn architecture_names_existing_paths() {
    let text = std::fs::read_to_string(crates().join("../ARCHITECTURE.md")).unwrap();
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|quoted| {
        quoted.starts_with("laggard") && quoted.contains('/') && !quoted.contains([' ', '*', '{', '<'])
    });
    let missing: Vec<&str> = paths.filter(|path| !crates().join(path).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names paths that do not exist: {missing:#?}");
}
