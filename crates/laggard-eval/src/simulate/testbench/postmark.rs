//! A client of PostMark: transactions on many small files, one step after another.
//! In: answers, and the time. Out: orders. Always: a step begins when all servers have answered the one before.
//!
//! A file's data lies on one server and its metadata on another, which PVFS takes in turn; but every server has an
//! object for its data, so all of them are asked how large a file is, and told to remove it. Every path begins at the
//! root directory, so the server of that one hears of every transaction; then comes the client's own directory. Names and attributes are in memory; changes of metadata are written. Lustre keeps names and attributes
//! on a server of their own.

use std::collections::VecDeque;

use super::order::{Direction, Micros, Order, Work};
use super::workload::System;
use laggard_core::model::random::Random;

/// A page of a database of metadata.
const PAGE_BYTES: u64 = 4096;
/// Changes of one directory are written together; one in this many causes a write.
const CHANGES_A_WRITE: f64 = 5.0;
/// PostMark's default sizes of files.
const SMALLEST: f64 = 500.0;
const LARGEST: f64 = 9770.0;
/// The pause of a client between two steps, and the time of a request to Lustre's metadata server.
const OWN_US: f64 = 700.0;
const ELSEWHERE_US: f64 = 2000.0;

/// Concurrent requests of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    One(usize, Option<Work>),
    /// Every server, of its part of a file.
    All,
    /// A server that is not one of ours.
    Elsewhere,
}

pub(super) struct PostmarkClient {
    number: usize,
    servers: usize,
    root: usize,
    directory: usize,
    system: System,
    steps: VecDeque<Step>,
    next_order: u64,
    unanswered: usize,
    ready_at: Micros,
    /// Where the data and the metadata of the next file will lie.
    next_file: usize,
    pub transactions: u64,
    random: Random,
}

impl PostmarkClient {
    /// `root` is the server of the root directory.
    pub(super) fn new(
        number: usize,
        servers: usize,
        root: usize,
        system: System,
        starts: Micros,
        mut random: Random,
    ) -> PostmarkClient {
        let directory = random.below(servers);
        let ready_at = starts + random.below(800_000) as Micros;
        PostmarkClient {
            number,
            servers,
            root,
            directory,
            system,
            steps: VecDeque::new(),
            next_order: 0,
            unanswered: 0,
            ready_at,
            next_file: random.below(servers),
            transactions: 0,
            random,
        }
    }

    /// Adds its new orders.
    pub(super) fn poll(&mut self, now: Micros, orders: &mut Vec<Order>) {
        if self.unanswered > 0 || now < self.ready_at {
            return;
        }
        if self.steps.is_empty() {
            self.plan();
            self.transactions += 1;
        }
        let before = orders.len();
        match self.steps.pop_front() {
            Some(Step::One(server, work)) => orders.push(self.order(server, work)),
            Some(Step::All) => orders.extend((0..self.servers).map(|server| self.order(server, None))),
            Some(Step::Elsewhere) => self.ready_at = now + self.random.wait(ELSEWHERE_US) as Micros,
            None => {}
        }
        self.unanswered = orders.len() - before;
        self.next_order += 1;
    }

    fn order(&self, server: usize, work: Option<Work>) -> Order {
        let mut order = Order::lookup(self.number, server, self.next_order);
        if let Some(work) = work {
            order.work = Some(work);
            order.answer_bytes += if work.direction == Direction::Read { work.bytes } else { 0 };
        }
        order
    }

    /// A transaction: read or append to a file, and create or delete one.
    fn plan(&mut self) {
        self.find();
        let (file, bytes) = (self.random.below(self.servers), self.size());
        let direction = if self.random.happens(0.5) { Direction::Read } else { Direction::Write };
        self.work(file, direction, bytes);
        self.walk();
        if self.random.happens(0.5) { self.create() } else { self.delete() }
    }

    fn create(&mut self) {
        let (file, bytes) = (self.next_file, self.size());
        self.next_file = (file + 1) % self.servers;
        self.change(file + 1);
        self.work(file, Direction::Write, bytes);
    }

    fn delete(&mut self) {
        let file = self.random.below(self.servers);
        self.steps.push_back(Step::All);
        self.change(file + 1);
    }

    /// The way to a file, and its attributes.
    fn find(&mut self) {
        self.walk();
        self.steps.push_back(Step::All);
    }

    fn walk(&mut self) {
        match self.system {
            System::Pvfs => {
                self.steps.extend([Step::One(self.root, None), Step::One(self.directory, None)]);
            }
            System::Lustre => self.steps.push_back(Step::Elsewhere),
        }
    }

    fn work(&mut self, server: usize, direction: Direction, bytes: u64) {
        self.steps.push_back(Step::One(server, Some(Work { direction, bytes })));
    }

    /// Writes a file's metadata, and its name.
    fn change(&mut self, place: usize) {
        if self.system == System::Lustre {
            self.steps.push_back(Step::Elsewhere);
            return;
        }
        self.work(place % self.servers, Direction::Write, PAGE_BYTES);
        match self.random.happens(1.0 / CHANGES_A_WRITE) {
            true => self.work(self.directory, Direction::Write, PAGE_BYTES),
            false => self.steps.push_back(Step::One(self.directory, None)),
        }
    }

    /// A file's size, in whole pages: that is what is written of it.
    fn size(&mut self) -> u64 {
        (self.random.between(SMALLEST, LARGEST) as u64).next_multiple_of(PAGE_BYTES)
    }

    pub(super) fn answer(&mut self, now: Micros) {
        self.unanswered -= 1;
        self.ready_at = now + self.random.wait(OWN_US) as Micros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many orders each server hears, and the bytes of its work, in `transactions` transactions.
    fn heard(system: System, transactions: u64) -> ([u64; 5], [u64; 5]) {
        let mut client = PostmarkClient::new(0, 5, 2, system, 0, Random::of(4, &[]));
        client.directory = 1;
        let (mut heard, mut worked, mut now) = ([0; 5], [0; 5], 0);
        while client.transactions < transactions {
            let mut orders = Vec::new();
            client.poll(now, &mut orders);
            for order in orders {
                heard[order.server] += 1;
                worked[order.server] += order.work.map_or(0, |work| work.bytes);
                client.answer(now);
            }
            now += 100_000;
        }
        (heard, worked)
    }

    #[test]
    fn the_root_directory_hears_of_every_transaction_and_data_is_spread() {
        let (heard, worked) = heard(System::Pvfs, 3000);
        assert!(heard[2] > 3 * heard[3] / 2, "{heard:?}");
        let (least, most) = (worked[3].min(worked[4]), worked[3].max(worked[4]));
        assert!(most * 100 < least * 108, "{worked:?}");
    }

    #[test]
    fn all_servers_are_asked_of_a_file_and_lustre_has_another_one_for_names() {
        let (heard, _) = heard(System::Lustre, 3000);
        let (least, most) = (heard.iter().min().unwrap(), heard.iter().max().unwrap());
        assert!(*least > 4000 && most * 100 < least * 105, "{heard:?}");
    }
}
