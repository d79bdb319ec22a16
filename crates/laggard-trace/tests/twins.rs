//! Compares characteristics with naive computations over all requests, instant by instant.
#![allow(clippy::unwrap_used)]

mod stacks;

use laggard_trace::characteristics::OpClass;
use laggard_trace::model::{Kind, Layer, Op, Request, RequestId, Trace};
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};
use stacks::{Ask, Stack, characterised_whole};

/// A top request: begin, length, and children as begin and length within it, in hundredths.
type Drawn = (u64, u64, bool, Vec<(u64, u64)>);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let child = (0..90u64, 1..60u64);
    let request = (0..400u64, 10..120u64, proptest::bool::ANY, proptest::collection::vec(child, 0..3));
    proptest::collection::vec(request, 1..25)
}

fn built(drawn: &[Drawn]) -> Trace {
    let mut stack = Stack::new();
    for (number, (begin, length, is_sync, children)) in drawn.iter().enumerate() {
        let (begin, end) = (1000 + begin * 10, 1000 + begin * 10 + length * 10);
        let op = if *is_sync && children.is_empty() { Op::Sync } else { Op::Read };
        let thread = 100 + number as u32 % 3;
        let top = stack.ask(Ask::of(Layer::Sys, op, number as u64 * 4096, 4096).by(thread, 100), begin, end);
        for (from, long) in children {
            let from = begin + (end - begin) * from / 100;
            let to = (from + ((end - begin) * long / 100).max(1)).min(end);
            if from < to {
                stack.ask(Ask::read(Layer::Dev, number as u64 * 4096, 4096).on(9).below(top), from, to);
            }
        }
    }
    stack.done()
}

/// All requests of a trace, assembled naively.
fn requests(trace: &Trace) -> Vec<Request> {
    let mut ids: Vec<RequestId> = trace.events.iter().map(|event| event.req).collect();
    ids.sort_unstable();
    ids.dedup();
    let whole = |id: RequestId| {
        let mut events = trace.events.iter().filter(|event| event.req == id);
        let mut request = Request::begun(events.next().unwrap());
        events.for_each(|event| request.cross(event));
        request
    };
    ids.into_iter().map(whole).collect()
}

fn is_open(request: &Request, now_us: u64) -> bool {
    let at = |kind: Kind| request.at(kind).unwrap() / 1000;
    (at(Kind::Admit)..at(Kind::Callback)).contains(&now_us)
}

proptest! {
    #[test]
    fn concurrency_idle_time_and_path_shares_match_every_instant(drawn in drawn()) {
        let trace = built(&drawn);
        let all = characterised_whole(&trace);
        let requests = requests(&trace);
        let of = |layer: Layer| requests.iter().filter(move |request| request.layer == layer);
        let (from, to) = (all.from_ns / 1000, all.to_ns / 1000);
        let wall = (to - from) as f64;
        let mut charged = [0.0; 2];
        for (place, layer) in [Layer::Sys, Layer::Dev].into_iter().enumerate() {
            let Some(metrics) = all.layer(layer) else { continue };
            let levels: Vec<usize> =
                (from..to).map(|now| of(layer).filter(|request| is_open(request, now)).count()).collect();
            let sum: usize = levels.iter().sum();
            let busy = levels.iter().filter(|level| **level > 0).count() as f64;
            prop_assert!((metrics.load.concurrency.avg - sum as f64 / wall).abs() < 1e-9);
            prop_assert_eq!(metrics.load.concurrency.max as usize, levels.iter().copied().max().unwrap());
            prop_assert!((metrics.load.busy_share - busy / wall).abs() < 1e-9);
            let activity = metrics.activity;
            let shares = activity.busy + activity.starved + activity.held + activity.syncing + activity.outside;
            prop_assert!((shares - 1.0).abs() < 1e-9, "{activity:?}");
            charged[place] = metrics.path_share;
        }
        if let Some(dev) = all.layer(Layer::Dev) {
            let is_held = |now: u64| {
                let above = || of(Layer::Sys).filter(move |request| is_open(request, now));
                of(Layer::Dev).all(|request| !is_open(request, now)) && above().any(|request| request.op != Op::Sync)
            };
            let held = (from..to).filter(|now| is_held(*now)).count() as f64;
            prop_assert!((dev.activity.held - held / wall).abs() < 1e-9, "{} \
                {}", dev.activity.held, held / wall);
        }
        // Each instant of a top request is charged to the deepest layer with an open part of it.
        let (mut at_top, mut below) = (0.0, 0.0);
        for top in of(Layer::Sys) {
            for now in (from..to).filter(|now| is_open(top, *now)) {
                let has_child = of(Layer::Dev).any(|child| child.parent == top.id && is_open(child, now));
                *(if has_child { &mut below } else { &mut at_top }) += 1.0;
            }
        }
        prop_assert!((charged[0] - at_top / (at_top + below)).abs() < 1e-9);
        prop_assert!((charged[1] - below / (at_top + below)).abs() < 1e-9);
        let own = all.layer(Layer::Sys).unwrap().timing.self_seconds;
        prop_assert!((own - at_top / 1e6).abs() < 1e-9, "{own} {at_top}");
    }

    #[test]
    fn boundaries_and_syncs_match_the_requests(drawn in drawn()) {
        let trace = built(&drawn);
        let all = characterised_whole(&trace);
        let requests = requests(&trace);
        let children = requests.iter().filter(|request| request.parent.is_some()).count();
        let parents: std::collections::BTreeSet<RequestId> =
            requests.iter().map(|request| request.parent).filter(|id| id.is_some()).collect();
        if let Some(boundary) = all.boundary_below(Layer::Sys) {
            prop_assert_eq!(boundary.links as usize, children);
            prop_assert!((boundary.split - children as f64 / parents.len() as f64).abs() < 1e-9);
            prop_assert_eq!(boundary.merge, 1.0);
        } else {
            prop_assert_eq!(children, 0);
        }
        let sys = all.layer(Layer::Sys).unwrap();
        let syncs = requests.iter().filter(|request| request.op == Op::Sync).count() as u64;
        prop_assert_eq!(sys.op(OpClass::Sync).map_or(0, |load| load.requests), syncs);
        let cached = requests.iter().filter(|request| {
            request.layer == Layer::Sys && request.op.is_data() && !parents.contains(&request.id)
        });
        if let Some(share) = sys.cached_share {
            prop_assert!((share - cached.count() as f64 / sys.data_requests() as f64).abs() < 1e-9);
        }
        prop_assert!(sys.little_error < 1e-9, "{}", sys.little_error);
    }

    #[test]
    fn requests_before_the_first_top_request_do_not_count(drawn in drawn(), before in 1..20u64) {
        let trace = built(&drawn);
        let plain = characterised_whole(&trace);
        let mut stack = Stack { trace: trace.clone(), made: 0 };
        for number in 0..before {
            let ask = Ask::read(Layer::Dev, number * 4096, 4096).on(9);
            let id = stack.ask(ask, number, number + 1);
            let shifted = RequestId(id.0 + 1_000_000);
            stack.trace.events.iter_mut().filter(|event| event.req == id && event.ts_ns < 100_000)
                .for_each(|event| event.req = shifted);
        }
        let noisy = characterised_whole(&stack.done());
        prop_assert_eq!(noisy.from_ns, plain.from_ns);
        let dev = |all: &laggard_trace::characteristics::Characteristics| all.layer(Layer::Dev).map(|dev| dev.load.clone());
        if dev(&plain).is_some() {
            prop_assert_eq!(dev(&noisy), dev(&plain));
        }
    }
}

#[test]
fn sizes_known_only_at_the_end_give_the_same_metrics() {
    let early = streams_of(|_| {});
    let late = streams_of(|event| {
        if event.kind != Kind::Callback {
            event.nbytes = if event.layer == Layer::Sys { 0 } else { event.nbytes };
        }
    });
    let (early, late) = (characterised_whole(&early), characterised_whole(&late));
    let [early_sys, late_sys] = [&early, &late].map(|all| all.layer(Layer::Sys).unwrap());
    assert_eq!(early_sys.load, late_sys.load);
    assert_eq!(early_sys.by_op, late_sys.by_op);
    assert_eq!(early_sys.objects, late_sys.objects);
    assert_eq!(early_sys.read_streams, late_sys.read_streams);
    assert_eq!(early_sys.runs, late_sys.runs);
    assert_eq!(early.boundaries, late.boundaries);
}

/// A sequential reader with changed events.
fn streams_of(change: impl Fn(&mut laggard_trace::model::Event)) -> Trace {
    let mut trace = stacks::streams(2, 40).done();
    trace.events.iter_mut().for_each(change);
    trace
}
