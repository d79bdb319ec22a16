//! From parameters as they are given to a model.

use std::collections::BTreeMap;

use super::{Cut, How, MODELS, Mode, Model};
use crate::faults::Fault;
use crate::machine::LabError;

/// The paper's shares and bytes (PFault, section 4.2).
const PERCENT: u32 = 10;
const MOST_BYTES: u64 = 200;
const LEAVE: u64 = 16 << 20;
const FACTOR: f64 = 5.0;
const CHUNK: u64 = 4096;
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
            "inconsist" => self.inconsist()?,
            "bitflip" => self.bitflip()?,
            "partition" => self.partition()?,
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

    fn inconsist(&mut self) -> Result<Model, LabError> {
        let how: How = self.word("how", "files")?;
        // There is nothing to check where files are changed through their file system.
        let is_checked = if how == How::Meta { "true" } else { "false" };
        Ok(Model::Inconsist {
            how,
            delete_pct: self.percent("delete_pct")?,
            corrupt_pct: self.percent("corrupt_pct")?,
            corrupt_max_bytes: self.size("corrupt_max_bytes", MOST_BYTES)?.clamp(1, 4096),
            local_fsck: self.word("local_fsck", is_checked).and_then(|word: String| self.truth(&word))?,
        })
    }

    fn bitflip(&mut self) -> Result<Model, LabError> {
        let modulus = self.number("modulus", 1..=1 << 20)?;
        let index = self.number("index", 0..=modulus.unwrap_or(1 << 20).saturating_sub(1))?;
        Ok(Model::Bitflip {
            pct: self.percent("pct")?,
            bits: self.number("bits", 1..=1000)?.unwrap_or(1) as u32,
            chunk: self.size("chunk", CHUNK)?.clamp(1, 1 << 30),
            modulus,
            index,
        })
    }

    fn partition(&mut self) -> Result<Model, LabError> {
        let mechanism: Cut = self.word("mechanism", "nft")?;
        let mode: Mode = self.word("mode", "isolate")?;
        let (lost, peers) = (self.word("lost", "in")?, self.list("peers"));
        let link = self.left.remove("link");
        if mechanism == Cut::LinkDown && (mode != Mode::Isolate || !peers.is_empty()) {
            return Err(self.wrong("mechanism", "a link that is down cuts a node off from all others"));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        match &link {
            Some(_) if mechanism == Cut::Nft => Err(self.wrong("link", "it is for mechanism=link-down")),
            Some(link) if !link.starts_with(char::is_alphanumeric) || !link.chars().all(is_plain) => {
                Err(self.wrong("link", format!("{link:?} is no name of a link")))
            }
            _ => Ok(Model::Partition { mechanism, link, mode, lost, peers }),
        }
    }

    fn number(&mut self, key: &str, bounds: std::ops::RangeInclusive<u64>) -> Result<Option<u64>, LabError> {
        let Some(word) = self.left.remove(key) else { return Ok(None) };
        let (least, most) = (bounds.start(), bounds.end());
        let found = word.parse().ok().filter(|number| bounds.contains(number));
        let wrong = || self.wrong(key, format!("{word:?} is not a whole number from {least} to {most}"));
        found.map(Some).ok_or_else(wrong)
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
