//! The text of the kernel's tracing files, as `trace` and `trace_pipe` give it; also what trace-cmd and perf print
//! of the same events.
//! In: lines. Out: [`crate::tracepoints::Tracepoint`]s. Always: lines that are none are counted, never fatal.

mod block;
mod line;
mod payload;
mod reader;

#[cfg(test)]
mod tests;

pub(crate) use reader::read;

/// Whether a content is such a text.
pub fn recognises(start: &[u8]) -> bool {
    if start.starts_with(b"# tracer:") {
        return true;
    }
    let lines = start.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let mut lines = lines.take(8).peekable();
    lines.peek().is_some()
        && lines.any(|line| line::parsed(line).is_some_and(|line| payload::of(line.event).is_some()))
}
