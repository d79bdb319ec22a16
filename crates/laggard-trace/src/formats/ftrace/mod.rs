//! The text of tracefs, from `trace` or `trace_pipe`, or the same events printed by trace-cmd or perf.
//! In: lines. Out: [`crate::tracepoints::Tracepoint`]s. Always: unknown lines are counted and do not stop reading.

mod block;
mod line;
mod payload;
mod reader;

#[cfg(test)]
mod tests;

pub(crate) use reader::read;

pub(crate) fn recognises(start: &[u8]) -> bool {
    if start.starts_with(b"# tracer:") {
        return true;
    }
    let lines = start.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let mut lines = lines.take(8).peekable();
    lines.peek().is_some()
        && lines.any(|line| line::parsed(line).is_some_and(|line| payload::of(line.event).is_some()))
}
