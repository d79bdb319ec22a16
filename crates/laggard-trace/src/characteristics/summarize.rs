//! Computes the characteristics from what was collected.

use super::collector::Collector;
use super::components::ComponentKey;
use super::extents::Streams;
use super::layer_collector::{LayerCollector, state};
use super::levels::Window;
use super::load::Load;
use super::metrics::{Activity, Characteristics, LayerMetrics, Metadata, Quality, SyncMetrics};
use super::op_class::OpClass;
use crate::linking::UnusedEvents;
use crate::model::{Footer, Header, HostId, Layer, MetaOp, Names, ObjectId};

/// Properties of the whole trace.
pub(crate) struct TraceContext<'t> {
    pub(crate) header: &'t Header,
    pub(crate) footer: &'t Footer,
    pub(crate) names: &'t Names,
    pub(crate) unused: UnusedEvents,
    /// Lines of the file that could not be read.
    pub(crate) unread: u64,
    /// The requests that count, in words.
    pub(crate) scope: String,
}

pub(crate) fn summarize(mut collector: Collector, context: &TraceContext) -> Characteristics {
    collector.examples.finish();
    let window = collector.window;
    let charged = collector.path_time.charged_ns();
    let all_charged = charged.iter().sum::<u64>().max(1) as f64;
    let quality = quality(&collector, context);
    let mut boundaries = Vec::new();
    let mut layers: Vec<LayerMetrics> = Vec::new();
    for layer in collector.layers.into_iter().flatten() {
        let lower = layer.layer;
        let own = Layer::ALL.into_iter().zip(&layer.boundaries);
        let own = own.filter_map(|(upper, boundary)| Some(boundary.as_ref()?.metrics(upper, lower)));
        boundaries.extend(own.filter(|one| one.links > 0 || one.metadata_children > 0));
        let has_lower = collector.captured.last().is_some_and(|last| *last > lower);
        let path_share = charged[lower as usize] as f64 / all_charged;
        let mut metrics = layer_metrics(*layer, &window, context, has_lower, path_share);
        if let Some(above) = layers.last() {
            add_relative(&mut metrics, above);
        } else {
            metrics.link_rate = None;
        }
        layers.push(metrics);
    }
    for one in &mut boundaries {
        one.concurrency_ratio = concurrency_ratio(&layers, one.upper, one.lower);
    }
    Characteristics {
        from_ns: window.from_ns,
        to_ns: window.to_ns,
        seconds: window.length_ns() as f64 / 1e9,
        quality: Quality { disordered: layers.iter().map(|one| one.timing.disordered).sum(), ..quality },
        layers,
        boundaries,
        examples: collector.examples,
    }
}

/// Metrics of a layer relative to the one above.
fn add_relative(metrics: &mut LayerMetrics, above: &LayerMetrics) {
    let data = above.data_requests();
    metrics.metadata.per_data_above = (data > 0).then(|| metrics.metadata.requests as f64 / data as f64);
    if metrics.readahead_efficiency.is_some() {
        let read = |metrics: &LayerMetrics| metrics.op(OpClass::Read).map_or(0.0, |load| load.bytes as f64);
        metrics.readahead_efficiency = Some((read(above) / read(metrics).max(1.0)).min(1.0));
    }
}

fn concurrency_ratio(layers: &[LayerMetrics], upper: Layer, lower: Layer) -> Option<f64> {
    let busy = |layer: Layer| {
        let load = &layers.iter().find(|one| one.layer == layer)?.load;
        Some(load.concurrency.busy_avg).filter(|busy| *busy > 0.0)
    };
    Some(busy(lower)? / busy(upper)?)
}

fn layer_metrics(
    collector: LayerCollector,
    window: &Window,
    context: &TraceContext,
    has_lower: bool,
    path_share: f64,
) -> LayerMetrics {
    let layer = collector.layer;
    let by_op: Vec<(OpClass, Load)> = OpClass::ALL
        .into_iter()
        .zip(collector.ops)
        .filter(|(_, load)| load.requests > 0)
        .map(|(class, load)| (class, load.load(window)))
        .collect();
    let load = collector.all.load(window);
    let mut by_host: Vec<(u64, Load)> =
        collector.hosts.into_iter().map(|(host, load)| (host, load.load(window))).collect();
    by_host.sort_by_key(|(host, _)| *host);
    let of_op = |class: OpClass| by_op.iter().find(|(one, _)| *one == class).map(|(_, load)| load);
    let requests = |class: OpClass| of_op(class).map_or(0, |load| load.requests);
    let (data, meta) = (requests(OpClass::Read) + requests(OpClass::Write), requests(OpClass::Meta));
    let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let read_bytes = of_op(OpClass::Read).map_or(0, |load| load.bytes);
    // The order of ISSUE where most requests have one.
    let is_issued = 2 * collector.issued.requests() >= collector.admitted.requests();
    let runs = if is_issued { collector.issued } else { collector.admitted };
    let [read_streams, write_streams] = collector.footprints.map(|footprint| footprint.streams());
    let own = collector.own_footprint.streams();
    let linked = collector.linked;
    LayerMetrics {
        layer,
        class: layer.class(),
        title: title(context, layer),
        little_error: little_error(&load, window),
        objects: collector.objects.metrics(|object| object_name(context, object)),
        object_count: collector.objects.count(),
        by_host: by_host.into_iter().map(|(host, load)| (host_name(context, host as u16), load)).collect(),
        below: collector.below.metrics(window),
        max_per_thread: collector.by_thread.max(),
        threads: collector.by_thread.groups(),
        activity: activity(collector.states.finish(window).lasted_ns, window),
        timing: collector.timing.metrics(),
        path_share,
        runs: runs.runs(),
        sharing: sharing(&own, &read_streams),
        read_streams,
        write_streams,
        components: collector.components.metrics(|key| component_name(context, key)),
        burstiness: collector.arrivals.metrics(),
        errors: collector.errors.metrics(),
        metadata: Metadata {
            requests: meta,
            per_data: ratio(meta, data),
            per_data_above: None,
            by_op: metadata(&collector.metadata),
        },
        think_ns: collector.think_time.summary(),
        sync: SyncMetrics {
            per_data: ratio(requests(OpClass::Sync), data),
            per_write: ratio(requests(OpClass::Sync), requests(OpClass::Write)),
            time_share: of_op(OpClass::Sync).map_or(0.0, |load| load.busy_share),
        },
        misaligned: collector.misaligned.metrics(),
        apart: collector.apart.metrics(),
        cached_share: (has_lower && collector.ended > 0).then(|| ratio(collector.childless, collector.ended)),
        readahead_efficiency: (collector.ahead_bytes > 0).then(|| ratio(read_bytes, read_bytes)),
        link_rate: (linked[0] + linked[1] > 0).then(|| ratio(linked[1], linked[0] + linked[1])),
        left_out: collector.left_out,
        partial: collector.partial,
        series: collector.series.series(window.to_ns),
        by_op,
        load,
    }
}

/// Unique bytes summed over processes divided by unique bytes of all.
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

/// Most frequent first.
fn metadata(counts: &[u64]) -> Vec<(MetaOp, u64)> {
    let mut by_op: Vec<(MetaOp, u64)> =
        MetaOp::ALL.iter().copied().zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect();
    by_op.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    by_op
}

fn title(context: &TraceContext, layer: Layer) -> String {
    let mut titles = context.footer.layers.iter().chain(&context.header.layers);
    let found = titles.find(|one| one.layer == layer && !one.title.is_empty());
    found.map_or_else(|| layer.name().to_owned(), |one| one.title.clone())
}

fn object_name(context: &TraceContext, object: ObjectId) -> String {
    context.names.object(object).map_or_else(|| "unknown".to_owned(), |object| object.label())
}

fn host_name(context: &TraceContext, host: u16) -> String {
    let named = context.header.hosts.get(usize::from(host)).map(|host| host.name.clone());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("host {host}"))
}

/// `oss3`, `8:16`, `oss3: glusterfsd (1234)`.
fn component_name(context: &TraceContext, key: &ComponentKey) -> String {
    let mut parts = Vec::new();
    let HostId(host) = key.host;
    if context.header.hosts.len() > 1 {
        parts.push(host_name(context, host));
    }
    if key.object != ObjectId::NONE {
        parts.push(object_name(context, key.object));
    } else if key.tgid > 0 {
        parts.push(format!("{} ({})", context.names.comm(key.comm), key.tgid));
    }
    if parts.is_empty() { host_name(context, host) } else { parts.join(": ") }
}

fn quality(collector: &Collector, context: &TraceContext) -> Quality {
    let total = context.footer.total();
    let missing = total.lost + total.dropped + context.unread;
    let overhead = context.header.overhead.unwrap_or_default();
    let all = missing + total.read.max(collector.events);
    Quality {
        events: collector.events,
        loss: if missing == 0 { 0.0 } else { missing as f64 / all as f64 },
        lost: total.lost,
        out_of_order: context.unused.out_of_order,
        without_begin: context.unused.without_begin,
        without_end: context.unused.without_end,
        disordered: 0,
        is_cut_short: context.footer.is_cut_short,
        scope: context.scope.clone(),
        clock_error_ns: context.header.hosts.iter().map(|host| host.offset_err_ns).max().unwrap_or(0),
        overhead_ns: overhead.syscall_ns.or(overhead.uprobe_ns),
        throttled: collector.throttled,
    }
}
