//! Columns that a sealed file holds in place of others, because they are smaller.
//! In: a table's columns. Out: what is written for them. Always: sums and differences wrap, so that every value
//! comes back, whatever it was.

use arrow_schema::{DataType, Field};

use crate::format::columns::{TIME, UPTIME, time_type};

/// A part of what a column is: the sum of its stand-ins' shares is its value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StandIn {
    /// Its name in the file.
    pub(crate) name: &'static str,
    form: Form,
}

#[derive(Debug, PartialEq, Eq)]
enum Form {
    /// The column less the sum of others. One of these that has no value counts as 0.
    Rest(&'static [&'static str]),
    /// Another column less this one.
    Before(&'static str),
    /// How many times [`BLOCK`] the column is.
    Blocks,
    /// What is then left.
    Odd,
}

/// Sectors of 512 bytes in what file systems and devices mostly take as a whole: 4096.
const BLOCK: u64 = 8;

/// Columns, and what is in their place.
static REPLACED: [(&str, &[StandIn]); 4] = [
    // Both clocks are read at once, and run alike but for corrections.
    (UPTIME, &[StandIn { name: "booted", form: Form::Before(TIME) }]),
    // Linux adds up nanoseconds and then rounds (block/genhd.c, `diskstats_show`, since 5.7), so the rest is 0 to 3.
    // Kernels before that count it by itself.
    ("weighted_ms", &[StandIn { name: "weighted_rest_ms", form: Form::Rest(&TIMES) }]),
    ("sectors_read", &[blocks("blocks_read"), odd("sectors_read_rest")]),
    ("sectors_written", &[blocks("blocks_written"), odd("sectors_written_rest")]),
];

const TIMES: [&str; 4] = ["read_ms", "write_ms", "discard_ms", "flush_ms"];

const fn blocks(name: &'static str) -> StandIn {
    StandIn { name, form: Form::Blocks }
}

const fn odd(name: &'static str) -> StandIn {
    StandIn { name, form: Form::Odd }
}

impl StandIn {
    /// What stands in for a column; nothing if it is written as it is.
    pub(crate) fn of(column: &str) -> &'static [StandIn] {
        REPLACED.iter().find(|(replaced, _)| *replaced == column).map_or(&[], |(_, by)| by)
    }

    /// The columns that make the sum.
    pub(crate) fn parts(&self) -> &[&'static str] {
        match &self.form {
            Form::Rest(parts) => parts,
            Form::Before(part) => std::slice::from_ref(part),
            Form::Blocks | Form::Odd => &[],
        }
    }

    /// What is written for a value.
    pub(crate) fn written(&self, value: u64, sum: u64) -> u64 {
        match self.form {
            Form::Rest(_) => value.wrapping_sub(sum),
            Form::Before(_) => sum.wrapping_sub(value),
            Form::Blocks => value / BLOCK,
            Form::Odd => value % BLOCK,
        }
    }

    /// Its share in the value.
    pub(crate) fn share(&self, written: u64, sum: u64) -> u64 {
        match self.form {
            Form::Rest(_) => sum.wrapping_add(written),
            Form::Before(_) => sum.wrapping_sub(written),
            Form::Blocks => written.wrapping_mul(BLOCK),
            Form::Odd => written,
        }
    }

    /// Its column in the file.
    pub(crate) fn field(&self) -> Field {
        let of = match self.form {
            Form::Rest(_) => DataType::Int64,
            Form::Before(_) => time_type(),
            Form::Blocks | Form::Odd => DataType::UInt64,
        };
        Field::new(self.name, of, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, proptest};

    proptest! {
        #[test]
        fn every_value_comes_back(value in any::<u64>(), sum in any::<u64>()) {
            for (column, stand_ins) in &REPLACED {
                let shares = stand_ins.iter().map(|s| s.share(s.written(value, sum), sum));
                assert_eq!(shares.fold(0, u64::wrapping_add), value, "{column}");
            }
        }
    }

    #[test]
    fn what_the_kernel_makes_of_the_parts_leaves_little() {
        let weighted = &StandIn::of("weighted_ms")[0];
        assert_eq!(weighted.written(1003, 1001), 2);
        assert_eq!(weighted.written(5, (1 << 32) + 4).cast_signed(), 1 - (1 << 32));
    }
}
