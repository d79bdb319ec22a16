//! Runs actions at their time.

use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

type Action = Box<dyn FnOnce() + Send>;

/// A thread that runs actions when they are due.
#[derive(Clone)]
pub(super) struct Delivery(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<BinaryHeap<Due>>,
    changed: Condvar,
}

struct Due {
    at: Instant,
    /// Actions of the same instant run in the order in which they were added.
    number: u64,
    action: Action,
}

impl Delivery {
    /// Starts the thread, which runs until the process ends.
    pub(super) fn start() -> std::io::Result<Delivery> {
        let delivery = Delivery(Arc::default());
        let shared = delivery.0.clone();
        std::thread::Builder::new().name("delivery".into()).spawn(move || shared.run())?;
        Ok(delivery)
    }

    /// Runs an action at its time; immediately if that has passed.
    pub(super) fn at(&self, at: Instant, action: Action) {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = waiting.iter().map(|due| due.number).max().map_or(0, |last| last + 1);
        waiting.push(Due { at, number, action });
        self.0.changed.notify_one();
    }
}

impl Shared {
    fn run(&self) {
        loop {
            (self.next().action)();
        }
    }

    /// Waits for the next action that is due.
    fn next(&self) -> Due {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = Instant::now();
            waiting = match waiting.peek().map(|due| due.at.saturating_duration_since(now)) {
                None => self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => match waiting.pop() {
                    Some(due) => return due,
                    None => waiting,
                },
                Some(left) => {
                    self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Ord for Due {
    /// The heap returns its greatest element, which must be the earliest.
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn actions_run_in_the_order_of_their_times() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let delivery = Delivery::start().unwrap();
        let now = Instant::now();
        for (millis, word) in [(30, "last"), (10, "first"), (20, "second"), (20, "third")] {
            let sender = sender.clone();
            delivery.at(now + Duration::from_millis(millis), Box::new(move || sender.send(word).unwrap()));
        }
        let order: Vec<&str> = receiver.iter().take(4).collect();
        assert_eq!(order, ["first", "second", "third", "last"]);
        assert!(now.elapsed() >= Duration::from_millis(30));
    }
}
