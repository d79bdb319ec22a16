//! The report as one self-contained page: no scripts, fonts or network access.

use laggard_core::report::html::{commands, document};
use maud::{Markup, html};

use super::svg::{breakdown, concurrency, path, runs, timeline};
use super::{Report, ReportedFinding, event_line, gain_text, headline, origin_text};
use crate::characteristics::LayerMetrics;
use crate::excerpts::Timeline;
use crate::findings::Severity;
use crate::model::{Event, Kind};
use crate::numbers::{bytes, count, nanoseconds, percent, plain};

const MAX_PATH_EVENTS: usize = 200;

pub fn page(report: &Report, timeline: &Timeline) -> String {
    let all = &report.characteristics;
    let body = html! {
        header {
            p.brand { "laggard" span { "trace" } }
            h1 class=(verdict_class(report)) { (report.verdict) }
            p.scope {
                (report.file) " · " (format!("{:.3} s", all.seconds)) " · \
                    " (count(all.quality.events, "event")) " · "
                (all.quality.scope)
            }
        }
        main {
            @for reported in report.rendered() { (finding(reported, all.seconds)) }
            section {
                h2 { "Layers" }
                (layers(&all.layers))
                (figure("Activity of each layer", breakdown::activity(all)))
                (figure("Stages of requests", breakdown::stages(all)))
                (figure("Concurrency", concurrency::draw(all)))
                (figure("Sequential runs", runs::draw(all)))
                (figure("Timeline around the slowest request", timeline::draw(timeline)))
                (figure("Path of the slowest request", path::draw(&timeline.path)))
                (path_events(timeline))
            }
            (quality(report))
        }
        footer {
            p { "The window is from the first ADMIT to the last CALLBACK of the top layer. Severity follows from the \
                estimated gain: 5 % of the time for a warning, 30 % for a critical finding." }
            p { "Schema of the JSON form: " (report.schema) "." }
        }
    };
    document(&report.verdict, &body)
}

fn verdict_class(report: &Report) -> &'static str {
    match (report.is_too_lossy, report.worst()) {
        (true, _) => "caution",
        (false, Some(Severity::Crit | Severity::Warn)) => "bad",
        _ => "good",
    }
}

fn finding(reported: &ReportedFinding, wall_seconds: f64) -> Markup {
    let finding = &reported.finding;
    html! {
        article.card.suspect {
            h2 { (finding.title) " " span.kind { (finding.id) " at layer " (finding.layer) " \
                (" (finding.layer_title) ")" } }
            p.severity { (finding.severity.name()) ": " (finding.summary) }
            div.columns {
                dl {
                    dt { "Origin" } dd { (origin_text(finding)) }
                    dt { "Cause" } dd { (finding.cause) ", " (percent(finding.confidence)) " confidence"
                        @for limit in &finding.limits { "; limited: " (limit) } }
                    dt { "Contradicted by" } dd { (commands(&finding.counter_evidence)) }
                    dt { "Estimated gain" } dd { (gain_text(finding, wall_seconds)) }
                }
                div.checks {
                    h3 { "Fixes" }
                    ol { @for fix in &finding.fixes { li { (commands(fix)) } } }
                    p.quiet { (commands(&reported.verify)) }
                }
            }
            h3 { "Evidence" }
            table {
                thead { tr { th { "Metric" } th { "Layer" } th.number { "Value" } th { "Expected" } th { "Source" } } }
                tbody {
                    @for one in &finding.evidence {
                        tr {
                            td { (one.name) } td { (one.layer) }
                            td.number.bad[one.is_supporting] { (one.shown) }
                            td { (one.expected) } td { @if !one.expected.is_empty() { (one.source.name()) } }
                        }
                    }
                }
            }
            @if !reported.events.is_empty() { pre.names { @for line in &reported.events { (line) "\n" } } }
            @for also in &finding.also { p { b { "Same origin: " } (headline(also)) } }
        }
    }
}

fn figure(caption: &str, drawn: Option<Markup>) -> Markup {
    html! { @if let Some(drawn) = drawn { figure { figcaption { b { (caption) } } (drawn) } } }
}

fn layers(layers: &[LayerMetrics]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th { "Layer" } th.number { "Requests" } th.number { "Bytes" } th.number { "Size" }
                    th.number { "Concurrency" } th.number { "Max" } th.number { "Idle" } th.number { "Latency" }
                    th.number { "p99" } th.number { "Own time" } th.number { "Share of time" }
                }
            }
            tbody { @for layer in layers { (row(layer)) } }
        }
    }
}

fn row(layer: &LayerMetrics) -> Markup {
    let load = &layer.load;
    html! {
        tr {
            td.name { (layer.layer) " " span.quiet { (layer.title) } }
            td.number { (load.requests) }
            td.number { (bytes(load.bytes as f64)) }
            td.number { (bytes(load.size_bytes.avg)) }
            td.number { (plain(load.concurrency.avg)) }
            td.number { (load.concurrency.max) }
            td.number { (percent(load.idle_share)) }
            td.number { (nanoseconds(load.latency_ns.avg)) }
            td.number { (nanoseconds(load.latency_ns.p99)) }
            td.number { (percent(layer.timing.self_share)) }
            td.number { (percent(layer.path_share)) }
        }
    }
}

fn path_events(timeline: &Timeline) -> Markup {
    let requests = timeline.path.requests.iter();
    let events = requests.flat_map(|request| Kind::ALL.map(|kind| request.event(kind))).flatten();
    let mut events: Vec<Event> = events.take(MAX_PATH_EVENTS).collect();
    events.sort_by_key(|event| event.ts_ns);
    html! {
        @if !events.is_empty() {
            details.more { summary { "Events of the path" } pre.names { @for event in &events { (event_line(event)) "\n" } } }
        }
    }
}

fn quality(report: &Report) -> Markup {
    let quality = &report.characteristics.quality;
    let rows = [
        ("events used", quality.events.to_string()),
        ("lost", percent(quality.loss)),
        ("out of order", quality.out_of_order.to_string()),
        ("ends without a begin", quality.without_begin.to_string()),
        ("begins without an end", quality.without_end.to_string()),
        ("requests with times out of order", quality.disordered.to_string()),
        ("clocks agree to", nanoseconds(quality.clock_error_ns as f64)),
        ("tracing cost per request", quality.overhead_ns.map_or("not measured".into(), nanoseconds)),
    ];
    let linked =
        report.characteristics.layers.iter().filter_map(|layer| Some((layer.layer, layer.link_rate?)));
    html! {
        section {
            h2 { "Quality of the trace" }
            table {
                tbody {
                    @for (what, value) in rows { tr { td { (what) } td.number { (value) } } }
                    @for (layer, rate) in linked {
                        tr { td { "requests of " (layer) " linked to the layer \
                            above" } td.number { (percent(rate)) } }
                    }
                }
            }
        }
    }
}
