//! Each rule on a trace that it must match, and on one that it must not match.
#![allow(clippy::unwrap_used)]

mod stacks;

use laggard_trace::findings::{Findings, RuleId, Severity};
use laggard_trace::model::{Flags, Layer, LinkRule, MetaOp, Op, RequestId};
use laggard_trace::reference::{Curve, Point, Reference, Source};
use stacks::{Ask, Client, KIB, MIB, Random, Stack, device, found, found_with, posix_aio, rules, streams};

#[track_caller]
fn matches(id: RuleId, findings: &Findings) {
    assert!(rules(findings).contains(&id), "{id} does not match: {:?}", rules(findings));
}

#[track_caller]
fn does_not_match(id: RuleId, findings: &Findings) {
    let summary = findings.of(id).map(|one| &one.summary);
    assert!(summary.is_none(), "{id} matches: {}", summary.unwrap());
}

/// Run length, queue depth, rate and median latency of each point.
fn calibrated(points: &[(u64, u64, f64, f64)]) -> Reference {
    let point = |(run, depth, rate, p50_us): &(u64, u64, f64, f64)| Point {
        run_bytes: *run as f64,
        depth: *depth as f64,
        bytes_per_second: *rate,
        p50_us: *p50_us,
        p99_us: 2.0 * p50_us,
    };
    Reference { ranges: Vec::new(), curve: Curve::new(points.iter().map(point).collect()) }
}

#[test]
fn t01_one_descriptor_of_posix_aio_is_served_by_one_thread() {
    let findings = found(posix_aio(16, 1, 2000));
    let first = &findings.findings[0];
    assert_eq!(
        (first.id, first.layer, first.severity),
        (RuleId::T01, Layer::Aio, Severity::Crit),
        "{:?}",
        rules(&findings)
    );
    assert!(
        first.summary.contains("16 requests in flight above, never more than 1 below"),
        "{}",
        first.summary
    );
    // At queue depth 16 the device is assumed to be four times as fast.
    assert!((2.0..8.0).contains(&(1.0 / (1.0 - first.recoverable_share))), "{}", first.recoverable_share);
    assert!(first.events.len() >= 4);
}

#[test]
fn t01_does_not_match_where_each_request_has_its_own_descriptor() {
    does_not_match(RuleId::T01, &found(posix_aio(16, 16, 2000)));
}

#[test]
fn t02_eight_interleaved_streams_on_a_disk_that_seeks() {
    let findings = found(streams(8, 4000));
    let finding = findings.of(RuleId::T02).unwrap();
    assert!(finding.cause.contains("about 8 sequential streams"), "{}", finding.cause);
    assert_eq!(finding.severity, Severity::Crit, "{:?}", finding.gain);
}

#[test]
fn t02_is_informational_where_seeks_cost_nothing() {
    assert_eq!(found(streams(8, 0)).of(RuleId::T02).unwrap().severity, Severity::Info);
    let flat = calibrated(&[(4 * KIB, 1, 1e9, 60.0), (MIB, 1, 1e9, 60.0)]);
    assert_eq!(found_with(streams(8, 4000), &flat).of(RuleId::T02).unwrap().severity, Severity::Info);
}

#[test]
fn t02_does_not_match_one_stream_or_random_access() {
    does_not_match(RuleId::T02, &found(streams(1, 4000)));
    let mut stack = Stack::new();
    let mut random = Random(3);
    for number in 0..2000u64 {
        stack.ask(
            Ask::read(Layer::Sys, random.below(1 << 30) * 64 * KIB, 64 * KIB),
            number * 100 + 1,
            number * 100 + 90,
        );
    }
    does_not_match(RuleId::T02, &found(stack));
}

#[test]
fn t03_small_writes_wait_for_an_idle_server() {
    let findings = found(Client::unbuffered().run());
    let finding = findings.of(RuleId::T03).unwrap();
    assert_eq!((finding.layer, finding.origin.lower), (Layer::Fuse, Layer::Fuse));
    assert!(finding.fixes[0].contains("write-behind"));
    assert!(finding.severity >= Severity::Warn);
}

#[test]
fn t03_does_not_match_write_behind_or_large_writes() {
    does_not_match(RuleId::T03, &found(Client { is_buffered: true, ..Client::unbuffered() }.run()));
    does_not_match(
        RuleId::T03,
        &found(Client { write_bytes: 4 * MIB, writes: 64, ..Client::unbuffered() }.run()),
    );
}

#[test]
fn t04_an_attribute_request_with_every_write() {
    let findings = found(Client { requests_attributes: true, ..Client::unbuffered() }.run());
    let finding = findings.of(RuleId::T04).unwrap();
    assert!(finding.cause.contains("security.capability"), "{}", finding.cause);
    assert!(finding.summary.contains("512 getxattr"), "{}", finding.summary);
}

#[test]
fn t04_does_not_match_without_attribute_requests_or_with_large_writes() {
    does_not_match(RuleId::T04, &found(Client::unbuffered().run()));
    let large =
        Client { requests_attributes: true, write_bytes: 4 * MIB, writes: 32, ..Client::unbuffered() };
    does_not_match(RuleId::T04, &found(large.run()));
}

#[test]
fn t05_a_large_write_is_split_into_32_requests() {
    let findings = found(Client { write_bytes: 4 * MIB, writes: 64, ..Client::unbuffered() }.run());
    let finding = findings.of(RuleId::T05).unwrap();
    assert!(finding.cause.contains("FUSE max_write limits a request to 128 KiB"), "{}", finding.cause);
    assert!(finding.summary.contains("split into 32 of 128 KiB"), "{}", finding.summary);
}

#[test]
fn t05_does_not_match_where_requests_are_not_split() {
    does_not_match(
        RuleId::T05,
        &found(Client { request_bytes: 4 * MIB, write_bytes: 4 * MIB, ..Client::unbuffered() }.run()),
    );
}

/// A thread that reads sequentially and directly from the device.
fn sequential(bytes: u64, take_us: u64, pause_us: u64) -> Stack {
    let mut stack = Stack::new();
    let mut now = 1000;
    for number in 0..500u64 {
        let ask = Ask::read(Layer::Sys, number * bytes, bytes);
        let sys = stack.ask(ask, now, now + take_us);
        device(&mut stack, ask, sys, now + 3, now + take_us - 3);
        now += take_us + pause_us;
    }
    stack
}

#[test]
fn t06_small_neighbours_are_not_merged() {
    let findings = found(sequential(4 * KIB, 100, 1));
    assert!(findings.of(RuleId::T06).unwrap().severity >= Severity::Warn);
}

#[test]
fn t06_does_not_match_large_requests() {
    does_not_match(RuleId::T06, &found(sequential(256 * KIB, 100, 1)));
}

/// A sequential reader through the page cache; every fourth read waits for a small read-ahead.
fn read_ahead(ahead_bytes: u64, device_us: u64) -> Stack {
    let mut stack = Stack::new();
    let mut now = 1000;
    let step = 16 * KIB;
    for number in 0..2000u64 {
        let ask = Ask::read(Layer::Sys, number * step, step);
        let is_miss = (number * step).is_multiple_of(ahead_bytes);
        let take = if is_miss { device_us + 300 } else { 100 };
        let sys = stack.ask(ask, now, now + take);
        if is_miss {
            let ahead = Ask { nbytes: ahead_bytes, flags: Flags::RA, ..ask };
            device(&mut stack, ahead, sys, now + 100, now + 100 + device_us);
        }
        now += take + 1;
    }
    stack
}

#[test]
fn t07_a_small_read_ahead_leaves_the_device_idle() {
    matches(RuleId::T07, &found(read_ahead(64 * KIB, 100)));
}

#[test]
fn t07_does_not_match_a_large_read_ahead_or_direct_reads() {
    does_not_match(RuleId::T07, &found(read_ahead(2 * MIB, 100)));
    does_not_match(RuleId::T07, &found(sequential(64 * KIB, 100, 50)));
}

fn random_reads(asked: u64, got: u64) -> Stack {
    let mut stack = Stack::new();
    let mut random = Random(5);
    for number in 0..500u64 {
        let ask = Ask::read(Layer::Sys, random.below(1 << 20) * MIB, asked);
        let sys = stack.ask(ask, number * 200 + 1, number * 200 + 190);
        let below = Ask { nbytes: got, flags: Flags::RA, ..ask };
        device(&mut stack, below, sys, number * 200 + 5, number * 200 + 180);
    }
    stack
}

#[test]
fn t08_more_is_read_than_requested() {
    let findings = found(random_reads(4 * KIB, 128 * KIB));
    assert!(findings.of(RuleId::T08).unwrap().severity == Severity::Crit);
}

#[test]
fn t08_does_not_match_where_only_requested_bytes_are_read() {
    does_not_match(RuleId::T08, &found(random_reads(64 * KIB, 64 * KIB)));
}

fn writes_with_syncs(writes_per_sync: u64) -> Stack {
    let mut stack = Stack::new();
    let mut now = 1000;
    for number in 0..600u64 {
        stack.ask(Ask::write(Layer::Sys, number * 4 * KIB, 4 * KIB), now, now + 20);
        now += 21;
        if number % writes_per_sync == 0 {
            stack.ask(Ask::of(Layer::Sys, Op::Sync, 0, 0), now, now + 400);
            now += 401;
        }
    }
    stack
}

#[test]
fn t09_a_sync_after_every_write() {
    let findings = found(writes_with_syncs(1));
    assert_eq!(findings.of(RuleId::T09).unwrap().severity, Severity::Crit);
}

#[test]
fn t09_does_not_match_group_commits() {
    does_not_match(RuleId::T09, &found(writes_with_syncs(60)));
}

/// Sixteen requests in flight at the block layer; the device has a queue depth of `device_depth`.
fn queued(device_depth: u64) -> Stack {
    let mut stack = Stack::new();
    let mut random = Random(9);
    let mut free = vec![1000u64; device_depth as usize];
    let mut ready = [1000u64; 16];
    for number in 0..1600u64 {
        let slot = (number % 16) as usize;
        let server = free.iter().enumerate().min_by_key(|(_, at)| **at).map(|(server, _)| server).unwrap();
        let admit = ready[slot];
        let issue = free[server].max(admit + 1);
        let end = issue + 200;
        free[server] = end;
        ready[slot] = end + 2;
        let ask =
            Ask::read(Layer::Blk, random.below(1 << 20) * 64 * KIB, 64 * KIB).by(300 + slot as u32, 300);
        let blk = stack.staged(ask, [Some(admit), Some(issue), Some(end), Some(end + 1)]);
        stack.ask(Ask { layer: Layer::Dev, ..ask }.below(blk), issue, end);
    }
    stack
}

#[test]
fn t10_requests_wait_before_the_device() {
    matches(RuleId::T10, &found(queued(2)));
}

#[test]
fn t10_does_not_match_a_deep_device_queue() {
    does_not_match(RuleId::T10, &found(queued(16)));
}

#[test]
fn t11_a_device_is_slower_than_it_was() {
    let was = calibrated(&[(64 * KIB, 1, 6e8, 25.0), (MIB, 1, 1e9, 900.0)]);
    let findings = found_with(sequential(64 * KIB, 100, 1), &was);
    assert_eq!(findings.of(RuleId::T11).unwrap().evidence[0].source, Source::Calibrated);
}

#[test]
fn t11_does_not_match_a_calibrated_latency_or_without_calibration() {
    let as_ever = calibrated(&[(64 * KIB, 1, 6e8, 90.0), (MIB, 1, 1e9, 900.0)]);
    does_not_match(RuleId::T11, &found_with(sequential(64 * KIB, 100, 1), &as_ever));
    does_not_match(RuleId::T11, &found(sequential(64 * KIB, 100, 1)));
}

/// Requests to four devices, with their latencies and shares.
fn components(take_us: [u64; 4], shares: [u64; 4]) -> Stack {
    let mut stack = Stack::new();
    let mut now = 1000;
    for number in 0..800u64 {
        let turn = number % shares.iter().sum::<u64>();
        let device = (0..4).find(|m| shares[..=*m].iter().sum::<u64>() > turn).unwrap();
        let ask = Ask::read(Layer::Sys, number * 64 * KIB, 64 * KIB);
        let sys = stack.ask(ask, now, now + take_us[device] + 10);
        let dev = Ask { layer: Layer::Dev, obj: 10 + device as u32, ..ask }.below(sys);
        stack.ask(dev, now + 4, now + 4 + take_us[device]);
        now += take_us[device] + 12;
    }
    stack
}

#[test]
fn t12_names_the_slow_one_of_four_devices() {
    let findings = found(components([100, 100, 900, 100], [1, 1, 1, 1]));
    let finding = findings.of(RuleId::T12).unwrap();
    assert!(finding.summary.starts_with("8:12 takes 9"), "{}", finding.summary);
    assert!(finding.severity >= Severity::Warn);
}

#[test]
fn t12_does_not_match_equal_devices() {
    does_not_match(RuleId::T12, &found(components([100, 110, 120, 100], [1, 1, 1, 1])));
}

/// A request that spends its time in one layer of a remote file system.
fn remote(net_us: u64, client_us: u64, server_us: u64) -> Stack {
    let mut stack = Stack::new();
    let mut now = 1000;
    for number in 0..200u64 {
        let place = number * 64 * KIB;
        let whole = client_us + net_us + server_us + 20;
        let sys = stack.ask(Ask::read(Layer::Sys, place, 64 * KIB), now, now + whole);
        let fuse = stack.ask(Ask::read(Layer::Fuse, place, 64 * KIB).below(sys), now + 2, now + whole - 2);
        let at = now + 5 + client_us;
        let net = stack.ask(
            Ask { offset: -1, ..Ask::read(Layer::Net, 0, 64 * KIB) }.below(fuse),
            at,
            at + net_us + server_us,
        );
        let at = at + net_us / 2;
        let pfss =
            stack.ask(Ask::read(Layer::Pfss, place, 64 * KIB).by(900, 900).below(net), at, at + server_us);
        stack.ask(
            Ask::read(Layer::Ssys, place, 64 * KIB).by(900, 900).below(pfss),
            at + server_us - 6,
            at + server_us - 1,
        );
        now += whole + 1;
    }
    stack
}

#[test]
fn t13_t14_t15_time_is_charged_to_the_layer_where_it_is_spent() {
    let cases = [
        (RuleId::T13, remote(500, 50, 50)),
        (RuleId::T14, remote(50, 50, 500)),
        (RuleId::T15, remote(50, 500, 50)),
    ];
    for (id, stack) in cases {
        let findings = found(stack);
        matches(id, &findings);
        [RuleId::T13, RuleId::T14, RuleId::T15]
            .iter()
            .filter(|other| **other != id)
            .for_each(|other| does_not_match(*other, &findings));
    }
}

#[test]
fn t13_and_t15_limit_their_confidence_to_what_was_captured() {
    let limits = |findings: &Findings, id: RuleId| {
        let finding = findings.of(id).unwrap();
        (finding.confidence, finding.limits.join("; "))
    };
    let (confidence, reason) = limits(&found(remote(500, 50, 50)), RuleId::T13);
    assert!(
        confidence <= 0.7 && reason.contains("the arrival of a message at the server is not seen"),
        "{confidence} {reason}"
    );
    let without = |stack: Stack, layers: &[Layer]| {
        let mut stack = stack;
        stack.trace.events.retain(|event| !layers.contains(&event.layer));
        stack
    };
    let (confidence, reason) =
        limits(&found(without(remote(500, 50, 50), &[Layer::Pfss, Layer::Ssys])), RuleId::T13);
    assert!(confidence <= 0.5 && reason.contains("no server was captured"), "{confidence} {reason}");
    assert!(limits(&found(remote(50, 500, 50)), RuleId::T15).1.is_empty());
    // Without the network layer its time counts as the client's, with a lower confidence. Servers are found by bytes.
    let mut blind = without(remote(50, 500, 50), &[Layer::Net]);
    for event in &mut blind.trace.events {
        if event.layer == Layer::Pfss {
            (event.parent, event.link) = (RequestId::NONE, LinkRule::None);
        }
    }
    let (confidence, reason) = limits(&found(blind), RuleId::T15);
    assert!(
        confidence <= 0.5 && reason.contains("hardly any message to a server was captured"),
        "{confidence} {reason}"
    );
}

fn offsets(shift: u64, penalty_us: u64) -> Stack {
    let mut stack = Stack::new();
    let mut now = 1000;
    for number in 0..400u64 {
        let is_odd = number % 2 == 1;
        let place = number * 64 * KIB + if is_odd { shift } else { 0 };
        let take = 100 + if is_odd { penalty_us } else { 0 };
        stack.ask(Ask::write(Layer::Sys, place, 64 * KIB), now, now + take);
        now += take + 1;
    }
    stack
}

#[test]
fn t16_misaligned_requests_take_longer() {
    assert!(found(offsets(512, 80)).of(RuleId::T16).unwrap().severity >= Severity::Warn);
}

#[test]
fn t16_does_not_match_aligned_requests_or_without_a_penalty() {
    does_not_match(RuleId::T16, &found(offsets(4096, 80)));
    does_not_match(RuleId::T16, &found(offsets(512, 0)));
}

fn readers(of_the_same: bool, processes: u32) -> Stack {
    let mut stack = Stack::new();
    for process in 0..processes {
        for number in 0..200u64 {
            let place = (number + if of_the_same { 0 } else { u64::from(process) * 200 }) * 64 * KIB;
            let ask = Ask::read(Layer::Sys, place, 64 * KIB).by(100 + process, 100 + process);
            stack.ask(ask, number * 100 + 1 + u64::from(process), number * 100 + 95 + u64::from(process));
        }
    }
    stack
}

#[test]
fn t17_four_processes_read_the_same() {
    let findings = found(readers(true, 4));
    let finding = findings.of(RuleId::T17).unwrap();
    assert!(finding.cause.contains("several processes"), "{}", finding.cause);
}

#[test]
fn t17_does_not_match_where_each_process_reads_its_own_bytes() {
    does_not_match(RuleId::T17, &found(readers(false, 4)));
}

#[test]
fn t18_most_of_the_time_no_request_is_open() {
    let findings = found(sequential(64 * KIB, 100, 400));
    matches(RuleId::T18, &findings);
    assert!(findings.is_not_storage);
    assert!(findings.of(RuleId::T18).unwrap().summary.contains("not a storage problem"));
}

#[test]
fn t18_does_not_match_where_a_request_is_always_open() {
    let findings = found(sequential(64 * KIB, 100, 1));
    does_not_match(RuleId::T18, &findings);
    assert!(!findings.is_not_storage);
}

fn buffered_writes(is_throttled: bool) -> Stack {
    let mut stack = Stack::new();
    let mut now = 1000;
    for number in 0..1000u64 {
        let is_slow = number % 40 == 39;
        let take = if is_slow { 5000 } else { 30 };
        stack.ask(Ask::write(Layer::Sys, number * 64 * KIB, 64 * KIB), now, now + take);
        if is_slow && is_throttled {
            stack.throttled(now + 10, 4900);
        }
        now += take + 1;
    }
    stack
}

#[test]
fn t19_writers_are_throttled() {
    assert_eq!(found(buffered_writes(true)).of(RuleId::T19).unwrap().severity, Severity::Crit);
}

#[test]
fn t19_does_not_match_without_throttling_events() {
    does_not_match(RuleId::T19, &found(buffered_writes(false)));
}

#[test]
fn t20_one_device_gets_most_bytes() {
    let findings = found(components([100; 4], [7, 1, 1, 1]));
    assert!(
        findings.of(RuleId::T20).unwrap().summary.starts_with("8:10 gets 70 %"),
        "{}",
        findings.of(RuleId::T20).unwrap().summary
    );
}

#[test]
fn t20_does_not_match_an_even_load() {
    does_not_match(RuleId::T20, &found(components([100; 4], [1; 4])));
}

fn with_status(status: i32, op: Op) -> Stack {
    let mut stack = sequential(64 * KIB, 100, 1);
    for number in 0..3u64 {
        let ask = Ask { status, ..Ask::of(Layer::Sys, op, number * 64 * KIB, 64 * KIB) };
        stack.ask(ask, 60_000 + number * 10, 60_005 + number * 10);
    }
    stack
}

#[test]
fn t21_even_a_few_failures_are_a_warning() {
    let findings = found(with_status(-5, Op::Read));
    let finding = findings.of(RuleId::T21).unwrap();
    assert_eq!(finding.severity, Severity::Warn);
    assert!(finding.summary.contains("error 5") && !finding.events.is_empty(), "{}", finding.summary);
}

#[test]
fn t21_requeued_requests_are_informational() {
    let mut stack = sequential(64 * KIB, 100, 1);
    let devices = stack.trace.events.iter_mut().filter(|event| event.layer == Layer::Dev);
    devices.take(40).for_each(|event| event.flags |= Flags::REQUEUED);
    let findings = found(stack);
    let finding = findings.of(RuleId::T21).unwrap();
    assert_eq!((finding.severity, finding.gain.seconds), (Severity::Info, 0.0), "{}", finding.summary);
}

#[test]
fn t21_does_not_match_expected_errors() {
    does_not_match(RuleId::T21, &found(with_status(-61, Op::Meta(MetaOp::Getxattr))));
    does_not_match(RuleId::T21, &found(with_status(-11, Op::Read)));
}

#[test]
fn t22_a_thread_that_waits_for_each_request() {
    let deep = calibrated(&[(64 * KIB, 1, 5e8, 90.0), (64 * KIB, 16, 2e9, 300.0)]);
    let findings = found_with(sequential(64 * KIB, 100, 1), &deep);
    assert_eq!(findings.of(RuleId::T22).unwrap().severity, Severity::Crit);
    // Without a calibration the gain of a higher queue depth is unknown.
    assert_eq!(found(sequential(64 * KIB, 100, 1)).of(RuleId::T22).unwrap().severity, Severity::Info);
}

#[test]
fn t22_does_not_match_asynchronous_requests_or_flat_devices() {
    let flat = calibrated(&[(64 * KIB, 1, 5e8, 90.0), (64 * KIB, 16, 5e8, 900.0)]);
    does_not_match(RuleId::T22, &found_with(sequential(64 * KIB, 100, 1), &flat));
    does_not_match(RuleId::T22, &found(posix_aio(16, 16, 500)));
}

#[test]
fn loss_lowers_the_confidence_and_a_large_loss_prevents_a_verdict() {
    let lossy = |lost: u64| {
        let mut stack = posix_aio(16, 1, 500);
        stack.lost(lost);
        found(stack)
    };
    assert!(lossy(0).of(RuleId::T01).unwrap().confidence > 0.9);
    let some = lossy(300);
    let finding = some.of(RuleId::T01).unwrap();
    assert!(
        finding.confidence <= 0.5 && finding.limits.iter().any(|limit| limit.contains("lost")),
        "{finding:?}"
    );
    assert!(!some.is_too_lossy);
    assert!(lossy(3000).is_too_lossy);
}

#[test]
fn an_empty_trace_has_no_findings() {
    let findings = found(Stack::new());
    assert!(findings.findings.is_empty() && !findings.is_not_storage);
    assert_eq!(RequestId::NONE, RequestId(0));
}
