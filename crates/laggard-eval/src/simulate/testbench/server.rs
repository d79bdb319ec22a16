//! A server: what it does with orders, between its connections and its disk.
//! In: orders. Out: answers. Always: an order is answered once, after its work is done; with a write-back cache,
//! after it is in memory.

use std::collections::VecDeque;

use super::database::Database;
use super::disk::Disk;
use super::order::{Direction, Micros, Order, SECOND, Work};
use super::queue::Turns;
use laggard_core::model::random::Random;

/// Bytes that a server writes back at a time.
const CHUNK: u64 = 4 << 20;
/// It begins to write back above this, and accepts no more above the limit.
const BACKGROUND: u64 = 64 << 20;
const LIMIT: u64 = 256 << 20;
/// It writes back what is older than so long, too.
const OLD: Micros = 5 * SECOND;
/// How often a file system writes its journal, in the mean.
const JOURNAL: Micros = 5 * SECOND;
const JOURNAL_BLOCK: u64 = 4096;
/// Blocks of it beyond the first, in the mean.
const MORE_BLOCKS: f64 = 2.0;

pub(super) struct Server {
    pub disk: Disk,
    cache: Option<Cache>,
    next_journal: Micros,
    database: Database,
    /// How much it has written of journals and of the database.
    pub journal_bytes: u64,
    random: Random,
    done: Vec<Order>,
}

/// A page cache that takes writes.
#[derive(Default)]
struct Cache {
    dirty: u64,
    written_back: u64,
    /// Writes that wait for room.
    waiting: VecDeque<Order>,
    /// Syncs, each with the dirty bytes before it that are still to be written.
    syncs: VecDeque<(Order, u64)>,
    draining: bool,
    next_look: Micros,
}

impl Server {
    pub(super) fn new(clients: usize, turns: Turns, buffered: bool, mut random: Random) -> Server {
        Server {
            disk: Disk::new(clients, turns, &mut random),
            cache: buffered.then(Cache::default),
            next_journal: random.below(JOURNAL as usize) as Micros,
            database: Database::new(Random::of(random.bits(), &[])),
            journal_bytes: 0,
            random,
            done: Vec::new(),
        }
    }

    /// Takes an order; adds it to the answers if it is done immediately.
    pub(super) fn take(&mut self, order: Order, now: Micros, answers: &mut Vec<Order>) {
        if self.database.keeps(order) {
            return;
        }
        self.database.note(&order);
        match (order.work, &mut self.cache) {
            (None, _) => answers.push(order),
            (Some(work), Some(cache)) if work.direction == Direction::Write => {
                cache.take(order, work, answers);
            }
            (Some(work), Some(cache)) if work.direction == Direction::Flush && cache.dirty > 0 => {
                cache.syncs.push_back((order, cache.dirty));
                cache.draining = true;
            }
            (Some(work), _) => self.disk.submit(order.client, work, Some(order), now),
        }
    }

    /// Works until that time; adds the orders to answer.
    pub(super) fn advance(&mut self, now: Micros, until: Micros, answers: &mut Vec<Order>) {
        if now >= self.next_journal {
            self.write_journal(now);
        }
        if let Some(cache) = &mut self.cache {
            cache.write_back(&mut self.disk, now);
        }
        if let Some(page) = self.database.begin(now) {
            self.write_page(page, now);
        }
        self.disk.advance(until, &mut self.random, &mut self.done);
        for order in std::mem::take(&mut self.done) {
            match &mut self.cache {
                _ if Database::is_own(&order) => self.wrote_page(until, answers),
                Some(cache) if order.number == WRITE_BACK => cache.wrote(order, answers),
                _ => answers.push(order),
            }
        }
    }

    fn write_journal(&mut self, now: Micros) {
        let bytes = JOURNAL_BLOCK * (1 + self.random.count(MORE_BLOCKS));
        self.disk.submit(self.disk.own_stream(), Work { direction: Direction::Write, bytes }, None, now);
        self.next_journal = now + (JOURNAL as f64 * self.random.between(0.6, 1.4)) as Micros;
        self.journal_bytes += bytes;
    }

    fn write_page(&mut self, page: Order, now: Micros) {
        let Some(work) = page.work else { return };
        self.journal_bytes += work.bytes;
        self.disk.submit(self.disk.own_stream(), work, Some(page), now);
    }

    fn wrote_page(&mut self, now: Micros, answers: &mut Vec<Order>) {
        match self.database.wrote() {
            Ok(page) => self.write_page(page, now),
            Err(waited) => waited.into_iter().for_each(|order| self.take(order, now, answers)),
        }
    }
}

/// The number of orders that a server gives itself.
const WRITE_BACK: u64 = u64::MAX;

impl Cache {
    fn take(&mut self, order: Order, work: Work, answers: &mut Vec<Order>) {
        if self.dirty >= LIMIT {
            self.waiting.push_back(order);
            return;
        }
        self.dirty += work.bytes;
        answers.push(order);
    }

    /// Puts dirty pages into the disk's queue: in bursts, as write-back does.
    fn write_back(&mut self, disk: &mut Disk, now: Micros) {
        if now >= self.next_look {
            self.next_look = now + OLD;
            self.draining |= self.dirty > 0;
        }
        self.draining |= self.dirty > BACKGROUND;
        while self.draining && self.written_back < self.dirty && disk.counters.in_flight < 64 {
            let bytes = CHUNK.min(self.dirty - self.written_back);
            let order = Order { number: WRITE_BACK, ..Order::write(0, 0, 0, bytes) };
            disk.submit(disk.own_stream(), Work { direction: Direction::Write, bytes }, Some(order), now);
            self.written_back += bytes;
        }
        self.draining &= self.dirty > 0;
    }

    /// Pages are clean: there is room for more, and syncs may be over.
    fn wrote(&mut self, order: Order, answers: &mut Vec<Order>) {
        let bytes = order.work.map_or(0, |work| work.bytes);
        self.dirty -= bytes;
        self.written_back -= bytes;
        for (_, before) in &mut self.syncs {
            *before = before.saturating_sub(bytes);
        }
        while self.syncs.front().is_some_and(|(_, before)| *before == 0) {
            answers.extend(self.syncs.pop_front().map(|(order, _)| order));
        }
        while self.dirty < LIMIT {
            let Some(order) = self.waiting.pop_front() else { break };
            self.dirty += order.work.map_or(0, |work| work.bytes);
            answers.push(order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::testbench::workload::System;

    fn run(server: &mut Server, seconds: u64, answers: &mut Vec<Order>) {
        for now in (0..seconds * 100).map(|tick| tick * 10_000) {
            server.advance(now, now + 10_000, answers);
        }
    }

    #[test]
    fn a_direct_write_is_answered_when_it_is_on_the_disk() {
        let mut server = Server::new(1, System::Pvfs.turns(), false, Random::of(1, &[]));
        let mut answers = Vec::new();
        server.take(Order::write(0, 0, 7, 1 << 20), 0, &mut answers);
        assert_eq!(answers.len(), 0);
        run(&mut server, 1, &mut answers);
        assert_eq!(answers.len(), 1);
    }

    #[test]
    fn a_cached_write_is_answered_at_once_and_reaches_the_disk_later() {
        let mut server = Server::new(1, System::Pvfs.turns(), true, Random::of(1, &[]));
        let mut answers = Vec::new();
        server.take(Order::write(0, 0, 7, 1 << 20), 0, &mut answers);
        assert_eq!(answers.len(), 1);
        server.take(Order::sync(0, 0, 8), 0, &mut answers);
        assert_eq!(answers.len(), 1);
        run(&mut server, 4, &mut answers);
        assert_eq!(answers.len(), 2);
        assert!(server.disk.counters.sectors_written >= 2048);
    }

    #[test]
    fn a_full_cache_holds_writers_back() {
        let mut server = Server::new(1, System::Pvfs.turns(), true, Random::of(1, &[]));
        let mut answers = Vec::new();
        (0..100).for_each(|number| server.take(Order::write(0, 0, number, 8 << 20), 0, &mut answers));
        assert_eq!(answers.len(), 32);
        run(&mut server, 60, &mut answers);
        assert_eq!(answers.len(), 100);
        assert!(server.disk.counters.sectors_written * 512 >= 800 << 20);
    }
}
