//! Provisional numbers from an exploratory fit, not from `.ci/calibrate`, which replaces this file. docs/methods.md says what
//! they were fitted to.

use super::confidence::Calibration;

pub(super) const CALIBRATION: Calibration = Calibration { intercept: -4.04, lead: 10.40, strength: 1.43 };
