//! The schedule of a campaign: the same seed gives the same bytes.

use serde::{Deserialize, Serialize};

use super::cases;
use super::config::Config;
use crate::runner::case::Case;
use crate::runner::case_schedule::Origin;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Schedule {
    #[serde(flatten)]
    pub origin: Origin,
    /// In the order in which they run.
    pub cases: Vec<Case>,
}

impl Schedule {
    pub(super) fn of(config: &Config) -> Schedule {
        Schedule { origin: config.origin(), cases: cases::of(config) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::config;
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_gives_others() {
        let text = |seed| {
            let mut config = config();
            config.seed = seed;
            serde_json::to_string(&Schedule::of(&config)).unwrap()
        };
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }
}
