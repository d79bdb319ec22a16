//! `laggard record`: samples this host.

mod facts;
mod record_loop;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use laggard_core::model::time::Span;
use laggard_sources::live::clock::Schedule;
use laggard_sources::live::connection::Filter;
use laggard_sources::live::facts::FactsOptions;
use laggard_sources::live::host;
use laggard_sources::live::prefix::Prefix;
use laggard_sources::live::sampler::{Options, Sampler};
use laggard_sources::live::selection::Selection;
use laggard_sources::live::source::SourceId;
use laggard_sources::live::traffic::Bounds;
use laggard_store::origin::RECORDER;
use laggard_store::{Dataset, Origin, Retention};

use facts::FactsThread;
use record_loop::{Recording, Summary};

use crate::arguments::{positive_span, size};
use crate::failure::{Done, Lacking, Outcome, TooPoor, tell};
use crate::output;

/// Record this host: disks, interfaces, TCP links, pressure.
///
/// Samples are taken at multiples of the interval since 1970, so that those of different hosts are comparable. laggard
/// records the kernel's counters, not rates. Stop with Ctrl-C or SIGTERM.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard record -o /var/lib/laggard
  laggard record -o data --every 100ms --for 30s --devices 'sd*'
  laggard record -o data --netns oss3 --host oss3 --ports 24007,49152
  laggard record -o data --keep 14d --keep-bytes 20GiB")]
pub(crate) struct Record {
    /// The dataset: a folder, created if it does not exist.
    #[arg(short, long, value_name = "DATASET")]
    out: String,
    /// The interval between samples, from 100ms to 1h.
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = positive_span)]
    every: Span,
    /// Stop after this time. Default: never.
    #[arg(long = "for", value_name = "SPAN", value_parser = positive_span)]
    duration: Option<Span>,
    /// The name of this host in the dataset. Default: its host name.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Read this folder instead of /proc, without TCP connections.
    #[arg(long, value_name = "DIR", default_value = "/proc")]
    procfs: PathBuf,
    /// Read this folder instead of /sys. Default: /sys, or nothing if --procfs is a copy.
    #[arg(long, value_name = "DIR")]
    sysfs: Option<PathBuf>,
    /// Record the network of this namespace.
    #[arg(long, value_name = "NAME")]
    netns: Option<String>,
    /// Record only block devices whose name matches. Default: whole disks that have done any I/O.
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    devices: Vec<String>,
    /// Record only interfaces whose name matches. Default: all but lo.
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    interfaces: Vec<String>,
    /// Record only TCP connections with one of these ports, at either end.
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    ports: Vec<u16>,
    /// Record only TCP connections with these remote addresses, such as 198.18.0.7 or 198.18.0.0/15.
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    peers: Vec<Prefix>,
    /// Also record TCP connections that do not leave the host.
    #[arg(long)]
    loopback: bool,
    /// The number of TCP connections to record individually. All are included in the totals of their link.
    #[arg(long, value_name = "N", default_value_t = Bounds::default().sockets)]
    sockets: usize,
    /// Do not read this source.
    #[arg(long, value_name = "SOURCE", value_delimiter = ',', value_parser = SourceId::ALL.map(SourceId::name))]
    without: Vec<String>,
    /// The interval between writes to disk. A `kill -9` loses at most this much.
    #[arg(long, value_name = "SPAN", default_value = "5s", value_parser = positive_span)]
    flush: Span,
    /// Remove sealed files older than this. Default: keep all.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    keep: Option<Span>,
    /// Remove the oldest sealed files when the dataset exceeds this size. Default: keep all.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    keep_bytes: Option<u64>,
    /// Print only errors.
    #[arg(long, short)]
    quiet: bool,
}

impl Record {
    pub(crate) fn run(self) -> Outcome {
        let summary = self.record()?;
        if !summary.is_complete() {
            return Ok(Done::WithErrors);
        }
        if summary.components == 0 {
            bail!(self.nothing(&summary));
        }
        if !self.quiet {
            summary.tell(&self.out);
        }
        Ok(Done::Well)
    }

    fn record(&self) -> anyhow::Result<Summary> {
        let host = self.host_name()?;
        let schedule = Schedule::new(self.every)?;
        let sampler = Sampler::new(self.options(&host)?).map_err(|error| Lacking(error.to_string()))?;
        let retention = Retention { max_age: self.keep, max_bytes: self.keep_bytes };
        let folder = self.folder()?;
        let recording =
            Recording::start(&folder, self.origin(&host), sampler, schedule, self.flush, retention)?;
        let facts = self.facts_options().map(|options| FactsThread::start(&folder, &host, options));
        let _facts = facts.transpose().context("the thread for host facts")?;
        recording.run(self.duration, self.quiet)
    }

    /// A live tail is appended to, which object stores do not support.
    fn folder(&self) -> anyhow::Result<PathBuf> {
        let dataset = Dataset::open(&self.out)?;
        let next = "record into a folder and copy its .parquet files there";
        let remote = || anyhow!("{}: an object store does not support appending: {next}", self.out);
        dataset.folder().map(Path::to_owned).ok_or_else(remote)
    }

    fn nothing(&self, summary: &Summary) -> TooPoor {
        let why = match summary.clock.ticks {
            0 => {
                format!("that time contains no multiple of {}: record for longer, or more often", self.every)
            }
            _ => format!(
                "nothing in {} matches: check --devices, --interfaces and --procfs",
                self.procfs.display()
            ),
        };
        TooPoor(format!("nothing was recorded: {why}"))
    }

    fn host_name(&self) -> anyhow::Result<String> {
        if !self.procfs.is_dir() {
            bail!("{}: not a folder: --procfs needs /proc or a copy of it", self.procfs.display());
        }
        let unknown = || anyhow!("{}: contains no host name: set one with --host", self.procfs.display());
        let name = self.host.clone().or_else(|| host::name(&self.procfs)).ok_or_else(unknown)?;
        if name.trim().is_empty() {
            bail!("the host name is empty: set one with --host");
        }
        Ok(name)
    }

    fn options(&self, host: &str) -> anyhow::Result<Options> {
        let is_live = self.procfs == *"/proc";
        let filter = Filter { ports: self.ports.clone(), peers: self.peers.clone(), loopback: self.loopback };
        let bounds = Bounds { sockets: self.sockets, ..Bounds::default() };
        Ok(Options {
            host: host.into(),
            procfs: self.procfs.clone(),
            devices: Selection::of(&self.devices).context("--devices")?,
            interfaces: Selection::of(&self.interfaces).context("--interfaces")?,
            sockets: is_live.then_some((filter, bounds)),
            netns: self.netns.clone(),
            without: self.without.iter().filter_map(|name| SourceId::named(name)).collect(),
        })
    }

    /// None if nothing describes the host.
    fn facts_options(&self) -> Option<FactsOptions> {
        let is_live = self.procfs == *"/proc" && self.sysfs.is_none();
        let sysfs = self.sysfs.clone().or_else(|| is_live.then(|| "/sys".into()))?;
        Some(FactsOptions { sysfs, procfs: self.procfs.clone(), netns: self.netns.clone(), is_live })
    }

    fn origin(&self, host: &str) -> Origin {
        Origin {
            host: host.into(),
            every: Some(self.every),
            wraps_at_32_bits: host::wraps_at_32_bits(&self.procfs),
            source: RECORDER.into(),
        }
    }
}

impl Summary {
    fn tell(&self, out: &str) {
        let ticks = output::count(self.clock.ticks, "sample");
        let missed =
            if self.clock.missed > 0 { format!(", {} missed", self.clock.missed) } else { String::new() };
        let components = output::count(self.components as u64, "component");
        tell(format_args!("{out}: {ticks} of {components}{missed}, {}", output::bytes(self.bytes)));
        tell(format_args!("next: laggard tables {out}; laggard show {out} await"));
    }
}
