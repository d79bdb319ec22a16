//! The outcome of a step.

use serde::{Deserialize, Serialize};

/// Ordered by severity: `a.max(b)` is the outcome of two steps together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// Not run.
    #[serde(rename = "skipped")]
    Skipped,
    /// Everything is verified.
    #[serde(rename = "ok")]
    Ok,
    /// Fsck found nothing.
    #[serde(rename = "normal")]
    Normal,
    /// Fsck repaired something.
    #[serde(rename = "repaired")]
    Repaired,
    /// It failed for a reason without an outcome of its own.
    #[serde(rename = "aborted")]
    Aborted,
    /// An errno without an outcome of its own.
    #[serde(rename = "error")]
    Error,
    /// ENOSPC.
    #[serde(rename = "nospace")]
    NoSpace,
    /// EROFS.
    #[serde(rename = "rofs")]
    ReadOnly,
    /// ENOENT.
    #[serde(rename = "nofile")]
    NoFile,
    /// EINVAL.
    #[serde(rename = "invalid")]
    Invalid,
    /// No answer: ENOTCONN, ECONNREFUSED, EHOSTUNREACH, ETIMEDOUT and the like.
    #[serde(rename = "comm-err")]
    CommErr,
    /// EIO.
    #[serde(rename = "io-err")]
    IoErr,
    /// Some files have an error, others are ok.
    #[serde(rename = "partial")]
    Partial,
    /// Data differs from what was written.
    #[serde(rename = "corrupt")]
    Corrupt,
    /// It made no progress and was killed.
    #[serde(rename = "hang")]
    Hang,
    /// It could not be killed.
    #[serde(rename = "hang-D")]
    HangD,
    /// The kernel panicked.
    #[serde(rename = "panic")]
    Panic,
    /// A node rebooted.
    #[serde(rename = "reboot")]
    Reboot,
    /// Something failed before the fault was injected.
    #[serde(rename = "infra-fail")]
    InfraFail,
}

/// Errnos of unreachable peers.
const COMMUNICATION: [i32; 10] = [100, 101, 103, 104, 107, 108, 110, 111, 112, 113];

impl Outcome {
    /// In order of severity.
    pub const ALL: [Outcome; 19] = [
        Outcome::Skipped,
        Outcome::Ok,
        Outcome::Normal,
        Outcome::Repaired,
        Outcome::Aborted,
        Outcome::Error,
        Outcome::NoSpace,
        Outcome::ReadOnly,
        Outcome::NoFile,
        Outcome::Invalid,
        Outcome::CommErr,
        Outcome::IoErr,
        Outcome::Partial,
        Outcome::Corrupt,
        Outcome::Hang,
        Outcome::HangD,
        Outcome::Panic,
        Outcome::Reboot,
        Outcome::InfraFail,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Skipped => "skipped",
            Outcome::Ok => "ok",
            Outcome::Normal => "normal",
            Outcome::Repaired => "repaired",
            Outcome::Aborted => "aborted",
            Outcome::Error => "error",
            Outcome::NoSpace => "nospace",
            Outcome::ReadOnly => "rofs",
            Outcome::NoFile => "nofile",
            Outcome::Invalid => "invalid",
            Outcome::CommErr => "comm-err",
            Outcome::IoErr => "io-err",
            Outcome::Partial => "partial",
            Outcome::Corrupt => "corrupt",
            Outcome::Hang => "hang",
            Outcome::HangD => "hang-D",
            Outcome::Panic => "panic",
            Outcome::Reboot => "reboot",
            Outcome::InfraFail => "infra-fail",
        }
    }

    pub fn of_errno(errno: i32) -> Outcome {
        match errno {
            2 => Outcome::NoFile,
            5 => Outcome::IoErr,
            22 => Outcome::Invalid,
            // A full quota is no space either.
            28 | 122 => Outcome::NoSpace,
            30 => Outcome::ReadOnly,
            other if COMMUNICATION.contains(&other) => Outcome::CommErr,
            _ => Outcome::Error,
        }
    }

    /// The first error message in the output of a program.
    pub fn of_text(text: &str) -> Option<(Outcome, i32)> {
        const TEXTS: [(&str, i32); 13] = [
            ("Input/output error", 5),
            ("Transport endpoint is not connected", 107),
            ("Connection refused", 111),
            ("Connection reset", 104),
            ("Connection timed out", 110),
            ("No route to host", 113),
            ("Network is unreachable", 101),
            ("Read-only file system", 30),
            ("No space left on device", 28),
            ("Disk quota exceeded", 122),
            ("Stale file handle", 116),
            ("No such file or directory", 2),
            ("Invalid argument", 22),
        ];
        let found = TEXTS.iter().find(|(words, _)| text.contains(words));
        found.map(|(_, errno)| (Outcome::of_errno(*errno), *errno))
    }

    pub fn is_ok(self) -> bool {
        matches!(self, Outcome::Ok | Outcome::Normal | Outcome::Repaired | Outcome::Skipped)
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errnos_have_outcomes() {
        let words: Vec<&str> =
            [2, 5, 22, 28, 30, 107, 110, 113, 116].map(|errno| Outcome::of_errno(errno).as_str()).to_vec();
        let expected = ["nofile", "io-err", "invalid", "nospace", "rofs", "comm-err", "comm-err", "comm-err"];
        assert_eq!(words, [&expected[..], &["error"]].concat());
        let said = "cp: 'x': Transport endpoint is not connected";
        assert_eq!(Outcome::of_text(said), Some((Outcome::CommErr, 107)));
        assert_eq!(Outcome::of_text("all is well"), None);
    }

    #[test]
    fn the_worse_outcome_is_the_greater() {
        use Outcome::*;
        let order = [Reboot, Panic, HangD, Hang, Corrupt, Partial, IoErr, Aborted, Ok];
        assert!(order.windows(2).all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn every_outcome_is_serialised_as_it_is_displayed() {
        for outcome in Outcome::ALL {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("\"{outcome}\""));
        }
    }
}
