//! Whole numbers in text.

/// A decimal number at the beginning, and the rest.
pub(crate) fn decimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut value: u64 = 0;
    for &digit in &text[..length] {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    (length > 0).then_some((value, &text[length..]))
}

/// A hexadecimal number at the beginning, with or without `0x`, and the rest.
pub(crate) fn hexadecimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let length = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let mut value: u64 = 0;
    for &digit in &text[..length] {
        value = value.checked_mul(16)? + u64::from(char::from(digit).to_digit(16)?);
    }
    (length > 0).then_some((value, &text[length..]))
}

/// A signed number, hexadecimal if it begins with `0x`, and the rest.
pub(crate) fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    if let Some(text) = text.strip_prefix(b"-") {
        let (value, rest) = decimal(text)?;
        return Some((0i64.checked_sub_unsigned(value)?, rest));
    }
    let (value, rest) = if text.starts_with(b"0x") { hexadecimal(text)? } else { decimal(text)? };
    Some((value as i64, rest))
}

/// Seconds with decimals at the beginning, in nanoseconds, and the rest. Decimals after the ninth are ignored.
pub(crate) fn seconds(text: &[u8]) -> Option<(u64, &[u8])> {
    let (whole, rest) = decimal(text)?;
    let mut value = whole.checked_mul(1_000_000_000)?;
    let Some(rest) = rest.strip_prefix(b".") else { return Some((value, rest)) };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut unit = 100_000_000;
    for &digit in rest[..length].iter().take(9) {
        value = value.checked_add(u64::from(digit - b'0') * unit)?;
        unit /= 10;
    }
    Some((value, &rest[length..]))
}

/// The text after the first occurrence of `word`.
pub(crate) fn after<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let at = memchr::memmem::find(text, word)?;
    Some(&text[at + word.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_up_to_their_end() {
        assert_eq!(number(b"0x310,"), Some((0x310, b",".as_slice())));
        assert_eq!(number(b"-61 "), Some((-61, b" ".as_slice())));
        assert_eq!(number(b"0xffffffffffffffc3"), Some((-61, b"".as_slice())));
        assert_eq!(seconds(b"932.729073:"), Some((932_729_073_000, b":".as_slice())));
        assert_eq!(seconds(b"932.1234567899"), Some((932_123_456_789, b"".as_slice())));
    }

    #[test]
    fn invalid_and_too_long_numbers_are_refused() {
        for text in [b"".as_slice(), b"x", b"99999999999999999999999", b"0x11111111111111111", b"-"] {
            assert_eq!(number(text), None);
        }
        assert_eq!(seconds(b"99999999999999999999"), None);
    }
}
