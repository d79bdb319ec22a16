//! Reads every source of the live host at a tick, and keeps their statistics.

use std::path::{Path, PathBuf};
use std::time::Instant;

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Uptime};
use laggard_core::samples::{ABSENT, RawTable};

use super::account::{Account, Report};
use super::clock::{ClockAccount, Moment};
use super::connection::Filter;
use super::diskstats::Diskstats;
use super::host;
use super::net_dev::NetDev;
use super::netns::{self, NetnsError};
use super::pressure::Pressure;
use super::selection::Selection;
use super::snmp::Snmp;
use super::sockets::Sockets;
use super::source::{Source, SourceId};
use super::traffic::Bounds;

#[derive(Clone, Debug)]
pub struct Options {
    /// The first part of every component's name.
    pub host: String,
    /// `/proc`, or a copy of it.
    pub procfs: PathBuf,
    pub devices: Selection,
    pub interfaces: Selection,
    /// None if `procfs` is a copy: connections come from the running kernel.
    pub sockets: Option<(Filter, Bounds)>,
    /// A name or a path; default: the namespace of the caller.
    pub netns: Option<String>,
    pub without: Vec<SourceId>,
}

/// Statistics are recorded at least this often.
const ACCOUNTS_EVERY: Span = Span::from_seconds(60);

/// Must be used on the thread that created it: only that thread is in the network namespace.
pub struct Sampler {
    host: String,
    sources: Vec<(Box<dyn Source>, Account)>,
    buffer: Vec<u8>,
    reports: Vec<Report>,
    accounts: RawTable,
    accounted: Option<(Uptime, ClockAccount)>,
    has_changes: bool,
}

impl Sampler {
    /// Moves the calling thread into the network namespace, if one is named.
    pub fn new(options: Options) -> Result<Sampler, NetnsError> {
        if let Some(name) = &options.netns {
            netns::enter(name)?;
        }
        let accounts = RawTable::new(Schema::named("recorder").expect("the recorder's schema exists"));
        let with_account = |source: Box<dyn Source>| {
            let account = Account::new(source.id());
            (source, account)
        };
        Ok(Sampler {
            sources: sources(&options).into_iter().map(with_account).collect(),
            host: options.host,
            buffer: Vec::new(),
            reports: Vec::new(),
            accounts,
            accounted: None,
            has_changes: false,
        })
    }

    /// Replaces the rows.
    pub fn sample(&mut self, at: Moment) {
        for (source, account) in &mut self.sources {
            let begin = Instant::now();
            let outcome = source.read(at, &mut self.buffer);
            let rows = source.tables().iter().map(RawTable::len).sum();
            let report = account.book(outcome, begin.elapsed(), rows, source.left_out());
            self.has_changes |= report.is_some();
            self.reports.extend(report);
        }
    }

    /// The rows of the last sample, without empty tables.
    pub fn tables(&self) -> impl Iterator<Item = &RawTable> {
        let all = self.sources.iter().flat_map(|(source, _)| source.tables());
        all.filter(|table| !table.is_empty())
    }

    /// New messages since the last call.
    pub fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.sources.iter().map(|(_, account)| account)
    }

    /// True once per minute, and after a failure.
    pub fn accounts_due(&self, at: Moment, clock: ClockAccount) -> bool {
        let Some((since, before)) = self.accounted else { return true };
        let is_wrong =
            self.has_changes || clock.missed > before.missed || clock.clock_steps > before.clock_steps;
        is_wrong || at.uptime.micros() - since.micros() >= ACCOUNTS_EVERY.micros()
    }

    /// The rows of the recorder itself: its clock, and each source.
    pub fn account(&mut self, at: Moment, clock: ClockAccount) -> &RawTable {
        self.accounted = Some((at.uptime, clock));
        self.has_changes = false;
        self.accounts.clear();
        let cpu_us = host::cpu_time().micros().unsigned_abs();
        let ClockAccount { ticks, missed, late_us, clock_steps } = clock;
        let row = [ticks, missed, late_us, clock_steps, ABSENT, ABSENT, ABSENT, ABSENT, cpu_us];
        push(&mut self.accounts, &self.host, "clock", at, row);
        for (_, account) in &self.sources {
            let Account { source, failures, read_us, rows, left_out, .. } = *account;
            let row = [ABSENT, ABSENT, ABSENT, ABSENT, failures, read_us, rows, left_out, ABSENT];
            push(&mut self.accounts, &self.host, source.name(), at, row);
        }
        &self.accounts
    }
}

fn push(table: &mut RawTable, host: &str, source: &str, at: Moment, row: [u64; 9]) {
    let number = table.number(&component::recorder(host, source));
    table.push_counts(at.time, Some(at.uptime), number, &row);
}

fn sources(options: &Options) -> Vec<Box<dyn Source>> {
    let Options { host, procfs, devices, interfaces, sockets, .. } = options;
    let net = net_folder(procfs);
    let mut sources: Vec<Box<dyn Source>> = vec![
        Box::new(Diskstats::new(procfs, host, devices.clone())),
        Box::new(NetDev::new(&net, host, interfaces.clone())),
        Box::new(Snmp::new(&net, host)),
        Box::new(Pressure::new(procfs, host)),
    ];
    if let Some((filter, bounds)) = sockets {
        sources.push(Box::new(Sockets::new(host, filter.clone(), *bounds)));
    }
    sources.retain(|source| !options.without.contains(&source.id()));
    sources
}

/// `/proc/net` shows the namespace of the process's first thread; this thread may be in another.
pub(super) fn net_folder(procfs: &Path) -> PathBuf {
    let of_thread = procfs.join("thread-self/net");
    if of_thread.exists() { of_thread } else { procfs.join("net") }
}
