//! From parameters as they are given to a model.

use std::collections::BTreeMap;

use super::{MODELS, Model};
use crate::faults::Fault;
use crate::machine::LabError;

/// The paper's shares and bytes (PFault, section 4.2).
const PERCENT: u32 = 10;
const MOST_BYTES: u64 = 200;
const LEAVE: u64 = 16 << 20;
const FACTOR: f64 = 5.0;
/// The arm of a virtual disk keeps a hundredth of its time for us.
const MOST_FACTOR: f64 = 100.0;

/// Parameters that nobody has asked for yet.
pub struct Given<'a> {
    model: &'a str,
    /// What is left.
    pub left: BTreeMap<String, String>,
}

impl<'a> Given<'a> {
    /// All parameters that were given for a model.
    pub fn new(model: &'a str, parameters: &BTreeMap<String, String>) -> Given<'a> {
        Given { model, left: parameters.clone() }
    }

    /// The model; what it knows is taken.
    pub fn model(&mut self) -> Result<Model, LabError> {
        Ok(match self.model {
            "dev-fail" => self.dev_fail()?,
            "inconsist" => Model::Inconsist {
                how: self.word("how", "files")?,
                delete_pct: self.percent("delete_pct")?,
                corrupt_pct: self.percent("corrupt_pct")?,
                corrupt_max_bytes: self.size("corrupt_max_bytes", MOST_BYTES)?.clamp(1, 4096),
                local_fsck: self.word("local_fsck", "false").and_then(|word: String| self.truth(&word))?,
            },
            "partition" => Model::Partition {
                mode: self.word("mode", "isolate")?,
                lost: self.word("lost", "in")?,
                peers: self.list("peers"),
            },
            "slow-dev" => self.slow_disk()?,
            "slow-net" => Model::Slow { fault: Fault::SlowLink.as_str().into() },
            "full" => Model::Full { leave: self.size("leave", LEAVE)? },
            "kill" => self.kill(),
            "pause" => Model::Pause { processes: self.list("process") },
            name => Model::Slow { fault: lab_fault(name)?.as_str().into() },
        })
    }

    fn dev_fail(&mut self) -> Result<Model, LabError> {
        match self.left.get("mechanism").map(String::as_str) {
            Some("brick-kill") => {
                self.left.remove("mechanism");
                Ok(self.kill())
            }
            Some("pause") => {
                self.left.remove("mechanism");
                Ok(Model::Pause { processes: self.list("process") })
            }
            _ => Ok(Model::DevFail { mechanism: self.word("mechanism", "auto")? }),
        }
    }

    fn slow_disk(&mut self) -> Result<Model, LabError> {
        let bytes_per_second = match self.left.contains_key("write_bps") {
            true => Some(self.size("write_bps", 0)?),
            false => None,
        };
        let word = self.left.remove("factor");
        let factor = match (word.as_deref().map(str::parse::<f64>), bytes_per_second) {
            (None, None) => Some(FACTOR),
            (None, Some(_)) => None,
            (Some(Ok(factor)), None) if (1.0..=MOST_FACTOR).contains(&factor) && factor > 1.0 => Some(factor),
            (Some(_), Some(_)) => return Err(self.wrong("factor", "give either this or write_bps")),
            (Some(_), None) => return Err(self.wrong("factor", "it is more than 1, and 100 at the most")),
        };
        Ok(Model::SlowDisk { factor, bytes_per_second })
    }

    fn kill(&mut self) -> Model {
        Model::Kill { processes: self.list("process"), restart: self.left.remove("restart") }
    }

    /// One of the words that a type knows.
    fn word<T: serde::de::DeserializeOwned>(&mut self, key: &str, default: &str) -> Result<T, LabError> {
        let word = self.left.remove(key).unwrap_or_else(|| default.to_owned());
        serde_json::from_value(serde_json::Value::String(word)).map_err(|error| self.wrong(key, error))
    }

    fn truth(&self, word: &str) -> Result<bool, LabError> {
        word.parse().map_err(|error| self.wrong("local_fsck", error))
    }

    fn percent(&mut self, key: &str) -> Result<u32, LabError> {
        let Some(word) = self.left.remove(key) else { return Ok(PERCENT) };
        match word.parse() {
            Ok(percent) if percent <= 100 => Ok(percent),
            _ => Err(self.wrong(key, format!("{word:?} is not a whole number up to 100"))),
        }
    }

    fn size(&mut self, key: &str, default: u64) -> Result<u64, LabError> {
        let Some(word) = self.left.remove(key) else { return Ok(default) };
        let (number, shift) = match word.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']) {
            Some(number) if word.ends_with(['k', 'K']) => (number, 10),
            Some(number) if word.ends_with(['m', 'M']) => (number, 20),
            Some(number) => (number, 30),
            None => (word.as_str(), 0),
        };
        let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        bytes.ok_or_else(|| self.wrong(key, format!("{word:?} is no size: write it like 4096, 64K or 16M")))
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let words = self.left.remove(key).unwrap_or_default();
        words.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn wrong(&self, key: &str, why: impl std::fmt::Display) -> LabError {
        LabError::Input(format!("{}, parameter {key}: {why}", self.model))
    }
}

fn lab_fault(name: &str) -> Result<Fault, LabError> {
    Fault::named(name).map_err(|_| {
        let own = MODELS.map(|(model, ..)| model).join(", ");
        let faults = Fault::ALL.map(Fault::as_str).join(", ");
        LabError::Input(format!(
            "no fault is called {name:?}; there are {own}, and those of the lab: {faults}"
        ))
    })
}
