//! Which workloads.

use clap::Args;

#[derive(Args)]
pub struct Workloads {
    /// What the clients do.
    #[arg(
        long = "workloads",
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "ddw,ddr,iozonew,iozoner,postmark"
    )]
    pub names: Vec<String>,
}
