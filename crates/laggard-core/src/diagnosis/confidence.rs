//! The confidence of a cause: how often such a cause was right on labelled data, given that the component is faulty.
//! In: [`Support`]. Out: a probability. Always: more evidence does not lower it.
//!
//! The number of metrics that agree, the number of anomalous windows, the length of the incident and what was not recorded
//! are no inputs: in one exploratory comparison that left out a system at a time, none of them added to these two.

use super::causes::{Cause, STRONGEST};

/// The evidence for the leading fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// The fault with the largest weight.
    pub cause: Cause,
    /// The difference of its weight to that of the next one.
    pub lead: f64,
    /// The strongest symptom, as a multiple of its threshold.
    pub strength: f64,
}

/// A logistic regression of being right on the two inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub intercept: f64,
    pub lead: f64,
    pub strength: f64,
}

/// Labelled data are from simulators and laboratories, whose faults are known kinds: they say nothing about rarer errors.
pub const HIGHEST: f64 = 0.97;

impl Support {
    /// The inputs of the regression.
    pub fn inputs(&self) -> [f64; 2] {
        [self.lead.clamp(0.0, 1.0), self.strength.clamp(1.0, STRONGEST).ln()]
    }
}

impl Calibration {
    pub fn confidence(&self, support: &Support) -> f64 {
        let [lead, strength] = support.inputs();
        let logit = self.intercept + self.lead * lead + self.strength * strength;
        (1.0 / (1.0 + (-logit).exp())).clamp(Cause::PRIOR, HIGHEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confidence(lead: f64, strength: f64) -> f64 {
        let calibration = Calibration { intercept: -4.0, lead: 10.0, strength: 1.5 };
        calibration.confidence(&Support { cause: Cause::DiskBusy, lead, strength })
    }

    #[test]
    fn more_evidence_does_not_lower_the_confidence() {
        for step in 0..20 {
            let (lead, strength) = (f64::from(step) / 20.0, 1.0 + f64::from(step));
            for other in [0.0, 0.3, 1.0] {
                assert!(confidence(lead + 0.05, 1.0 + other) >= confidence(lead, 1.0 + other));
                assert!(confidence(other, strength + 1.0) >= confidence(other, strength));
            }
        }
        assert!(confidence(0.8, 6.0) > confidence(0.2, 1.5));
    }

    #[test]
    fn no_evidence_is_as_good_as_chance_and_no_confidence_is_certainty() {
        assert!(confidence(0.0, 1.0) >= Cause::PRIOR);
        assert!(confidence(-1.0, 0.0) >= Cause::PRIOR);
        assert_eq!(confidence(1.0, f64::INFINITY), HIGHEST);
        assert!(confidence(0.5, 1e9) <= HIGHEST);
    }
}
