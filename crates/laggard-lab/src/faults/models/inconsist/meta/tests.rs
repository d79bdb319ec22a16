use super::super::How;
use super::*;

fn mounted(format: Format) -> MountedDisk {
    MountedDisk {
        source: "/dev/loop9".into(),
        format,
        options: "rw".into(),
        blocks: 4096,
        used_bytes: 1,
        clears_itself: true,
    }
}

const PRINTED: &str = "d 2 8 data\0d 3 8 data/v\0d 4 8 data/.own\0f 5 8 data/v/one\0f 5 8 data/.own/5\0f 6 0 data/v/empty\0\
                    f 7 16 data/v/say \"no\"\0f 8 8 .laggard-target\0d 11 8 lost+found\0f 9 8 data/v/two\0";

#[test]
fn neither_hidden_entries_nor_top_level_folders_are_damaged() {
    let names: Vec<String> = parsed(PRINTED).into_iter().map(|found| found.name).collect();
    assert_eq!(names, ["data/v", "data/v/empty", "data/v/one", "data/v/say \"no\"", "data/v/two"]);
}

fn chosen(format: Format, seed: u64) -> Vec<(String, Harm)> {
    let found = parsed(PRINTED);
    let model =
        Inconsist { how: How::Meta, delete_pct: 40, corrupt_pct: 40, corrupt_max_bytes: 0, local_fsck: true };
    let harms = choose(&found, &model, &mounted(format), Random::of(seed, &[]));
    harms.into_iter().map(|(found, harm)| (found.name.clone(), harm)).collect()
}

#[test]
fn a_seed_determines_the_damage_and_only_possible_damage_is_chosen() {
    assert_eq!(chosen(Format::Ext4, 1), chosen(Format::Ext4, 1));
    let all: Vec<_> = (0..200).flat_map(|seed| chosen(Format::Ext4, seed)).collect();
    assert!(all.iter().any(|(_, harm)| *harm == Harm::DropEntry));
    assert!(all.iter().any(|(_, harm)| matches!(harm, Harm::MoveData(64..=319))));
    // No quote gets into a command of debugfs, and nothing is moved that has no data.
    assert!(!all.contains(&("data/v/say \"no\"".into(), Harm::DropEntry)));
    let loses = |harm: &Harm| matches!(harm, Harm::ClearInode | Harm::DropEntry);
    assert!(
        all.iter().all(|(name, harm)| loses(harm) || !["data/v", "data/v/empty"].contains(&name.as_str()))
    );
    let all = (0..200).flat_map(|seed| chosen(Format::Xfs, seed));
    assert!(all.into_iter().all(|(_, harm)| harm != Harm::DropEntry));
}
