//! Commands with variables in braces.

use std::collections::BTreeMap;

use crate::campaign::config::Config;

/// What every command may use besides the target's own variables: where clients have mounted, where files may be kept
/// that are not the file system's, what choices follow from, and the cell.
const OWN: [&str; 4] = ["mnt", "out", "seed", "cell"];

/// The names that commands of a campaign may use.
pub fn names(config: &Config) -> Vec<String> {
    OWN.iter().map(|name| (*name).to_owned()).chain(config.vars.keys().cloned()).collect()
}

/// Fails at the first name that means nothing.
pub fn check(text: &str, known: &[String]) -> Result<(), String> {
    match used(text).into_iter().find(|name| !known.contains(name)) {
        Some(name) => Err(format!("nothing is called {{{name}}}; there are {}", known.join(", "))),
        None => Ok(()),
    }
}

/// The command with values for its variables.
pub fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut filled = text.to_owned();
    for (name, value) in values {
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    filled
}

/// The names in braces. What follows a dollar is the shell's own.
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
