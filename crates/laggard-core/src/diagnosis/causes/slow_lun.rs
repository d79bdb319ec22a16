use super::{Description, LATENCY, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::component::Container;

pub(super) const DESCRIPTION: Description = Description {
    name: "slow-lun",
    title: "slow LUN",
    meaning: "one LUN is slower than its peers, from every host that uses it",
    decisive: LATENCY,
    next: &["the array's log for {name}: failing disks, parity recoveries, a rebuild?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let is_one = facts.container.is_none() || facts.is_in(Container::Lun);
    let fits = if facts.is_lun && is_one { weight(s.latency) * unless(s.more_disk_traffic) } else { 0.0 };
    let because = if s.more_disk_traffic > 1.0 {
        "it is slow; but its load is also higher than its peers'"
    } else {
        "it is slow, and its load is no higher than its peers'"
    };
    (fits, because)
}
