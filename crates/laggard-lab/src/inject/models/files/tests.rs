use super::*;
use crate::inject::deed::Step;
use crate::inject::testing::node;
use std::path::Path;

const SHARES: Shares = Shares { delete_pct: 10, corrupt_pct: 20, most_bytes: 200 };

/// A folder that stands for a brick: forty files, two with a second name.
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

fn aim(seed: u64) -> Aim<'static> {
    Aim { id: "a", targets: &[], all: &[], seed, ttl_seconds: 60 }
}

/// Every file with its bytes, and how many names it has.
fn state(node: &Node) -> Vec<(String, Vec<u8>)> {
    let brick = node.brick.as_ref().unwrap();
    let files = list(node, brick.to_str().unwrap()).unwrap();
    let read = |file: Found| (file.names.join("|"), std::fs::read(brick.join(&file.names[0])).unwrap());
    files.into_iter().map(read).collect()
}

fn run(node: &Node, step: &Step) -> Result<(), String> {
    let Step::Shell(script) = step else { panic!("no script") };
    node.read(script, Duration::from_secs(30)).map(drop).map_err(|error| error.to_string())
}

#[test]
fn the_same_seed_chooses_the_same_bytes_and_another_one_others() {
    let folder = tempfile::tempdir().unwrap();
    let node = brick(folder.path());
    let of = |seed| serde_json::to_string(&part(SHARES, &node, &aim(seed)).unwrap()).unwrap();
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn files_are_lost_and_changed_and_come_back_with_all_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let node = brick(folder.path());
    let before = state(&node);
    let part = part(SHARES, &node, &aim(1)).unwrap();
    let lost = part.choices.iter().filter(|choice| matches!(choice, Choice::Delete { .. })).count();
    assert_eq!((before.len(), lost, part.choices.len()), (40, 4, 12));
    assert!(run(&node, &part.verify_applied).is_err());
    run(&node, &part.apply).unwrap();
    run(&node, &part.verify_applied).unwrap();
    let hurt = state(&node);
    let differ = hurt.iter().filter(|file| !before.contains(file)).count();
    assert_eq!((hurt.len(), differ), (36, 8));
    assert!(run(&node, &part.verify_undone).is_err());
    for _ in 0..2 {
        run(&node, &part.undo).unwrap();
        run(&node, &part.verify_undone).unwrap();
        assert_eq!(state(&node), before);
    }
    run(&node, part.tidy.as_ref().unwrap()).unwrap();
    run(&node, &part.undo).unwrap();
    assert_eq!(state(&node), before);
}

#[test]
fn where_not_all_copies_were_made_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let node = brick(folder.path());
    let before = state(&node);
    let part = part(SHARES, &node, &aim(1)).unwrap();
    std::fs::create_dir_all(folder.path().join("kept/a")).unwrap();
    std::fs::write(folder.path().join("kept/a/0"), "half").unwrap();
    run(&node, &part.undo).unwrap();
    run(&node, &part.verify_undone).unwrap();
    assert_eq!(state(&node), before);
}

#[test]
fn a_brick_without_files_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node { brick: Some(folder.path().into()), ..node() };
    let error = part(SHARES, &node, &aim(1)).unwrap_err().to_string();
    assert!(error.contains("write some there first"), "{error}");
}
