//! Flipped bits. Files are cut into chunks, and each chunk belongs to one node (as in Jepsen's file nemesis): the same file
//! may be corrupt on every node, but no chunk on all of them, so a system with copies can always recover it.

use laggard_core::model::random::Random;
use serde::{Deserialize, Serialize};

use super::inconsist::{FoundFile, PERCENT, list, share};
use crate::faults::model::Need::{Brick, Program};
use crate::faults::model::{Area, FaultModel, Mechanism, PlanContext};
use crate::faults::parameters::Parameters;
use crate::faults::steps::{Choice, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::{Node, quoted};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bitflip {
    /// Percentage of files.
    pct: u32,
    /// Bits per file.
    bits: u32,
    /// Bytes per chunk.
    chunk: u64,
    /// Of this many consecutive chunks a node has one; none: the number of bricks.
    modulus: Option<u64>,
    /// The chunk of the node among them; none: its place among the bricks.
    index: Option<u64>,
}

const CHUNK: u64 = 4096;

/// A bit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flip<'a> {
    name: &'a str,
    offset: u64,
    bit: u32,
}

/// The chunks of a node: every `modulus`-th, beginning with `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Replica {
    index: u64,
    modulus: u64,
}

impl FaultModel for Bitflip {
    const NAME: &'static str = "bitflip";
    const PARAMETERS: &'static str = "pct=10 bits=1 chunk=4K modulus=BRICKS index=PLACE";
    const SUMMARY: &'static str = "single bits of files are flipped, on no two nodes at the same place";
    const MECHANISMS: &'static [Mechanism] =
        &[Mechanism { name: "files", needs: &[Brick, Program("od", "coreutils")] }];

    fn read(parameters: &mut Parameters) -> Result<Bitflip, LabError> {
        let modulus = parameters.number("modulus", 1..=1 << 20)?;
        let index = parameters.number("index", 0..=modulus.unwrap_or(1 << 20).saturating_sub(1))?;
        Ok(Bitflip {
            pct: parameters.percent("pct", PERCENT)?,
            bits: parameters.number("bits", 1..=1000)?.unwrap_or(1) as u32,
            chunk: parameters.size("chunk", CHUNK)?.clamp(1, 1 << 30),
            modulus,
            index,
        })
    }

    fn plan(&self, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
        let brick = node.brick()?;
        let replica = Replica::of(node, self, aim)?;
        let found = list(node, brick)?;
        let chosen = choose(&found, self, replica, aim.seed);
        if chosen.is_empty() {
            let (name, count, modulus) = (&node.name, found.len(), replica.modulus);
            return Err(LabError::Input(format!(
                "{name}: none of {count} files below {brick} has a chunk of this node (one of {modulus}): write longer \
                 files there first, or give a smaller chunk"
            )));
        }
        let kept = node.keep.join(aim.id).display().to_string();
        let own = format!("brick={}; kept={}{BYTES}", quoted(brick), quoted(&kept));
        let script = |parts: &[&str]| Step::Shell(format!("{own}{}", parts.concat()));
        let each = |word: &str| lines(&chosen, word);
        Ok(NodeSteps {
            node: node.clone(),
            choices: chosen.iter().map(Flip::choice).collect(),
            apply: script(&[SAVE, &each("save"), COMPLETE, &each("flip")]),
            verify_applied: script(&[&each("must_be_flipped")]),
            revert: script(&[RESTORE, &each("flip_back")]),
            verify_reverted: script(&[IS_COMPLETE, &each("must_not_be_flipped")]),
            clean_up: Some(script(&[CLEAN_UP])),
        })
    }

    fn affects(&self) -> &'static [Area] {
        &[Area::Brick]
    }
}

/// All bytes and file times are copied before the first bit is flipped. What the file system writes meanwhile is kept: only
/// a byte that is still flipped is restored.
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
must_be_flipped() { is_flipped \"$@\" || { echo \"$2 is not flipped at $3\" >&2; exit 1; }; }
must_not_be_flipped() { ! is_flipped \"$@\" || { echo \"$2 is flipped at $3\" >&2; exit 1; }; }
";

const SAVE: &str = "
[ ! -e \"$kept\" ] || { echo \"$kept exists already\" >&2; exit 1; }
mkdir -p \"$kept\"
";

const COMPLETE: &str = "sync -f \"$kept\"\n: > \"$kept/complete\"\n";

/// Without all copies nothing was flipped.
const RESTORE: &str = "
[ -e \"$kept/complete\" ] || { rm -rf \"$kept\"; exit 0; }
";

const IS_COMPLETE: &str = "
[ -e \"$kept/complete\" ] || exit 0
";

/// The parent folder may hold copies of other faults.
const CLEAN_UP: &str = "
rm -rf \"$kept\"
rmdir \"$(dirname \"$kept\")\" 2> /dev/null || :";

fn lines(flips: &[Flip], word: &str) -> String {
    let line = |(number, flip): (usize, &Flip)| {
        format!("{word} {number} {} {} {}\n", quoted(flip.name), flip.offset, 1 << flip.bit)
    };
    flips.iter().enumerate().map(line).collect()
}

impl Replica {
    /// The place of a node among all nodes with a brick, by name.
    fn of(node: &Node, model: &Bitflip, aim: &PlanContext) -> Result<Replica, LabError> {
        let index = model.index;
        let mut names: Vec<&str> =
            aim.all.iter().filter(|other| other.brick.is_some()).map(|other| other.name.as_str()).collect();
        names.sort_unstable();
        let place = names.iter().position(|name| *name == node.name).unwrap_or(0) as u64;
        let modulus = model.modulus.unwrap_or(names.len().max(1) as u64);
        let targets = aim.targets.len() as u64;
        if targets > modulus || (index.is_some() && targets > 1) {
            return Err(LabError::Input(format!(
                "bitflip: {targets} nodes would be corrupt at the same places: give a modulus of at least {targets} and \
                 no index"
            )));
        }
        if index.is_some_and(|index| index >= modulus) {
            return Err(LabError::Input(format!(
                "bitflip, parameter index: must be below the modulus, {modulus}"
            )));
        }
        // Targets have different chunks, whatever the modulus.
        let among = aim.targets.iter().position(|target| target.name == node.name).unwrap_or(0) as u64;
        let own = if modulus < names.len() as u64 { among } else { place };
        Ok(Replica { index: index.unwrap_or(own), modulus })
    }

    /// The number of its chunks in a file.
    fn count(self, chunks: u64) -> u64 {
        chunks.saturating_sub(self.index).div_ceil(self.modulus)
    }
}

/// The same files on every node, by their names, but different chunks of them.
fn choose<'a>(found: &'a [FoundFile], model: &Bitflip, replica: Replica, seed: u64) -> Vec<Flip<'a>> {
    let draw = |name: &str| Random::of(seed, &[u64::from(crc32fast::hash(name.as_bytes()))]);
    let mut order: Vec<(u64, &str, u64)> = found
        .iter()
        .filter_map(|file| Some((file.names.first()?.as_str(), file.bytes)))
        .map(|(name, bytes)| (draw(name).bits(), name, bytes))
        .collect();
    order.sort_unstable();
    order.truncate(share(found.len(), model.pct));
    let mut chosen: Vec<Flip> = vec![];
    for (_, name, bytes) in order {
        let own = replica.count(bytes.div_ceil(model.chunk));
        let mut random = draw(name);
        random.bits();
        for _ in 0..if own == 0 { 0 } else { model.bits } {
            let chunk = replica.index + random.below(own as usize) as u64 * replica.modulus;
            let length = model.chunk.min(bytes.saturating_sub(chunk * model.chunk)).max(1);
            let offset = chunk * model.chunk + random.below(length as usize) as u64;
            let bit = random.below(8) as u32;
            // Flipping a bit twice changes nothing.
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
    use crate::testing::node;

    fn found(lengths: &[u64]) -> Vec<FoundFile> {
        let of =
            |(number, bytes): (usize, &u64)| FoundFile { names: vec![format!("f{number}")], bytes: *bytes };
        lengths.iter().enumerate().map(of).collect()
    }

    const ALL: Bitflip = Bitflip { pct: 100, bits: 3, chunk: 1000, modulus: None, index: None };

    #[test]
    fn every_chunk_is_corrupt_on_at_most_one_node() {
        let files = found(&[0, 1, 999, 2500, 10_000, 123_456]);
        for seed in 0..50 {
            let mut owners = std::collections::BTreeMap::new();
            for index in 0..3 {
                let flips = choose(&files, &ALL, Replica { index, modulus: 3 }, seed);
                assert!(index > 0 || flips.len() >= 7, "{flips:?}");
                for flip in flips {
                    let length = files.iter().find(|file| file.names[0] == flip.name).unwrap().bytes;
                    assert!(flip.offset < length && flip.bit < 8);
                    let chunk = (flip.name.to_owned(), flip.offset / 1000);
                    assert_eq!(*owners.entry(chunk).or_insert(index), index, "{flip:?}");
                }
            }
        }
    }

    #[test]
    fn the_same_files_are_chosen_on_every_node_and_a_seed_determines_the_bits() {
        let files = found(&[50_000; 40]);
        let model = Bitflip { pct: 10, ..ALL };
        let of = |index, seed| choose(&files, &model, Replica { index, modulus: 3 }, seed);
        let names =
            |index| of(index, 1).iter().map(|flip| flip.name).collect::<std::collections::BTreeSet<_>>();
        assert_eq!((names(0).len(), names(0)), (4, names(2)));
        assert_eq!(of(1, 1), of(1, 1));
        assert_ne!(of(1, 1), of(1, 2));
    }

    #[test]
    fn every_node_has_its_own_place_among_the_bricks() {
        let named = |name: &str| Node { name: name.into(), brick: Some("/b".into()), ..node() };
        let all = [named("s2"), named("s1"), named("s3"), Node { name: "c1".into(), ..node() }];
        let place = |targets: &[Node], modulus, index| {
            let aim = PlanContext { id: "a", targets, all: &all, seed: 1, ttl_seconds: Some(60) };
            let model = Bitflip { modulus, index, ..ALL };
            let places: Result<Vec<_>, _> =
                targets.iter().map(|target| Replica::of(target, &model, &aim)).collect();
            places.map(|all| all.iter().map(|each| (each.index, each.modulus)).collect::<Vec<_>>())
        };
        assert_eq!(place(&all[..2], None, None).unwrap(), [(1, 3), (0, 3)]);
        assert_eq!(place(&all[..2], Some(2), None).unwrap(), [(0, 2), (1, 2)]);
        assert_eq!(place(&all[2..3], Some(5), Some(4)).unwrap(), [(4, 5)]);
        assert!(place(&all[..2], Some(1), None).unwrap_err().to_string().contains("the same places"));
        assert!(place(&all[..2], Some(5), Some(1)).is_err());
    }

    #[test]
    fn bits_are_flipped_back_unless_the_file_was_written_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let brick = folder.path().join("brick");
        std::fs::create_dir(&brick).unwrap();
        let names = ["it's one", "two", "three"];
        names.iter().for_each(|name| std::fs::write(brick.join(name), [7; 5000]).unwrap());
        let node = Node { brick: Some(brick.clone()), keep: folder.path().join("kept"), ..node() };
        let (targets, all) = (vec![node.clone()], vec![node.clone()]);
        let aim = PlanContext { id: "a", targets: &targets, all: &all, seed: 1, ttl_seconds: Some(60) };
        let steps = Bitflip { bits: 1, chunk: 4096, ..ALL }.plan(&node, &aim).unwrap();
        assert_eq!(steps.choices.len(), 3);
        let run = |step: &Step| {
            let Step::Shell(script) = step else { panic!("not a script") };
            node.change(script, std::time::Duration::from_secs(20)).map_err(|error| error.to_string())
        };
        assert!(run(&steps.verify_applied).is_err());
        run(&steps.apply).unwrap();
        run(&steps.verify_applied).unwrap();
        assert!(run(&steps.verify_reverted).is_err());
        let read = |name: &str| std::fs::read(brick.join(name)).unwrap();
        assert!(names.iter().all(|name| read(name).iter().filter(|byte| **byte != 7).count() == 1));
        // One file is rewritten, and one is removed.
        std::fs::write(brick.join("two"), [9; 6000]).unwrap();
        std::fs::remove_file(brick.join("three")).unwrap();
        for _ in 0..2 {
            run(&steps.revert).unwrap();
            run(&steps.verify_reverted).unwrap();
            assert_eq!((read("it's one"), read("two")), (vec![7; 5000], vec![9; 6000]));
        }
        run(steps.clean_up.as_ref().unwrap()).unwrap();
        assert!(!folder.path().join("kept").exists());
    }
}
