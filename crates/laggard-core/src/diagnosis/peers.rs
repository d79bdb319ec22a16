//! Values of the peers of a component in the same time: needed for every suspect, computed once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::methods::usual_ratios::UsualRatios;
use crate::model::cluster::Inventory;
use crate::model::metric::{Harm, Metric, MetricId, Unit};
use crate::model::time::Span;
use crate::suspects::sharpen::Course;
use crate::tables::summary::Summary;

/// Peer groups and the values of their members.
pub struct Peers<'a> {
    inventory: &'a Inventory,
    summary: &'a Summary,
    /// The group of each component that is in one.
    groups: Vec<Option<usize>>,
    middles: RefCell<Middles>,
    bands: RefCell<HashMap<(usize, MetricId), Rc<Band>>>,
    usual: Option<&'a UsualRatios>,
}

/// The middle of a group's means, by metric and buckets.
type Middles = HashMap<(usize, MetricId, Range<usize>), Place>;

/// Stalls are at most this far apart.
const SMOOTHING: Span = Span::from_seconds(120);
/// More times worse is as bad as it gets.
const MOST_EXCESS: f64 = 3.0;

/// A group in one metric: what a tenth, a half and nine tenths of it are below, bucket by bucket.
pub type Band = Vec<[Place; 3]>;

impl<'a> Peers<'a> {
    /// Of an inventory, and what was recorded of it.
    pub fn new(inventory: &'a Inventory, summary: &'a Summary) -> Peers<'a> {
        let mut groups = vec![None; inventory.components.len()];
        for (number, group) in inventory.groups.iter().enumerate().rev() {
            group.members.iter().for_each(|&member| groups[member] = Some(number));
        }
        Peers {
            inventory,
            summary,
            groups,
            middles: RefCell::default(),
            bands: RefCell::default(),
            usual: None,
        }
    }

    /// The same where components have usual ratios to their peers.
    pub fn with_usual_ratios(self, usual: Option<&'a UsualRatios>) -> Peers<'a> {
        Peers { usual, ..self }
    }

    /// The ratio of a component to its peers in training. Nothing if it is not known.
    pub fn usual_ratio(&self, component: usize, metric: MetricId) -> Option<f64> {
        let usual = self.usual?.of(&self.inventory.components[component].name, metric)?;
        Some(usual.ratio)
    }

    /// The logarithm of a ratio to the peers, as a multiple of the usual one.
    pub fn excess(&self, component: usize, metric: MetricId, ratio: f64) -> f64 {
        ratio.ln() - self.usual_ratio(component, metric).map_or(0.0, f64::ln)
    }

    /// With how many others a component is compared.
    pub fn count(&self, component: usize) -> usize {
        self.members(component).len().saturating_sub(1)
    }

    /// The group of a component.
    pub fn members(&self, component: usize) -> &'a [usize] {
        let group = self.groups.get(component).copied().flatten();
        group.map_or(&[], |group| &self.inventory.groups[group].members)
    }

    /// The mean of a component within some buckets; of what is seen and not recorded, the percentage of that time.
    pub fn mean(&self, component: usize, metric: &Metric, range: Range<usize>) -> Option<f64> {
        let recorded = &self.inventory.components[component].recorded;
        if metric.id.is_loss() {
            return self.summary.weighted_mean(metric.id, recorded, range);
        }
        if metric.is_tabulated() {
            return self.summary.mean(metric.id, recorded, range);
        }
        if metric.id == MetricId::MinuteAwait {
            return self.summary.weighted_mean(MetricId::Await, recorded, range);
        }
        let all = range.len();
        let (there, active) = self.summary.presence(recorded, range);
        let (part, whole) = match metric.id {
            MetricId::Absence => (all - there, all),
            MetricId::Idleness => (there - active, there),
            _ => (active, there),
        };
        (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
    }

    /// The median of its peers' means.
    pub fn median(&self, component: usize, metric: &'static Metric, range: Range<usize>) -> Option<f64> {
        let group = self.groups.get(component).copied().flatten()?;
        let mut middles = self.middles.borrow_mut();
        let middle = middles.entry((group, metric.id, range.clone())).or_insert_with(|| {
            let means = self.members(component).iter().filter_map(|&c| self.mean(c, metric, range.clone()));
            Place::of(&mut means.collect::<Vec<f64>>(), 0.5)
        });
        middle.without(self.mean(component, metric, range))
    }

    /// How much worse than its peers a component was, compared with its usual ratio, bucket by bucket, around a time.
    pub fn course(&self, component: usize, metric: &'static Metric, around: Range<usize>) -> Course {
        let sign = if metric.harm == Harm::Down { -1.0 } else { 1.0 };
        // Between stalls a device is as fast as its peers: a minute is the shortest time that shows them.
        let is_of_minutes = metric.id == MetricId::MinuteAwait;
        let half = (SMOOTHING.micros() / self.summary.bucket.micros().max(1)) as usize / 2;
        let half = if is_of_minutes { half } else { 0 };
        let excess = |bucket: usize| {
            let range = bucket.saturating_sub(half)..(bucket + half + 1).min(self.summary.buckets);
            let (Some(own), peers) =
                (self.mean(component, metric, range.clone()), self.median(component, metric, range))
            else {
                return f64::NAN;
            };
            let peers = peers.unwrap_or(f64::NAN);
            if metric.unit == Unit::Percent {
                return (own - peers) / 100.0;
            }
            let ratio = self.excess(component, metric.id, own / peers);
            let ratio = if metric.harm == Harm::Either { ratio.abs() } else { sign * ratio };
            if ratio.is_finite() { ratio.min(MOST_EXCESS) } else { f64::NAN }
        };
        let start = self.summary.start + self.summary.bucket * around.start as i64;
        let (bucket, excess) = (self.summary.bucket, around.map(excess).collect());
        Course { start, bucket, smoothing: bucket * (2 * half) as i64, excess }
    }

    /// The band of a component's group.
    pub fn band(&self, component: usize, metric: &'static Metric) -> Option<Rc<Band>> {
        let group = self.groups.get(component).copied().flatten()?;
        let mut bands = self.bands.borrow_mut();
        let band =
            bands.entry((group, metric.id)).or_insert_with(|| self.drawn(self.members(component), metric));
        Some(band.clone())
    }

    fn drawn(&self, members: &[usize], metric: &Metric) -> Rc<Band> {
        let recorded = members.iter().map(|&c| &self.inventory.components[c].recorded);
        let rows: Vec<Vec<f64>> = recorded.filter_map(|name| self.summary.row(metric.id, name)).collect();
        let of_bucket = |bucket: usize| {
            let values = rows.iter().map(|row| row[bucket]).filter(|value| !value.is_nan());
            let mut values: Vec<f64> = values.collect();
            [0.1, 0.5, 0.9].map(|share| Place::of(&mut values, share))
        };
        Rc::new((0..self.summary.buckets).map(of_bucket).collect())
    }
}

/// A quantile of values with any one of them left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    share: f64,
    count: usize,
    /// At the share of all but one, and the next one.
    here: f64,
    next: f64,
}

impl Place {
    /// Of values in any order; they are moved.
    fn of(values: &mut [f64], share: f64) -> Place {
        let (count, mut here, mut next) = (values.len(), f64::NAN, f64::NAN);
        if count > 0 {
            let at = place(share, count.saturating_sub(1).max(1));
            let (_, middle, above) = values.select_nth_unstable_by(at, f64::total_cmp);
            here = *middle;
            next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(f64::NAN);
        }
        Place { share, count, here, next }
    }

    /// Without one of the values, or of all of them. Nothing where none is left.
    pub fn without(&self, own: Option<f64>) -> Option<f64> {
        let is_next = match own.filter(|own| !own.is_nan()) {
            Some(own) => own <= self.here,
            None => self.count > 1 && place(self.share, self.count) > place(self.share, self.count - 1),
        };
        Some(if is_next { self.next } else { self.here }).filter(|value| !value.is_nan())
    }
}

/// The number of the value at a share of some.
fn place(share: f64, count: usize) -> usize {
    (share * (count - 1) as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain way: leave it out, sort, look.
    fn naive(values: &[f64], left_out: Option<usize>, share: f64) -> Option<f64> {
        let mut others = values.to_vec();
        left_out.map(|k| others.remove(k));
        others.sort_by(f64::total_cmp);
        others.len().checked_sub(1).map(|last| others[(share * last as f64).round() as usize])
    }

    #[test]
    fn leaving_a_component_out_does_not_change_the_rank_of_the_others() {
        for count in 0..9 {
            let values: Vec<f64> = (0..count).map(|k| f64::from(k * 7 % 5)).collect();
            for share in [0.1, 0.5, 0.9] {
                let place = Place::of(&mut values.clone(), share);
                assert_eq!(place.without(None), naive(&values, None, share), "{values:?} {share}");
                for k in 0..values.len() {
                    assert_eq!(
                        place.without(Some(values[k])),
                        naive(&values, Some(k), share),
                        "{values:?} {k}"
                    );
                }
            }
        }
    }
}
