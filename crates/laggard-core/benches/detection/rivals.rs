//! The same detection by numpy with scipy, and by R, if they are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds of the fastest run, and number of anomalies.
pub(crate) type Outcome = Option<(f64, usize)>;

#[derive(Clone, Copy)]
pub(crate) struct Question {
    pub(crate) members: usize,
    pub(crate) threshold: u32,
    pub(crate) tries: usize,
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/detection").join(name)
}

/// A script prints seconds and flags.
fn run(program: &str, script: &Path, day: &Path, question: Question, words: &[&str]) -> Outcome {
    let Question { members, threshold, tries } = question;
    let numbers = [members.to_string(), threshold.to_string(), tries.to_string()];
    let one_thread = [("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1")];
    let output = Command::new(program)
        .arg(script)
        .arg(day)
        .args(numbers)
        .args(words)
        .envs(one_thread)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// By numpy and scipy: straightforward, or tuned.
pub(crate) fn numpy(day: &Path, question: Question, is_plain: bool) -> Outcome {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let words: &[&str] = if is_plain { &["plain"] } else { &[] };
    run(&python, &script("all_pairs.py"), day, question, words)
}

pub(crate) fn r(day: &Path, question: Question) -> Outcome {
    run("Rscript", &script("all_pairs.R"), day, question, &[])
}
