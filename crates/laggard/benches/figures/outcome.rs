//! Results as a Markdown table.

use std::fmt;

/// The results of one benchmark.
pub(crate) struct Outcome {
    heading: Vec<String>,
    lines: Vec<Vec<String>>,
    verdicts: Vec<String>,
}

impl Outcome {
    pub(crate) fn new(heading: &[&str]) -> Outcome {
        let heading = heading.iter().map(|text| text.to_string()).collect();
        Outcome { heading, lines: Vec::new(), verdicts: Vec::new() }
    }

    pub(crate) fn line(&mut self, cells: &[&str]) {
        self.lines.push(cells.iter().map(|text| text.to_string()).collect());
    }

    pub(crate) fn goal(&mut self, goal: &str, is_reached: bool, measured: &str) {
        let verdict = if is_reached { "reached" } else { "MISSED" };
        self.verdicts.push(format!("- goal: {goal}: {verdict} ({measured})"));
    }

    pub(crate) fn remark(&mut self, text: impl fmt::Display) {
        self.verdicts.push(format!("- {text}"));
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} |", self.heading.join(" | "))?;
        writeln!(f, "|{}", " --- |".repeat(self.heading.len()))?;
        for line in &self.lines {
            writeln!(f, "| {} |", line.join(" | "))?;
        }
        writeln!(f)?;
        self.verdicts.iter().try_for_each(|verdict| writeln!(f, "{verdict}"))
    }
}
