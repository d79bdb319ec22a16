//! Waiting for a state that nothing announces.

use std::time::{Duration, Instant};

use super::LabError;

/// Waits until `look` returns something.
pub(crate) fn wait_for<T>(
    what: &str,
    seconds: u64,
    mut look: impl FnMut() -> Option<T>,
) -> Result<T, LabError> {
    let begin = Instant::now();
    loop {
        match look() {
            Some(found) => return Ok(found),
            None if begin.elapsed() > Duration::from_secs(seconds) => {
                return Err(LabError::Timeout { what: what.into(), seconds });
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends() {
        assert!(wait_for("ever", 0, || None::<()>).unwrap_err().to_string().contains("waiting for ever"));
    }
}
