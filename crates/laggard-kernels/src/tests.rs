//! Every kernel against its plain version, at every critical length, with every instruction set.

use crate::average::moving_average;
use crate::bins::Scale;
use crate::counts::{MOST_COUNTED, PAST, count_up};
use crate::extent::extent;
use crate::lanes::{ASKED, Lanes, Question};
use crate::machine::LANES;
use crate::machine::testing::on_every_machine;
use crate::median::Quantile;
use crate::quartiles::{Overview, Quartiles};
use crate::rows::Rows;
use crate::sorting::Network;
use crate::{bins, lanes, median, twin};

/// Numbers that repeat from run to run.
struct Dice(u64);

impl Dice {
    fn next(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }

    /// Few different ones, so that many are equal; some missing.
    fn value(&mut self, missing_percent: u64) -> f64 {
        match self.next(100) < missing_percent {
            true => f64::NAN,
            false => self.next(500) as f64 / 7.0,
        }
    }

    fn values(&mut self, count: usize, missing_percent: u64) -> Vec<f64> {
        (0..count).map(|_| self.value(missing_percent)).collect()
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect()
}

#[test]
fn moving_averages_are_bit_for_bit_those_of_the_twin_at_every_length() {
    on_every_machine(|| {
        let (mut dice, mut threes) = (Dice(1), Vec::new());
        for length in 1..90 {
            for (span, least) in [(1, 1), (2, 1), (5, 3), (15, 8), (15, 15), (31, 16)] {
                for missing in [0, 3, 60] {
                    let values = dice.values(length, missing);
                    let mut means = vec![0.0; (length + 1).saturating_sub(span)];
                    if !means.is_empty() {
                        moving_average(&values, span, least, &mut threes, &mut means);
                        assert_eq!(bits(&means), bits(&twin::moving_average(&values, span, least)));
                    }
                }
            }
        }
    });
}

#[test]
fn infinite_numbers_count_as_missing() {
    on_every_machine(|| {
        let values = [1.0, f64::INFINITY, 3.0, f64::NEG_INFINITY, 5.0];
        let mut means = [0.0; 3];
        moving_average(&values, 3, 2, &mut Vec::new(), &mut means);
        assert_eq!(means[0], 2.0);
        assert!(means[1].is_nan());
        assert_eq!(means[2], 4.0);
        moving_average(&[f64::MAX; 3], 3, 2, &mut Vec::new(), &mut means[..1]);
        assert!(means[0].is_nan());
    });
}

#[test]
fn bins_are_those_of_the_twin_at_every_length() {
    on_every_machine(|| {
        let mut dice = Dice(2);
        for length in 0..70 {
            for (count, unit) in [(1, 1.0), (7, 1.0), (33, 1.0), (1000, 1.0), (33, 1e290), (33, 1e-310)] {
                let values: Vec<f64> = dice.values(length, 10).iter().map(|value| value * unit).collect();
                let scale = Scale::new(0.0, 499.0 / 7.0 * unit, count);
                // Some lie on the edge of a bin, or right beside it.
                let edge = |k: usize| (k % 7) as f64 * scale.width * (1.0 + (k % 3) as f64 * 1e-16 - 1e-16);
                let values: Vec<f64> = values
                    .into_iter()
                    .enumerate()
                    .map(|(k, v)| if k % 5 == 0 { edge(k) } else { v })
                    .collect();
                let mut numbers = vec![0; length];
                bins::number(&values, scale, &mut numbers);
                let expected: Vec<u16> = values.iter().map(|&value| twin::bin(value, scale)).collect();
                assert_eq!(numbers, expected);
            }
        }
    });
}

#[test]
fn values_beside_the_edges_of_bins_of_any_width_are_divided_to_the_last_bit() {
    on_every_machine(|| {
        let mut dice = Dice(8);
        for _ in 0..20_000 {
            // All bits of the width count; so do magnitudes.
            let mantissa = dice.next(1 << 26) << 26 | dice.next(1 << 26);
            let width = f64::from_bits(mantissa | 1f64.to_bits()) * 10f64.powi(dice.next(300) as i32 - 150);
            let scale = Scale { low: 0.0, width, count: 1000 };
            let values: [f64; 16] = std::array::from_fn(|k| {
                let edge = dice.next(1000) as f64 * width;
                [edge, edge.next_up(), edge.next_down(), dice.next(1 << 31) as f64 * width / 2e6][k % 4]
            });
            let mut numbers = [0; 16];
            bins::number(&values, scale, &mut numbers);
            assert_eq!(numbers, values.map(|value| twin::bin(value, scale)), "{values:?} of {width:e}");
        }
    });
}

#[test]
fn equal_values_share_one_bin_and_missing_ones_are_past_it() {
    on_every_machine(|| {
        let scale = Scale::new(4.0, 4.0, 1000);
        let mut numbers = [9; 9];
        bins::number(&[4.0, f64::NAN, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0], scale, &mut numbers);
        assert_eq!((scale.count, numbers), (1, [0, 1, 0, 0, 0, 0, 0, 0, 0]));
    });
}

#[test]
fn values_past_the_ends_are_in_the_outermost_bins() {
    on_every_machine(|| {
        let scale = Scale::new(1.0, 3.0, 4);
        let mut numbers = [9; 8];
        bins::number(&[0.9, 1.0, 3.0, 3.1, -1e300, f64::MAX, 1.5, f64::NAN], scale, &mut numbers);
        assert_eq!(numbers, [0, 0, 3, 3, 0, 3, 1, 4]);
    });
}

/// Components below each other in lanes, and each by itself; past the last, bins that are too high.
fn components(dice: &mut Dice, members: usize, size: usize, highest: u16) -> (Vec<Vec<u16>>, Vec<Lanes>) {
    let mut draw = || (0..size).map(|_| dice.next(u64::from(highest) + 1) as u16).collect::<Vec<_>>();
    let components: Vec<Vec<u16>> = (0..members).map(|_| draw()).collect();
    let mut blocks = vec![Lanes::all(u16::MAX); members.div_ceil(LANES) * size];
    for (number, component) in components.iter().enumerate() {
        for (position, &bin) in component.iter().enumerate() {
            blocks[number / LANES * size + position][number % LANES] = bin;
        }
    }
    (components, blocks)
}

/// Each component's bins in rising order.
fn sorted((mut components, mut blocks): (Vec<Vec<u16>>, Vec<Lanes>)) -> (Vec<Vec<u16>>, Vec<Lanes>) {
    components.iter_mut().for_each(|component| component.sort_unstable());
    let size = components[0].len();
    Network::new(size).sort(&mut blocks);
    (components, blocks)
}

fn spread(component: &[u16]) -> Vec<Lanes> {
    component.iter().map(|&bin| Lanes::all(bin)).collect()
}

#[test]
fn rows_turn_into_blocks_of_every_length() {
    on_every_machine(|| {
        let mut dice = Dice(10);
        for size in 1..70 {
            let (components, expected) = components(&mut dice, LANES, size, 999);
            let stride = size + size % 3;
            let rows: Vec<u16> =
                components.iter().flat_map(|c| c.iter().copied().chain(vec![7; stride - size])).collect();
            let mut block = vec![Lanes::all(0); size];
            lanes::turn(&rows, stride, &mut block);
            assert_eq!(block, expected);
        }
    });
}

#[test]
fn distances_are_those_of_the_twin_at_every_length() {
    on_every_machine(|| {
        let mut dice = Dice(3);
        for size in 1..140 {
            let highest = [1, 33, 1000, crate::HIGHEST_BIN][size % 4];
            let (components, blocks) = components(&mut dice, 3 + size % 40, size, highest);
            let mut found = vec![0; components.len()];
            lanes::distances(&spread(&components[2]), &blocks, highest, &mut found);
            let expected: Vec<u32> = components.iter().map(|c| twin::distance(&components[2], c)).collect();
            assert_eq!(found, expected);
        }
    });
}

#[test]
fn some_exceed_as_many_as_the_twin_counts() {
    on_every_machine(|| {
        let mut dice = Dice(4);
        for members in 4..100 {
            let size = [12, 90][members % 2];
            let highest = [9, 1000][members % 2];
            let (components, blocks) = components(&mut dice, members, size, highest);
            let asked: Vec<Lanes> = components[..ASKED].iter().flat_map(|c| spread(c)).collect();
            let usual = u32::from(highest) * size as u32 / 3;
            for limits in [[0, usual, usual + 5, usual * 9 / 10], [usual, usual - 3, 70_000, u32::MAX]] {
                let over = |number: usize| {
                    let apart = components.iter().map(|c| twin::distance(&components[number], c));
                    apart.filter(|distance| *distance > limits[number]).count()
                };
                for needed in [1, over(1), over(1) + 1, members / 2 + 1] {
                    let expected: [bool; ASKED] = std::array::from_fn(|number| over(number) >= needed);
                    let mut questions = limits.map(|limit| Question::new(limit, members, needed));
                    // In two portions.
                    let (first, rest) = blocks.split_at(members.div_ceil(2 * LANES) * size);
                    lanes::exceed(&asked, first, highest, &mut questions);
                    lanes::exceed(&asked, rest, highest, &mut questions);
                    assert_eq!(questions.map(|question| question.is_over()), expected);
                }
            }
        }
    });
}

#[test]
fn networks_sort_columns_of_every_length() {
    on_every_machine(|| {
        let mut dice = Dice(5);
        for size in 1..131 {
            let (components, mut blocks) = components(&mut dice, 3 * LANES, size, 50);
            Network::new(size).sort(&mut blocks);
            for (number, mut component) in components.into_iter().enumerate() {
                component.sort_unstable();
                let block = &blocks[number / LANES * size..][..size];
                assert_eq!(block.iter().map(|row| row[number % LANES]).collect::<Vec<_>>(), component);
            }
        }
    });
}

#[test]
fn counts_up_to_each_bin_are_those_of_the_twin_at_every_length() {
    on_every_machine(|| {
        let mut dice = Dice(12);
        for bins in 1..=MOST_COUNTED {
            for length in [0, 1, 31, 32, 33, 60, MOST_COUNTED] {
                // Past the last bin is what is missing.
                let mut row = [PAST; MOST_COUNTED];
                row[..length].fill_with(|| dice.next(bins as u64 + 1) as u16);
                let mut counts = [9; MOST_COUNTED];
                count_up(&row, &mut counts);
                assert_eq!(counts[..bins], twin::counts(&row, bins));
            }
        }
    });
}

#[test]
fn the_area_is_the_same_along_bins_and_along_samples() {
    let mut dice = Dice(13);
    for bins in 1..=MOST_COUNTED {
        let mut row = || {
            let mut row: Vec<u16> = (0..60).map(|_| dice.next(bins as u64 + 1) as u16).collect();
            row.sort_unstable();
            row
        };
        let (one, other) = (row(), row());
        let [along_one, along_other] = [&one, &other].map(|row| twin::counts(row, bins));
        assert_eq!(twin::distance(&one, &other), twin::distance(&along_one, &along_other));
    }
}

#[test]
fn quantiles_are_those_of_the_twin_for_every_number_of_members() {
    on_every_machine(|| {
        let mut dice = Dice(6);
        for members in 1..100 {
            let highest = [0, 1, 40, 1000][members % 4];
            let (components, blocks) = sorted(components(&mut dice, members, 5, highest));
            for every in [1, 3] {
                let looked_at = |number: usize| (number / LANES).is_multiple_of(every);
                let count = (0..members).filter(|number| looked_at(*number)).count();
                for rank in [0, (count - 1) / 2, count - 1] {
                    let mut found = [0; 5];
                    median::quantiles(&blocks, Quantile { every, rank, highest }, &mut found);
                    for position in 0..5 {
                        let members = (0..members).filter(|number| looked_at(*number));
                        let column: Vec<u16> = members.map(|number| components[number][position]).collect();
                        assert_eq!(Some(found[position]), twin::ranked(&column, rank));
                    }
                }
            }
        }
    });
}

fn quartiles(rows: Rows) -> Option<Quartiles> {
    let mut overview = Overview::default();
    let extent = overview.measure(rows, rows.columns());
    overview.quartiles(rows, extent)
}

fn expected_quartiles(values: &[f64]) -> Option<Quartiles> {
    Some(Quartiles { first: twin::quantile(values, 0.25)?, third: twin::quantile(values, 0.75)? })
}

#[test]
fn quartiles_are_those_of_the_twin_for_every_number_of_values() {
    on_every_machine(|| {
        let mut dice = Dice(7);
        for count in 1..200 {
            let values = dice.values(count, 20);
            let rows = Rows::new(&values, count, 0, count);
            assert_eq!(quartiles(rows), expected_quartiles(&values));
        }
    });
}

#[test]
fn quartiles_of_many_values_are_exact_whatever_they_are() {
    on_every_machine(|| {
        let mut dice = Dice(8);
        let (count, stride, columns) = (1100, 31, 29);
        let random = dice.values(count * stride, 5);
        let rising: Vec<f64> = (0..count * stride).map(|k| k as f64).collect();
        let idle: Vec<f64> = (0..count * stride).map(|k| if k % 10 == 0 { k as f64 } else { 0.0 }).collect();
        let mostly_missing: Vec<f64> = dice.values(count * stride, 70);
        let none = vec![f64::NAN; count * stride];
        let negative: Vec<f64> = (0..count * stride).map(|k| -1.5 - (k % 977) as f64).collect();
        let huge: Vec<f64> = random.iter().map(|value| value * (f64::MAX / 72.0)).collect();
        let tiny: Vec<f64> = random.iter().map(|value| value * f64::MIN_POSITIVE).collect();
        // The sign of what is missing says nothing.
        let otherwise_missing: Vec<f64> = random.iter().map(|v| if v.is_nan() { -*v } else { *v }).collect();
        let all = [random, rising, idle, mostly_missing, none, negative, huge, tiny, otherwise_missing];
        for values in all {
            let rows = Rows::new(&values, stride, 1, columns);
            let inside: Vec<f64> = values.chunks(stride).flat_map(|row| &row[1..30]).copied().collect();
            assert_eq!(quartiles(rows), expected_quartiles(&inside));
        }
    });
}

#[test]
fn extents_are_those_of_the_twin_at_every_length() {
    on_every_machine(|| {
        let mut dice = Dice(11);
        for columns in 1..70 {
            for missing in [0, 20, 100] {
                let values = dice.values(3 * (columns + 2), missing);
                let rows = Rows::new(&values, columns + 2, 1, columns);
                let inside: Vec<f64> = rows.iter().flatten().copied().collect();
                assert_eq!(extent(rows), twin::extent(&inside));
            }
        }
    });
}

#[test]
fn an_overview_continues_from_window_to_window() {
    on_every_machine(|| {
        let mut dice = Dice(9);
        for (size, shift) in [(60, 30), (64, 32), (12, 3), (10, 4), (5, 9)] {
            let stride = 150;
            let mut values = dice.values(9 * stride, 10);
            // Loads change by orders of magnitude.
            values
                .iter_mut()
                .enumerate()
                .for_each(|(k, value)| *value *= 10f64.powi((k % stride / 20) as i32 % 5));
            let mut overview = Overview::default();
            let mut first = 0;
            while first + size <= stride {
                let rows = Rows::new(&values, stride, first, size);
                let found = overview.measure(rows, if first == 0 { size } else { shift.min(size) });
                assert_eq!(found, extent(rows));
                let inside: Vec<f64> = rows.iter().flatten().copied().collect();
                assert_eq!(overview.quartiles(rows, found), expected_quartiles(&inside));
                first += shift;
            }
        }
    });
}
