//! Writes sample reports, to look at: `cargo run -p laggard-core --example report -- FOLDER`.

#[path = "../tests/report/sample.rs"]
mod sample;

use std::path::PathBuf;

use laggard_core::report::text::Layout;
use laggard_core::report::{html, text};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let reports = [
        ("one", sample::one_suspect()),
        ("two", sample::two_suspects()),
        ("healthy", sample::healthy()),
        ("limits", sample::healthy_with_limits()),
        ("poor", sample::only_warnings()),
        ("hostile", sample::hostile()),
    ];
    for (name, report) in reports {
        std::fs::write(folder.join(name).with_extension("html"), html::page(&report))?;
        let layout = Layout { width: 100, has_colours: true };
        std::fs::write(folder.join(name).with_extension("txt"), text::render(&report, layout))?;
    }
    Ok(())
}
