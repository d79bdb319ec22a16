//! A block of samples, the unit in which samples are rated.

/// Consecutive samples of a peer group.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// A row for each member, of equal length; NaN: no sample. Higher is worse.
    pub rows: Vec<Vec<f64>>,
}

pub(super) trait Rating: Send {
    /// A rating for each sample, in the layout of the block; NaN: no sample.
    fn rate(&mut self, block: &Block) -> Vec<Vec<f64>>;
}

impl Block {
    pub(super) fn new(members: usize) -> Block {
        Block { rows: vec![Vec::new(); members] }
    }

    /// The number of instants.
    pub(super) fn len(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    pub(super) fn clear(&mut self) {
        self.rows.iter_mut().for_each(Vec::clear);
    }

    /// The median of the group at each instant; NaN with fewer than three samples.
    pub(super) fn medians(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.rows.len());
        let at = |instant: usize| {
            values.clear();
            values.extend(self.rows.iter().map(|row| row[instant]).filter(|value| !value.is_nan()));
            if values.len() < 3 { f64::NAN } else { median(&mut values) }
        };
        (0..self.len()).map(at).collect()
    }

    /// Rates every sample by its value and the group's median at its instant.
    pub(super) fn against_medians(&self, rate: impl Fn(f64, f64) -> f64) -> Vec<Vec<f64>> {
        let medians = self.medians();
        let rated = |(&value, &median): (&f64, &f64)| {
            if value.is_nan() || median.is_nan() { f64::NAN } else { rate(value, median) }
        };
        self.rows.iter().map(|row| row.iter().zip(&medians).map(rated).collect()).collect()
    }
}

/// Sorts the values. With an even number, the mean of the middle two.
pub(super) fn median(values: &mut [f64]) -> f64 {
    let Some(middle) = values.len().checked_sub(1).map(|last| last / 2) else { return f64::NAN };
    values.sort_unstable_by(f64::total_cmp);
    if values.len() % 2 == 1 { values[middle] } else { (values[middle] + values[middle + 1]) / 2.0 }
}
