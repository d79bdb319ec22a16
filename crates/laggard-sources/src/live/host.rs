//! The recording host: its name, clocks and kernel.

use std::path::Path;

use laggard_core::model::time::{Span, Timestamp, Uptime};
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::clock::Moment;

/// If reading takes longer, the two clocks do not belong together.
const READ_TOGETHER: Span = Span::from_millis(1);

pub fn name(procfs: &Path) -> Option<String> {
    word(&procfs.join("sys/kernel/hostname")).filter(|name| name != "(none)")
}

/// Changes with every start of the host.
pub fn boot_id(procfs: &Path) -> Option<String> {
    word(&procfs.join("sys/kernel/random/boot_id"))
}

/// True on a 32-bit kernel. A 64-bit program proves a 64-bit kernel.
pub fn wraps_at_32_bits(procfs: &Path) -> bool {
    if cfg!(target_pointer_width = "64") {
        return false;
    }
    // Kernels before 6.1 do not report it; a 32-bit program then most likely runs on a 32-bit kernel.
    !word(&procfs.join("sys/kernel/arch")).is_some_and(|arch| arch.contains("64") || arch == "s390x")
}

pub fn now() -> Moment {
    let mut moment = read_clocks();
    for _ in 0..3 {
        if moment.1 <= READ_TOGETHER {
            break;
        }
        moment = read_clocks();
    }
    moment.0
}

/// Processor time of this process, all threads.
pub fn cpu_time() -> Span {
    Span::from_micros(micros(clock_gettime(ClockId::ProcessCPUTime)))
}

/// Both clocks, and the time it took to read them.
fn read_clocks() -> (Moment, Span) {
    let before = micros(clock_gettime(ClockId::Boottime));
    let time = Timestamp::from_micros(micros(clock_gettime(ClockId::Realtime)));
    let after = micros(clock_gettime(ClockId::Boottime));
    (Moment { time, uptime: Uptime::from_micros(after) }, Span::from_micros(after - before))
}

fn micros(time: Timespec) -> i64 {
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

fn word(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_host_has_a_boot_and_its_clocks_move_on() {
        let proc = Path::new("/proc");
        assert!(boot_id(proc).is_some_and(|id| id.len() == 36));
        let (a, b) = (now(), now());
        assert!(a.uptime <= b.uptime && a.uptime.micros() > 0);
        assert!(cpu_time() > Span::ZERO);
    }

    #[test]
    fn a_tree_without_a_name_gives_none() {
        assert_eq!(name(Path::new("/nonexistent")), None);
    }
}
