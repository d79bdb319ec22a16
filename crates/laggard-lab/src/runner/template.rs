//! Commands with variables in braces.

use std::collections::BTreeMap;

/// Variables of every command, in addition to the target's own: the clients' mount point, a folder outside of the file
/// system, the seed, and the case.
const OWN: [&str; 4] = ["mnt", "out", "seed", "case"];

/// The names that commands may use.
pub(crate) fn names(vars: &BTreeMap<String, String>) -> Vec<String> {
    OWN.iter().map(|name| (*name).to_owned()).chain(vars.keys().cloned()).collect()
}

/// Fails at the first unknown name.
pub(crate) fn check(text: &str, known: &[String]) -> Result<(), String> {
    match used(text).into_iter().find(|name| !known.contains(name)) {
        Some(name) => Err(format!("unknown variable {{{name}}}; expected one of {}", known.join(", "))),
        None => Ok(()),
    }
}

/// Replaces the variables of a command.
pub(crate) fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut filled = text.to_owned();
    for (name, value) in values {
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    filled
}

/// The names in braces. What follows a dollar belongs to the shell.
fn used(text: &str) -> Vec<String> {
    let mut names = vec![];
    let mut left = text;
    while let Some((before, rest)) = left.split_once('{') {
        let (name, after) = rest.split_once('}').unwrap_or((rest, ""));
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && !before.ends_with('$') {
            names.push(name.to_owned());
        }
        left = after;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_the_shell_are_left_alone() {
        assert_eq!(used("a {mnt}/b ${HOME} {out} { x; }"), ["mnt", "out"]);
        let values = BTreeMap::from([("mnt".to_owned(), "/m".to_owned())]);
        assert_eq!(fill("ls {mnt}/{mnt} ${HOME}", &values), "ls /m//m ${HOME}");
    }
}
