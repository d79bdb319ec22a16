//! Each component against the median of its peers at the same instant.

/// The median of what is not NaN; `scratch` is for its use. Of an even number, the mean of the middle two.
pub fn median(values: &[f64], scratch: &mut Vec<f64>) -> Option<f64> {
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

/// Fewer active peers than this tell nothing about what is usual.
const FEWEST_ACTIVE: usize = 3;

/// Logarithms of the ratios to the median of those that do something. Zero means that there was nothing to
/// measure: no request, no latency. Where less than half of the present ones are active, nobody is compared.
pub fn of_active(values: &[f64], scratch: &mut Vec<f64>, ratios: &mut [f64]) {
    let present = values.iter().filter(|value| !value.is_nan()).count();
    for (ratio, value) in ratios.iter_mut().zip(values) {
        *ratio = if *value > 0.0 { *value } else { f64::NAN };
    }
    let active = ratios.iter().filter(|value| !value.is_nan()).count();
    match median(ratios, scratch) {
        Some(median) if active >= FEWEST_ACTIVE && 2 * active >= present => {
            ratios.iter_mut().for_each(|ratio| *ratio = (*ratio / median).ln());
        }
        _ => ratios.fill(f64::NAN),
    }
}

/// Logarithms of ratios of amounts, where zero is an amount like any other. `least` is what does not matter: it is
/// added to both sides, so that nothing against next to nothing is no difference.
pub fn of_amounts(values: &[f64], least: f64, scratch: &mut Vec<f64>, ratios: &mut [f64]) {
    let Some(median) = median(values, scratch).filter(|_| least > 0.0) else {
        ratios.fill(f64::NAN);
        return;
    };
    for (ratio, value) in ratios.iter_mut().zip(values) {
        *ratio = ((value.max(0.0) + least) / (median.max(0.0) + least)).ln();
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
        of_active(values, &mut Vec::new(), &mut ratios);
        ratios
    }

    #[test]
    fn twice_the_median_is_ln_2_in_any_unit() {
        let one = active(&[1.0, 1.0, 2.0, 1.0]);
        assert_eq!(one[2], 2.0_f64.ln());
        assert_eq!(one, active(&[1e6, 1e6, 2e6, 1e6]));
    }

    #[test]
    fn who_does_nothing_has_no_latency() {
        let ratios = active(&[0.0, 3.0, 3.0, 3.0]);
        assert!(ratios[0].is_nan());
        assert_eq!(ratios[1], 0.0);
    }

    #[test]
    fn where_most_do_nothing_nobody_is_compared() {
        assert!(active(&[0.0, 0.0, 0.0, 0.0, 9.0, 1.0, 1.0]).iter().all(|r| r.is_nan()));
    }

    #[test]
    fn next_to_nothing_against_nothing_is_no_difference() {
        let mut ratios = [0.0; 3];
        of_amounts(&[0.0, 0.1, 0.0], 100.0, &mut Vec::new(), &mut ratios);
        assert!(ratios[1] < 0.01);
        of_amounts(&[0.0, 1e4, 0.0], 100.0, &mut Vec::new(), &mut ratios);
        assert!(ratios[1] > 4.0);
    }
}
