//! What `strace -f -ttt -T -y` prints.
//! In: lines. Out: records of the system calls' layer, by way of tracepoints. Always: calls that were interrupted by
//! others are put together again; calls of libaio become one request for each control block.

mod call;
mod libaio;
mod line;
mod reader;

pub(crate) use reader::read;

/// Whether a content is such a text.
pub fn recognises(start: &[u8]) -> bool {
    let lines = start.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(8);
    lines
        .filter_map(line::parsed)
        .any(|line| matches!(line.what, line::What::Whole { .. } | line::What::Begun { .. }))
}
