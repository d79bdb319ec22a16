//! Waiting that a signal or another thread can end.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use laggard_core::model::time::Span;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

const EXIT_STATUS_AFTER_SECOND_SIGNAL: i32 = 130;

pub(crate) struct StopSignal(UnixStream);

/// Raises the stop signal from another thread.
pub(crate) struct StopHandle(UnixStream);

impl StopSignal {
    /// Catches SIGHUP, SIGINT and SIGTERM. A second signal ends the process immediately: it may be blocked on a disk
    /// that does not answer.
    pub(crate) fn install() -> io::Result<(StopSignal, StopHandle)> {
        let (receiver, sender) = UnixStream::pair()?;
        let is_raised = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let status = EXIT_STATUS_AFTER_SECOND_SIGNAL;
            signal_hook::flag::register_conditional_shutdown(signal, status, is_raised.clone())?;
            signal_hook::flag::register(signal, is_raised.clone())?;
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        Ok((StopSignal(receiver), StopHandle(sender)))
    }

    /// Waits for at most `span`. Once raised, the signal stays raised.
    pub(crate) fn arrives_within(&self, span: Span) -> bool {
        let micros = span.micros().max(0);
        let limit = Timespec { tv_sec: micros / 1_000_000, tv_nsec: micros % 1_000_000 * 1000 };
        let mut waiting = [PollFd::new(&self.0, PollFlags::IN)];
        // An error means that the wait was interrupted; callers check the clock in any case.
        poll(&mut waiting, Some(&limit)).is_ok_and(|ready| ready > 0)
    }
}

impl StopHandle {
    pub(crate) fn stop(mut self) {
        // Fails only if the receiver is gone, and then nothing waits.
        let _ = self.0.write_all(&[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_arrives_when_it_is_raised_and_not_before() {
        let (signal, handle) = StopSignal::install().unwrap();
        assert!(!signal.arrives_within(Span::from_millis(1)));
        handle.stop();
        assert!(signal.arrives_within(Span::from_seconds(60)));
        assert!(signal.arrives_within(Span::ZERO));
    }
}
