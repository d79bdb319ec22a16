//! The modules of a crate and which of them import which, read from its source files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::uses::{FileUses, uses};

/// A module path without `crate`, such as `["methods", "papers"]`. The crate root is empty.
type ModulePath = Vec<String>;

pub(crate) struct CrateModules {
    files: BTreeMap<ModulePath, (PathBuf, FileUses)>,
    /// Every import between two modules: importing module, imported module.
    imports: BTreeSet<(ModulePath, ModulePath)>,
}

impl CrateModules {
    pub(crate) fn read(src: &Path) -> CrateModules {
        let mut modules = CrateModules { files: BTreeMap::new(), imports: BTreeSet::new() };
        modules.read_folder(src, &[]);
        let of_file = |(module, (_, uses)): (&ModulePath, &(PathBuf, FileUses))| -> Vec<_> {
            uses.paths.iter().map(|path| (module.clone(), modules.resolve(path, 0))).collect()
        };
        modules.imports = modules.files.iter().flat_map(of_file).collect();
        modules
    }

    fn read_folder(&mut self, folder: &Path, module: &[String]) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let child = [module, std::slice::from_ref(&stem)].concat();
            if path.is_dir() {
                self.read_folder(&path, &child);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test(&stem) {
                let own = if matches!(&*stem, "mod" | "lib" | "main") { module.to_vec() } else { child };
                let uses = uses(&std::fs::read_to_string(&path).unwrap(), &own);
                self.files.insert(own, (path, uses));
            }
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.files.keys().any(|module| module.first().is_some_and(|first| first == name))
    }

    /// The module that an imported path leads to, through re-exports. A path to an item of the parent module itself
    /// stays there.
    fn resolve(&self, path: &[String], depth: usize) -> ModulePath {
        let known = (0..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length]));
        let length = known.unwrap_or(0);
        let module = &path[..length];
        let target = path.get(length).and_then(|name| self.files.get(module)?.1.reexports.get(name));
        match target {
            Some(target) if depth < 8 => self.resolve(target, depth + 1),
            _ => module.to_vec(),
        }
    }

    /// Imports between the children of a module: importing child, imported child, file.
    pub(crate) fn edges_at<'a>(&'a self, parent: &str) -> impl Iterator<Item = (String, String, &'a Path)> {
        let parent: ModulePath =
            parent.split("::").filter(|part| !part.is_empty()).map(String::from).collect();
        self.imports.iter().filter_map(move |(module, imported)| {
            let (from, to) = (child(module, &parent)?, child(imported, &parent)?);
            (from != to).then(|| (from, to, self.files[module].0.as_path()))
        })
    }

    /// Every cycle between children of one module, as text.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let parents: BTreeSet<&[String]> =
            self.files.keys().flat_map(|module| (0..module.len()).map(|length| &module[..length])).collect();
        parents.into_iter().filter_map(|parent| self.cycle_at(&parent.join("::"))).collect()
    }

    fn cycle_at(&self, parent: &str) -> Option<String> {
        let mut imports: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
        for (from, to, file) in self.edges_at(parent) {
            imports.entry(from).or_default().entry(to).or_insert_with(|| file.to_owned());
        }
        // Modules that import nothing that is left, or that nothing left imports, are in no cycle.
        loop {
            let left: BTreeSet<String> = imports.keys().cloned().collect();
            let imported: BTreeSet<String> = imports.values().flat_map(|to| to.keys().cloned()).collect();
            imports.values_mut().for_each(|targets| targets.retain(|to, _| left.contains(to)));
            imports.retain(|from, targets| !targets.is_empty() && imported.contains(from));
            if imports.len() == left.len() {
                break;
            }
        }
        let edge = |(from, targets): (&String, &BTreeMap<String, PathBuf>)| {
            let to = |(to, file): (&String, &PathBuf)| format!("\n  {from} -> {to} ({})", file.display());
            targets.iter().map(to).collect::<String>()
        };
        (!imports.is_empty())
            .then(|| format!("in `{parent}`:{}", imports.iter().map(edge).collect::<String>()))
    }
}

/// The child of `parent` that a module is or lies in.
fn child(module: &[String], parent: &[String]) -> Option<String> {
    module.strip_prefix(parent)?.first().cloned()
}

fn is_test(stem: &str) -> bool {
    matches!(stem, "tests" | "testing")
}
