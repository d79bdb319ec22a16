//! No locked dependency is under a known advisory, and each was looked up.
//! The offline half of `cargo deny check advisories`; the facts are in `.ci/advisories.toml`.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use semver::{Version, VersionReq};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use support::workspace;

const SNAPSHOT: &str = ".ci/advisories.toml";
const LOCKS: [&str; 2] = ["Cargo.lock", "fuzz/Cargo.lock"];

/// The advisories known on the day of the last look-up.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    checked: Vec<String>,
    not_built_here: Vec<String>,
    advisory: Vec<Advisory>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advisory {
    id: String,
    #[serde(rename = "crate")]
    name: String,
    kind: String,
    patched: Vec<VersionReq>,
    unaffected: Vec<VersionReq>,
    /// Why an affected version may stay.
    harmless: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Version,
    /// Where it was fetched from; the workspace's own crates have none.
    source: Option<String>,
}

impl Advisory {
    /// A pre-release counts as affected unless a requirement names its own version: the strict side.
    fn affects(&self, package: &Package) -> bool {
        let is_safe = |versions: &VersionReq| versions.matches(&package.version);
        self.name == package.name && !self.patched.iter().chain(&self.unaffected).any(is_safe)
    }

    fn complaint(&self, lock: &str, package: &Package) -> String {
        let Package { name, version, .. } = package;
        let Self { id, kind, .. } = self;
        let patched: Vec<_> = self.patched.iter().map(|versions| format!("`{versions}`")).collect();
        let patched = if patched.is_empty() { "no version".into() } else { patched.join(" or ") };
        format!("{lock}: {name} {version} is affected by {id} ({kind}); patched: {patched}")
    }
}

impl Snapshot {
    fn knows(&self, name: &str) -> bool {
        self.checked.iter().any(|checked| checked == name)
            || self.not_built_here.iter().any(|pattern| matches(pattern, name))
    }

    fn affected(&self, lock: &str, packages: &[Package]) -> Vec<String> {
        let pairs = packages.iter().flat_map(|package| self.advisory.iter().map(move |a| (a, package)));
        pairs
            .filter(|(a, package)| a.harmless.is_none() && a.affects(package))
            .map(|(a, package)| a.complaint(lock, package))
            .collect()
    }

    fn unknown(&self, lock: &str, packages: &[Package]) -> Vec<String> {
        let unknown = packages.iter().filter(|package| !self.knows(&package.name));
        unknown.map(|Package { name, version, .. }| format!("{lock}: {name} {version}")).collect()
    }
}

/// True if `name` is `pattern`, whose final `*` stands for any ending.
fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

fn read<T: DeserializeOwned>(file: &str) -> T {
    let text = fs::read_to_string(workspace().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn from_outside(lock: Lock) -> Vec<Package> {
    lock.package.into_iter().filter(|package| package.source.is_some()).collect()
}

/// The result of `find` for each lock file.
fn in_locks(find: impl Fn(&str, &[Package]) -> Vec<String>) -> Vec<String> {
    LOCKS.iter().flat_map(|lock| find(lock, &from_outside(read(lock)))).collect()
}

#[test]
fn no_locked_version_is_affected_by_a_known_advisory() {
    let snapshot: Snapshot = read(SNAPSHOT);
    let affected = in_locks(|lock, packages| snapshot.affected(lock, packages));
    assert!(
        affected.is_empty(),
        "{}\nnext: `cargo update -p CRATE@VERSION`; where that stays, raise what requires it \
         (`cargo tree --all-features -i CRATE@VERSION`)",
        affected.join("\n")
    );
}

#[test]
fn what_is_called_harmless_is_locked_and_the_same_as_in_deny_toml() {
    #[derive(Deserialize)]
    struct Deny {
        advisories: Ignored,
    }
    #[derive(Deserialize)]
    struct Ignored {
        ignore: Vec<String>,
    }
    let snapshot: Snapshot = read(SNAPSHOT);
    let harmless: Vec<_> = snapshot.advisory.iter().filter(|advisory| advisory.harmless.is_some()).collect();
    for advisory in &harmless {
        let hits = |lock: &str, packages: &[Package]| {
            let hit = packages.iter().filter(|package| advisory.affects(package));
            hit.map(|package| advisory.complaint(lock, package)).collect()
        };
        assert!(
            !in_locks(hits).is_empty(),
            "{}: no locked version is affected any more: drop it",
            advisory.id
        );
    }
    let ids: Vec<_> = harmless.iter().map(|advisory| advisory.id.clone()).collect();
    assert_eq!(ids, read::<Deny>("deny.toml").advisories.ignore);
}

#[test]
fn every_locked_crate_was_looked_up() {
    let snapshot: Snapshot = read(SNAPSHOT);
    let unknown = in_locks(|lock, packages| snapshot.unknown(lock, packages));
    assert!(
        unknown.is_empty(),
        "these were not looked up for advisories:\n{}\nnext: look at crates/NAME in \
         github.com/rustsec/advisory-db (or run `cargo deny check advisories`), write what is there into \
         {SNAPSHOT}, and add the name to its `checked`",
        unknown.join("\n")
    );
}

#[test]
fn every_advisory_is_on_a_crate_that_was_looked_up() {
    let snapshot: Snapshot = read(SNAPSHOT);
    let stray = snapshot.advisory.iter().filter(|advisory| !snapshot.checked.contains(&advisory.name));
    let stray: Vec<_> = stray.map(|advisory| format!("{} on {}", advisory.id, advisory.name)).collect();
    assert!(stray.is_empty(), "{SNAPSHOT}: not in `checked`: {}", stray.join(", "));
}

const SMALL_SNAPSHOT: &str = r#"
checked = ["left"]
not_built_here = ["windows*", "wasi"]
[[advisory]]
id = "RUSTSEC-2000-0001"
crate = "left"
kind = "vulnerability"
patched = ["^1.2.3", ">= 2.0.1"]
unaffected = ["< 1.1.0"]
"#;

fn small() -> Snapshot {
    toml::from_str(SMALL_SNAPSHOT).unwrap()
}

fn package(name: &str, version: &str) -> Package {
    Package { name: name.into(), version: version.parse().unwrap(), source: None }
}

#[test]
fn a_version_is_affected_if_it_is_neither_patched_nor_unaffected() {
    let affects = |version| small().advisory[0].affects(&package("left", version));
    let versions = ["1.0.9", "1.1.0", "1.2.2", "1.2.3", "1.9.0", "2.0.0", "2.0.1", "2.0.1+c.9", "3.0.0-rc.1"];
    let affected: Vec<_> = versions.into_iter().filter(|version| affects(version)).collect();
    assert_eq!(affected, ["1.1.0", "1.2.2", "2.0.0", "3.0.0-rc.1"]);
    assert!(!small().advisory[0].affects(&package("right", "1.1.0")), "another crate");
}

#[test]
fn an_affected_version_is_named_with_its_advisory_and_the_patched_versions() {
    assert_eq!(
        small().affected("Cargo.lock", &[package("left", "1.2.2"), package("left", "1.2.3")]),
        [
            "Cargo.lock: left 1.2.2 is affected by RUSTSEC-2000-0001 (vulnerability); patched: `^1.2.3` or `>=2.0.1`"
        ]
    );
}

#[test]
fn an_unchecked_crate_is_named_unless_it_is_for_another_platform() {
    let packages =
        ["left", "right", "wasi", "wasip2", "windows", "windows-sys"].map(|name| package(name, "1.0.0"));
    assert_eq!(
        small().unknown("Cargo.lock", &packages),
        ["Cargo.lock: right 1.0.0", "Cargo.lock: wasip2 1.0.0"]
    );
}

#[test]
fn crates_of_this_workspace_are_not_checked() {
    let lock = "[[package]]\nname = 'ours'\nversion = '0.1.0'\n\
        [[package]]\nname = 'left'\nversion = '1.0.0'\nsource = 'registry'\n";
    let names: Vec<_> = from_outside(toml::from_str(lock).unwrap()).into_iter().map(|p| p.name).collect();
    assert_eq!(names, ["left"]);
}
