//! The section of one suspect: the facts, what to check, and the pictures that show it.

use maud::{Markup, html};

use super::overview::lasting;
use super::{commands, data_tables, evidence, time};
use crate::diagnosis::Cause;
use crate::diagnosis::{Comparison, Suspect};
use crate::model::time::Timestamp;
use crate::report::number::{count, percent, span};
use crate::report::svg::{comparison, score_line};
use crate::report::{untrusted_text, words};

/// Names of explained components that are shown initially, and in total.
const EXPLAINED_AT_ONCE: usize = 8;
const MOST_EXPLAINED: usize = 500;
/// Pictures of one suspect; the first is shown initially.
const MOST_PICTURES: usize = 8;

/// The section.
pub(super) fn card(number: usize, suspect: &Suspect, pictures: &[Comparison]) -> Markup {
    html! {
        article.card.suspect id={ "suspect-" (number) } {
            (heading(suspect))
            div.columns {
                (facts(suspect))
                (checks(suspect))
            }
            (drawn(suspect, pictures))
            (evidence::table(suspect))
            (data_tables::alternatives(suspect))
        }
    }
}

fn heading(suspect: &Suspect) -> Markup {
    html! {
        h2 {
            span.name { (suspect.component.name) }
            " " span.kind { (suspect.component.shown_kind()) }
        }
        p.severity { (words::how_bad(suspect)) }
        @if !suspect.summary.is_empty() { p.summary { (suspect.summary) } }
    }
}

fn facts(suspect: &Suspect) -> Markup {
    html! {
        dl {
            dt { "Likely cause" }
            dd {
                b { (suspect.cause.title()) }
                @if suspect.cause != Cause::Unknown { " " span.quiet.whole { (percent(suspect.confidence)) " confidence" } }
                br; span.quiet { (suspect.cause.meaning()) }
            }
            dt { @if suspect.is_ongoing { "Since" } @else { "From" } }
            dd { b { (time(suspect.since)) } br; span.quiet { (lasting(suspect)) } }
            @if !suspect.other_times.is_empty() {
                dt { "Also from" }
                @for other in &suspect.other_times {
                    dd { b { (time(other.since)) } br; span.quiet { "for " (span(other.until - other.since)) } }
                }
            }
            (explains(suspect))
        }
    }
}

fn explains(suspect: &Suspect) -> Markup {
    let others = suspect.others_explained();
    let shown = &others[..others.len().min(MOST_EXPLAINED)];
    html! {
        @if !others.is_empty() {
            dt { "Explains" }
            dd {
                b { (count(others.len(), "component")) }
                @if others.len() <= EXPLAINED_AT_ONCE {
                    br; span.names { (others.join(", ")) }
                } @else {
                    details {
                        summary { span.names { (untrusted_text::listed(&others, EXPLAINED_AT_ONCE)) } }
                        p.names { (untrusted_text::listed(&others, shown.len())) }
                    }
                }
            }
        }
    }
}

fn checks(suspect: &Suspect) -> Markup {
    html! {
        @if !suspect.next.is_empty() {
            div.checks {
                h3 { "Check next" }
                ol { @for check in &suspect.next { li { (commands(check)) } } }
            }
        }
    }
}

fn drawn(suspect: &Suspect, pictures: &[Comparison]) -> Markup {
    let incident = Some((suspect.since, suspect.until));
    let pictures = &pictures[..pictures.len().min(MOST_PICTURES)];
    html! {
        @if let Some((first, others)) = pictures.split_first() {
            (figure(first, incident))
            @if !others.is_empty() {
                details.more {
                    summary { (count(others.len(), "more metric")) ": " (metrics(others)) }
                    @for other in others { (figure(other, incident)) }
                }
            }
        }
    }
}

fn metrics(pictures: &[Comparison]) -> String {
    pictures.iter().map(|picture| picture.metric.name()).collect::<Vec<_>>().join(", ")
}

fn figure(picture: &Comparison, incident: Option<(Timestamp, Timestamp)>) -> Markup {
    html! {
        figure {
            figcaption { b { (picture.metric) } " " (picture.metric.metric().about) ", of " span.name { (picture.component) } }
            (comparison::draw(picture, incident))
            @if let Some(scores) = score_line::draw(picture, incident) {
                figcaption { b { "score" } " how unlike its peers, window by window" }
                (scores)
            }
            (data_tables::comparison(picture))
        }
    }
}
