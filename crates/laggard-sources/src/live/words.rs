//! Lines, words and numbers of the kernel's text files, without copying.

/// Lines that are not blank, with their numbers from 1.
pub(super) fn lines(content: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = content.split(|&byte| byte == b'\n').enumerate();
    numbered.map(|(i, line)| (i + 1, line)).filter(|(_, line)| !line.trim_ascii().is_empty())
}

pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// Digits only.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |number, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { number.checked_mul(10)?.checked_add(digit.into()) }
    })
}

/// Returns the number of values, or the word that is not a number.
pub(super) fn numbers<'a>(
    words: impl Iterator<Item = &'a [u8]>,
    values: &mut [u64],
) -> Result<usize, &'a [u8]> {
    let mut filled = 0;
    for (value, word) in values.iter_mut().zip(words) {
        *value = number(word).ok_or(word)?;
        filled += 1;
    }
    Ok(filled)
}

pub(super) fn quoted(word: &[u8]) -> String {
    const LONGEST: usize = 40;
    let shown = String::from_utf8_lossy(&word[..word.len().min(LONGEST)]);
    format!("{shown:?}{}", if word.len() > LONGEST { "..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_that_fit() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for wrong in [&b"18446744073709551616"[..], b"-1", b"+1", b"1.5", b"", b"x"] {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn empty_lines_count_and_are_not_given() {
        let found: Vec<_> = lines(b"a\n\n  \nb").collect();
        assert_eq!(found, [(1, &b"a"[..]), (4, b"b")]);
    }
}
