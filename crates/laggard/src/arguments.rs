//! How words on the command line become values.

use globset::{Glob, GlobMatcher};
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};

/// A metric, by its name.
pub fn metric(name: &str) -> Result<&'static Metric, String> {
    Metric::named(name).ok_or_else(|| format!("not a metric; there are {}", Metric::names()))
}

/// A pattern over names, as a shell has them.
pub fn glob(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// A length of time that is more than none.
pub fn positive_span(text: &str) -> Result<Span, String> {
    match text.parse::<Span>() {
        Ok(span) if span > Span::ZERO => Ok(span),
        Ok(_) => Err("must be longer than no time".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// The wall clock.
pub fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}
