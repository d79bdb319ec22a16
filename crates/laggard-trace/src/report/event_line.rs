//! Raw events in the form of the paper (Figures 6 and 7).

use crate::model::Event;

/// `Time: 934.329508  EVENT: AIO_ISSUE  OP: READ  FD: 6  OFFSET: 20971520  NBYTES: 65536`.
pub fn event_line(event: &Event) -> String {
    let seconds = event.ts_ns / 1_000_000_000;
    let micros = event.ts_ns / 1000 % 1_000_000;
    let name = format!("{}_{}", event.layer.name().to_uppercase(), event.kind.name());
    let known = |number: i64| if number < 0 { "-".to_owned() } else { number.to_string() };
    let status = if event.status < 0 { format!("  STATUS: {}", event.status) } else { String::new() };
    format!(
        "Time: {seconds}.{micros:06}  EVENT: {name:<13}  OP: {:<8}  FD: {:<3}  OFFSET: {:<11}  NBYTES: \
            {}{status}",
        event.op.name().to_uppercase(),
        known(event.fd.into()),
        known(event.offset),
        event.nbytes,
    )
}
