//! One direction of a TCP connection, as a stream of messages behind a congestion window.
//! In: messages, and what the network lets through in a tick. Out: messages that have arrived. Always: bytes arrive
//! once and in order, whatever is lost on the way.

use std::collections::VecDeque;

use super::order::{Content, Micros};
use laggard_core::model::random::Random;

/// The payload of a segment, and its overhead on the wire.
pub(super) const SEGMENT_BYTES: u64 = 1448;
pub(super) const HEADER_BYTES: u64 = 66;
/// The window of a new connection, and of one that was silent for long.
const FIRST_WINDOW: f64 = 3.0;
/// The receive buffer of a file system's connection, and of one tuned for speed. A kernel tunes the
/// buffer of each connection by what it has seen of it, so some are allowed less than others.
pub(super) const LEAST_LIMIT: f64 = 20.0;
pub(super) const LARGEST_WINDOW: f64 = 120.0;
pub(super) const LARGEST_WINDOW_OF_HOG: f64 = 400.0;
/// A kernel lets a window grow that is not used up, if this many segments are left of it at most.
const UNUSED: f64 = 3.0;
/// The shortest time after which a kernel gives up waiting for an acknowledgement.
const TIMEOUT: Micros = 200_000;
/// With fewer segments behind a lost one, often the sender learns of the loss only at the the timeout.
const TELLING: u64 = 3;
/// After a loss a receiver acknowledges this many segments one by one.
const QUICK: u64 = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowCounters {
    pub bytes: u64,
    /// Segments with data, those sent again included.
    pub segments: u64,
    /// Acknowledgements that came back.
    pub acknowledgements: u64,
    pub retransmits: u64,
    pub fast_retransmits: u64,
    pub timeouts: u64,
    pub out_of_order: u64,
}

struct Message {
    left: u64,
    content: Content,
}

pub(super) struct Flow {
    pub from: usize,
    pub to: usize,
    messages: VecDeque<Message>,
    pub backlog: u64,
    pub window: f64,
    threshold: f64,
    largest_window: f64,
    silent_until: Micros,
    last_sent: Micros,
    pub round_trip_us: f64,
    odd: bool,
    quick: u64,
    pub counters: FlowCounters,
}

/// The effect of the network on a flow in a tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// How much may pass at most.
    pub bytes: u64,
    pub round_trip_us: f64,
    /// The share of packets that a fault drops.
    pub loss: f64,
    /// True if a full buffer drops a segment now.
    pub overflows: bool,
    pub tick: Micros,
}

impl Flow {
    pub(super) fn new(from: usize, to: usize) -> Flow {
        Flow {
            from,
            to,
            messages: VecDeque::new(),
            backlog: 0,
            window: FIRST_WINDOW,
            threshold: LARGEST_WINDOW / 2.0,
            largest_window: LARGEST_WINDOW,
            silent_until: 0,
            last_sent: 0,
            round_trip_us: 200.0,
            odd: false,
            quick: 0,
            counters: FlowCounters::default(),
        }
    }

    /// Limits the receive window to a number of segments.
    pub(super) fn limit_window(&mut self, segments: f64) {
        self.largest_window = segments;
        self.threshold = segments / 2.0;
    }

    pub(super) fn send(&mut self, bytes: u64, content: Content, now: Micros) {
        if self.backlog == 0 {
            self.restart(now);
        }
        self.backlog += bytes;
        self.messages.push_back(Message { left: bytes, content });
    }

    /// A window that was not used for some timeouts is halved for each, but not below the first.
    fn restart(&mut self, now: Micros) {
        let timeouts = now.saturating_sub(self.last_sent) / TIMEOUT;
        if self.window > FIRST_WINDOW && timeouts > 0 {
            self.threshold = self.threshold.max(self.window * 0.75);
            let halvings = i32::try_from(timeouts.min(10)).unwrap_or(10);
            self.window = (self.window * 0.5_f64.powi(halvings)).max(FIRST_WINDOW);
        }
    }

    /// Forgets what was not sent.
    pub(super) fn stop(&mut self) {
        self.messages.clear();
        self.backlog = 0;
    }

    pub(super) fn is_silent(&self, now: Micros) -> bool {
        self.silent_until > now
    }

    /// The bytes it would have in flight.
    pub(super) fn wanted_window_bytes(&self) -> u64 {
        self.backlog.min((self.window * SEGMENT_BYTES as f64) as u64)
    }

    /// Sends what may pass; returns the bytes that arrived and adds the complete messages.
    pub(super) fn pass(
        &mut self,
        passage: Passage,
        now: Micros,
        random: &mut Random,
        arrived: &mut Vec<Content>,
    ) -> u64 {
        self.last_sent = now;
        self.round_trip_us += (passage.round_trip_us - self.round_trip_us) / 8.0;
        let bytes = match passage.loss > 0.0 {
            true => self.pass_with_loss(passage, now, random),
            false => self.pass_cleanly(passage, random),
        };
        self.deliver(bytes, arrived);
        bytes
    }

    fn pass_cleanly(&mut self, passage: Passage, random: &mut Random) -> u64 {
        let segments = passage.bytes.div_ceil(SEGMENT_BYTES);
        self.counters.segments += segments;
        if passage.overflows {
            self.shrink();
            self.acknowledge(segments, true);
            let again = 1 + random.count(1.0);
            self.counters.segments += again;
            self.counters.retransmits += again;
            return passage.bytes;
        }
        self.acknowledge(segments, false);
        let rounds = passage.tick as f64 / passage.round_trip_us;
        let used = passage.bytes as f64 / SEGMENT_BYTES as f64 / rounds.max(1.0);
        if self.window <= used.max(1.0) + UNUSED || passage.bytes < self.backlog {
            self.grow(rounds.min(segments as f64 / self.window + 1.0));
        }
        passage.bytes
    }

    /// Round trip by round trip, since each of them may lose something.
    fn pass_with_loss(&mut self, passage: Passage, now: Micros, random: &mut Random) -> u64 {
        let rounds = (passage.tick as f64 / passage.round_trip_us).max(1.0) as u64;
        let mut passed = 0;
        for _ in 0..rounds {
            let segments = (self.window as u64).max(1).min((passage.bytes - passed).div_ceil(SEGMENT_BYTES));
            if segments == 0 {
                break;
            }
            let lost = (0..segments).filter(|_| random.happens(passage.loss)).count() as u64;
            self.counters.segments += segments;
            passed = (passed + (segments - lost) * SEGMENT_BYTES).min(passage.bytes);
            self.acknowledge(segments - lost, lost > 0);
            match lost {
                0 => self.grow(1.0),
                _ if self.recovers(segments, passage.loss, random) => self.shrink(),
                _ => {
                    self.time_out(now, random);
                    break;
                }
            }
        }
        passed
    }

    /// True if the receiver's answers reveal a loss and the retransmission arrives.
    fn recovers(&mut self, segments: u64, loss: f64, random: &mut Random) -> bool {
        self.counters.retransmits += 1;
        segments > 1 && !random.happens(loss * if segments < TELLING { 3.0 } else { 1.0 })
    }

    fn grow(&mut self, rounds: f64) {
        let mut left = rounds;
        while left >= 1.0 && self.window < self.threshold {
            self.window = (self.window * 1.5).min(self.threshold);
            left -= 1.0;
        }
        // Every other segment is acknowledged, so a window grows by half a segment a round trip.
        self.window = (self.window + 0.5 * left).min(self.largest_window);
    }

    fn shrink(&mut self) {
        self.threshold = (self.window / 2.0).max(2.0);
        self.window = self.threshold;
        self.counters.fast_retransmits += 1;
    }

    fn time_out(&mut self, now: Micros, random: &mut Random) {
        self.threshold = (self.window / 2.0).max(2.0);
        self.window = 1.0;
        self.silent_until = now + TIMEOUT + random.below(20_000) as Micros;
        self.counters.timeouts += 1;
    }

    /// Every other segment is acknowledged, but every one of them around a loss.
    fn acknowledge(&mut self, segments: u64, around_loss: bool) {
        if around_loss {
            self.quick = QUICK.max(segments);
            self.counters.out_of_order += segments.min(TELLING);
        }
        let quick = segments.min(self.quick);
        self.quick -= quick;
        let owed = segments - quick + u64::from(self.odd);
        self.odd = owed % 2 == 1;
        self.counters.acknowledgements += quick + owed / 2;
    }

    fn deliver(&mut self, bytes: u64, arrived: &mut Vec<Content>) {
        self.counters.bytes += bytes;
        self.backlog -= bytes;
        let mut left = bytes;
        while let Some(first) = self.messages.front_mut() {
            let part = first.left.min(left);
            first.left -= part;
            left -= part;
            if first.left > 0 {
                break;
            }
            arrived.push(first.content);
            self.messages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Micros = 10_000;

    /// Sends for a while; gives the mean window and the bytes that arrived.
    fn sending(loss: f64) -> (f64, u64) {
        let (mut flow, mut random) = (Flow::new(0, 1), Random::of(3, &[]));
        let (mut windows, mut bytes, mut ticks) = (0.0, 0, 0);
        flow.send(u64::MAX / 4, Content::Zeros, 0);
        for now in (0..1000).map(|tick| tick * TICK) {
            windows += flow.window;
            ticks += 1;
            if !flow.is_silent(now) {
                let most = flow.wanted_window_bytes() * TICK / 300;
                let passage =
                    Passage { bytes: most, round_trip_us: 300.0, loss, overflows: false, tick: TICK };
                bytes += flow.pass(passage, now, &mut random, &mut Vec::new());
            }
        }
        (windows / f64::from(ticks), bytes)
    }

    #[test]
    fn loss_keeps_a_window_small_and_a_connection_slow() {
        let (clean, lossy) = (sending(0.0), sending(0.05));
        assert!(clean.0 > 100.0 && lossy.0 < 8.0, "{clean:?} {lossy:?}");
        assert!(lossy.1 * 10 < clean.1);
    }

    #[test]
    fn acknowledgements_double_around_losses() {
        let mut flow = Flow::new(0, 1);
        flow.acknowledge(100, false);
        assert_eq!(flow.counters.acknowledgements, 50);
        flow.acknowledge(100, true);
        assert_eq!(flow.counters.acknowledgements, 150);
    }

    #[test]
    fn a_long_silence_closes_the_window() {
        let mut flow = Flow::new(0, 1);
        flow.window = 100.0;
        flow.send(1000, Content::Zeros, 300_000);
        assert_eq!(flow.window, 50.0);
        assert!(flow.threshold >= 75.0);
    }
}
