use super::super::How;
use super::*;
use crate::faults::steps::Step;
use crate::testing::node;
use std::path::Path;

const MODEL: Inconsist =
    Inconsist { how: How::Files, delete_pct: 10, corrupt_pct: 20, corrupt_max_bytes: 200, local_fsck: false };

/// A folder as a brick: forty files with a second name each.
fn brick(folder: &Path) -> Node {
    let brick = folder.join("brick");
    std::fs::create_dir_all(brick.join("it's a folder")).unwrap();
    std::fs::create_dir_all(brick.join(".own")).unwrap();
    for number in 0..40 {
        let name = brick.join("it's a folder").join(format!("{number:02} $HOME\n"));
        std::fs::write(&name, vec![number; 100 + usize::from(number) * 1000]).unwrap();
        std::fs::hard_link(&name, brick.join(".own").join(number.to_string())).unwrap();
    }
    std::fs::write(brick.join(".laggard-target"), "").unwrap();
    Node { brick: Some(brick), keep: folder.join("kept"), ..node() }
}

fn aim(seed: u64) -> PlanContext<'static> {
    PlanContext { id: "a", targets: &[], all: &[], seed, ttl_seconds: Some(60) }
}

/// Every file with its bytes, and how many names it has.
fn state(node: &Node) -> Vec<(String, Vec<u8>)> {
    let brick = node.brick.as_ref().unwrap();
    let files = list(node, brick.to_str().unwrap()).unwrap();
    let read = |file: FoundFile| (file.names.join("|"), std::fs::read(brick.join(&file.names[0])).unwrap());
    files.into_iter().map(read).collect()
}

fn run(node: &Node, step: &Step) -> Result<(), String> {
    let Step::Shell(script) = step else { panic!("not a script") };
    node.read(script, Duration::from_secs(30)).map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_seed_determines_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let node = brick(folder.path());
    let of = |seed| serde_json::to_string(&plan(&MODEL, &node, &aim(seed)).unwrap()).unwrap();
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn files_are_deleted_and_changed_and_restored_with_all_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let node = brick(folder.path());
    let before = state(&node);
    let steps = plan(&MODEL, &node, &aim(1)).unwrap();
    let deleted = steps.choices.iter().filter(|choice| matches!(choice, Choice::Delete { .. })).count();
    assert_eq!((before.len(), deleted, steps.choices.len()), (40, 4, 12));
    assert!(run(&node, &steps.verify_applied).is_err());
    run(&node, &steps.apply).unwrap();
    run(&node, &steps.verify_applied).unwrap();
    let changed = state(&node);
    let differ = changed.iter().filter(|file| !before.contains(file)).count();
    assert_eq!((changed.len(), differ), (36, 8));
    assert!(run(&node, &steps.verify_reverted).is_err());
    for _ in 0..2 {
        run(&node, &steps.revert).unwrap();
        run(&node, &steps.verify_reverted).unwrap();
        assert_eq!(state(&node), before);
    }
    run(&node, steps.clean_up.as_ref().unwrap()).unwrap();
    run(&node, &steps.revert).unwrap();
    assert_eq!(state(&node), before);
}

#[test]
fn a_revert_without_all_copies_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let node = brick(folder.path());
    let before = state(&node);
    let steps = plan(&MODEL, &node, &aim(1)).unwrap();
    std::fs::create_dir_all(folder.path().join("kept/a")).unwrap();
    std::fs::write(folder.path().join("kept/a/0"), "half").unwrap();
    run(&node, &steps.revert).unwrap();
    run(&node, &steps.verify_reverted).unwrap();
    assert_eq!(state(&node), before);
}

#[test]
fn a_brick_without_files_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node { brick: Some(folder.path().into()), ..node() };
    let error = plan(&MODEL, &node, &aim(1)).unwrap_err().to_string();
    assert!(error.contains("write some files there first"), "{error}");
}
