//! A disk of flash: channels that work in parallel behind one bus, with pauses for garbage collection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laggard_core::model::random::Random;

use super::fault::Fault;
use super::hardware::DiskModel;
use super::request::{Micros, Operation, Request};

#[derive(Clone, Debug)]
pub(super) struct Flash {
    model: DiskModel,
    nature: f64,
    /// When each channel is free.
    channels: Vec<Micros>,
    bus_us: Micros,
    served: BinaryHeap<Reverse<Served>>,
    arrivals: u64,
    /// Bytes to write until the next garbage collection.
    until_collection: f64,
}

#[derive(Clone, Copy, Debug)]
struct Served {
    finish: Micros,
    number: u64,
    request: Request,
}

impl PartialEq for Served {
    fn eq(&self, other: &Served) -> bool {
        (self.finish, self.number) == (other.finish, other.number)
    }
}

impl Eq for Served {}

impl PartialOrd for Served {
    fn partial_cmp(&self, other: &Served) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Served {
    fn cmp(&self, other: &Served) -> std::cmp::Ordering {
        (self.finish, self.number).cmp(&(other.finish, other.number))
    }
}

/// Sectors that a channel holds in a row.
const EXTENT: u64 = 32;
/// Bytes of a page.
const PAGE: f64 = 16_384.0;

impl Flash {
    pub(super) fn new(model: DiskModel, nature: f64, random: &mut Random) -> Flash {
        Flash {
            model,
            nature,
            channels: vec![0; model.channels],
            bus_us: 0,
            served: BinaryHeap::new(),
            arrivals: 0,
            until_collection: random.wait(model.collect_every),
        }
    }

    pub(super) fn offer(&mut self, request: Request, fault: Option<&Fault>, random: &mut Random) {
        let now = request.arrival;
        let (read_us, write_us) = self.model.page_us;
        let bytes = 512.0 * f64::from(request.sectors);
        let width = self.channels.len();
        let first = (request.position / EXTENT) as usize % width;
        // A large request is spread over all channels; the first one stands for them.
        let rounds = (bytes / PAGE / width as f64).max(1.0);
        let page_us = match request.operation {
            Operation::Read => read_us,
            Operation::Write => write_us,
            Operation::Flush => 6.0 * write_us,
        };
        let service_us = page_us * rounds * random.factor(0.25) * self.nature;
        let bus_us = 1e6 * bytes / self.model.bandwidth;
        let is_read = request.operation == Operation::Read;
        let (start, bus_start) = (now.max(self.channels[first]), now.max(self.bus_us));
        // A fault slows the bus as well; error recovery does not occupy it.
        let (done, bus_done) = match fault {
            Some(fault) => {
                (fault.finish(start, service_us + bus_us, is_read, random), fault.transfer(bus_start, bus_us))
            }
            None => (start + (service_us + bus_us) as Micros, bus_start + bus_us as Micros),
        };
        self.channels[first] = done;
        self.bus_us = bus_done;
        let finish = done.max(self.bus_us).max(now + 1);
        self.served.push(Reverse(Served { finish, number: self.arrivals, request }));
        self.arrivals += 1;
        if request.operation == Operation::Write {
            self.write(bytes, now, random);
        }
    }

    fn write(&mut self, bytes: f64, now: Micros, random: &mut Random) {
        self.until_collection -= bytes;
        if self.until_collection > 0.0 {
            return;
        }
        self.until_collection = random.wait(self.model.collect_every);
        // Usually some channels erase a block; rarely the whole drive rewrites its tables.
        let is_long = random.happens(0.02);
        for channel in &mut self.channels {
            if is_long || random.happens(0.4) {
                let pause_us = if is_long { random.between(20e3, 60e3) } else { random.wait(3_000.0) };
                *channel = (*channel).max(now) + pause_us as Micros;
            }
        }
    }

    pub(super) fn next_completion(&self) -> Option<Micros> {
        self.served.peek().map(|Reverse(served)| served.finish)
    }

    pub(super) fn complete(&mut self) -> Option<(Request, Micros)> {
        self.served.pop().map(|Reverse(served)| (served.request, served.finish))
    }

    pub(super) fn clear(&mut self) {
        self.served.clear();
        self.channels.fill(0);
    }
}
