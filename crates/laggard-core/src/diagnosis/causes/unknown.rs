use super::Description;
use crate::diagnosis::facts::Facts;

pub(super) const DESCRIPTION: Description = Description {
    name: "unknown",
    title: "cause unknown",
    meaning: "it differs from its peers, and the evidence does not show why",
    decisive: &[],
    next: &["look at {name} with `laggard show`: the evidence does not say more"],
    weigh,
};

/// Chosen where no other cause fits.
fn weigh(_: &Facts) -> (f64, &'static str) {
    (0.0, "no cause fits the evidence well")
}
