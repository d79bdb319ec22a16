//! T02: sequential streams that take turns (paper 004, section 4.2).

use crate::characteristics::LayerMetrics;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::{Event, Kind, Layer};
use crate::numbers::{bytes, nanoseconds, percent, plain};
use crate::reference::{LONG_STREAM, Metric};

pub(super) const RULE: Rule =
    Rule { title: "interleaved streams", explains: &[Metric::Contiguity, Metric::ZeroSeek], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let layers = [Layer::Pfss, Layer::Ssys, Layer::Sys, Layer::Blk];
    let metrics =
        layers.iter().filter_map(|layer| context.layer(*layer)).find(|layer| is_interleaved(layer))?;
    let layer = metrics.layer;
    let (runs, streams) = (&metrics.runs, metrics.streams());
    // Streams with gaps between them can be counted; adjacent ones show in the length of the runs.
    let separate = if streams.long > 1 { streams.long as f64 } else { f64::INFINITY };
    let interleave = runs.interleave.unwrap_or(f64::INFINITY).min(separate).min(runs.requests as f64);
    let (seconds, formula) = seek_cost(context, metrics);
    let threads = context.all.above(layer).unwrap_or(metrics).threads.max(metrics.threads);
    Some(RuleMatch {
        summary: format!(
            "streams of {} are accessed in runs of {}, as if {} streams took turns",
            bytes(streams.avg_bytes),
            bytes(runs.avg_bytes),
            interleave.round()
        ),
        evidence: vec![
            Evidence::new(layer, "average run", runs.avg_bytes, bytes(runs.avg_bytes))
                .expect(format!("more than 2 requests of {}", bytes(metrics.load.size_bytes.avg))),
            Evidence::new(layer, "average stream", streams.avg_bytes, bytes(streams.avg_bytes))
                .expect("about as long as a run"),
            Evidence::new(layer, "contiguity", runs.contiguity, plain(runs.contiguity))
                .expect("at least 4")
                .of_metric(Metric::Contiguity),
            Evidence::new(
                layer,
                "near-sequential requests",
                runs.near_sequential_share,
                percent(runs.near_sequential_share),
            )
            .expect("as many as continue the previous request")
            .supports_if(runs.near_sequential_share > runs.zero_seek_share + 0.2),
            Evidence::new(
                layer,
                "requests that continue the previous one",
                runs.zero_seek_share,
                percent(runs.zero_seek_share),
            )
            .expect("at least 50 %")
            .supports_if(runs.zero_seek_share < 0.5)
            .of_metric(Metric::ZeroSeek),
        ],
        cause: format!(
            "about {} sequential streams are interleaved ({threads} threads above); prefetching and \
                scheduling below see no sequence",
            interleave.round()
        ),
        counter_evidence: "requests that continue none of the last 64 streams: that is random access",
        fixes: texts([
            "larger requests, or collective I/O, so that one run carries more",
            "one descriptor per stream, so that the kernel reads ahead in each",
            "more read-ahead at the server: `echo 8192 > /sys/block/DEVICE/queue/read_ahead_kb`",
        ]),
        gain: Gain { seconds, formula },
        events: run_events(context, layer),
        ..RuleMatch::at(layer, context.above(layer))
    })
}

fn is_interleaved(layer: &LayerMetrics) -> bool {
    let (runs, streams) = (&layer.runs, layer.streams());
    runs.requests >= 64
        && streams.avg_bytes >= LONG_STREAM * layer.load.size_bytes.avg
        && runs.contiguity < 2.0
        && runs.interleave.is_none_or(|k| k >= 2.0)
        && runs.near_sequential_share > 0.5
}

fn run_events(context: &Context, layer: Layer) -> Vec<Event> {
    let issued = context.events(layer, &[Kind::Issue]);
    if issued.len() >= 4 { issued } else { context.events(layer, &[Kind::Admit]) }
}

/// The cost of seeks: from the calibration, or else from the device's own latencies.
fn seek_cost(context: &Context, layer: &LayerMetrics) -> (f64, String) {
    let Some(device) = context.device() else {
        return (0.0, "unknown: no layer of a device was captured".into());
    };
    let (depth, busy) = (device.load.concurrency.busy_avg.max(1.0), device.load.busy_seconds);
    if context.curve().is_calibrated() {
        let (now, then) = (device.runs.avg_bytes.max(layer.runs.avg_bytes), layer.streams().avg_bytes);
        let speedup = context.curve().throughput(then, depth) / context.curve().throughput(now, depth);
        let formula = format!(
            "busy device {busy:.2} s x (1 - rate of runs of {} / rate of runs of {}, as calibrated)",
            bytes(now),
            bytes(then)
        );
        return (busy * (1.0 - 1.0 / speedup.max(1.0)), formula);
    }
    let Some(penalty) = device.apart.penalty_ns else {
        let formula = "unknown: the device served no sequential requests to compare with; run `laggard trace \
            calibrate`";
        return (0.0, formula.into());
    };
    let apart = device.apart.share * device.data_requests() as f64;
    let formula = format!(
        "{} requests that do not continue the previous one x {} more than others of their size / concurrency {}",
        plain(apart),
        nanoseconds(penalty.max(0.0)),
        plain(depth)
    );
    ((penalty / 1e9 * apart / depth).clamp(0.0, busy), formula)
}
