//! A controller that is killed, alone or with its guard, in every phase of a case: after the next command has cleaned up,
//! the machine is as before.

use std::process::Child;

use rustix::process::Signal;

use crate::plain::{Scene, guards, signal};
use crate::support::{errors, laggard, text};

/// The phase in which a controller is killed, and whether it has a guard then. The revert phase undoes the fault, then
/// repairs the file system.
const POINTS: [(&str, bool); 11] = [
    ("preflight", false),
    ("setup", false),
    ("age", false),
    ("init", false),
    ("inject", true),
    ("observe", true),
    ("fsck", true),
    ("check", true),
    ("undo", true),
    ("revert", true),
    ("teardown", false),
];

fn kill(scene: &Scene, mut run: Child, with_guard: bool) {
    let guards = guards(run.id());
    guards.iter().filter(|_| with_guard).for_each(|guard| signal(*guard, Signal::KILL));
    signal(run.id(), Signal::KILL);
    run.wait().unwrap();
    scene.open_all();
}

#[test]
fn a_killed_controller_leaves_nothing_whatever_the_phase_with_or_without_its_guard() {
    let Some(scene) = Scene::with(&[]) else { return };
    let run = scene.path("runs/k-1");
    for (phase, has_guard) in POINTS {
        for with_guard in [false, true].into_iter().filter(|with_guard| has_guard || !with_guard) {
            let when = format!("killed in {phase}{}", if with_guard { ", with its guard" } else { "" });
            let controller = scene.stopped_at(phase, has_guard);
            kill(&scene, controller, with_guard);
            let output = laggard(&["campaign", "recover", text(&run)]);
            assert!(output.status.success(), "{when}: {}", errors(&output));
            assert!(errors(&output).contains("lost/ONE/1 was cut short"), "{when}: {}", errors(&output));
            scene.is_as_before(&when);
        }
    }
    // A run that continues cleans up by itself.
    let controller = scene.stopped_at("check", true);
    kill(&scene, controller, true);
    let output = scene.run().output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("was cut short: dev-fail at s1 was reverted"), "{}", errors(&output));
    assert!(errors(&output).contains("the lab t-campaign was removed"), "{}", errors(&output));
    let result = scene.result();
    assert_eq!((&result["dirty"], &result["infra"]), (&serde_json::json!([]), &serde_json::Value::Null));
    assert_eq!(result["reverted"]["outcome"], "ok", "{result}");
    scene.is_as_before("finished");
}
