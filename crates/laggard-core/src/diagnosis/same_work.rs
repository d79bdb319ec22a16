//! The busy time that a disk needs for the same work as its peers, over a whole time.
//! In: a disk and a time. Out: a lower bound of the ratio. Always: more reads, more writes or more requests explain as much more
//! time as there are more of them, whatever one of them costs.

use std::ops::Range;

use super::context::Context;
use super::traffic;
use crate::model::metric::MetricId;

/// Work of a kind that is less than this share of all that the peers move explains nothing.
const NEGLIGIBLE_SHARE: f64 = 0.05;

/// Nothing where the busy time was not recorded.
pub(super) fn busy_ratio(disk: usize, range: &Range<usize>, context: Context<'_>) -> Option<f64> {
    let compared = |metric| traffic::compared(disk, metric, range, context);
    let each = compared(MetricId::Svctm)?;
    let requests = compared(MetricId::Tps)?;
    let [read, written] = [compared(MetricId::RdSec)?, compared(MetricId::WrSec)?];
    let negligible = NEGLIGIBLE_SHARE * (read.1 + written.1);
    let busy = each.0 * requests.0 / (each.1 * requests.1);
    let more = |(own, peers): (f64, f64)| own / (peers + negligible);
    let explained = (requests.0 / requests.1).max(more(read)).max(more(written));
    Some(busy / explained).filter(|ratio| ratio.is_finite())
}
