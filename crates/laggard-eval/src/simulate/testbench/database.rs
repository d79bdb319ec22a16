//! A server's metadata database: changes are logged immediately, and written to their places in batches.
//! In: orders, and pages that are written. Out: pages to write. Always: who asks while pages are put into their places
//! waits until all of them are.

use super::order::{Micros, Order, SECOND};
use laggard_core::model::random::Random;

/// How many changes share a page.
const CHANGES_A_PAGE: u64 = 5;
/// How long changes stay out of place.
const SHORTEST: f64 = 15.0 * SECOND as f64;
const LONGEST: f64 = 45.0 * SECOND as f64;
/// A change is at most this large; more is a file's data.
const LARGEST_CHANGE: u64 = 16 << 10;
/// The number of a server's own order to write a page.
const PAGE: u64 = u64::MAX - 1;

pub(super) struct Database {
    changes: u64,
    pages_left: u64,
    next: Micros,
    waiting: Vec<Order>,
    random: Random,
}

impl Database {
    pub(super) fn new(mut random: Random) -> Database {
        let next = random.between(0.0, LONGEST) as Micros;
        Database { changes: 0, pages_left: 0, next, waiting: Vec::new(), random }
    }

    /// True if an order has to wait; then it is kept.
    pub(super) fn keeps(&mut self, order: Order) -> bool {
        let is_busy = self.pages_left > 0;
        if is_busy {
            self.waiting.push(order);
        }
        is_busy
    }

    /// Takes note of an order that is carried out.
    pub(super) fn note(&mut self, order: &Order) {
        self.changes += u64::from(order.changes_at_most(LARGEST_CHANGE));
    }

    /// The first page to write, if it is time.
    pub(super) fn begin(&mut self, now: Micros) -> Option<Order> {
        if self.pages_left > 0 || now < self.next {
            return None;
        }
        self.next = now + self.random.between(SHORTEST, LONGEST) as Micros;
        self.pages_left = self.changes / CHANGES_A_PAGE;
        self.changes = 0;
        (self.pages_left > 0).then(page)
    }

    /// True for the database's own orders.
    pub(super) fn is_own(order: &Order) -> bool {
        order.number == PAGE
    }

    /// A page is written; gives the next one, or those who waited.
    pub(super) fn wrote(&mut self) -> Result<Order, Vec<Order>> {
        self.pages_left -= 1;
        if self.pages_left > 0 { Ok(page()) } else { Err(std::mem::take(&mut self.waiting)) }
    }
}

fn page() -> Order {
    Order { number: PAGE, ..Order::write(0, 0, 0, 4096) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> Database {
        Database::new(Random::of(1, &[]))
    }

    #[test]
    fn pages_are_put_into_place_one_by_one_while_others_wait() {
        let mut database = database();
        let change = Order::write(3, 0, 9, 4096);
        (0..11).for_each(|_| database.note(&change));
        assert!(!database.keeps(change));
        assert!(Database::is_own(&database.begin(100 * SECOND).unwrap()));
        assert!(database.keeps(change));
        assert!(database.wrote().is_ok());
        assert_eq!(database.wrote(), Err(vec![change]));
        assert!(!database.keeps(change));
    }

    #[test]
    fn large_writes_and_lookups_change_no_metadata() {
        let mut database = database();
        for order in [Order::write(0, 0, 1, 1 << 20), Order::lookup(0, 0, 2), Order::read(0, 0, 3, 4096)] {
            (0..100).for_each(|_| database.note(&order));
        }
        assert_eq!(database.begin(100 * SECOND), None);
    }
}
