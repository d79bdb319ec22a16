//! A virtual disk that takes longer: requests that the operating system does not see take the rest of its time.

use laggard_core::diagnosis::Cause;
use serde::{Deserialize, Serialize};

use super::virtual_disk::steps;
use crate::disks::fault::DiskFault;
use crate::faults::model::{Area, FaultModel, PlanContext, lab_of};
use crate::faults::parameters::Parameters;
use crate::faults::steps::NodeSteps;
use crate::machine::LabError;
use crate::nodes::Node;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowDev {
    /// How many times longer a request takes; or
    pub(crate) factor: Option<f64>,
    /// the bandwidth that is left.
    pub(crate) bytes_per_second: Option<u64>,
}

const FACTOR: f64 = 5.0;
/// A virtual disk keeps a hundredth of its time for its own requests.
const MAX_FACTOR: f64 = 100.0;

impl FaultModel for SlowDev {
    const NAME: &'static str = "slow-dev";
    const PARAMETERS: &'static str = "factor=5 or write_bps=1M";
    const SUMMARY: &'static str = "the disk of a lab's host is slower";

    fn read(parameters: &mut Parameters) -> Result<SlowDev, LabError> {
        let bytes_per_second = match parameters.has("write_bps") {
            true => Some(parameters.size("write_bps", 0)?),
            false => None,
        };
        let word = parameters.take("factor");
        let factor = match (word.as_deref().map(str::parse::<f64>), bytes_per_second) {
            (None, None) => Some(FACTOR),
            (None, Some(_)) => None,
            (Some(Ok(factor)), None) if factor > 1.0 && factor <= MAX_FACTOR => Some(factor),
            (Some(_), Some(_)) => return Err(parameters.wrong("factor", "give either this or write_bps")),
            (Some(_), None) => return Err(parameters.wrong("factor", "must be more than 1 and at most 100")),
        };
        Ok(SlowDev { factor, bytes_per_second })
    }

    fn plan(&self, node: &Node, _: &PlanContext) -> Result<NodeSteps, LabError> {
        let (lab, host) = lab_of::<SlowDev>(node)?;
        let model = lab.server(host)?.disk.unwrap_or_default();
        let left = match (self.factor, self.bytes_per_second) {
            (Some(factor), _) => 1.0 / factor,
            (None, Some(bytes)) => bytes as f64 / (model.bandwidth_mb_per_second * 1e6),
            (None, None) => 1.0,
        };
        if !(0.01..1.0).contains(&left) {
            let speed = model.bandwidth_mb_per_second;
            return Err(LabError::Input(format!(
                "the disk of {host} has {speed} MB/s: at least a hundredth, and less than all, must be left"
            )));
        }
        // Few digits, which JSON preserves exactly.
        let neighbour = libm::rint((1.0 - left) * 1000.0) / 1000.0;
        steps::<SlowDev>(node, DiskFault { neighbour, ..DiskFault::default() })
    }

    fn affects(&self) -> &'static [Area] {
        &[Area::Lab]
    }

    fn cause(&self) -> Cause {
        Cause::DiskBusy
    }
}
