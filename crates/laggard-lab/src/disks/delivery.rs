//! Hands answers out when their time has come.

use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// What is to be done at its time.
type Deed = Box<dyn FnOnce() + Send>;

/// One thread that does deeds when they are due.
#[derive(Clone)]
pub struct Delivery(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<BinaryHeap<Due>>,
    changed: Condvar,
}

struct Due {
    at: Instant,
    /// Those of one instant go out in the order they came in.
    number: u64,
    deed: Deed,
}

impl Delivery {
    /// Starts the thread, which lasts as long as the process.
    pub fn start() -> std::io::Result<Delivery> {
        let delivery = Delivery(Arc::default());
        let shared = delivery.0.clone();
        std::thread::Builder::new().name("delivery".into()).spawn(move || shared.run())?;
        Ok(delivery)
    }

    /// Does something at its time; at once if that has passed.
    pub fn at(&self, at: Instant, deed: Deed) {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = waiting.iter().map(|due| due.number).max().map_or(0, |last| last + 1);
        waiting.push(Due { at, number, deed });
        self.0.changed.notify_one();
    }
}

impl Shared {
    fn run(&self) {
        loop {
            (self.next().deed)();
        }
    }

    /// Waits for the next one that is due.
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
    /// The heap gives its greatest: that is the earliest.
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
    fn what_is_due_first_goes_first() {
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
