//! Files of a brick that are lost, or have other bytes (PFault's second way to make a system inconsistent, 4.2).
//!
//! Files are taken, not names: a file goes with all of its names, and comes back with them. Names below folders that
//! begin with a dot are a file system's own; a file that has no others is left alone.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::Aim;
use crate::inject::deed::{Choice, Part, Step};
use crate::inject::node::Node;
use crate::inject::running::quoted;
use crate::machine::LabError;
use crate::simulate::random::Random;

/// How much is hurt.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// Of a hundred files, how many are lost.
    pub delete_pct: u32,
    /// Of a hundred files, how many have other bytes.
    pub corrupt_pct: u32,
    /// At most so many.
    pub most_bytes: u64,
}

/// Fewer could be the same bytes again, by chance.
const FEWEST_BYTES: u64 = 8;

/// A file and its names, the first one first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    names: Vec<String>,
    bytes: u64,
}

/// What is done to a file.
struct Harm<'a> {
    file: &'a Found,
    /// Where, and with what; none: it is deleted.
    overwrite: Option<(u64, Vec<u8>)>,
}

/// Every copy is there before the first file is hurt.
const SAVE: &str = "
[ ! -e \"$kept\" ] || { echo \"$kept is there already\" >&2; exit 1; }
mkdir -p \"$kept\"
room=$(df --output=avail -B1 \"$kept\" | tail -n 1)
[ \"$room\" -gt $bytes ] || { echo \"no room for copies of $bytes bytes in $kept\" >&2; exit 1; }
save() { cp --no-dereference --sparse=always --preserve=mode,ownership,timestamps,xattr -- \"$brick/$2\" \"$kept/$1\"; }
";

const COMPLETE: &str = "sync -f \"$kept\"\n: > \"$kept/complete\"\n";

/// The time of the last change stays: nobody is told.
const HURT: &str = "
delete() { rm -- \"$brick/$1\"; }
overwrite() {
    dd of=\"$brick/$2\" bs=4096 oflag=seek_bytes seek=\"$3\" conv=notrunc status=none
    touch -r \"$kept/$1\" -- \"$brick/$2\"
}
";

/// Over whatever is there now: the file system may have put something in its place. Without all copies, nothing was hurt.
const RESTORE: &str = "
[ -e \"$kept/complete\" ] || { rm -rf \"$kept\"; exit 0; }
restore() {
    mkdir -p -- \"$brick/$(dirname -- \"$2\")\"
    rm -f -- \"$brick/$2\"
    cp --no-dereference --sparse=always --preserve=mode,ownership,timestamps,xattr -- \"$kept/$1\" \"$brick/$2\"
}
name() { mkdir -p -- \"$brick/$(dirname -- \"$2\")\"; ln -f -- \"$brick/$1\" \"$brick/$2\"; }
rewrite() {
    [ -e \"$brick/$2\" ] || { restore \"$1\" \"$2\"; return; }
    dd if=\"$kept/$1\" of=\"$brick/$2\" bs=1M status=none
    touch -r \"$kept/$1\" -- \"$brick/$2\"
}
";

const IS_HURT: &str = "
gone() { [ ! -e \"$brick/$1\" ] || { echo \"$1 is there\" >&2; exit 1; }; }
other() { ! cmp -s -- \"$kept/$1\" \"$brick/$2\" || { echo \"$2 is as it was\" >&2; exit 1; }; }
";

const IS_WHOLE: &str = "
[ -e \"$kept/complete\" ] || exit 0
same() { cmp -- \"$kept/$1\" \"$brick/$2\"; }
";

/// Others may have theirs beside it.
const TIDY: &str = "
rm -rf \"$kept\"
rmdir \"$(dirname \"$kept\")\" 2> /dev/null || :";

/// Hurts some files of a brick.
pub fn part(shares: Shares, node: &Node, aim: &Aim) -> Result<Part, LabError> {
    let brick = node.brick()?;
    let files = list(node, brick)?;
    let harms = choose(&files, shares, seed_of(node, aim));
    if harms.is_empty() {
        let (name, count) = (&node.name, files.len());
        return Err(LabError::Input(format!(
            "{name}: of {count} files below {brick} none is chosen: write some there first"
        )));
    }
    let kept = node.keep.join(aim.id).display().to_string();
    let bytes: u64 = harms.iter().map(|harm| harm.file.bytes).sum();
    let own = format!("brick={}; kept={}; bytes={bytes}", quoted(brick), quoted(&kept));
    let script = |parts: &[&str]| Step::Shell(format!("{own}{}", parts.concat()));
    Ok(Part {
        node: node.clone(),
        choices: harms.iter().map(Harm::choice).collect(),
        apply: script(&[SAVE, &lines(&harms, save), COMPLETE, HURT, &lines(&harms, hurt)]),
        verify_applied: script(&[IS_HURT, &lines(&harms, is_hurt)]),
        undo: script(&[RESTORE, &lines(&harms, restore)]),
        verify_undone: script(&[IS_WHOLE, &lines(&harms, is_whole)]),
        tidy: Some(script(&[TIDY])),
    })
}

/// Other nodes of a deed have other files chosen.
fn seed_of(node: &Node, aim: &Aim) -> Random {
    Random::of(aim.seed, &[u64::from(crc32fast::hash(node.name.as_bytes()))])
}

/// The regular files of a brick. A name that is not text is told of nowhere, and left alone.
fn list(node: &Node, brick: &str) -> Result<Vec<Found>, LabError> {
    let look = format!("find {} -xdev -type f -printf '%i %s %P\\0'", quoted(brick));
    let ran = node.run(&look, Duration::from_secs(60))?;
    if !ran.is_well() {
        return Err(LabError::Program {
            command: format!("find {brick} on {}", node.name),
            told: ran.complaint(),
        });
    }
    Ok(by_file(&ran.stdout))
}

fn by_file(told: &[u8]) -> Vec<Found> {
    let mut files: BTreeMap<u64, Found> = BTreeMap::new();
    for entry in told.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok()) {
        let mut words = entry.splitn(3, ' ');
        let numbers = [words.next(), words.next()].map(|word| word.and_then(|word| word.parse::<u64>().ok()));
        if let ([Some(inode), Some(bytes)], Some(name)) = (numbers, words.next()) {
            files.entry(inode).or_insert(Found { names: vec![], bytes }).names.push(name.to_owned());
        }
    }
    let mut files: Vec<Found> = files.into_values().collect();
    files.iter_mut().for_each(|file| file.names.sort_by_key(|name| (is_hidden(name), name.clone())));
    files.retain(|file| file.names.first().is_some_and(|name| !is_hidden(name)));
    files.sort_by(|a, b| a.names.cmp(&b.names));
    files
}

fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.'))
}

/// Which files, and what is done to each, in the order of their names.
fn choose(files: &[Found], shares: Shares, mut random: Random) -> Vec<Harm<'_>> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    let lost = share(files.len(), shares.delete_pct);
    let changed = share(files.len(), shares.corrupt_pct);
    let is_long = |index: &&usize| files.get(**index).is_some_and(|file| file.bytes >= FEWEST_BYTES);
    let mut chosen: Vec<(usize, bool)> = order.iter().take(lost).map(|index| (*index, true)).collect();
    chosen.extend(order.iter().skip(lost).filter(is_long).take(changed).map(|index| (*index, false)));
    chosen.sort_unstable();
    let chosen = chosen.into_iter().filter_map(|(index, is_lost)| Some((files.get(index)?, is_lost)));
    let harm = |(file, is_lost): (_, bool)| Harm {
        file,
        overwrite: (!is_lost).then(|| other_bytes(file, shares.most_bytes, &mut random)),
    };
    chosen.map(harm).collect()
}

/// A share of a hundred, and one at least unless it is nothing.
fn share(count: usize, percent: u32) -> usize {
    let part = (count * percent as usize + 50) / 100;
    if percent == 0 { 0 } else { part.max(1).min(count) }
}

fn other_bytes(file: &Found, most: u64, random: &mut Random) -> (u64, Vec<u8>) {
    let most = most.clamp(FEWEST_BYTES, file.bytes.max(FEWEST_BYTES));
    let length = FEWEST_BYTES + random.below((most - FEWEST_BYTES + 1) as usize) as u64;
    let offset = random.below((file.bytes.saturating_sub(length) + 1) as usize) as u64;
    (offset, (0..length).map(|_| random.bits() as u8).collect())
}

impl Harm<'_> {
    fn name(&self) -> &str {
        self.file.names.first().map_or("", String::as_str)
    }

    fn choice(&self) -> Choice {
        match &self.overwrite {
            None => Choice::Delete { names: self.file.names.clone(), bytes: self.file.bytes },
            Some((offset, bytes)) => Choice::Overwrite {
                name: self.name().into(),
                offset: *offset,
                bytes: bytes.len() as u64,
                crc32: crc32fast::hash(bytes),
            },
        }
    }
}

/// A line or more for each file, which has the number of its copy.
fn lines(harms: &[Harm], of: fn(usize, &Harm) -> String) -> String {
    harms.iter().enumerate().map(|(number, harm)| of(number, harm)).collect()
}

fn save(number: usize, harm: &Harm) -> String {
    format!("save {number} {}\n", quoted(harm.name()))
}

fn hurt(number: usize, harm: &Harm) -> String {
    match &harm.overwrite {
        None => harm.file.names.iter().map(|name| format!("delete {}\n", quoted(name))).collect(),
        Some((offset, bytes)) => {
            let mut digits = String::new();
            for byte in bytes {
                let _ = write!(digits, "\\{byte:03o}");
            }
            format!("printf '{digits}' | overwrite {number} {} {offset}\n", quoted(harm.name()))
        }
    }
}

fn restore(number: usize, harm: &Harm) -> String {
    let first = quoted(harm.name());
    if harm.overwrite.is_some() {
        return format!("rewrite {number} {first}\n");
    }
    let others = harm.file.names.iter().skip(1).map(|name| format!("name {first} {}\n", quoted(name)));
    format!("restore {number} {first}\n{}", others.collect::<String>())
}

fn is_hurt(number: usize, harm: &Harm) -> String {
    match harm.overwrite {
        None => harm.file.names.iter().map(|name| format!("gone {}\n", quoted(name))).collect(),
        Some(_) => format!("other {number} {}\n", quoted(harm.name())),
    }
}

fn is_whole(number: usize, harm: &Harm) -> String {
    harm.file.names.iter().map(|name| format!("same {number} {}\n", quoted(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
