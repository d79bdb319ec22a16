//! Programs that may hang: they get their time, and no more.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use crate::machine::processes;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit status; none if it could not even be killed.
    pub status: Option<ExitStatus>,
    /// Whether its time was over.
    pub is_hung: bool,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: Vec<u8>,
}

/// How long a killed program may take to be gone; one that waits for a dead disk never is.
const GRACE: Duration = Duration::from_secs(2);

impl Ran {
    /// Whether it did what it should, in time.
    pub fn is_well(&self) -> bool {
        !self.is_hung && self.status.is_some_and(|status| status.success())
    }

    /// Why not, in its own words.
    pub fn complaint(&self) -> String {
        let said = [&self.stderr, &self.stdout].map(|text| String::from_utf8_lossy(text).trim().to_owned());
        let said = said.into_iter().find(|text| !text.is_empty());
        match (self.is_hung, self.status) {
            (true, _) => format!("it did not end in time {}", said.unwrap_or_default()).trim().to_owned(),
            (false, status) => said.unwrap_or_else(|| status.map_or_else(String::new, |s| s.to_string())),
        }
    }
}

/// Runs a program that reads this, in a process group of its own, which is killed when its time is over. What it reads
/// from ends when the program does, or whoever runs it.
pub fn run(command: &mut Command, input: &str, limit: Duration) -> Result<Ran, String> {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (_open, is_over) = mpsc::channel::<()>();
    if let Some(mut line) = child.stdin.take() {
        let input = input.to_owned();
        std::thread::spawn(move || {
            // One that ends early does not read all of it.
            let _ = line.write_all(input.as_bytes());
            let _ = is_over.recv();
        });
    }
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let status = wait(&mut child, limit);
    let is_hung = status.is_none();
    if is_hung {
        processes::kill_group(child.id());
    }
    let status = status.or_else(|| wait(&mut child, GRACE));
    let text = |from: Receiver<Vec<u8>>| from.recv_timeout(GRACE).unwrap_or_default();
    Ok(Ran { status, is_hung, stdout: text(stdout), stderr: text(stderr) })
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if begin.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            _ => return None,
        }
    }
}

fn collect(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = vec![];
        // What came before an error counts.
        let _ = from.map(|mut from| from.read_to_end(&mut text));
        let _ = sender.send(text);
    });
    receiver
}

/// Runs a script that it reads, of so many bytes: a word of a command line has its limit at 128 KiB. What it reads from
/// stays open for as long as somebody wants the script. When that one is killed, also on another machine, a script that
/// went on would hurt what is being healed: it is killed with all of its group. Needs the descriptor 8.
pub const WATCHED: &str = "
script=$(head -c \"$1\")
exec 8<&0 < /dev/null
{ cat <&8; kill -KILL 0; } > /dev/null 2>&1 9<&- &
watch=$!
(set -e; eval \"$script\") 8<&- 9<&-
status=$?
kill $watch 2> /dev/null
exit $status";

/// Before it, one script after the other. One that does not end must not keep others from healing. Needs the descriptor
/// 9, which nothing else has that is started: a daemon would keep it.
pub const IN_TURN: &str = "
exec 9< /run
flock -w 30 9";

/// How long that takes at the most.
pub const LONGEST_TURN: Duration = Duration::from_secs(30);

/// A word as the shell reads it back.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Enough of a script to know it by.
pub fn first_line(script: &str) -> &str {
    script.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing")
}
