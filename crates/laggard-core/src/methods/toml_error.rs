//! Errors of TOML files, for messages.

/// The error with its line number, without the text of the line, which may be of any length.
pub(super) fn in_one_line(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    let before = error.span().and_then(|place| text.get(..place.start));
    before.map_or_else(
        || message.clone(),
        |before| format!("line {}: {message}", before.matches('\n').count() + 1),
    )
}
