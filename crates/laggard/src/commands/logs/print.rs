//! Prints log classes as tables, after Figure 2 and Tables 7 and 11 to 13 of the PFault paper.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use comfy_table::Table;
use laggard_logs::{Case, Class, Lines, Sign, Verdict, errno};

use super::report::{By, Report};
use crate::output;

/// Customised messages shown, most frequent first.
const MOST_MESSAGES: usize = 15;

/// The column heading of a class; all customised messages share one.
fn heading(class: &Class) -> String {
    class.to_string()
}

pub(crate) fn print(report: &Report, by: Option<By>) -> anyhow::Result<()> {
    let mut systems: BTreeMap<&str, Vec<&Sign>> = BTreeMap::new();
    for score in &report.scores {
        systems.entry(&score.case.system).or_default();
    }
    for sign in report.signs.iter().filter(|sign| sign.count.lines > 0) {
        systems.entry(&sign.case.system).or_default().push(sign);
    }
    for (system, signs) in &systems {
        if !system.is_empty() {
            say(&format!("{system}\n"))?;
        }
        let is_tried = report.scores.iter().any(|score| score.case.system == **system);
        match by {
            None if is_tried => {
                distribution(report, system, signs)?;
                scores(report, system)?;
                distances(report, system)?;
            }
            by => counts(signs, by.unwrap_or(By::Source))?,
        }
        classes(signs)?;
        messages(signs)?;
    }
    let above: Vec<&Sign> = report.signs.iter().filter(|sign| sign.is_above).collect();
    let (logs, size) = (output::count(report.logs as u64, "log"), output::bytes(report.bytes));
    let found = output::count(above.iter().map(|sign| sign.count.lines).sum(), "line");
    let first = above.iter().filter_map(|sign| sign.count.first).min().zip(report.since);
    let delay = first.map_or(String::new(), |(first, since)| {
        format!(", the first after {:.1} s", (first - since).seconds())
    });
    say(&format!("{logs} of {size}: {found} that report failures{delay}"))
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut out = output::stdout();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Figure 2: the nodes that log each class, by fault.
fn distribution(report: &Report, system: &str, signs: &[&Sign]) -> anyhow::Result<()> {
    let above: Vec<&&Sign> = signs.iter().filter(|sign| sign.is_above).collect();
    let columns = columns(above.iter().map(|sign| &sign.class));
    let symbols = symbols(above.iter().map(|sign| sign.node.as_str()).collect());
    let headings: Vec<&str> =
        ["fault", "nodes", "run"].into_iter().chain(columns.iter().map(String::as_str)).collect();
    let mut table = classes_table(&headings);
    for score in report.scores.iter().filter(|score| score.case.system == system) {
        let logged = |column: &String| {
            let of_class = above.iter().filter(|s| s.case == score.case && heading(&s.class) == *column);
            let nodes: BTreeSet<&str> = of_class.map(|sign| sign.node.as_str()).collect();
            nodes.iter().filter_map(|node| symbols.get(node)).collect::<String>()
        };
        table.add_row(case_words(&score.case).into_iter().chain(columns.iter().map(logged)));
    }
    output::print(&table)?;
    let legend: Vec<String> = symbols.iter().map(|(node, symbol)| format!("{symbol} {node}")).collect();
    say(&format!("\nlogged more than three times as often as before, by: {}\n", legend.join(", ")))
}

/// A table whose class letters stay in lower case.
fn classes_table(headings: &[&str]) -> Table {
    let mut table = output::table(headings, &[]);
    let is_class = |heading: &&str| heading.len() == 1;
    table.set_header(
        headings.iter().map(|word| if is_class(word) { word.to_string() } else { word.to_uppercase() }),
    );
    table
}

fn case_words(case: &Case) -> [String; 3] {
    [case.fault.clone(), case.targets.clone(), case.run.clone()]
}

/// The classes in use, letters first; all customised messages are `y`.
fn columns<'s>(classes: impl Iterator<Item = &'s Class>) -> Vec<String> {
    let sorted: BTreeSet<&Class> = classes.collect();
    let mut columns: Vec<String> = sorted.into_iter().map(heading).collect();
    columns.dedup();
    columns
}

/// One character for each node: the last digit if several nodes differ only in digits, else the first unused letter.
fn symbols(nodes: BTreeSet<&str>) -> BTreeMap<&str, char> {
    let kind = |node: &str| node.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
    let has_peers = |node: &str| nodes.iter().filter(|other| kind(other) == kind(node)).count() > 1;
    let mut symbols: BTreeMap<&str, char> = BTreeMap::new();
    for node in &nodes {
        let digit = node.chars().last().filter(|last| last.is_ascii_digit() && has_peers(node));
        let free = |symbol: &char| !symbols.values().any(|taken| taken == symbol);
        let letters = node.chars().filter(char::is_ascii_alphabetic).chain('A'..='Z').chain('a'..='z');
        let symbol = digit.into_iter().chain(letters).find(free).unwrap_or('*');
        symbols.insert(node, symbol);
    }
    symbols
}

fn scores(report: &Report, system: &str) -> anyhow::Result<()> {
    let mut table = output::table(
        &["fault", "nodes", "run", "logs show", "after", "rightly named", "wrongly named"],
        &[4],
    );
    for score in report.scores.iter().filter(|score| score.case.system == system) {
        let shown = match score.verdict {
            Verdict::Located => "fault and node",
            Verdict::Detected => "fault",
            Verdict::Misleading => "the wrong node",
            Verdict::Silent => "nothing",
        };
        let delay = score.delay_seconds.map_or("-".to_owned(), |delay| format!("{delay:.1} s"));
        let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(" ");
        let rest = [shown.to_owned(), delay, names(&score.rightly_named), names(&score.wrongly_named)];
        table.add_row(case_words(&score.case).into_iter().chain(rest));
    }
    output::print(&table)?;
    say("")
}

fn distances(report: &Report, system: &str) -> anyhow::Result<()> {
    let mut table = output::table(&["nodes", "fault", "other fault", "distance", ""], &[3]);
    let of_system: Vec<_> = report.distances.iter().filter(|distance| distance.system == system).collect();
    for distance in &of_system {
        let remark = if distance.distance == 0.0 { "indistinguishable" } else { "" };
        let shown = format!("{:.2}", distance.distance);
        table.add_row([&distance.targets, &distance.one, &distance.other, &shown, remark]);
    }
    if !of_system.is_empty() {
        output::print(&table)?;
        say("\ndistance of signs: 0 the same, 1 nothing in common\n")?;
    }
    Ok(())
}

/// Lines of one group by class: signs, and ordinary ones.
type Row = BTreeMap<String, (u64, u64)>;

/// Lines by class; ordinary ones in brackets.
fn counts(signs: &[&Sign], by: By) -> anyhow::Result<()> {
    if signs.is_empty() {
        return Ok(());
    }
    let columns = columns(signs.iter().map(|sign| &sign.class));
    let by_word = format!("{by:?}").to_lowercase();
    let is_tried = signs.iter().any(|sign| !sign.case.fault.is_empty());
    let cases: &[&str] = if is_tried { &["fault", "nodes", "run"] } else { &[] };
    let words = cases.iter().copied().chain([by_word.as_str()]);
    let mut table = classes_table(&words.chain(columns.iter().map(String::as_str)).collect::<Vec<_>>());
    for ((case, group), row) in rows(signs, by) {
        let words = case_words(case).into_iter().take(cases.len()).chain([group]);
        table.add_row(words.chain(columns.iter().map(|column| lines(row.get(column)))));
    }
    output::print(&table)?;
    say("\nlines by class; in brackets: before the fault, or at most three times as often as before it\n")
}

fn rows<'s>(signs: &[&'s Sign], by: By) -> BTreeMap<(&'s Case, String), Row> {
    let mut rows: BTreeMap<(&Case, String), Row> = BTreeMap::new();
    for sign in signs {
        for (group, lines) in groups(sign, by) {
            let row = rows.entry((&sign.case, group)).or_default();
            let (above, ordinary) = row.entry(heading(&sign.class)).or_default();
            *(if sign.is_above { above } else { &mut *ordinary }) += lines.after;
            *ordinary += lines.before;
        }
    }
    rows
}

/// `12`, `(3)`, `12 (3)`.
fn lines(counted: Option<&(u64, u64)>) -> String {
    match counted {
        None => String::new(),
        Some((0, ordinary)) => format!("({ordinary})"),
        Some((above, 0)) => above.to_string(),
        Some((above, ordinary)) => format!("{above} ({ordinary})"),
    }
}

fn groups(sign: &Sign, by: By) -> Vec<(String, Lines)> {
    match by {
        By::Node => vec![(sign.node.clone(), Lines { before: sign.before, after: sign.count.lines })],
        By::Phase => all(&sign.phases),
        By::Source => all(&sign.sources),
        By::Component => {
            let of_node = |(component, after): (&String, &u64)| {
                (format!("{component} {}", sign.node), Lines { before: 0, after: *after })
            };
            sign.count.components.iter().map(of_node).collect()
        }
    }
}

fn all(counts: &BTreeMap<String, Lines>) -> Vec<(String, Lines)> {
    counts.iter().map(|(name, lines)| (name.clone(), *lines)).collect()
}

/// Table 7: the classes in use.
fn classes(signs: &[&Sign]) -> anyhow::Result<()> {
    let mut table = output::table(&["class", "error", "lines", "example"], &[2]);
    let mut classes: BTreeMap<&Class, (u64, &str)> = BTreeMap::new();
    for sign in signs.iter().filter(|sign| sign.is_above && sign.errno.is_some()) {
        let class = classes.entry(&sign.class).or_insert((0, &sign.count.example));
        class.0 += sign.count.lines;
    }
    for (class, (lines, example)) in &classes {
        let number = class.errno().unwrap_or(0);
        let error = format!("{} {}", class.name(), errno::text(number));
        table.add_row([heading(class), error, lines.to_string(), shortened(example, 60)]);
    }
    if !classes.is_empty() {
        output::print(&table)?;
        say("")?;
    }
    Ok(())
}

/// Tables 11 to 13: customised messages.
fn messages(signs: &[&Sign]) -> anyhow::Result<()> {
    let mut messages: BTreeMap<&str, (u64, BTreeSet<&str>)> = BTreeMap::new();
    for sign in signs.iter().filter(|sign| sign.is_above) {
        if let Some(template) = &sign.template {
            let message = messages.entry(template).or_default();
            message.0 += sign.count.lines;
            message.1.insert(&sign.node);
        }
    }
    let mut sorted: Vec<_> = messages.into_iter().collect();
    sorted.sort_by(|(one, (one_lines, _)), (other, (other_lines, _))| {
        other_lines.cmp(one_lines).then(one.cmp(other))
    });
    if sorted.is_empty() {
        return Ok(());
    }
    let mut table = output::table(&["y", "lines", "logged by", "customised message"], &[1]);
    for (at, (template, (lines, nodes))) in sorted.iter().take(MOST_MESSAGES).enumerate() {
        let nodes = nodes.iter().copied().collect::<Vec<_>>().join(" ");
        table.add_row([format!("y{}", at + 1), lines.to_string(), nodes, shortened(template, 100)]);
    }
    output::print(&table)?;
    match sorted.len().checked_sub(MOST_MESSAGES).filter(|more| *more > 0) {
        Some(more) => say(&format!("and {more} more; use --json for all\n")),
        None => say(""),
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
