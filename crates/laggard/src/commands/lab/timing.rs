//! How long the parts of an experiment last.

use std::time::Duration;

use clap::Args;
use laggard_core::model::time::Span;
use laggard_lab::experiments::Parts;

use crate::arguments::positive_span;

#[derive(Args)]
pub struct Timing {
    /// How often to sample.
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = positive_span)]
    pub every: Span,
    /// How long the workload runs before recording begins.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = positive_span)]
    settle: Span,
    /// How long nothing is wrong.
    #[arg(long, value_name = "SPAN", default_value = "2m", value_parser = positive_span)]
    lead: Span,
    /// How long the fault lasts.
    #[arg(long, value_name = "SPAN", default_value = "5m", value_parser = positive_span)]
    fault_for: Span,
    /// How long nothing is wrong again.
    #[arg(long, value_name = "SPAN", default_value = "3m", value_parser = positive_span)]
    recovery: Span,
}

impl Timing {
    pub fn parts(&self) -> Parts {
        let whole = |span: Span| Duration::from_secs(span.seconds().ceil() as u64);
        Parts {
            settle: whole(self.settle),
            lead: whole(self.lead),
            fault: whole(self.fault_for),
            recovery: whole(self.recovery),
        }
    }
}
