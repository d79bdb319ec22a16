//! An event as an array of whole numbers.

use crate::model::{CommId, Event, Flags, HostId, Kind, Layer, LinkRule, ObjectId, Op, RequestId};

/// The fields of an event's line, in their order. Those at the end that are 0 may be missing.
pub const FIELDS: [&str; 17] = [
    "kind", "layer", "op", "ts_ns", "req", "tid", "tgid", "obj", "fd", "offset", "nbytes", "comm", "parent",
    "link", "flags", "status", "host",
];

/// Writes an event and the end of its line.
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

/// Reads an event; `None` if the line is none.
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

/// The numbers of an array, one after the other; 0 after the last.
struct Numbers<'n> {
    rest: &'n [u8],
    is_over: bool,
}

impl Numbers<'_> {
    /// The next number: whether it is negative, and how much it is without its sign.
    #[inline]
    fn number(&mut self) -> Option<(bool, u64)> {
        if self.is_over {
            return Some((false, 0));
        }
        let is_negative = self.rest.first() == Some(&b'-');
        let digits = &self.rest[usize::from(is_negative)..];
        let mut value: u64 = 0;
        let mut length = 0;
        for &byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Eighteen digits cannot overflow.
            value = if length < 18 {
                value * 10 + u64::from(digit)
            } else {
                value.checked_mul(10)?.checked_add(u64::from(digit))?
            };
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
