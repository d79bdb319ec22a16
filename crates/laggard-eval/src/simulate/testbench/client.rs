//! A client of a workload of large files: it issues a record to all servers and waits for the slowest.
//! In: answers, and the time. Out: orders. Always: no more records under way than the file system allows, and no
//! phase begins before the one before it has ended.

use std::collections::VecDeque;

use super::order::{Direction, Micros, Order};
use super::workload::Bulk;
use laggard_core::model::random::Random;

pub(super) struct BulkClient {
    number: usize,
    bulk: Bulk,
    /// Servers; parts of a record that are still to be answered.
    servers: usize,
    under_way: VecDeque<(u64, usize)>,
    next_record: u64,
    ready_at: Micros,
    phase: usize,
    /// Bytes of the phase that were issued.
    issued: u64,
    /// Where its file begins in the round of stripes.
    first_offset: u64,
    syncing: bool,
    /// Bytes that were answered.
    pub answered_bytes: u64,
    random: Random,
}

impl BulkClient {
    pub(super) fn new(
        number: usize,
        servers: usize,
        bulk: Bulk,
        starts: Micros,
        mut random: Random,
    ) -> BulkClient {
        let first_offset = random.below(servers) as u64 * bulk.stripe_bytes;
        let ready_at = starts + random.below(800_000) as Micros;
        BulkClient {
            number,
            bulk,
            servers,
            under_way: VecDeque::new(),
            next_record: 0,
            ready_at,
            phase: 0,
            issued: 0,
            first_offset,
            syncing: false,
            answered_bytes: 0,
            random,
        }
    }

    /// Adds its new orders.
    pub(super) fn poll(&mut self, now: Micros, orders: &mut Vec<Order>) {
        while now >= self.ready_at && self.may_issue() {
            self.issue(orders);
            self.ready_at = now + self.pause();
        }
        if self.phase_is_over() && self.under_way.is_empty() && !self.syncing {
            self.end_phase(orders);
        }
    }

    fn may_issue(&self) -> bool {
        self.phase < self.bulk.phases.len()
            && !self.phase_is_over()
            && !self.syncing
            && self.under_way.len() < self.bulk.ahead
    }

    fn phase_is_over(&self) -> bool {
        self.bulk.phases.get(self.phase).is_some_and(|phase| self.issued >= phase.bytes)
    }

    fn issue(&mut self, orders: &mut Vec<Order>) {
        let Some(phase) = self.bulk.phases.get(self.phase) else { return };
        let (client, number) = (self.number, self.next_record);
        let parts = self.bulk.stripe(self.first_offset + self.issued, self.servers);
        let order = |(server, bytes): (usize, u64)| match phase.direction {
            Direction::Read => Order::read(client, server, number, bytes),
            _ => Order::write(client, server, number, bytes),
        };
        let before = orders.len();
        orders.extend(parts.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0).map(order));
        self.under_way.push_back((number, orders.len() - before));
        self.next_record += 1;
        self.issued = self.issued.saturating_add(self.bulk.record_bytes);
    }

    fn pause(&mut self) -> Micros {
        let us = self.bulk.record_bytes as f64 / self.bulk.bytes_per_us;
        (us * self.random.between(0.5, 1.5)) as Micros
    }

    fn end_phase(&mut self, orders: &mut Vec<Order>) {
        if !self.bulk.phases[self.phase].syncs {
            self.next_phase();
            return;
        }
        let (client, number) = (self.number, self.next_record);
        orders.extend((0..self.servers).map(|server| Order::sync(client, server, number)));
        self.under_way.push_back((number, self.servers));
        self.next_record += 1;
        self.syncing = true;
    }

    fn next_phase(&mut self) {
        self.phase += 1;
        self.issued = 0;
        self.syncing = false;
    }

    pub(super) fn answer(&mut self, order: &Order, now: Micros) {
        self.answered_bytes += order.work.map_or(0, |work| work.bytes);
        let Some(at) = self.under_way.iter().position(|(record, _)| *record == order.number) else { return };
        self.under_way[at].1 -= 1;
        if self.under_way[at].1 > 0 {
            return;
        }
        self.under_way.remove(at);
        self.ready_at = self.ready_at.max(now + self.pause());
        if self.syncing {
            self.next_phase();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::testbench::workload::{System, Workload};

    fn client(system: System) -> BulkClient {
        let bulk = Workload::Iozonew.bulk(system, 1.0, 1).unwrap();
        BulkClient::new(0, 4, bulk, 0, Random::of(1, &[]))
    }

    #[test]
    fn a_client_waits_for_the_slowest_server() {
        let (mut client, mut orders) = (client(System::Pvfs), Vec::new());
        client.poll(10_000_000, &mut orders);
        assert_eq!(orders.len(), 4);
        orders[..3].iter().for_each(|order| client.answer(order, 10_000_000));
        let mut more = Vec::new();
        client.poll(20_000_000, &mut more);
        assert_eq!(more, []);
        client.answer(&orders[3], 20_000_000);
        client.poll(30_000_000, &mut more);
        assert_eq!(more.len(), 4);
    }

    #[test]
    fn a_phase_ends_with_a_sync_of_every_server() {
        let (mut client, mut now) = (client(System::Lustre), 0);
        let mut log = Vec::new();
        for _ in 0..100 {
            now += 1_000_000;
            let mut orders = Vec::new();
            client.poll(now, &mut orders);
            orders.iter().for_each(|order| client.answer(order, now));
            log.extend(orders.iter().filter_map(|order| order.work).map(|work| work.direction));
        }
        assert_eq!(log.iter().filter(|d| **d == Direction::Flush).count(), 8);
        assert_eq!(log.last(), Some(&Direction::Flush));
    }
}
