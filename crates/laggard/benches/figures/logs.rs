//! The speed of classifying logs, compared with `grep` counting the lines with the same words.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::outcome::Outcome;
use crate::process::{self, Spent};
use crate::random::Random;
use crate::scale::Scale;
use crate::{bytes, tools};

const FILE_BYTES: u64 = 512 << 20;
const LEAST_BYTES_PER_SECOND: f64 = 200e6;
const MOST_MEMORY_MIB: f64 = 64.0;
const RUNS: usize = 3;

/// Lines with a failure word, of 100 lines; as in the debug buffers that the authors of PFault publish.
const FAILURES_OF_A_HUNDRED: usize = 4;

const WORDS: &str = "fail|error|unable|cannot|could not|timed? ?out|refus|unreach|lost|evict|offline|disconnect|abort|\
    corrupt|damaged|inconsisten|panic|LBUG|ASSERT|going down|read-only|retry|errno[=: ]+[0-9]|\
    rc[ =:]*-([2-9]|[0-9][0-9])";

/// One file of 512 MiB, so one thread.
pub(crate) fn measure(scale: Scale) -> anyhow::Result<Outcome> {
    let grep = tools::program("grep")?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("debug");
    write(&file, scale.of(FILE_BYTES, 1 << 22))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(process::run(Command::new(tools::laggard()).args(["logs", "classify"]).arg(&file))?);
        let mut counting = Command::new(&grep);
        counting.args(["-a", "-c", "-i", "-E", WORDS]).arg(&file).env("LC_ALL", "C");
        // grep stops at the first match if its output is /dev/null.
        let count = File::create(folder.path().join("count"))?;
        theirs.push(process::start_to(&mut counting, count.into())?.finish()?);
    }
    Ok(outcome(bytes::of_file(&file)?, &ours, &theirs))
}

/// Writes about `size` bytes of lines like those of a Lustre debug buffer.
fn write(path: &Path, size: u64) -> anyhow::Result<()> {
    let mut random = Random::new(1);
    let mut file = BufWriter::new(File::create(path)?);
    let (mut written, mut line) = (0, String::new());
    while written < size {
        line.clear();
        let number = random.below(1 << 30);
        let second = 1_579_385_455 + written / (1 << 16);
        let text =
            if random.below(100) < FAILURES_OF_A_HUNDRED { failure(&mut random) } else { noise(&mut random) };
        line.push_str(&format!(
            "00000100:00080000:0.0:{second}.{:06}:0:3282:0:{text} x{number}\n",
            number % 1_000_000
        ));
        file.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    Ok(file.flush()?)
}

fn noise(random: &mut Random) -> &'static str {
    const LINES: [&str; 4] = [
        "(osp_sync.c:516:osp_sync_request_commit_cb()) commit req ffff9955db419b00, transno 4294972855",
        "(pinger.c:217:ptlrpc_pinger_process_import()) 5c565410-e636-85ec->MGS: level FULL/3 force 0 deactive 0 pingable 1",
        "(import.c:681:ptlrpc_connect_import()) ffff995604b3a800 MGS: changing import state from NEW to CONNECTING",
        "(service.c:1947:ptlrpc_server_handle_req_in()) got req ffff9955 o400->MGS lens 224/0 fl Interpret:/0/ffffffff rc 0/-1",
    ];
    LINES.get(random.below(LINES.len())).copied().unwrap_or_default()
}

fn failure(random: &mut Random) -> &'static str {
    const LINES: [&str; 3] = [
        "(import.c:1330:ptlrpc_connect_interpret()) recovery of x-MDT0000_UUID on 10.29.161.11@tcp failed (-110)",
        "(osd_io.c:1511:osd_ldiskfs_read()) sdb: can't read 8@256 on ino 133: rc = -5",
        "(client.c:2116:ptlrpc_expire_one_request()) @@@ Request sent has failed due to network error: req@ffff9955db419b00",
    ];
    LINES.get(random.below(LINES.len())).copied().unwrap_or_default()
}

fn outcome(size: u64, ours: &[Spent], theirs: &[Spent]) -> Outcome {
    let mut outcome = Outcome::new(&["", "wall", "CPU", "MB per CPU second", "most memory"]);
    let speed = |runs: &[Spent]| size as f64 / middle(runs, |spent| spent.cpu).as_secs_f64();
    let memory = |runs: &[Spent]| runs.iter().map(|spent| spent.peak_bytes).max().unwrap_or(0);
    let mut line = |what: &str, runs: &[Spent]| {
        let seconds = |of: fn(&Spent) -> Duration| format!("{:.2} s", middle(runs, of).as_secs_f64());
        let (wall, cpu) = (seconds(|spent| spent.wall), seconds(|spent| spent.cpu));
        outcome.line(&[what, &wall, &cpu, &format!("{:.0}", speed(runs) / 1e6), &bytes::shown(memory(runs))]);
    };
    line("`laggard logs classify FILE`", ours);
    line("`grep -aciE` of the same words", theirs);
    let measured = format!("{:.0} MB/s, {:.2} of grep's", speed(ours) / 1e6, speed(ours) / speed(theirs));
    let goal = format!("{:.0} MB per CPU second", LEAST_BYTES_PER_SECOND / 1e6);
    outcome.goal(&goal, speed(ours) >= LEAST_BYTES_PER_SECOND, &measured);
    let fits = memory(ours) as f64 / bytes::MIB <= MOST_MEMORY_MIB;
    outcome.goal(&format!("under {MOST_MEMORY_MIB} MiB"), fits, &bytes::shown(memory(ours)));
    outcome.remark(format_args!("{} of one log; the median of {RUNS} runs each", bytes::shown(size)));
    outcome
}

fn middle(runs: &[Spent], of: impl Fn(&Spent) -> Duration) -> Duration {
    let mut times: Vec<Duration> = runs.iter().map(of).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
