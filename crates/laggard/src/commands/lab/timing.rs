//! How long the parts of an experiment last.

use std::time::Duration;

use clap::Args;
use laggard_core::model::time::Span;
use laggard_lab::experiments::Parts;

use crate::arguments::positive_span;

#[derive(Args)]
pub(crate) struct Timing {
    /// Sampling interval.
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = positive_span)]
    pub(crate) every: Span,
    /// The workload runs this long before the recording begins.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = positive_span)]
    settle: Span,
    /// Recorded time before the fault.
    #[arg(long, value_name = "SPAN", default_value = "2m", value_parser = positive_span)]
    lead: Span,
    /// Recorded time with the fault.
    #[arg(long, value_name = "SPAN", default_value = "5m", value_parser = positive_span)]
    fault_for: Span,
    /// Recorded time after the fault.
    #[arg(long, value_name = "SPAN", default_value = "3m", value_parser = positive_span)]
    recovery: Span,
}

impl Timing {
    pub(crate) fn parts(&self) -> Parts {
        let whole = |span: Span| Duration::from_secs(span.seconds().ceil() as u64);
        Parts {
            settle: whole(self.settle),
            lead: whole(self.lead),
            fault: whole(self.fault_for),
            recovery: whole(self.recovery),
        }
    }
}
