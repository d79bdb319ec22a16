//! Campaigns that end early: the fault is reverted, the lab is removed, and the reason is reported.

use std::process::Command;

use rustix::process::Signal;

use crate::plain::{Scene, signal};
use crate::support::{errors, text};

#[test]
fn a_stop_command_that_fails_ends_the_campaign_and_reverts_the_fault() {
    let enough = ("sh GATES/gate preflight\", every = \"1m\"", "[ ! -e GATES/at-fsck ]\", every = \"200ms\"");
    let Some(scene) = Scene::with(&[enough]) else { return };
    scene.close("fsck");
    let output = scene.run().output().unwrap();
    let reported = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{reported}");
    assert!(
        reported.contains("warning: safety.stop_if: `[ ! -e ") && reported.contains("reverted and removed"),
        "{reported}"
    );
    assert!(!scene.case().join("result.json").exists());
    scene.is_as_before("stopped");
    // No case begins while the command fails.
    let output = scene.run().output().unwrap();
    assert!(errors(&output).contains("refused: safety.stop_if"), "{}", errors(&output));
    scene.is_as_before("refused");
}

#[test]
fn a_case_and_a_lab_that_take_too_long_are_given_up() {
    let short =
        ("stop_if = [ { cmd = \"sh GATES/gate preflight\", every = \"1m\" } ]", "[timeouts]\ncase = \"6s\"");
    let Some(scene) = Scene::with(&[short]) else { return };
    scene.close("check");
    let output = scene.run().output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert_eq!(scene.result()["infra"], "not finished in 6 s (timeouts.case), given up");
    scene.is_as_before("a long case");
    drop(scene);
    let short = (short.0, "[timeouts]\nsetup = \"2s\"");
    let Some(scene) = Scene::with(&[short]) else { return };
    scene.close("setup");
    let output = scene.run().output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let reported = scene.result()["infra"].as_str().unwrap().to_owned();
    assert!(reported.starts_with("the lab was not up in 2 s (timeouts.setup): "), "{reported}");
    scene.is_as_before("a long setup");
}

#[test]
fn an_interrupt_during_setup_is_not_a_failure_of_the_case() {
    let Some(scene) = Scene::with(&[]) else { return };
    let run = scene.controller_at("setup").unwrap();
    signal(run.id(), Signal::INT);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let reported = errors(&output);
    assert!(
        reported.contains("interrupted: reverting") && reported.contains("run it again with --resume"),
        "{reported}"
    );
    assert!(!scene.case().join("result.json").exists());
    scene.is_as_before("interrupted");
}

#[test]
fn a_full_disk_is_reported_and_the_fault_is_still_reverted() {
    let fill = ("sh GATES/gate fsck", "cat /dev/zero > {out}/fill");
    let Some(mut scene) = Scene::with(&[fill]) else { return };
    let out = scene.path("runs");
    std::fs::create_dir(&out).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "t", text(&out)]).status();
    assert!(mounted.unwrap().success());
    scene.take_snapshot();
    let output = scene.run().output().unwrap();
    let reported = errors(&output);
    scene.is_as_before("a full disk");
    assert!(Command::new("umount").arg(&out).status().unwrap().success());
    assert_eq!(output.status.code(), Some(2), "{reported}");
    assert!(reported.contains("No space left on device"), "{reported}");
}
