//! The terminal report.

use laggard_core::report::text::{Layout, render};
use laggard_core::report::{Report, Timings};

use crate::sample;

fn told(report: &Report, width: usize) -> String {
    render(report, Layout { width, has_colours: false })
}

#[test]
fn one_suspect_is_told_in_ten_seconds() {
    insta::assert_snapshot!("one.txt", told(&sample::one_suspect(), 100));
}

#[test]
fn a_controller_explains_its_luns_beside_a_second_suspect() {
    insta::assert_snapshot!("two.txt", told(&sample::two_suspects(), 100));
}

#[test]
fn no_suspects_comes_with_how_sure_that_is() {
    insta::assert_snapshot!("nobody.txt", told(&sample::nobody(), 100));
}

#[test]
fn warnings_come_with_a_next_step() {
    insta::assert_snapshot!("warnings.txt", told(&sample::only_warnings(), 100));
}

#[test]
fn a_narrow_terminal_wraps_everything_but_words() {
    let text = told(&sample::two_suspects(), 64);
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
    assert_eq!(without_blanks(&plain), without_blanks(&told(&sample::one_suspect(), 100)));
}

#[test]
fn foreign_names_give_no_orders_to_the_terminal() {
    let text = told(&sample::hostile(), 100);
    assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'));
}

#[test]
fn thousands_of_suspects_stay_readable() {
    let mut report = sample::one_suspect();
    report.suspects = vec![report.suspects[0].clone(); 5000];
    let text = told(&report, 100);
    assert!(text.lines().count() < 150);
    assert!(text.contains("and 4975 more suspects: --json has them all"), "{text}");
}

#[test]
fn times_are_told_where_asked_for() {
    let timings =
        Timings { read_seconds: 1.5, detect_seconds: 0.25, explain_seconds: 0.01, total_seconds: 1.76 };
    let report = Report { timings: Some(timings), ..sample::nobody() };
    assert!(told(&report, 100).contains("1.76 s: reading 1.50 s, judging 0.25 s, explaining 0.01 s"));
}

#[test]
fn an_empty_report_is_told_too() {
    let report = Report { groups: Vec::new(), from: None, to: None, ..sample::only_warnings() };
    assert!(told(&report, 0).contains("Nothing could be judged"));
}
