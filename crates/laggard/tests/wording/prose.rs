//! Text that people read, with the place of each line.

use std::path::{Path, PathBuf};

/// Markdown files of the project, with their text. Notes keep the words they were written in.
pub(crate) fn documents(workspace: &Path) -> Vec<(String, String)> {
    let folders = ["", "docs", "recordings", "contrib", "examples"];
    folders.iter().flat_map(|folder| files(&workspace.join(folder), &["md", "toml", "service"])).collect()
}

/// Rust files and data files of all crates and fuzz targets. The patterns of this test are no prose.
pub(crate) fn sources(workspace: &Path) -> Vec<(String, String)> {
    let mut folders = vec![workspace.join("crates"), workspace.join("fuzz/fuzz_targets")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        if folder.ends_with("tests/wording") || folder.ends_with("fixtures") || folder.ends_with("snapshots")
        {
            continue;
        }
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(entries.filter(|path| path.is_dir()));
        found.extend(files(&folder, &["rs"]));
    }
    found.sort();
    found
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_wanted = |path: &PathBuf| path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x));
    let wanted = entries.filter(is_wanted);
    wanted.map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap())).collect()
}

/// Numbered lines outside of fenced and indented code.
pub(crate) fn outside_code_blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        (!is_code && !line.starts_with("    ")).then_some((number + 1, line))
    })
}

/// Comments and string literals of a Rust file, line by line, without the names of JSON keys.
pub(crate) fn read_by_people(source: &str) -> Vec<(usize, String)> {
    let of_line = |line: &str| match line.split_once("//") {
        _ if line.trim_start().starts_with("#[serde(") => String::new(),
        Some((code, comment)) if code.matches('"').count() % 2 == 0 => {
            format!("{} {comment}", literals(code))
        }
        _ => literals(line),
    };
    source.lines().enumerate().map(|(number, line)| (number + 1, of_line(line))).collect()
}

/// Text between quotation marks; the whole line where a literal spans several.
fn literals(code: &str) -> String {
    if code.matches('"').count() == 1 || code.trim_end().ends_with('\\') {
        return code.to_owned();
    }
    code.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ")
}

/// A line without what stands in backticks: names of keys, options and programs are quotations.
pub(crate) fn without_quotations(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The names of commands that a help text lists: those of its groups of commands.
pub(crate) fn subcommands(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_list = false;
    for line in help.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            is_list = ["Commands:", "Operate:", "Trace:", "Test:"].contains(&line.trim_end());
        } else if is_list && line.starts_with("  ") && !line.starts_with("   ") {
            names.extend(line.split_whitespace().next().map(|name| name.trim_end_matches(',').to_owned()));
        }
    }
    names
}

/// The first column of Markdown tables, without their headings.
pub(crate) fn first_column(text: &str) -> impl Iterator<Item = &str> {
    let rows = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("| ---"));
    rows.filter_map(|row| row.trim_matches('|').split('|').next())
        .map(str::trim)
        .filter(|word| *word != "word")
}
