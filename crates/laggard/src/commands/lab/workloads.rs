//! The `--workloads` option.

use clap::Args;

#[derive(Args)]
pub(crate) struct Workloads {
    /// Workloads of the clients.
    #[arg(
        long = "workloads",
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "ddw,ddr,iozonew,iozoner,postmark"
    )]
    pub(crate) names: Vec<String>,
}
