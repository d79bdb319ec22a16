//! The counters of a block device, as the kernel keeps them (Documentation/admin-guide/iostats.rst).
//! Always: a request is counted when it completes, once, with the time since its arrival; merged requests are counted
//! apart; the device is busy while at least one request is in flight.

use laggard_core::samples::ABSENT;

use super::request::{Micros, Operation, Request};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DiskCounters {
    pub reads: Flow,
    pub writes: Flow,
    pub flushes: Flow,
    pub in_flight: u64,
    /// Time with requests in flight, up to `accounted`.
    busy_us: u64,
    /// The integral of `in_flight` over time, up to `accounted`.
    waiting_us: u64,
    accounted: Micros,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flow {
    pub count: u64,
    pub merged: u64,
    pub sectors: u64,
    pub time_us: u64,
}

impl DiskCounters {
    /// Totals from before the recording. They differ between hosts, so 32-bit counters wrap at any time.
    pub(super) fn with_history(reads: Flow, writes: Flow) -> DiskCounters {
        let busy_us = (reads.time_us + writes.time_us) / 2;
        let waiting_us = reads.time_us + writes.time_us;
        DiskCounters { reads, writes, busy_us, waiting_us, ..DiskCounters::default() }
    }

    pub(super) fn account(&mut self, now: Micros) {
        let passed = now.saturating_sub(self.accounted);
        if self.in_flight > 0 {
            self.busy_us += passed;
            self.waiting_us += passed * self.in_flight;
        }
        self.accounted = self.accounted.max(now);
    }

    pub(super) fn arrive(&mut self, now: Micros) {
        self.account(now);
        self.in_flight += 1;
    }

    pub(super) fn complete(&mut self, request: &Request, now: Micros) {
        self.account(now);
        self.in_flight = self.in_flight.saturating_sub(1);
        let flow = match request.operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Flush => &mut self.flushes,
        };
        flow.count += 1;
        flow.merged += u64::from(request.merged);
        flow.sectors += u64::from(request.sectors);
        flow.time_us += now - request.arrival;
    }

    pub(super) fn busy_us(&self) -> u64 {
        self.busy_us
    }

    /// A row of the table `disk`. Since Linux 5.0 the weighted time is the sum of the times of completed requests; before,
    /// it was the integral of the requests in flight.
    pub(super) fn row(&self, is_old_kernel: bool) -> [u64; 18] {
        let DiskCounters { reads, writes, flushes, .. } = self;
        let sum_us = reads.time_us + writes.time_us + flushes.time_us;
        let weighted_us = if is_old_kernel { self.waiting_us } else { sum_us };
        let mut row = [0; 18];
        row[..4].copy_from_slice(&[reads.count, reads.merged, reads.sectors, milliseconds(reads.time_us)]);
        row[4..8].copy_from_slice(&[
            writes.count,
            writes.merged,
            writes.sectors,
            milliseconds(writes.time_us),
        ]);
        row[8..11].copy_from_slice(&[self.in_flight, milliseconds(self.busy_us), milliseconds(weighted_us)]);
        row[15..].copy_from_slice(&[flushes.count, milliseconds(flushes.time_us), ABSENT]);
        if is_old_kernel {
            row[11..17].fill(ABSENT);
        }
        row
    }

    /// A volume on top of this device: it counts bios, before they are merged.
    pub(super) fn stacked_row(&self, is_old_kernel: bool) -> [u64; 18] {
        let unmerged = |flow: &Flow| Flow {
            count: flow.count + flow.merged,
            merged: 0,
            time_us: flow.time_us + flow.time_us / flow.count.max(1) * flow.merged,
            ..*flow
        };
        let stacked =
            DiskCounters { reads: unmerged(&self.reads), writes: unmerged(&self.writes), ..self.clone() };
        stacked.row(is_old_kernel)
    }

    #[cfg(test)]
    pub(super) fn waiting_us(&self) -> u64 {
        self.waiting_us
    }
}

/// The kernel keeps milliseconds in 32 bits.
fn milliseconds(us: u64) -> u64 {
    (us / 1000) & 0xffff_ffff
}
