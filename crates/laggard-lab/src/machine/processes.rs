//! Processes of a lab, found by the mark in their command lines.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

/// The time in which a new program gets its command line.
const STARTING_MILLIS: u32 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number in the machine's own process namespace.
    pub number: u32,
    pub words: Vec<String>,
}

impl Process {
    /// True if it runs the program of that name, in any folder.
    pub fn is_called(&self, name: &str) -> bool {
        // Some programs overwrite their command line, which is then one word.
        let program = self.words.first().and_then(|word| word.split(' ').next()).unwrap_or_default();
        Path::new(program).file_name().is_some_and(|file| file == name)
    }
}

/// All processes with exactly this word in their command line.
pub(crate) fn marked(mark: &str) -> Vec<Process> {
    let own = std::process::id();
    let process = |number| Some(Process { number, words: words(number)? });
    let all = numbers().into_iter().filter(|number| *number != own).filter_map(process);
    all.filter(|process| process.words.iter().any(|word| word == mark)).collect()
}

/// All processes of a process namespace.
pub(crate) fn within(namespace: &str) -> Vec<u32> {
    numbers().into_iter().filter(|number| self::namespace(*number).as_deref() == Some(namespace)).collect()
}

/// All processes in the network namespace of a process, including itself.
pub(crate) fn beside(number: u32) -> Vec<Process> {
    let Some(network) = link(number, "ns/net") else { return vec![] };
    let beside = numbers().into_iter().filter(|other| link(*other, "ns/net").as_ref() == Some(&network));
    beside.filter_map(|number| Some(Process { number, words: words(number)? })).collect()
}

/// The process namespace of a process, if it still exists.
pub(crate) fn namespace(number: u32) -> Option<String> {
    link(number, "ns/pid")
}

fn link(number: u32, name: &str) -> Option<String> {
    let link = std::fs::read_link(folder(number).join(name)).ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// Kills a process. One that has ended already is not an error.
pub(crate) fn kill(number: u32) {
    send(number, Signal::KILL);
}

/// Asks a process to end.
pub(crate) fn end(number: u32) {
    send(number, Signal::TERM);
}

fn send(number: u32, signal: Signal) {
    let number = i32::try_from(number).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(number) = number {
        let _ = rustix::process::kill_process(number, signal);
    }
}

/// Kills a process group, by its leader.
pub(crate) fn kill_group(leader: u32) {
    let leader = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(leader) = leader {
        let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    }
}

/// A program that has just started has no command line for a moment; kernel threads and zombies never have one.
fn words(number: u32) -> Option<Vec<String>> {
    let read = || std::fs::read(folder(number).join("cmdline")).ok();
    let mut line = read()?;
    for _ in 0..STARTING_MILLIS {
        if !line.is_empty() || std::fs::read_link(folder(number).join("exe")).is_err() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        line = read()?;
    }
    let text = String::from_utf8_lossy(&line);
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

fn numbers() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn folder(number: u32) -> PathBuf {
    PathBuf::from("/proc").join(number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_in_any_folder() {
        let of = |word: &str| Process { number: 1, words: vec![word.into(), "-x".into()] };
        assert!(of("/usr/sbin/glusterd").is_called("glusterd") && of("glusterd").is_called("glusterd"));
        assert!(of("mfsmaster (data writer)").is_called("mfsmaster"));
        assert!(!of("glusterfsd").is_called("glusterd") && !of("").is_called("glusterd"));
    }

    #[test]
    fn only_a_marked_process_is_found_and_killed() {
        let mark = format!("mark-{}", std::process::id());
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "read x", &mark]);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert!(marked(&format!("{mark}0")).is_empty());
        let found: Vec<u32> = marked(&mark).iter().map(|process| process.number).collect();
        assert_eq!(found, [child.id()]);
        assert!(within(&namespace(child.id()).unwrap()).contains(&child.id()));
        assert!(beside(std::process::id()).iter().any(|process| process.number == child.id()));
        found.into_iter().for_each(kill);
        assert!(!child.wait().unwrap().success());
    }
}
