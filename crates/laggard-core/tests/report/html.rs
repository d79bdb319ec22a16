//! The page.

use laggard_core::report::html::page;

use crate::{sample, xml};

#[test]
fn one_suspect_makes_a_page() {
    insta::assert_snapshot!("one.html", lines(&page(&sample::one_suspect())));
}

#[test]
fn a_controller_and_a_second_suspect_make_a_page_with_an_overview() {
    insta::assert_snapshot!("two.html", lines(&page(&sample::two_suspects())));
}

#[test]
fn no_suspects_make_a_page() {
    insta::assert_snapshot!("healthy.html", lines(&page(&sample::healthy())));
}

#[test]
fn measured_detection_limits_are_on_the_page() {
    let page = page(&sample::healthy_with_limits());
    assert!(
        page.contains(
            "A disk 2x slower for 1 h (9 of 10 trials), or 1.3x for the whole 4 h 30 min (9 of 10)"
        )
    );
    assert!(page.contains("this was measured on 8 of 12 disks"));
}

#[test]
fn warnings_make_a_page() {
    insta::assert_snapshot!("warnings.html", lines(&page(&sample::only_warnings())));
}

/// A line an element, so that a change is seen where it is. Style sheets and read-outs would only fill the file.
fn lines(page: &str) -> String {
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    let lines = format!("{before}<style></style>{after}").replace("><", ">\n<");
    let is_kept =
        |line: &&str| !["\"hit\"", "\"cursor\"", "\"readout"].iter().any(|class| line.contains(class));
    lines.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

#[test]
fn pages_are_well_formed_and_self_contained() {
    let reports = [
        sample::one_suspect(),
        sample::two_suspects(),
        sample::healthy(),
        sample::only_warnings(),
        sample::hostile(),
    ];
    for report in reports {
        let elements = xml::elements(&page(&report));
        for element in &elements {
            let outside = ["src", "style", "xlink:href", "onload", "onclick"];
            assert!(outside.iter().all(|name| element.attribute(name).is_none()), "{element:?}");
            assert!(element.attribute("href").is_none_or(|target| target.starts_with('#')), "{element:?}");
            assert!(!["script", "link", "img", "iframe", "object"].contains(&element.name.as_str()));
        }
    }
}

#[test]
fn the_policy_allows_nothing_but_the_style_sheet() {
    let elements = xml::elements(&page(&sample::healthy()));
    let policy =
        elements.iter().find(|e| e.attribute("http-equiv") == Some("Content-Security-Policy")).unwrap();
    assert!(
        policy.attribute("content").unwrap().starts_with("default-src 'none'; style-src 'unsafe-inline';")
    );
}

#[test]
fn links_lead_to_sections_that_are_there() {
    let elements = xml::elements(&page(&sample::two_suspects()));
    let links = elements.iter().filter_map(|element| element.attribute("href"));
    let targets: Vec<&str> = elements.iter().filter_map(|element| element.attribute("id")).collect();
    assert!(links.clone().count() >= 2);
    assert!(links.into_iter().all(|link| targets.contains(&&link[1..])));
}

#[test]
fn foreign_names_are_only_shown() {
    let page = page(&sample::hostile());
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'));
}

#[test]
fn every_picture_has_a_text_alternative() {
    let elements = xml::elements(&page(&sample::two_suspects()));
    let pictures = elements.iter().filter(|element| element.name == "svg");
    assert!(pictures.clone().count() >= 6);
    assert!(pictures.into_iter().all(|picture| picture.attribute("aria-label").is_some()));
    assert!(elements.iter().filter(|element| element.name == "desc").count() >= 6);
}

#[test]
fn thousands_of_suspects_make_a_page_of_bounded_size() {
    let mut report = sample::one_suspect();
    report.suspects = vec![report.suspects[0].clone(); 5000];
    report.suspects[0].explains = (0..100_000).map(|k| format!("lun{k}")).collect();
    report.pictures.suspects = vec![report.pictures.suspects[0].clone(); 5000];
    let page = page(&report);
    assert!(page.len() < 6_000_000, "{}", page.len());
    assert!(page.contains("and 4500 more suspects"));
}
