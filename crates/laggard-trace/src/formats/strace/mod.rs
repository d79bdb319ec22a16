//! The output of `strace -f -ttt -T -y`.
//! In: lines. Out: records of the system call layer, via tracepoints. Always: calls that strace prints in two parts
//! are joined; calls of libaio become one request per control block.

mod call;
mod libaio;
mod line;
mod reader;

pub(crate) use reader::read;

pub(crate) fn recognises(start: &[u8]) -> bool {
    let lines = start.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(8);
    lines
        .filter_map(line::parsed)
        .any(|line| matches!(line.kind, line::LineKind::Whole { .. } | line::LineKind::Begun { .. }))
}
