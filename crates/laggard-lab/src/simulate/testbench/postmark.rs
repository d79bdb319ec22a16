//! A client of PostMark: transactions on many small files, one step after another.
//! In: answers, and the time. Out: orders. Always: one order under way at a time.
//!
//! A file's data lies on one server, its metadata on another, its name in the directory of the client, which is a
//! third's; every path begins at the root directory, so the server of that one hears of every transaction. Names
//! and attributes are in memory; changes of metadata are written.

use std::collections::VecDeque;

use super::order::{Direction, Micros, Order, Work};
use crate::simulate::random::Random;

/// A page of a database of metadata.
const PAGE_BYTES: u64 = 4096;
/// Changes of one directory are written together; one in so many causes a write.
const CHANGES_A_WRITE: f64 = 5.0;
/// PostMark's default sizes of files.
const SMALLEST: f64 = 500.0;
const LARGEST: f64 = 9770.0;

pub struct PostmarkClient {
    number: usize,
    servers: usize,
    root: usize,
    directory: usize,
    steps: VecDeque<(usize, Option<Work>)>,
    next_order: u64,
    waits: bool,
    ready_at: Micros,
    pub transactions: u64,
    random: Random,
}

impl PostmarkClient {
    /// `root` is the server of the root directory.
    pub fn new(number: usize, servers: usize, root: usize, starts: Micros, random: Random) -> PostmarkClient {
        let mut random = random;
        let directory = random.below(servers);
        let ready_at = starts + random.below(800_000) as Micros;
        PostmarkClient {
            number,
            servers,
            root,
            directory,
            steps: VecDeque::new(),
            next_order: 0,
            waits: false,
            ready_at,
            transactions: 0,
            random,
        }
    }

    /// Adds what it orders now.
    pub fn poll(&mut self, now: Micros, orders: &mut Vec<Order>) {
        if self.waits || now < self.ready_at {
            return;
        }
        if self.steps.is_empty() {
            self.plan();
            self.transactions += 1;
        }
        let Some((server, work)) = self.steps.pop_front() else { return };
        let mut order = Order::lookup(self.number, server, self.next_order);
        if let Some(work) = work {
            order.work = Some(work);
            order.answer_bytes += if work.direction == Direction::Read { work.bytes } else { 0 };
        }
        self.next_order += 1;
        self.waits = true;
        orders.push(order);
    }

    /// A transaction: read or append to a file, and create or delete one.
    fn plan(&mut self) {
        self.walk();
        let data = self.random.below(self.servers);
        let direction = if self.random.happens(0.5) { Direction::Read } else { Direction::Write };
        let bytes = self.size();
        self.step(data, direction, bytes);
        self.walk();
        let (meta, data, size) =
            (self.random.below(self.servers), self.random.below(self.servers), self.size());
        self.step(meta, Direction::Write, PAGE_BYTES);
        self.change_directory();
        if self.random.happens(0.5) {
            self.step(data, Direction::Write, size);
        }
    }

    fn walk(&mut self) {
        self.steps.push_back((self.root, None));
        self.steps.push_back((self.directory, None));
    }

    fn step(&mut self, server: usize, direction: Direction, bytes: u64) {
        self.steps.push_back((server, Some(Work { direction, bytes })));
    }

    fn change_directory(&mut self) {
        match self.random.happens(1.0 / CHANGES_A_WRITE) {
            true => self.step(self.directory, Direction::Write, PAGE_BYTES),
            false => self.steps.push_back((self.directory, None)),
        }
    }

    /// A file's size, in whole pages: that is what is written of it.
    fn size(&mut self) -> u64 {
        (self.random.between(SMALLEST, LARGEST) as u64).next_multiple_of(PAGE_BYTES)
    }

    /// Takes an answer.
    pub fn answer(&mut self, now: Micros) {
        self.waits = false;
        self.ready_at = now + self.random.wait(700.0) as Micros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_directory_hears_of_every_transaction_and_data_is_spread() {
        let mut client = PostmarkClient::new(0, 5, 2, 0, Random::of(4, &[]));
        client.directory = 1;
        let (mut heard, mut worked) = ([0; 5], [0_u64; 5]);
        for now in (0..40_000).map(|step| step * 100_000) {
            let mut orders = Vec::new();
            client.poll(now, &mut orders);
            for order in orders {
                heard[order.server] += 1;
                worked[order.server] += order.work.map_or(0, |work| work.bytes);
                client.answer(now);
            }
        }
        let (least, most) = (worked[3].min(worked[4]), worked[3].max(worked[4]));
        assert!(heard[2] > 3 * heard[3]);
        assert!(most * 10 < least * 12, "{worked:?}");
    }
}
