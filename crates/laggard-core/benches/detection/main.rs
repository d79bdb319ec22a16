//! The speed of evaluating one peer group, compared with all pairs in Rust, numpy and R in the same run; and its growth with
//! the number of components.
//!
//! `cargo bench -p laggard-core --bench detection [-- day | growth | stages | alone | once]`. numpy with scipy, and R, are
//! measured if installed; PYTHON names the python to use.

#![allow(clippy::print_stdout)]

mod day;
mod growth;
mod naive;
mod race;
mod rivals;
mod stages;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|word| word == name);
    // For a profiler: only if requested by name.
    if asked.iter().any(|word| word == "alone") {
        race::alone();
    }
    if asked.iter().any(|word| word == "once") {
        growth::alone();
    }
    if is_asked("day") {
        race::run();
    }
    if is_asked("stages") {
        stages::run();
    }
    if is_asked("growth") {
        growth::run();
    }
}
