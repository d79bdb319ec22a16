//! Progress bars on a terminal; nothing where standard error is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) fn over_bytes(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec}, {eta} left  {wide_msg}"));
    bar
}

pub(crate) fn over_seconds(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{bar:30} {pos}/{len} s  {wide_msg}"));
    bar
}

pub(crate) fn over_hosts(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{bar:30} {pos}/{len} hosts, {eta} left  {wide_msg}"));
    bar
}

/// A bar over experiments; the prefix is the time that is left.
pub(crate) fn over_experiments() -> ProgressBar {
    let bar = ProgressBar::new(0);
    bar.set_style(style("{bar:30} {pos}/{len} experiments, {prefix} left  {wide_msg}"));
    bar
}

/// A bar over trials, whose number is set later.
pub(crate) fn over_trials() -> ProgressBar {
    let bar = ProgressBar::new(0);
    bar.set_style(style("{bar:30} {pos}/{len} trials, {eta} left"));
    bar
}

/// Parts of a [`over_shares`] bar.
pub(crate) const SHARES: u64 = 1000;

/// A bar over shares of a whole.
pub(crate) fn over_shares() -> ProgressBar {
    let bar = ProgressBar::new(SHARES);
    bar.set_style(style("{bar:30} {percent} %, {eta} left  {wide_msg}"));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates above are valid").progress_chars("█▌ ")
}
