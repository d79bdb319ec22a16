//! Where a log belongs: which run of which fault, which phase of it, which node.

use serde::Serialize;

/// One try of one fault. All empty where logs are of no campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Case {
    pub system: String,
    /// `control` if there is none.
    pub fault: String,
    /// The name of the node set with the fault.
    pub targets: String,
    pub run: String,
}

impl Case {
    /// True for a run without a fault: its messages are ordinary.
    pub fn is_control(&self) -> bool {
        ["control", "none", "no-fault"].contains(&self.fault.to_ascii_lowercase().as_str())
    }
}

/// Before the fault, or from then on (rule 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Before,
    /// From the injection of the fault on.
    After,
}

/// Where a log belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub case: Case,
    pub phase: String,
    pub side: Side,
    pub node: String,
    /// The log of that node.
    pub source: String,
}

/// Phases of a campaign that come before the fault, by their names.
const PHASES_BEFORE: [&str; 9] =
    ["preflight", "setup", "age", "init", "baseline", "before", "normal", "fsck0", "check0"];

/// A campaign's phases have numbers: `P4` is the injection.
const FIRST_PHASE_AFTER: u32 = 4;

/// And those that come after.
const PHASES_AFTER: [&str; 8] =
    ["inject", "observe", "fsck", "check", "revert", "repair", "teardown", "after"];

impl Side {
    pub fn is_phase(name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let number = name.trim_start_matches("log_rec").trim_start_matches(['.', '-', '_', 'p']);
        let is_numbered = number.starts_with(|first: char| first.is_ascii_digit()) && number.len() < 20;
        let bare =
            number.trim_start_matches(|letter: char| letter.is_ascii_digit() || "._-".contains(letter));
        let is_named = |known: &&str| name.starts_with(known) || bare.starts_with(known);
        is_numbered || PHASES_BEFORE.iter().chain(&PHASES_AFTER).any(is_named)
    }

    /// The side of a campaign's phase: `P2`, `2-age`, `init` are before; `P5`, `fsck`, `check` after. A plain number
    /// (recordings of logs, in the paper) is before only if it is the first.
    pub fn of_phase(phase: &str) -> Side {
        let phase = phase.to_ascii_lowercase();
        let bare = phase.trim_start_matches("log_rec").trim_start_matches(['.', '-', '_']);
        let name = bare.trim_start_matches('p').trim_start_matches(|letter: char| letter.is_ascii_digit());
        let name = name.trim_start_matches(['.', '-', '_']);
        let digits: String = bare.chars().filter(char::is_ascii_digit).take(3).collect();
        let is_before = match digits.parse::<u32>() {
            _ if PHASES_BEFORE.contains(&name) || PHASES_BEFORE.contains(&bare) => true,
            Ok(number) if bare.starts_with('p') => number < FIRST_PHASE_AFTER,
            Ok(number) => name.is_empty() && number <= 1,
            Err(_) => false,
        };
        if is_before { Side::Before } else { Side::After }
    }
}
