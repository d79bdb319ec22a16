//! The queue of a disk: streams of requests that take turns.
//! In: requests. Out: the next one to serve. Always: a stream's requests keep their order.

use std::collections::VecDeque;

use super::order::{Direction, Micros, Order};
use laggard_core::model::random::Random;

/// Requests of one stream in a row before another has its turn.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    pub reads: u32,
    pub writes: u32,
}

/// How long the scheduler lets one process have the disk while another waits.
const SLICE: Micros = 100_000;
/// A file lies on the disk in extents of about this size, in faster and slower zones, more and less torn apart.
const EXTENT: f64 = (32 << 20) as f64;
const EXTENT_SPREAD: f64 = 0.08;

/// One request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub arrived: Micros,
    pub direction: Direction,
    pub bytes: u64,
    /// The order that is done with this piece.
    pub ends: Option<Order>,
}

/// Requests that follow each other on the disk.
#[derive(Clone, Default)]
struct Stream {
    pieces: VecDeque<Piece>,
    /// How much slower than the model its extent is, and how much is left of that.
    slowness: f64,
    extent_left: f64,
}

pub(super) struct Queue {
    /// By client; the last two are the hog and the host itself.
    streams: Vec<Stream>,
    waiting: usize,
    turns: Turns,
    turn: usize,
    in_a_row: u32,
    /// Which of hog and files has the disk, and until when.
    slice_is_hogs: bool,
    slice_ends: Micros,
}

impl Queue {
    pub(super) fn new(clients: usize, turns: Turns) -> Queue {
        let streams = vec![Stream::default(); clients + 2];
        Queue { streams, waiting: 0, turns, turn: 0, in_a_row: 0, slice_is_hogs: false, slice_ends: 0 }
    }

    /// The stream of a process that reads the disk as fast as it can.
    pub(super) fn hog(&self) -> usize {
        self.streams.len() - 2
    }

    /// The stream of the host itself: journals, write-back.
    pub(super) fn own(&self) -> usize {
        self.streams.len() - 1
    }

    pub(super) fn push(&mut self, stream: usize, piece: Piece) {
        self.waiting += 1;
        self.streams[stream].pieces.push_back(piece);
    }

    /// The next request, and its stream.
    pub(super) fn pop(&mut self, now: Micros) -> Option<(Piece, usize)> {
        let stream = self.choose(now)?;
        self.waiting -= 1;
        Some((self.streams[stream].pieces.pop_front()?, stream))
    }

    fn choose(&mut self, now: Micros) -> Option<usize> {
        let hog = self.hog();
        let hogs = self.streams[hog].pieces.len();
        match (hogs > 0, self.waiting > hogs) {
            (false, false) => None,
            (true, false) => Some(hog),
            (false, true) => Some(self.next_file()),
            (true, true) if self.is_hogs_turn(now) => Some(hog),
            (true, true) => Some(self.next_file()),
        }
    }

    fn is_hogs_turn(&mut self, now: Micros) -> bool {
        if now >= self.slice_ends {
            self.slice_is_hogs = !self.slice_is_hogs;
            self.slice_ends = now + SLICE;
        }
        self.slice_is_hogs
    }

    /// The stream whose turn it is; one of them has a request.
    fn next_file(&mut self) -> usize {
        if self.in_a_row == 0 || self.streams[self.turn].pieces.is_empty() {
            let (hog, count) = (self.hog(), self.streams.len());
            let mut turns = (1..=count).map(|step| (self.turn + step) % count);
            let next = turns.find(|&stream| stream != hog && !self.streams[stream].pieces.is_empty());
            self.turn = next.expect("a stream of files has a request");
            self.in_a_row = match self.streams[self.turn].pieces.front().map(|piece| piece.direction) {
                Some(Direction::Read) => self.turns.reads,
                _ => self.turns.writes,
            };
        }
        self.in_a_row -= 1;
        self.turn
    }

    /// How slow the place is where a stream's next bytes lie.
    pub(super) fn slowness(&mut self, stream: usize, bytes: u64, random: &mut Random) -> f64 {
        let stream = &mut self.streams[stream];
        if stream.extent_left <= 0.0 {
            stream.extent_left = random.wait(EXTENT);
            stream.slowness = random.factor(EXTENT_SPREAD);
        }
        stream.extent_left -= bytes as f64;
        stream.slowness
    }
}
