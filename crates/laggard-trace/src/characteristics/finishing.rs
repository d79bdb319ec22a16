//! From what was gathered to what is told.

use super::Gatherer;
use super::extents::Streams;
use super::figures::{Activity, Characteristics, LayerFigures, Metadata, Quality, SyncFigures};
use super::layer::{Gathered, OpClass, state};
use super::members::Identity;
use super::sweep::Window;
use super::tally::Load;
use crate::linking::Unused;
use crate::model::{Footer, Header, HostId, Layer, MetaOp, Names, ObjectId};

/// What names are taken from.
pub struct Telling<'t> {
    /// Before the events.
    pub header: &'t Header,
    /// After the events.
    pub footer: &'t Footer,
    /// Objects and processes.
    pub names: &'t Names,
    /// Events that could not be used.
    pub unused: Unused,
    /// Lines of the file that could not be read.
    pub unread: u64,
    /// Whose requests count, in words.
    pub scope: String,
}

impl Gatherer {
    /// All characteristics; nothing more is gathered.
    pub fn finish(mut self, telling: &Telling) -> Characteristics {
        self.album.finish();
        let window = self.window;
        let charged = self.paths.charged_ns();
        let all_charged = charged.iter().sum::<u64>().max(1) as f64;
        let quality = quality(&self, telling);
        let mut boundaries = Vec::new();
        let mut layers: Vec<LayerFigures> = Vec::new();
        for gathered in self.layers.into_iter().flatten() {
            let lower = gathered.layer;
            let own = Layer::ALL.into_iter().zip(&gathered.boundaries);
            let own = own.filter_map(|(upper, boundary)| Some(boundary.as_ref()?.figures(upper, lower)));
            boundaries.extend(own.filter(|one| one.links > 0 || one.metadata_children > 0));
            let has_lower = self.captured.last().is_some_and(|last| *last > lower);
            let path_share = charged[lower as usize] as f64 / all_charged;
            let mut figures = layer(*gathered, &window, telling, has_lower, path_share);
            if let Some(above) = layers.last() {
                compare(&mut figures, above);
            } else {
                figures.link_rate = None;
            }
            layers.push(figures);
        }
        for one in &mut boundaries {
            one.concurrency_ratio = ratio(&layers, one.upper, one.lower);
        }
        Characteristics {
            from_ns: window.from_ns,
            to_ns: window.to_ns,
            seconds: window.length_ns() as f64 / 1e9,
            quality: Quality { disordered: layers.iter().map(|one| one.timing.disordered).sum(), ..quality },
            layers,
            boundaries,
            album: self.album,
        }
    }
}

/// What a layer is only with the one above.
fn compare(figures: &mut LayerFigures, above: &LayerFigures) {
    let data = above.data_requests();
    figures.metadata.per_data_above = (data > 0).then(|| figures.metadata.requests as f64 / data as f64);
    if figures.readahead_efficiency.is_some() {
        let read = |figures: &LayerFigures| figures.op(OpClass::Read).map_or(0.0, |load| load.bytes as f64);
        figures.readahead_efficiency = Some((read(above) / read(figures).max(1.0)).min(1.0));
    }
}

fn ratio(layers: &[LayerFigures], upper: Layer, lower: Layer) -> Option<f64> {
    let busy = |layer: Layer| {
        let load = &layers.iter().find(|one| one.layer == layer)?.load;
        Some(load.concurrency.busy_avg).filter(|busy| *busy > 0.0)
    };
    Some(busy(lower)? / busy(upper)?)
}

fn layer(
    gathered: Gathered,
    window: &Window,
    telling: &Telling,
    has_lower: bool,
    path_share: f64,
) -> LayerFigures {
    let which = gathered.layer;
    let by_op: Vec<(OpClass, Load)> = OpClass::ALL
        .into_iter()
        .zip(gathered.ops)
        .filter(|(_, tally)| tally.requests > 0)
        .map(|(class, tally)| (class, tally.load(window)))
        .collect();
    let load = gathered.all.load(window);
    let mut by_host: Vec<(u64, Load)> =
        gathered.hosts.into_iter().map(|(host, tally)| (host, tally.load(window))).collect();
    by_host.sort_by_key(|(host, _)| *host);
    let requests =
        |class: OpClass| by_op.iter().find(|(one, _)| *one == class).map_or(0, |(_, load)| load.requests);
    let data = requests(OpClass::Read) + requests(OpClass::Write);
    let of = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let sync_share =
        by_op.iter().find(|(one, _)| *one == OpClass::Sync).map_or(0.0, |(_, load)| load.busy_share);
    let meta = requests(OpClass::Meta);
    let read_bytes = by_op.iter().find(|(one, _)| *one == OpClass::Read).map_or(0, |(_, load)| load.bytes);
    // The order of ISSUE where most requests have one.
    let is_issued = 2 * gathered.issued.requests() >= gathered.admitted.requests();
    let runs = if is_issued { gathered.issued } else { gathered.admitted };
    let [read_streams, write_streams] = gathered.footprints.map(|footprint| footprint.streams());
    let own = gathered.own_footprint.streams();
    let linked = gathered.linked;
    LayerFigures {
        layer: which,
        class: which.class(),
        title: title(telling, which),
        little_error: little_error(&load, window),
        objects: gathered.objects.figures(|object| object_name(telling, object)),
        object_count: gathered.objects.count(),
        by_host: by_host.into_iter().map(|(host, load)| (host_name(telling, host as u16), load)).collect(),
        below: gathered.below.figures(window),
        max_per_thread: gathered.by_thread.most(),
        threads: gathered.by_thread.groups(),
        activity: activity(gathered.states.finish(window).lasted_ns, window),
        timing: gathered.timing.figures(),
        path_share,
        runs: runs.runs(),
        sharing: sharing(&own, &read_streams),
        read_streams,
        write_streams,
        members: gathered.members.figures(|identity| member_name(telling, identity)),
        burstiness: gathered.arrivals.figures(),
        errors: gathered.errors.figures(),
        metadata: Metadata {
            requests: meta,
            per_data: of(meta, data),
            per_data_above: None,
            by_op: metadata(&gathered.meta),
        },
        think_ns: gathered.think.summary(),
        sync: SyncFigures {
            per_data: of(requests(OpClass::Sync), data),
            per_write: of(requests(OpClass::Sync), requests(OpClass::Write)),
            time_share: sync_share,
        },
        misaligned: gathered.misaligned.figures(),
        apart: gathered.apart.figures(),
        cached_share: (has_lower && gathered.ended > 0).then(|| of(gathered.childless, gathered.ended)),
        readahead_efficiency: (gathered.ahead_bytes > 0).then(|| of(read_bytes, read_bytes)),
        link_rate: (linked[0] + linked[1] > 0).then(|| of(linked[1], linked[0] + linked[1])),
        left_out: gathered.left_out,
        partial: gathered.partial,
        course: gathered.series.course(window.to_ns),
        by_op,
        load,
    }
}

/// Bytes that processes ask for, each by itself, over bytes that all ask for.
fn sharing(own: &Streams, all: &Streams) -> Option<f64> {
    (own.unique_bytes > 0 && all.unique_bytes > 0).then(|| own.unique_bytes as f64 / all.unique_bytes as f64)
}

fn activity(lasted_ns: Vec<u64>, window: &Window) -> Activity {
    let share = |state: u32| {
        let lasted = lasted_ns.get(state as usize).copied().unwrap_or(0) as f64;
        if window.length_ns() == 0 { 0.0 } else { lasted / window.length_ns() as f64 }
    };
    Activity {
        busy: share(state::BUSY),
        starved: share(state::STARVED),
        held: share(state::HELD),
        syncing: share(state::SYNCING),
        outside: share(state::OUTSIDE),
    }
}

/// Little's law: the mean number of open requests is their rate times their latency.
fn little_error(load: &Load, window: &Window) -> f64 {
    let expected = load.latency_ns.sum / (window.length_ns() as f64).max(1.0);
    let found = load.concurrency.avg;
    if found > 0.0 { (found - expected).abs() / found } else { 0.0 }
}

fn metadata(counts: &[u64]) -> Vec<(String, u64)> {
    let told = MetaOp::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    let mut told: Vec<(String, u64)> = told.map(|(op, count)| (op.name().to_owned(), *count)).collect();
    told.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    told
}

fn title(telling: &Telling, layer: Layer) -> String {
    let titles = telling.footer.layers.iter().chain(&telling.header.layers);
    let found =
        titles.filter(|one| one.layer == layer && !one.title.is_empty()).map(|one| one.title.clone()).next();
    found.unwrap_or_else(|| layer.name().to_owned())
}

fn object_name(telling: &Telling, object: ObjectId) -> String {
    telling.names.object(object).map_or_else(|| "unknown".to_owned(), |object| object.label())
}

fn host_name(telling: &Telling, host: u16) -> String {
    let named = telling.header.hosts.get(usize::from(host)).map(|host| host.name.clone());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("host {host}"))
}

/// `oss3`, `8:16`, `oss3: glusterfsd (1234)`.
fn member_name(telling: &Telling, identity: &Identity) -> String {
    let mut parts = Vec::new();
    let HostId(host) = identity.host;
    if telling.header.hosts.len() > 1 {
        parts.push(host_name(telling, host));
    }
    if identity.object != ObjectId::NONE {
        parts.push(object_name(telling, identity.object));
    } else if identity.tgid > 0 {
        parts.push(format!("{} ({})", telling.names.comm(identity.comm), identity.tgid));
    }
    if parts.is_empty() { host_name(telling, host) } else { parts.join(": ") }
}

fn quality(gatherer: &Gatherer, telling: &Telling) -> Quality {
    let total = telling.footer.total();
    let missing = total.lost + total.dropped + telling.unread;
    let overhead = telling.header.overhead.unwrap_or_default();
    Quality {
        events: gatherer.events,
        loss: if missing == 0 {
            0.0
        } else {
            missing as f64 / (missing + total.read.max(gatherer.events)) as f64
        },
        lost: total.lost,
        out_of_order: telling.unused.out_of_order,
        without_begin: telling.unused.without_begin,
        without_end: telling.unused.without_end,
        disordered: 0,
        is_cut_short: telling.footer.is_cut_short,
        scope: telling.scope.clone(),
        clock_error_ns: telling.header.hosts.iter().map(|host| host.offset_err_ns).max().unwrap_or(0),
        overhead_ns: overhead.syscall_ns.or(overhead.uprobe_ns),
        throttled: gatherer.throttled,
    }
}
