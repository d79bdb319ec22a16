//! T22: every thread waits for its request, and the device could serve more.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::Kind;
use crate::numbers::{bytes, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule =
    Rule { title: "one request per thread", explains: &[Metric::MaxConcurrency], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let top = context.top()?;
    let device = context.device()?;
    let (threads, average) = (top.threads as f64, top.load.concurrency.avg);
    let size = device.load.size_bytes.avg;
    let optimal = context.curve().optimal_depth(size);
    let max = f64::from(device.load.concurrency.max);
    if top.max_per_thread > 1 || average < 0.7 * threads || max > optimal / 2.0 || device.path_share < 0.2 {
        return None;
    }
    let depth = device.load.concurrency.busy_avg.max(1.0);
    let speedup = context.curve().speedup(size, depth, optimal);
    // Only a calibration shows whether more concurrency helps.
    let is_known = context.curve().is_calibrated();
    let seconds = context.all.seconds * device.path_share * (1.0 - 1.0 / speedup);
    Some(RuleMatch {
        summary: format!(
            "every thread has one request at a time, {} in total; the device could serve {}",
            plain(average),
            plain(optimal)
        ),
        evidence: vec![
            Evidence::new(
                top.layer,
                "maximum concurrency of a thread",
                f64::from(top.max_per_thread),
                top.max_per_thread.to_string(),
            )
            .expect("more than 1, or many threads"),
            Evidence::new(
                top.layer,
                "threads",
                threads,
                format!("{}, {} of them waiting", plain(threads), plain(average)),
            ),
            Evidence::new(
                device.layer,
                "maximum queue depth",
                max,
                format!("{} of {}", plain(max), bytes(size)),
            )
            .expect(format!("about {}", plain(optimal)))
            .supports_if(is_known)
            .of_metric(Metric::MaxConcurrency),
        ],
        cause: "the application waits for each request before it makes the next".into(),
        counter_evidence: "a device that is no faster at a higher queue depth: `laggard trace calibrate` measures it",
        fixes: texts(["more threads, or asynchronous requests (io_uring, libaio)", "larger requests"]),
        gain: Gain {
            seconds: if is_known { seconds } else { 0.0 },
            formula: format!(
                "time in the device x (1 - 1 / speedup from queue depth {} to {}){}",
                plain(depth),
                plain(optimal),
                if is_known { "" } else { ": unknown without `laggard trace calibrate`" }
            ),
        },
        events: context.events(top.layer, &[Kind::Admit, Kind::Callback]),
        ..RuleMatch::at(top.layer, None)
    })
}
