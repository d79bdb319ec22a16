//! The description of this host in a trace.

use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use super::buffers::now_ns;
use super::instance::CLOCK;
use super::tracefs::detached;
use crate::model::{Host, Window};

pub(super) fn this() -> Host {
    let procfs = Path::new("/proc/sys/kernel");
    let word = |name: &str| std::fs::read_to_string(procfs.join(name)).unwrap_or_default().trim().to_owned();
    Host {
        name: word("hostname"),
        boot_id: word("random/boot_id"),
        clock: CLOCK.into(),
        kernel: word("osrelease"),
        lockdown: lockdown().unwrap_or_default(),
        ..Host::default()
    }
}

/// `none`, `integrity` or `confidentiality`; nothing if the kernel does not report it.
pub(super) fn lockdown() -> Option<String> {
    let mounted = std::fs::read_to_string("/sys/kernel/security/lockdown").ok();
    let text = mounted.or_else(|| {
        let mount = detached("securityfs").ok()?;
        std::fs::read_to_string(format!("/proc/self/fd/{}/lockdown", mount.as_raw_fd())).ok()
    });
    chosen(&text?).map(str::to_owned)
}

/// The word in brackets: `none [integrity] confidentiality`.
fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

/// Begins now.
pub(super) fn window() -> Window {
    let wall = clock_gettime(ClockId::Realtime);
    let begin_ns = now_ns();
    Window { begin_ns, end_ns: begin_ns, wall_us: Some(wall.tv_sec * 1_000_000 + wall.tv_nsec / 1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lockdown_is_the_word_in_brackets() {
        assert_eq!(chosen("none [integrity] confidentiality\n"), Some("integrity"));
        assert_eq!(chosen("none"), None);
    }
}
