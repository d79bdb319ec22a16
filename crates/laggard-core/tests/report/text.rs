//! The terminal report.

use laggard_core::report::text::{Layout, render};
use laggard_core::report::{Report, Timings};

use crate::sample;

fn rendered(report: &Report, width: usize) -> String {
    render(report, Layout { width, has_colours: false })
}

#[test]
fn one_suspect_fits_on_a_screen() {
    insta::assert_snapshot!("one.txt", rendered(&sample::one_suspect(), 100));
}

#[test]
fn a_controller_explains_its_luns_beside_a_second_suspect() {
    insta::assert_snapshot!("two.txt", rendered(&sample::two_suspects(), 100));
}

#[test]
fn no_suspects_comes_with_its_limits() {
    insta::assert_snapshot!("healthy.txt", rendered(&sample::healthy(), 100));
}

#[test]
fn measured_detection_limits_are_stated() {
    insta::assert_snapshot!("limits.txt", rendered(&sample::healthy_with_limits(), 100));
}

#[test]
fn warnings_come_with_a_next_step() {
    insta::assert_snapshot!("warnings.txt", rendered(&sample::only_warnings(), 100));
}

#[test]
fn a_narrow_terminal_wraps_everything_but_words() {
    let text = rendered(&sample::two_suspects(), 64);
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 64, "{text}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let coloured = render(&sample::one_suspect(), Layout { width: 100, has_colours: true });
    assert!(coloured.contains("\x1b["));
    let orders = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m"];
    let plain = orders.iter().fold(coloured, |text, order| text.replace(order, ""));
    let without_blanks = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(without_blanks(&plain), without_blanks(&rendered(&sample::one_suspect(), 100)));
}

#[test]
fn foreign_names_do_not_control_the_terminal() {
    let text = rendered(&sample::hostile(), 100);
    assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'));
}

#[test]
fn thousands_of_suspects_stay_readable() {
    let mut report = sample::one_suspect();
    report.suspects = vec![report.suspects[0].clone(); 5000];
    let text = rendered(&report, 100);
    assert!(text.lines().count() < 150);
    assert!(text.contains("and 4975 more suspects: --json has them all"), "{text}");
}

#[test]
fn timings_are_shown_on_request() {
    let timings = Timings {
        read_seconds: 1.5,
        detect_seconds: 0.25,
        explain_seconds: 0.01,
        limits_seconds: 0.0,
        total_seconds: 1.76,
    };
    let report = Report { timings: Some(timings), ..sample::healthy() };
    assert!(rendered(&report, 100).contains("1.76 s: reading 1.50 s, evaluating 0.25 s, explaining 0.01 s"));
}

#[test]
fn an_empty_report_is_rendered_too() {
    let report = Report { groups: Vec::new(), from: None, to: None, ..sample::only_warnings() };
    assert!(rendered(&report, 0).contains("Cannot tell: nothing could be evaluated"));
}
