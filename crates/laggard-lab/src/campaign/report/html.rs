//! The report as one page, in the style of diagnoses.

use laggard_core::report::html::document;
use maud::{Markup, html};

use super::markdown::scope;
use super::{Report, Table, tables};

/// The report as a self-contained page, optionally with the differences from another one.
pub fn page(report: &Report, difference: Option<&Table>) -> String {
    let headline = report.headline();
    let mood = if report.rows.iter().any(|row| row.silent > 0) { "bad" } else { "good" };
    let body = html! {
        header {
            p.brand { "laggard" span { "campaign" } }
            h1 class=(mood) { (headline) }
            p.scope { (scope(report)) }
        }
        main {
            @if !report.warnings.is_empty() {
                section #warnings {
                    @for warning in &report.warnings { div.warning { p { (warning) } } }
                }
            }
            @for table in difference.into_iter().chain(&tables(report)) { (section(table)) }
        }
        footer { p { "Schema of the JSON form: " (report.schema) "." } }
    };
    document(&headline, &body)
}

fn section(table: &Table) -> Markup {
    html! {
        section {
            h2 { (table.title) }
            p.quiet { (table.note) }
            // Other pages break long names between letters; words here are short.
            table style="overflow-wrap: normal" {
                thead { tr { @for heading in &table.headings { th { (heading) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { @for field in row { td class=[field.is_bad.then_some("bad")] { (field.text) } } }
                    }
                }
            }
        }
    }
}
