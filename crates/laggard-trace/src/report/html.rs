//! The report as one page that needs nothing else: no scripts, no fonts, no network.

use laggard_core::report::html::{commands, document};
use maud::{Markup, html};

use super::picture::Pictures;
use super::svg::{breakdown, courses, lanes, path, runs};
use super::{Report, Told, event_line, gain_words, origin_words, verdict_line};
use crate::characteristics::figures::LayerFigures;
use crate::findings::Severity;
use crate::findings::words::{bytes, count, nanoseconds, percent, plain};

/// The page.
pub fn page(report: &Report, pictures: &Pictures) -> String {
    let all = &report.characteristics;
    let body = html! {
        header {
            p.brand { "laggard" span { "trace" } }
            h1 class=(mood(report)) { (report.verdict) }
            p.scope {
                (report.file) " · " (format!("{:.3} s", all.seconds)) " · \
                    " (count(all.quality.events, "event")) " · "
                (all.quality.scope)
            }
        }
        main {
            @for told in report.foremost() { (finding(told, all.seconds)) }
            section {
                h2 { "The layers" }
                (layers(&all.layers))
                (figure("What each layer does with its time", breakdown::activity(all)))
                (figure("Where requests' time goes", breakdown::stages(all)))
                (figure("Requests at once", courses::draw(all)))
                (figure("Sequential runs", runs::draw(all)))
                (figure("A stretch with the slowest request", lanes::draw(pictures)))
                (figure("The path of the slowest request", path::draw(&pictures.path)))
                (path_lines(pictures))
            }
            (quality(report))
        }
        footer {
            p { "Requests are followed from the first ADMIT to the last CALLBACK of the top layer. "
                "Severity is by what mending would bring: 5 % of the time for a warning, 30 % for a \
                    critical one." }
            p { "Schema of the JSON form: " (report.schema) "." }
        }
    };
    document(&report.verdict, &body)
}

fn mood(report: &Report) -> &'static str {
    match (report.is_too_lossy, report.worst()) {
        (true, _) => "caution",
        (false, Some(Severity::Crit | Severity::Warn)) => "bad",
        _ => "good",
    }
}

fn finding(told: &Told, wall_seconds: f64) -> Markup {
    let finding = &told.finding;
    html! {
        article.card.suspect {
            h2 { (finding.title) " " span.kind { (finding.id) " at layer " (finding.layer) " \
                (" (finding.layer_title) ")" } }
            p.severity { (finding.severity.name()) ": " (finding.says) }
            div.columns {
                dl {
                    dt { "Begins" } dd { (origin_words(finding)) }
                    dt { "Cause" } dd { (finding.cause) ", " (percent(finding.confidence)) " sure"
                        @for limit in &finding.limits { "; no surer, since " (limit) } }
                    dt { "Against it" } dd { (commands(&finding.unless)) }
                    dt { "Would bring" } dd { (gain_words(finding, wall_seconds)) }
                }
                div.checks {
                    h3 { "What to do" }
                    ol { @for fix in &finding.fixes { li { (commands(fix)) } } }
                    p.quiet { (commands(&told.verify)) }
                }
            }
            h3 { "Evidence" }
            table {
                thead { tr { th { "Figure" } th { "Layer" } th.number { "Value" } th { "Expected" } th { "Source" } } }
                tbody {
                    @for one in &finding.evidence {
                        tr {
                            td { (one.metric) } td { (one.layer) }
                            td.number.bad[one.speaks_for] { (one.told) }
                            td { (one.expected) } td { @if !one.expected.is_empty() { (one.source) } }
                        }
                    }
                }
            }
            @if !told.events.is_empty() { pre.names { @for line in &told.events { (line) "\n" } } }
            @for also in &finding.also { p { b { "Also there: " } (verdict_line(also)) } }
        }
    }
}

fn figure(caption: &str, drawn: Option<Markup>) -> Markup {
    html! { @if let Some(drawn) = drawn { figure { figcaption { b { (caption) } } (drawn) } } }
}

fn layers(layers: &[LayerFigures]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th { "Layer" } th.number { "Requests" } th.number { "Bytes" } th.number { "Size" }
                    th.number { "At once" } th.number { "Most" } th.number { "Idle" } th.number { "Latency" }
                    th.number { "p99" } th.number { "Own time" } th.number { "On path" }
                }
            }
            tbody { @for layer in layers { (row(layer)) } }
        }
    }
}

fn row(layer: &LayerFigures) -> Markup {
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

/// The events of the slowest request's path, as the paper shows them.
fn path_lines(pictures: &Pictures) -> Markup {
    let mut events: Vec<crate::model::Event> = pictures
        .path
        .requests
        .iter()
        .flat_map(|request| {
            crate::model::Kind::ALL.map(|kind| crate::findings::case::event_of(request, kind))
        })
        .flatten()
        .take(200)
        .collect();
    events.sort_by_key(|event| event.ts_ns);
    html! {
        @if !events.is_empty() {
            details.more { summary { "Its \
                events" } pre.names { @for event in &events { (event_line(event)) "\n" } } }
        }
    }
}

fn quality(report: &Report) -> Markup {
    let quality = &report.characteristics.quality;
    let rows = [
        ("events taken in", quality.events.to_string()),
        ("lost", percent(quality.loss)),
        ("out of order", quality.out_of_order.to_string()),
        ("ends without a begin", quality.without_begin.to_string()),
        ("begins without an end", quality.without_end.to_string()),
        ("requests with times out of order", quality.disordered.to_string()),
        ("clocks agree to", nanoseconds(quality.clock_error_ns as f64)),
        ("cost of tracing, a request", quality.overhead_ns.map_or("not measured".into(), nanoseconds)),
    ];
    let linked =
        report.characteristics.layers.iter().filter_map(|layer| Some((layer.layer, layer.link_rate?)));
    html! {
        section {
            h2 { "How far the trace can be trusted" }
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
