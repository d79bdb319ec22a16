//! Waiting that a signal, or another thread, can end.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use laggard_core::model::time::Span;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The exit status after a second signal.
const IMPATIENT: i32 = 130;

/// Rings once somebody wants the process to end.
pub struct Bell(UnixStream);

/// Rings the bell from another thread.
pub struct Rope(UnixStream);

impl Bell {
    /// A bell that SIGHUP, SIGINT and SIGTERM ring, and a rope for everyone else. A second signal ends the
    /// process at once: whoever waits may be stuck on a disk that does not answer.
    pub fn hang() -> io::Result<(Bell, Rope)> {
        let (bell, rope) = UnixStream::pair()?;
        let rung = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, IMPATIENT, rung.clone())?;
            signal_hook::flag::register(signal, rung.clone())?;
            signal_hook::low_level::pipe::register(signal, rope.try_clone()?)?;
        }
        Ok((Bell(bell), Rope(rope)))
    }

    /// Waits for so long at the most. It goes on ringing once it rang.
    pub fn rings_within(&self, span: Span) -> bool {
        let micros = span.micros().max(0);
        let limit = Timespec { tv_sec: micros / 1_000_000, tv_nsec: micros % 1_000_000 * 1000 };
        let mut waiting = [PollFd::new(&self.0, PollFlags::IN)];
        // An error means that the wait was interrupted: whoever waits looks at the clock again.
        poll(&mut waiting, Some(&limit)).is_ok_and(|ready| ready > 0)
    }
}

impl Rope {
    /// Rings the bell.
    pub fn pull(mut self) {
        // It fails only when the bell is gone, and with it the one who waits.
        let _ = self.0.write_all(&[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_rings_when_the_rope_is_pulled_and_not_before() {
        let (bell, rope) = Bell::hang().unwrap();
        assert!(!bell.rings_within(Span::from_millis(1)));
        rope.pull();
        assert!(bell.rings_within(Span::from_seconds(60)));
        assert!(bell.rings_within(Span::ZERO));
    }
}
