//! A disk with one arm, behind an elevator with deadlines (Documentation/block/deadline-iosched.rst).

use laggard_core::model::random::Random;

use super::fault::Fault;
use super::hardware::DiskModel;
use super::request::{LARGEST, Micros, Operation, Request};

#[derive(Clone, Debug)]
pub(super) struct Hdd {
    model: DiskModel,
    nature: f64,
    /// In the order of arrival.
    queue: Vec<Request>,
    served: Option<(Request, Micros)>,
    /// The sector after the last one that was transferred.
    head: u64,
    /// Read batches since the last write.
    passed_over: u32,
}

const READ_EXPIRES_US: Micros = 500_000;
const WRITE_EXPIRES_US: Micros = 5_000_000;
const WRITES_STARVED: u32 = 2;
/// Sectors of a track: nearer ones pass under the head without a seek.
const TRACK: u64 = 2000;

impl Hdd {
    pub(super) fn new(model: DiskModel, nature: f64) -> Hdd {
        Hdd { model, nature, queue: Vec::new(), served: None, head: 0, passed_over: 0 }
    }

    /// True if the request was merged into one that waits.
    pub(super) fn offer(&mut self, request: Request, fault: Option<&Fault>, random: &mut Random) -> bool {
        let fits = |waiting: &Request| {
            waiting.operation == request.operation
                && waiting.end() == request.position
                && waiting.sectors + request.sectors <= LARGEST
                && request.operation != Operation::Flush
        };
        // The newest ones are where a continuation is; the kernel looks them up by a hash.
        if let Some(waiting) = self.queue.iter_mut().rev().take(16).find(|waiting| fits(waiting)) {
            waiting.sectors += request.sectors;
            waiting.merged += 1 + request.merged;
            return true;
        }
        self.queue.push(request);
        if self.served.is_none() {
            self.dispatch(request.arrival, fault, random);
        }
        false
    }

    pub(super) fn next_completion(&self) -> Option<Micros> {
        self.served.map(|(_, finish)| finish)
    }

    pub(super) fn complete(
        &mut self,
        fault: Option<&Fault>,
        random: &mut Random,
    ) -> Option<(Request, Micros)> {
        let (request, finish) = self.served.take()?;
        self.dispatch(finish, fault, random);
        Some((request, finish))
    }

    fn dispatch(&mut self, now: Micros, fault: Option<&Fault>, random: &mut Random) {
        let Some(at) = self.choose(now) else { return };
        let request = self.queue.remove(at);
        let service_us = self.service_us(&request, random) * self.nature;
        let is_read = request.operation == Operation::Read;
        let finish = match fault {
            Some(fault) => fault.finish(now, service_us, is_read, random),
            None => now + service_us as Micros,
        };
        if request.operation != Operation::Flush {
            self.head = request.end();
        }
        self.served = Some((request, finish.max(now + 1)));
    }

    /// An expired request first, then reads before writes, in the direction of the arm.
    fn choose(&mut self, now: Micros) -> Option<usize> {
        let is_expired = |request: &Request| {
            let limit = if request.operation == Operation::Read { READ_EXPIRES_US } else { WRITE_EXPIRES_US };
            now.saturating_sub(request.arrival) > limit
        };
        if let Some(at) = self.queue.iter().position(is_expired) {
            return Some(at);
        }
        let has =
            |read: bool| self.queue.iter().any(|request| (request.operation == Operation::Read) == read);
        let takes_reads = has(true) && (self.passed_over < WRITES_STARVED || !has(false));
        self.passed_over = if takes_reads && has(false) { self.passed_over + 1 } else { 0 };
        let distance = |request: &Request| request.position.wrapping_sub(self.head);
        let of_direction = self
            .queue
            .iter()
            .enumerate()
            .filter(|(_, request)| (request.operation == Operation::Read) == takes_reads);
        of_direction.min_by_key(|(_, request)| distance(request)).map(|(at, _)| at)
    }

    fn service_us(&self, request: &Request, random: &mut Random) -> f64 {
        let DiskModel { bandwidth, seek_us, turn_us, sectors, .. } = self.model;
        if request.operation == Operation::Flush {
            return turn_us * random.between(0.5, 1.8);
        }
        let place = request.position as f64 / sectors as f64;
        // The innermost zone is half as fast as the outermost.
        let transfer_us = 1e6 * 512.0 * f64::from(request.sectors) / (bandwidth * (1.0 - 0.5 * place));
        let distance = request.position.abs_diff(self.head);
        let positioning_us = if distance == 0 {
            60.0
        } else if distance < TRACK {
            turn_us * distance as f64 / TRACK as f64
        } else {
            let share = distance as f64 / sectors as f64;
            seek_us.0 + seek_us.1 * share.sqrt() + turn_us * random.share()
        };
        positioning_us + transfer_us
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.served = None;
    }
}
