//! Progress on a terminal; nothing at all where standard error is none.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over bytes.
pub fn over_bytes(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec}, {eta} left  {wide_msg}"));
    bar
}

/// A bar over seconds of recording.
pub fn over_seconds(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{bar:30} {pos}/{len} s  {wide_msg}"));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates above are valid").progress_chars("█▌ ")
}
