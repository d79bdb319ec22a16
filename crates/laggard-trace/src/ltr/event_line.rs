//! An event as a JSON array of integers.

use crate::model::{CommId, Event, Flags, HostId, Kind, Layer, LinkRule, ObjectId, Op, RequestId};

/// The fields of an event line. Trailing zeros are omitted.
pub const FIELDS: [&str; 17] = [
    "kind", "layer", "op", "ts_ns", "req", "tid", "tgid", "obj", "fd", "offset", "nbytes", "comm", "parent",
    "link", "flags", "status", "host",
];

pub(crate) fn write(event: &Event, to: &mut Vec<u8>) {
    let fields: [i128; 17] = [
        event.kind.code().into(),
        event.layer.order().into(),
        event.op.code().into(),
        event.ts_ns.into(),
        event.req.0.into(),
        event.tid.into(),
        event.tgid.into(),
        event.obj.0.into(),
        event.fd.into(),
        event.offset.into(),
        event.nbytes.into(),
        event.comm.0.into(),
        event.parent.0.into(),
        event.link.code().into(),
        event.flags.bits().into(),
        event.status.into(),
        event.host.0.into(),
    ];
    let used = fields.iter().rposition(|&field| field != 0).map_or(1, |last| last + 1);
    to.push(b'[');
    for (at, &field) in fields[..used].iter().enumerate() {
        if at > 0 {
            to.push(b',');
        }
        write_number(field, to);
    }
    to.extend_from_slice(b"]\n");
}

fn write_number(number: i128, to: &mut Vec<u8>) {
    if number < 0 {
        to.push(b'-');
    }
    let mut rest = number.unsigned_abs() as u64;
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[at..]);
}

/// None if the line is not an event.
pub(crate) fn read(line: &[u8]) -> Option<Event> {
    let mut numbers = Numbers { rest: line.strip_prefix(b"[")?, is_over: false };
    let event = Event {
        kind: Kind::from_code(numbers.small()?)?,
        layer: Layer::from_order(numbers.small()?)?,
        op: Op::from_code(numbers.small()?)?,
        ts_ns: numbers.unsigned()?,
        req: RequestId(numbers.unsigned()?),
        tid: numbers.fitting()?,
        tgid: numbers.fitting()?,
        obj: ObjectId(numbers.fitting()?),
        fd: numbers.fitting()?,
        offset: numbers.fitting()?,
        nbytes: numbers.unsigned()?,
        comm: CommId(numbers.fitting()?),
        parent: RequestId(numbers.unsigned()?),
        link: LinkRule::from_code(numbers.small()?)?,
        flags: Flags::from_bits(numbers.fitting()?),
        status: numbers.fitting()?,
        host: HostId(numbers.fitting()?),
    };
    // Later versions may have more fields.
    while !numbers.is_over {
        numbers.number()?;
    }
    numbers.rest.is_empty().then_some(event)
}

/// The numbers of an array; 0 after the last.
struct Numbers<'n> {
    rest: &'n [u8],
    is_over: bool,
}

impl Numbers<'_> {
    /// The sign (true for negative) and the absolute value.
    #[inline]
    fn number(&mut self) -> Option<(bool, u64)> {
        match self.rest {
            _ if self.is_over => Some((false, 0)),
            // The most frequent case.
            [digit @ b'0'..=b'9', b',', rest @ ..] => {
                self.rest = rest;
                Some((false, u64::from(digit - b'0')))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Option<(bool, u64)> {
        let is_negative = self.rest.first() == Some(&b'-');
        let digits = &self.rest[usize::from(is_negative)..];
        let mut value: u64 = 0;
        let mut length = 0;
        while let Some(eight) = digits[length..].first_chunk() {
            let (count, more) = leading_digits(eight);
            value = value.checked_mul(10_u64.pow(count))?.checked_add(more)?;
            length += count as usize;
            if count < 8 {
                break;
            }
        }
        // Fewer than eight bytes are left at the end of the line.
        for digit in digits[length..].iter().map_while(|byte| char::from(*byte).to_digit(10)) {
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
            length += 1;
        }
        match digits.get(length) {
            Some(b',') => {}
            Some(b']') => self.is_over = true,
            _ => return None,
        }
        self.rest = &digits[length + 1..];
        (length > 0).then_some((is_negative, value))
    }

    #[inline]
    fn unsigned(&mut self) -> Option<u64> {
        match self.number()? {
            (true, value) if value > 0 => None,
            (_, value) => Some(value),
        }
    }

    #[inline]
    fn small(&mut self) -> Option<u8> {
        u8::try_from(self.unsigned()?).ok()
    }

    #[inline]
    fn fitting<T: TryFrom<i64>>(&mut self) -> Option<T> {
        let (is_negative, value) = self.number()?;
        let signed =
            if is_negative { 0i64.checked_sub_unsigned(value)? } else { i64::try_from(value).ok()? };
        T::try_from(signed).ok()
    }
}

/// The number of digits at the beginning of eight bytes, and their value. Computed in parallel: digits are combined
/// to pairs, pairs to fours, fours to the number.
#[inline]
fn leading_digits(bytes: &[u8; 8]) -> (u32, u64) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let text = u64::from_le_bytes(*bytes);
    let high_halves = (text & (0xf0 * EACH)) | ((text.wrapping_add(6 * EACH) & (0xf0 * EACH)) >> 4);
    let count = (high_halves ^ (0x33 * EACH)).trailing_zeros() / 8;
    // Shifts the digits to the end, after zeros.
    let digits = text.checked_shl(64 - 8 * count).unwrap_or(0) & (0x0f * EACH);
    let pairs = digits.wrapping_mul((10 << 8) + 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul((100 << 16) + 1) >> 16;
    (count, (fours & 0x0000_ffff_0000_ffff).wrapping_mul((10_000 << 32) + 1) >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn digits_end_where_something_else_is() {
        assert_eq!(leading_digits(b"00000000"), (8, 0));
        assert_eq!(leading_digits(b"12345678"), (8, 12_345_678));
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for place in 0..8 {
                let mut text = *b"98765432";
                text[place] = byte;
                let expected = 98_765_432 / 10_u64.pow(8 - place as u32);
                assert_eq!(leading_digits(&text), (place as u32, expected), "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn numbers_are_those_that_were_written(numbers in proptest::collection::vec(any::<i64>(), 1..9)) {
            let text = format!("{numbers:?}").replace(' ', "");
            let mut read = Numbers { rest: text.as_bytes().strip_prefix(b"[").unwrap(), is_over: false };
            for &number in &numbers {
                prop_assert_eq!(read.number(), Some((number < 0, number.unsigned_abs())));
            }
            prop_assert_eq!(read.number(), Some((false, 0)));
        }
    }
}
