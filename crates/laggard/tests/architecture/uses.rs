//! The paths within its own crate that a source file mentions. Test code is left out.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

#[derive(Default)]
pub(crate) struct FileUses {
    /// Absolute paths within the crate, without `crate`.
    pub(crate) paths: Vec<Vec<String>>,
    /// Names that this module re-exports, with the path of each.
    pub(crate) reexports: BTreeMap<String, Vec<String>>,
}

/// Reads a file that holds `module`.
pub(crate) fn uses(source: &str, module: &[String]) -> FileUses {
    let file = syn::parse_file(source).unwrap();
    let children = file.items.iter().filter_map(|item| match item {
        syn::Item::Mod(child) => Some(child.ident.to_string()),
        _ => None,
    });
    let mut reader = Reader { module, children: children.collect(), uses: FileUses::default() };
    reader.visit_file(&file);
    reader.uses
}

struct Reader<'a> {
    module: &'a [String],
    children: Vec<String>,
    uses: FileUses,
}

impl Reader<'_> {
    /// The path without `crate`, `self` and `super`; nothing if it leads to another crate or to a name in scope.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let supers = path.iter().take_while(|segment| *segment == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([self.module, &path[1..]].concat()),
            "super" => {
                let ancestor = &self.module[..self.module.len().checked_sub(supers)?];
                Some([ancestor, &path[supers..]].concat())
            }
            first if self.children.iter().any(|child| child == first) => Some([self.module, path].concat()),
            _ => None,
        }
    }

    fn flatten(&mut self, tree: &syn::UseTree, prefix: &[String], is_public: bool) {
        let with = |name: String| [prefix, &[name]].concat();
        match tree {
            syn::UseTree::Path(path) => self.flatten(&path.tree, &with(path.ident.to_string()), is_public),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.flatten(item, prefix, is_public));
            }
            syn::UseTree::Name(name) if name.ident == "self" => self.add(prefix, None),
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.add(&with(name.clone()), is_public.then_some(name));
            }
            syn::UseTree::Rename(rename) => {
                let public = is_public.then(|| rename.rename.to_string());
                self.add(&with(rename.ident.to_string()), public);
            }
            syn::UseTree::Glob(_) => self.add(prefix, None),
        }
    }

    fn add(&mut self, path: &[String], reexported: Option<String>) {
        let Some(path) = self.absolute(path) else { return };
        match reexported {
            Some(name) => {
                self.uses.reexports.insert(name, path);
            }
            None => self.uses.paths.push(path),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.flatten(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_none() && segments.len() > 1 {
            self.add(&segments, None);
        }
        visit::visit_path(self, path);
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string().contains("test"),
        meta => meta.path().is_ident("test"),
    })
}
