//! The ratio of each component to the median of its peers at the same instant.

/// The median of the values that are not NaN; of an even number, the mean of the middle two.
pub(super) fn median(values: &[f64], scratch: &mut Vec<f64>) -> Option<f64> {
    scratch.clear();
    scratch.extend(values.iter().filter(|value| !value.is_nan()));
    let len = scratch.len();
    if len == 0 {
        return None;
    }
    let (below, &mut middle, _) = scratch.select_nth_unstable_by(len / 2, f64::total_cmp);
    if len % 2 == 1 {
        return Some(middle);
    }
    let before = below.iter().copied().max_by(f64::total_cmp).unwrap_or(middle);
    Some((before + middle) / 2.0)
}

/// With fewer active peers there is no usual value.
const FEWEST_ACTIVE: usize = 3;

/// True if enough members have a value to compare it: half of those that are `present` and ever used.
pub(super) fn are_enough(active: usize, present: usize) -> bool {
    active >= FEWEST_ACTIVE && 2 * active >= present
}

/// Recognizes values that were rounded to whole numbers before they were recorded.
#[derive(Debug, Default)]
pub(super) struct Rounding {
    /// Values that are not 0, so far, and the whole numbers among them.
    values: usize,
    whole: usize,
}

/// Where two samples share a step, their mean is no whole number.
const WHOLE_SHARE: f64 = 0.9;

/// With fewer values, whole numbers may be chance.
const FEWEST_VALUES: usize = 12;

impl Rounding {
    /// The values moved towards their median, each by the difference that rounding may have made: 1 and 2 may be 1.49 and 1.51.
    /// None if they were not rounded.
    pub(super) fn removed(&mut self, values: &[f64], scratch: &mut Vec<f64>) -> Option<Vec<f64>> {
        let counted = || values.iter().filter(|value| **value > 0.0);
        self.values += counted().count();
        self.whole += counted().filter(|value| value.fract() == 0.0).count();
        let is_rounded =
            self.values >= FEWEST_VALUES && self.whole as f64 >= WHOLE_SHARE * self.values as f64;
        if !is_rounded {
            return None;
        }
        let middle = median(&counted().copied().collect::<Vec<f64>>(), scratch)?;
        let moved = |value: f64| value - (value - middle).clamp(-1.0, 1.0);
        Some(values.iter().map(|&value| if value > 0.0 { moved(value) } else { value }).collect())
    }
}

/// Logarithms of the ratios to the median of the active components. Zero means that there was nothing to measure: no
/// request, no latency. If fewer than half of the present components that are ever used are active, all are NaN. The
/// `negligible` amount is added to both sides.
pub(super) fn of_active(
    values: &[f64],
    is_used: impl Fn(usize) -> bool,
    negligible: f64,
    scratch: &mut Vec<f64>,
    ratios: &mut [f64],
) {
    let present = values.iter().enumerate().filter(|(at, value)| !value.is_nan() && is_used(*at)).count();
    for (ratio, value) in ratios.iter_mut().zip(values) {
        *ratio = if *value > 0.0 { *value } else { f64::NAN };
    }
    let active = ratios.iter().filter(|value| !value.is_nan()).count();
    match median(ratios, scratch) {
        Some(median) if are_enough(active, present) => {
            ratios.iter_mut().for_each(|ratio| *ratio = ((*ratio + negligible) / (median + negligible)).ln());
        }
        _ => ratios.fill(f64::NAN),
    }
}

/// Logarithms of ratios of amounts, where zero is a valid amount. The `negligible` amount is added to both sides, so that
/// small amounts do not differ from zero.
pub(super) fn of_amounts(values: &[f64], negligible: f64, scratch: &mut Vec<f64>, ratios: &mut [f64]) {
    let Some(median) = median(values, scratch).filter(|_| negligible > 0.0) else {
        ratios.fill(f64::NAN);
        return;
    };
    for (ratio, value) in ratios.iter_mut().zip(values) {
        *ratio = ((value.max(0.0) + negligible) / (median.max(0.0) + negligible)).ln();
        if value.is_nan() {
            *ratio = f64::NAN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(values: &[f64]) -> Vec<f64> {
        let mut ratios = vec![0.0; values.len()];
        of_active(values, |_| true, 0.0, &mut Vec::new(), &mut ratios);
        ratios
    }

    #[test]
    fn rounded_values_differ_by_what_rounding_does_not_explain() {
        let (mut rounding, mut scratch) = (Rounding::default(), Vec::new());
        let values = [1.0, 1.0, 2.0, 1.0, 0.0, f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 40.0];
        let moved = rounding.removed(&values, &mut scratch).unwrap();
        assert_eq!((moved[2], moved[4], moved[14]), (1.0, 0.0, 39.0));
        assert!(moved[5].is_nan());
        assert_eq!(rounding.removed(&[1.0, 2.5, 1.0], &mut scratch).unwrap(), [1.0, 1.5, 1.0], "one of many");
        let fractions = [1.1, 2.5, 1.2, 1.7, 9.6, 2.2];
        assert_eq!(rounding.removed(&fractions, &mut scratch), None);
        assert_eq!(rounding.removed(&[1.0, 2.0, 1.0], &mut scratch), None, "others were not whole");
    }

    #[test]
    fn twice_the_median_is_ln_2_in_any_unit() {
        let one = active(&[1.0, 1.0, 2.0, 1.0]);
        assert_eq!(one[2], 2.0_f64.ln());
        assert_eq!(one, active(&[1e6, 1e6, 2e6, 1e6]));
    }

    #[test]
    fn an_idle_component_has_no_latency() {
        let ratios = active(&[0.0, 3.0, 3.0, 3.0]);
        assert!(ratios[0].is_nan());
        assert_eq!(ratios[1], 0.0);
    }

    #[test]
    fn a_mostly_idle_group_is_not_compared() {
        assert!(active(&[0.0, 0.0, 0.0, 0.0, 9.0, 1.0, 1.0]).iter().all(|r| r.is_nan()));
    }

    #[test]
    fn a_negligible_amount_does_not_differ_from_zero() {
        let mut ratios = [0.0; 3];
        of_amounts(&[0.0, 0.1, 0.0], 100.0, &mut Vec::new(), &mut ratios);
        assert!(ratios[1] < 0.01);
        of_amounts(&[0.0, 1e4, 0.0], 100.0, &mut Vec::new(), &mut ratios);
        assert!(ratios[1] > 4.0);
    }
}
