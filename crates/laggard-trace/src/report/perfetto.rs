//! Requests as trace events for Perfetto and chrome://tracing: a process for each layer, a track for each thread.

use std::io::{self, Write};

use serde_json::json;

use crate::analysis::{Options, Recording, observe};
use crate::linking::{Observer, OpenRequest};
use crate::model::{Kind, Layer};

/// Writes all requests that ended.
pub fn write(recording: &mut impl Recording, options: &Options, to: impl Write) -> io::Result<()> {
    let mut writer = Writer { to, outcome: Ok(()), is_first: true, named: [false; Layer::COUNT] };
    writer.text("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    observe(recording, options, &mut writer);
    writer.text("\n]}\n");
    writer.outcome?;
    writer.to.flush()
}

struct Writer<W> {
    to: W,
    outcome: io::Result<()>,
    is_first: bool,
    named: [bool; Layer::COUNT],
}

impl<W: Write> Writer<W> {
    fn text(&mut self, text: &str) {
        if self.outcome.is_ok() {
            self.outcome = self.to.write_all(text.as_bytes());
        }
    }

    fn event(&mut self, event: &serde_json::Value) {
        let separator = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        self.text(&format!("{separator}{event}"));
    }

    fn name(&mut self, layer: Layer) {
        if !self.named[layer as usize] {
            self.named[layer as usize] = true;
            let pid = layer.order() + 1;
            self.event(
                &json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": layer.name()}}),
            );
            self.event(
                &json!({"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}),
            );
        }
    }
}

impl<W: Write> Observer for Writer<W> {
    fn began(&mut self, _open: &OpenRequest) {}

    fn ended(&mut self, open: &OpenRequest, _now_ns: u64) {
        let request = &open.request;
        let (Some(begin), Some(end)) = (request.at(Kind::Admit), request.at(Kind::Callback)) else { return };
        self.name(request.layer);
        let micros = |ns: u64| ns as f64 / 1000.0;
        let parent = open.parent.map(|parent| parent.id().0);
        self.event(&json!({
            "ph": "X",
            "cat": request.layer.name(),
            "name": request.op.name(),
            "pid": request.layer.order() + 1,
            "tid": request.tid,
            "ts": micros(begin),
            "dur": micros(end.saturating_sub(begin)),
            "args": {
                "req": request.id.0,
                "parent": parent,
                "offset": request.offset,
                "nbytes": request.nbytes,
                "status": request.status,
                "issue_us": request.at(Kind::Issue).map(micros),
                "complt_us": request.at(Kind::Complt).map(micros),
            },
        }));
    }
}
