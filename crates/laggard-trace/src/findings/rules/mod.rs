//! The rules, one function each (specification, section 7): a condition, a cause, a fix, and what it would bring.
//! A rule looks at figures only; where a problem begins and how sure it is follows from the procedure.

mod application;
mod concurrency;
mod daemons;
mod devices;
mod metadata;
mod sizes;
mod streams;
mod writes;

use super::case::{Case, Draft};
use crate::reference::Metric;

/// A rule.
pub struct Rule {
    /// Its number.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Figures that it explains where they are outside their range.
    pub explains: &'static [Metric],
    /// Looks at a case.
    pub judge: fn(&Case) -> Option<Draft>,
}

const fn rule(
    id: &'static str,
    title: &'static str,
    explains: &'static [Metric],
    judge: fn(&Case) -> Option<Draft>,
) -> Rule {
    Rule { id, title, explains, judge }
}

/// All rules.
pub const RULES: [Rule; 22] = [
    rule(
        "T01",
        "one request per descriptor",
        &[Metric::ConcurrencyRatio, Metric::QueueRatio, Metric::MaxConcurrency],
        concurrency::one_per_descriptor,
    ),
    rule("T02", "interleaved streams", &[Metric::Contiguity, Metric::ZeroSeek], streams::interleaved),
    rule("T03", "no write buffering", &[Metric::Idle, Metric::EarlyAck], writes::unbuffered),
    rule("T04", "metadata with every request", &[Metric::MetadataPerData], metadata::with_every_request),
    rule("T05", "requests cut up", &[Metric::Split], sizes::cut_up),
    rule("T06", "small requests, not merged", &[Metric::RequestSize], sizes::unmerged),
    rule("T07", "too little read ahead", &[Metric::Idle], streams::too_little_ahead),
    rule("T08", "more is read than asked for", &[Metric::ByteAmplification], streams::too_much_read),
    rule("T09", "a sync for every few writes", &[Metric::SyncPerData], writes::sync_storm),
    rule("T10", "waiting in the queue", &[Metric::QueueRatio], concurrency::queue),
    rule("T11", "slow device", &[Metric::ReadLatency, Metric::WriteLatency], devices::slow),
    rule("T12", "one slow member", &[Metric::SlowMember], devices::slow_member),
    rule("T13", "the network", &[], daemons::network),
    rule("T14", "the server itself", &[], daemons::server),
    rule("T15", "the client itself", &[], daemons::client),
    rule("T16", "not aligned", &[], sizes::misaligned),
    rule("T17", "the same bytes again", &[Metric::Redundancy], application::redundant),
    rule("T18", "the application itself", &[], application::thinking),
    rule("T19", "writers held back", &[], writes::throttled),
    rule("T20", "hot spot", &[], devices::hot_spot),
    rule("T21", "errors", &[Metric::Errors], devices::errors),
    rule("T22", "one request per thread", &[Metric::MaxConcurrency], concurrency::one_per_thread),
];
