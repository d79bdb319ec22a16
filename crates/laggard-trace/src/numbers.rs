//! Numbers as findings and reports show them.

/// `0.066`, `4.1`, `15`, `2102`.
pub fn plain(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "unknown".into(),
        0.0 => "0".into(),
        size if size < 0.1 => format!("{value:.3}"),
        size if size < 1.0 => format!("{value:.2}"),
        size if size < 10.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// `97 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

const SIZES: [(f64, &str); 4] = [(1073741824.0, "GiB"), (1048576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];

/// `64 KiB`, `1.5 MiB`.
pub fn bytes(bytes: f64) -> String {
    let (size, unit) = SIZES.iter().find(|(size, _)| bytes >= *size).copied().unwrap_or((1.0, "B"));
    let number = bytes / size;
    if number >= 100.0 || number.fract() < 0.05 {
        format!("{number:.0} {unit}")
    } else {
        format!("{number:.1} {unit}")
    }
}

/// `2102 us`, `18 ms`.
pub fn nanoseconds(ns: f64) -> String {
    match ns {
        _ if ns >= 1e10 => format!("{:.0} s", ns / 1e9),
        _ if ns >= 1e9 => format!("{:.1} s", ns / 1e9),
        _ if ns >= 1e7 => format!("{:.0} ms", ns / 1e6),
        _ if ns >= 1e4 => format!("{:.0} us", ns / 1e3),
        _ => format!("{:.1} us", ns / 1e3),
    }
}

/// `1 request`, `2 requests`.
pub fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0664, 0.5, 4.12, 15.03, 2102.4].map(plain), ["0.066", "0.50", "4.1", "15", "2102"]);
        assert_eq!(
            [100.0, 65_536.0, 75_162.0, 536_870_912.0].map(bytes),
            ["100 B", "64 KiB", "73.4 KiB", "512 MiB"]
        );
        assert_eq!([143_000.0, 18_000_000.0, 2.1e9].map(nanoseconds), ["143 us", "18 ms", "2.1 s"]);
        assert_eq!((percent(0.97), count(1, "fd")), ("97 %".into(), "1 fd".into()));
    }
}
