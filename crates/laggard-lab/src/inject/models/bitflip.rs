//! Bits that rot. Each piece of a file is one node's to hurt (as in Jepsen's file nemesis): the same file may rot on
//! every node, but no piece of it on all of them, so a system that keeps copies can always know better.

use super::files::{self, Found};
use super::{Aim, files::share};
use crate::inject::deed::{Choice, Part, Step};
use crate::inject::node::Node;
use crate::inject::running::quoted;
use crate::machine::LabError;
use laggard_core::model::random::Random;

/// How much rots.
#[derive(Clone, Copy, Debug)]
pub struct Flips {
    /// In how many of a hundred files.
    pub pct: u32,
    /// How many bits of each.
    pub bits: u32,
    /// How long a piece is.
    pub chunk: u64,
}

/// A bit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flip<'a> {
    name: &'a str,
    offset: u64,
    bit: u32,
}

/// Which pieces are a node's: one of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Replica {
    index: u64,
    modulus: u64,
}

/// Flips bits of some files of a brick.
pub fn part(
    flips: Flips,
    modulus: Option<u64>,
    index: Option<u64>,
    node: &Node,
    aim: &Aim,
) -> Result<Part, LabError> {
    let brick = node.brick()?;
    let replica = Replica::of(node, modulus, index, aim)?;
    let found = files::list(node, brick)?;
    let chosen = choose(&found, flips, replica, aim.seed);
    if chosen.is_empty() {
        let (name, count, modulus) = (&node.name, found.len(), replica.modulus);
        return Err(LabError::Input(format!(
            "{name}: in {count} files below {brick} no piece is its own to hurt, one of {modulus}: write longer files \
             there first, or give a smaller chunk"
        )));
    }
    let kept = node.keep.join(aim.id).display().to_string();
    let own = format!("brick={}; kept={}{BYTES}", quoted(brick), quoted(&kept));
    let script = |parts: &[&str]| Step::Shell(format!("{own}{}", parts.concat()));
    let each = |word: &str| lines(&chosen, word);
    Ok(Part {
        node: node.clone(),
        choices: chosen.iter().map(Flip::choice).collect(),
        apply: script(&[SAVE, &each("save"), COMPLETE, &each("flip")]),
        verify_applied: script(&[&each("is_other")]),
        undo: script(&[RESTORE, &each("flip_back")]),
        verify_undone: script(&[IS_WHOLE, &each("is_own")]),
        tidy: Some(script(&[TIDY])),
    })
}

/// A copy of each byte and of the file's times is there before the first is hurt. What the file system writes meanwhile
/// stays: only a byte that still is what was made of it is set back.
const BYTES: &str = "
byte() { od -An -tu1 -j \"$2\" -N 1 -- \"$brick/$1\" | tr -d ' '; }
put() { printf \"\\\\$(printf %03o \"$3\")\" | dd of=\"$brick/$1\" bs=1 seek=\"$2\" conv=notrunc status=none; }
other() { echo $(($(cat \"$kept/$1\") ^ $2)); }
save() { byte \"$2\" \"$3\" > \"$kept/$1\"; touch -r \"$brick/$2\" \"$kept/$1.time\"; }
flip() { put \"$2\" \"$3\" \"$(other \"$1\" \"$4\")\"; touch -r \"$kept/$1.time\" -- \"$brick/$2\"; }
is_flipped() { [ -e \"$brick/$2\" ] && [ \"$(byte \"$2\" \"$3\")\" = \"$(other \"$1\" \"$4\")\" ]; }
flip_back() {
    is_flipped \"$@\" || return 0
    put \"$2\" \"$3\" \"$(cat \"$kept/$1\")\"
    touch -r \"$kept/$1.time\" -- \"$brick/$2\"
}
is_other() { is_flipped \"$@\" || { echo \"$2 is not flipped at $3\" >&2; exit 1; }; }
is_own() { ! is_flipped \"$@\" || { echo \"$2 is flipped at $3\" >&2; exit 1; }; }
";

const SAVE: &str = "
[ ! -e \"$kept\" ] || { echo \"$kept is there already\" >&2; exit 1; }
mkdir -p \"$kept\"
";

const COMPLETE: &str = "sync -f \"$kept\"\n: > \"$kept/complete\"\n";

/// Without all copies nothing was hurt.
const RESTORE: &str = "
[ -e \"$kept/complete\" ] || { rm -rf \"$kept\"; exit 0; }
";

const IS_WHOLE: &str = "
[ -e \"$kept/complete\" ] || exit 0
";

/// Others may have theirs beside it.
const TIDY: &str = "
rm -rf \"$kept\"
rmdir \"$(dirname \"$kept\")\" 2> /dev/null || :";

fn lines(flips: &[Flip], word: &str) -> String {
    let line = |(number, flip): (usize, &Flip)| {
        format!("{word} {number} {} {} {}\n", quoted(flip.name), flip.offset, 1 << flip.bit)
    };
    flips.iter().enumerate().map(line).collect()
}

impl Replica {
    /// A node's place among all that have a brick, by their names.
    fn of(node: &Node, modulus: Option<u64>, index: Option<u64>, aim: &Aim) -> Result<Replica, LabError> {
        let mut names: Vec<&str> =
            aim.all.iter().filter(|other| other.brick.is_some()).map(|other| other.name.as_str()).collect();
        names.sort_unstable();
        let place = names.iter().position(|name| *name == node.name).unwrap_or(0) as u64;
        let modulus = modulus.unwrap_or(names.len().max(1) as u64);
        let targets = aim.targets.len() as u64;
        if targets > modulus || (index.is_some() && targets > 1) {
            return Err(LabError::Input(format!(
                "bitflip: {targets} nodes would be hurt at the same places: give a modulus of {targets} at least, and no \
                 index"
            )));
        }
        if index.is_some_and(|index| index >= modulus) {
            return Err(LabError::Input(format!(
                "bitflip, parameter index: it is below the modulus, {modulus}"
            )));
        }
        // Those who are hurt have places of their own, whatever the modulus.
        let among = aim.targets.iter().position(|target| target.name == node.name).unwrap_or(0) as u64;
        let own = if modulus < names.len() as u64 { among } else { place };
        Ok(Replica { index: index.unwrap_or(own), modulus })
    }

    /// How many pieces of a file are its own.
    fn count(self, pieces: u64) -> u64 {
        pieces.saturating_sub(self.index).div_ceil(self.modulus)
    }
}

/// The same files on every node, by their names; other pieces of them.
fn choose(found: &[Found], flips: Flips, replica: Replica, seed: u64) -> Vec<Flip<'_>> {
    let draw = |name: &str| Random::of(seed, &[u64::from(crc32fast::hash(name.as_bytes()))]);
    let mut order: Vec<(u64, &str, u64)> = found
        .iter()
        .filter_map(|file| Some((file.names.first()?.as_str(), file.bytes)))
        .map(|(name, bytes)| (draw(name).bits(), name, bytes))
        .collect();
    order.sort_unstable();
    order.truncate(share(found.len(), flips.pct));
    let mut chosen: Vec<Flip> = vec![];
    for (_, name, bytes) in order {
        let own = replica.count(bytes.div_ceil(flips.chunk));
        let mut random = draw(name);
        random.bits();
        for _ in 0..if own == 0 { 0 } else { flips.bits } {
            let piece = replica.index + random.below(own as usize) as u64 * replica.modulus;
            let length = flips.chunk.min(bytes.saturating_sub(piece * flips.chunk)).max(1);
            let offset = piece * flips.chunk + random.below(length as usize) as u64;
            let bit = random.below(8) as u32;
            // Twice would be not at all.
            if !chosen.iter().any(|other| other.name == name && other.offset == offset) {
                chosen.push(Flip { name, offset, bit });
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

impl Flip<'_> {
    fn choice(&self) -> Choice {
        Choice::Flip { name: self.name.into(), offset: self.offset, bit: self.bit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::node;

    fn found(lengths: &[u64]) -> Vec<Found> {
        let of = |(number, bytes): (usize, &u64)| Found { names: vec![format!("f{number}")], bytes: *bytes };
        lengths.iter().enumerate().map(of).collect()
    }

    const ALL: Flips = Flips { pct: 100, bits: 3, chunk: 1000 };

    #[test]
    fn every_piece_is_hurt_on_one_node_at_the_most() {
        let files = found(&[0, 1, 999, 2500, 10_000, 123_456]);
        for seed in 0..50 {
            let mut owners = std::collections::BTreeMap::new();
            for index in 0..3 {
                let flips = choose(&files, ALL, Replica { index, modulus: 3 }, seed);
                assert!(index > 0 || flips.len() >= 7, "{flips:?}");
                for flip in flips {
                    let length = files.iter().find(|file| file.names[0] == flip.name).unwrap().bytes;
                    assert!(flip.offset < length && flip.bit < 8);
                    let piece = (flip.name.to_owned(), flip.offset / 1000);
                    assert_eq!(*owners.entry(piece).or_insert(index), index, "{flip:?}");
                }
            }
        }
    }

    #[test]
    fn the_same_files_are_hurt_on_every_node_and_the_same_seed_hurts_the_same_bits() {
        let files = found(&[50_000; 40]);
        let flips = Flips { pct: 10, ..ALL };
        let of = |index, seed| choose(&files, flips, Replica { index, modulus: 3 }, seed);
        let names =
            |index| of(index, 1).iter().map(|flip| flip.name).collect::<std::collections::BTreeSet<_>>();
        assert_eq!((names(0).len(), names(0)), (4, names(2)));
        assert_eq!(of(1, 1), of(1, 1));
        assert_ne!(of(1, 1), of(1, 2));
    }

    #[test]
    fn a_node_has_its_place_among_the_bricks_and_no_two_share_one() {
        let named = |name: &str| Node { name: name.into(), brick: Some("/b".into()), ..node() };
        let all = [named("s2"), named("s1"), named("s3"), Node { name: "c1".into(), ..node() }];
        let place = |targets: &[Node], modulus, index| {
            let aim = Aim { id: "a", targets, all: &all, seed: 1, ttl_seconds: 60 };
            let places: Result<Vec<_>, _> =
                targets.iter().map(|target| Replica::of(target, modulus, index, &aim)).collect();
            places.map(|all| all.iter().map(|each| (each.index, each.modulus)).collect::<Vec<_>>())
        };
        assert_eq!(place(&all[..2], None, None).unwrap(), [(1, 3), (0, 3)]);
        assert_eq!(place(&all[..2], Some(2), None).unwrap(), [(0, 2), (1, 2)]);
        assert_eq!(place(&all[2..3], Some(5), Some(4)).unwrap(), [(4, 5)]);
        assert!(place(&all[..2], Some(1), None).unwrap_err().to_string().contains("the same places"));
        assert!(place(&all[..2], Some(5), Some(1)).is_err());
    }

    #[test]
    fn bits_are_flipped_and_flipped_back_where_nobody_wrote_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let brick = folder.path().join("brick");
        std::fs::create_dir(&brick).unwrap();
        let names = ["it's one", "two", "three"];
        names.iter().for_each(|name| std::fs::write(brick.join(name), [7; 5000]).unwrap());
        let node = Node { brick: Some(brick.clone()), keep: folder.path().join("kept"), ..node() };
        let (targets, all) = (vec![node.clone()], vec![node.clone()]);
        let aim = Aim { id: "a", targets: &targets, all: &all, seed: 1, ttl_seconds: 60 };
        let part = part(Flips { pct: 100, bits: 1, chunk: 4096 }, None, None, &node, &aim).unwrap();
        assert_eq!(part.choices.len(), 3);
        let run = |step: &Step| {
            let Step::Shell(script) = step else { panic!("no script") };
            node.change(script, std::time::Duration::from_secs(20)).map_err(|error| error.to_string())
        };
        assert!(run(&part.verify_applied).is_err());
        run(&part.apply).unwrap();
        run(&part.verify_applied).unwrap();
        assert!(run(&part.verify_undone).is_err());
        let read = |name: &str| std::fs::read(brick.join(name)).unwrap();
        assert!(names.iter().all(|name| read(name).iter().filter(|byte| **byte != 7).count() == 1));
        // Somebody writes one anew, and removes one.
        std::fs::write(brick.join("two"), [9; 6000]).unwrap();
        std::fs::remove_file(brick.join("three")).unwrap();
        for _ in 0..2 {
            run(&part.undo).unwrap();
            run(&part.verify_undone).unwrap();
            assert_eq!((read("it's one"), read("two")), (vec![7; 5000], vec![9; 6000]));
        }
        run(part.tidy.as_ref().unwrap()).unwrap();
        assert!(!folder.path().join("kept").exists());
    }
}
