//! Campaigns that end early, in good order: what was hurt is healed, the lab is taken down, and what happened is told.

use std::process::Command;

use rustix::process::Signal;

use crate::plain::{Scene, signal};
use crate::support::{errors, text};

#[test]
fn a_command_that_fails_ends_the_campaign_healed() {
    let enough = ("sh GATES/gate preflight\", every = \"1m\"", "[ ! -e GATES/at-fsck ]\", every = \"200ms\"");
    let Some(scene) = Scene::with(&[enough]) else { return };
    scene.close("fsck");
    let output = scene.run().output().unwrap();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("warning: safety.stop_if: `[ ! -e ") && told.contains("healed, taken down"),
        "{told}"
    );
    assert!(!scene.cell().join("result.json").exists());
    scene.is_as_before("stopped");
    // Nothing begins, either, while it is so.
    let output = scene.run().output().unwrap();
    assert!(errors(&output).contains("refused: safety.stop_if"), "{}", errors(&output));
    scene.is_as_before("refused");
}

#[test]
fn a_cell_and_a_lab_that_take_too_long_are_given_up_and_told() {
    let short =
        ("stop_if = [ { cmd = \"sh GATES/gate preflight\", every = \"1m\" } ]", "[timeouts]\ncell = \"6s\"");
    let Some(scene) = Scene::with(&[short]) else { return };
    scene.close("check");
    let output = scene.run().output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert_eq!(scene.result()["infra"], "it was not over in 6 s (timeouts.cell) and was given up");
    scene.is_as_before("a long cell");
    drop(scene);
    let short = (short.0, "[timeouts]\nsetup = \"2s\"");
    let Some(scene) = Scene::with(&[short]) else { return };
    scene.close("setup");
    let output = scene.run().output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let told = scene.result()["infra"].as_str().unwrap().to_owned();
    assert!(told.starts_with("the lab was not up in 2 s (timeouts.setup): "), "{told}");
    scene.is_as_before("a long setup");
}

#[test]
fn an_interrupt_while_the_lab_is_built_is_no_failure_of_the_cell() {
    let Some(scene) = Scene::with(&[]) else { return };
    let run = scene.controller_at("setup").unwrap();
    signal(run.id(), Signal::INT);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let told = errors(&output);
    assert!(told.contains("interrupted: healing") && told.contains("run it again with --resume"), "{told}");
    assert!(!scene.cell().join("result.json").exists());
    scene.is_as_before("interrupted");
}

#[test]
fn a_full_disk_is_told_and_keeps_nothing_from_being_healed() {
    let fill = ("sh GATES/gate fsck", "cat /dev/zero > {out}/fill");
    let Some(mut scene) = Scene::with(&[fill]) else { return };
    let out = scene.path("runs");
    std::fs::create_dir(&out).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "t", text(&out)]).status();
    assert!(mounted.unwrap().success());
    scene.look_again();
    let output = scene.run().output().unwrap();
    let told = errors(&output);
    scene.is_as_before("a full disk");
    assert!(Command::new("umount").arg(&out).status().unwrap().success());
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("No space left on device"), "{told}");
}
