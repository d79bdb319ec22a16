//! The first minute.
#![allow(clippy::unwrap_used)]

mod support;

use support::{errors, files, laggard, text};

#[test]
fn the_demo_names_the_culprit_that_it_planted() {
    for seed in ["1", "7"] {
        let folder = tempfile::tempdir().unwrap();
        let shown = laggard(&["demo", "--seed", seed, "--out", text(folder.path())]);
        assert!(shown.status.success(), "{}", errors(&shown));
        let labels = std::fs::read_to_string(folder.path().join("data/labels.csv")).unwrap();
        let culprit = labels.lines().nth(1).unwrap().split(',').next().unwrap();
        let report = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(report.starts_with("1 suspect among"), "{report}");
        assert!(report.contains(&format!(" 1. {culprit}:sdb (disk): ")), "{culprit}: {report}");
        assert!(report.contains("Likely cause  disk busy"), "{report}");
        let printed = errors(&shown);
        assert!(
            printed
                .contains(&format!("The simulated fault, which diagnose did not read: {culprit}, disk-busy")),
            "{printed}"
        );
        assert!(printed.contains("Next steps:"), "{printed}");
        assert_eq!(files(folder.path(), "report.html").len(), 1);
    }
}

#[test]
fn a_second_demo_in_the_same_folder_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/notes"), "mine").unwrap();
    let shown = laggard(&["demo", "--out", text(folder.path())]);
    assert_eq!(shown.status.code(), Some(2));
    assert!(errors(&shown).contains("is not empty: name a new folder"), "{}", errors(&shown));
}
