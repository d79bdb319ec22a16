//! Devices and servers, by themselves and side by side: T11, T12, T20, T21.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, count, nanoseconds, percent, plain};
use crate::characteristics::figures::LayerFigures;
use crate::characteristics::members::MemberFigures;
use crate::model::{Kind, Layer};

/// T11: the device is slower than it was when it was calibrated.
pub fn slow(case: &Case) -> Option<Draft> {
    let device = case.device()?;
    let (size, depth) = (device.load.size_bytes.p50, device.load.concurrency.busy_avg.max(1.0));
    let expected_ns = case.curve().p50_us(size, depth)? * 1e3;
    let found_ns = device.load.latency_ns.p50;
    let factor = found_ns / expected_ns.max(1.0);
    if factor <= 3.0 || device.load.latency_ns.count < 32 {
        return None;
    }
    let mut signs = Signs::default()
        .see(
            device.layer,
            "median latency",
            found_ns,
            nanoseconds(found_ns),
            &format!("about {}", nanoseconds(expected_ns)),
            true,
        )
        .see(device.layer, "requests at once", depth, plain(depth), "", true);
    signs.evidence[0].source = "calibrated".into();
    Some(Draft {
        layer: device.layer,
        upper: Some(device.layer),
        says: format!(
            "requests of {} take {}, {} times as long as calibrated",
            bytes(size),
            nanoseconds(found_ns),
            plain(factor)
        ),
        signs,
        cause: "the device is slower than it was (fail-slow), or others use it as well".into(),
        unless: "requests of other programs on the same device: `laggard diagnose` and iotop tell".into(),
        fixes: vec![
            "`smartctl -a`, the state of the RAID, the kernel log".into(),
            "compare with its peers: `laggard record` on all servers, then `laggard diagnose`".into(),
        ],
        gain: Gain {
            seconds: device.load.busy_seconds * (1.0 - 1.0 / factor),
            formula: format!(
                "busy device {:.2} s x (1 - {} / {})",
                device.load.busy_seconds,
                nanoseconds(expected_ns),
                nanoseconds(found_ns)
            ),
        },
        events: case.events_of(&case.all.album.of(device.layer).slowest),
        is_always_serious: false,
    })
}

/// T12: one server or device takes longer than the others.
pub fn slow_member(case: &Case) -> Option<Draft> {
    let slowest = |layer: &LayerFigures| {
        let members = layer.members.members.iter();
        members
            .filter_map(|member| Some((member.slow_factor?, member.name.clone())))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    };
    // The lowest layer that shows it: a server waits for its device.
    let layers = [Layer::Dev, Layer::Blk, Layer::Ssys, Layer::Pfss, Layer::Net];
    let (layer, (factor, name)) = layers
        .iter()
        .filter_map(|layer| case.layer(*layer))
        .filter_map(|layer| Some((layer, slowest(layer)?)))
        .find(|(_, (factor, _))| *factor > 2.0)?;
    let member = layer.members.members.iter().find(|member| member.name == name)?;
    let others = layer.members.members.len() - 1;
    let share = member.bytes as f64 / layer.load.bytes.max(1) as f64;
    let latency = member.read_p50_ns.or(member.write_p50_ns).unwrap_or(0.0);
    let seconds = case.all.seconds * (1.0 - 1.0 / factor) * reach(case, layer);
    let signs = Signs::default()
        .see(layer.layer, "median latency by that of the others", factor, plain(factor), "at most 2", true)
        .see(layer.layer, "median latency", latency, nanoseconds(latency), "as the others", true)
        .see(
            layer.layer,
            "bytes",
            share,
            format!("{} of all, by {} members", percent(share), others + 1),
            "as the others",
            share < 2.0 / (others + 1) as f64,
        );
    let slow_ones = case.all.album.of(layer.layer).slowest.clone();
    Some(Draft {
        layer: layer.layer,
        upper: case.all.above(layer.layer).map(|above| above.layer),
        says: format!("{name} takes {} times as long as {}", plain(factor), count(others as u64, "other")),
        signs,
        cause: format!("{name} is slow: its device, its controller, or others' load on it"),
        unless: "more or larger requests on it than on the others: then it is a hot spot".into(),
        fixes: vec![
            format!("drain {name} or take it out, then look at it: `smartctl -a`, RAID, kernel log"),
            "`laggard diagnose` on a recording of all servers says whether it has been so for long".into(),
        ],
        gain: Gain {
            seconds,
            formula: format!(
                "{:.2} s x share of time in {} and below x (1 - 1 / {})",
                case.all.seconds,
                layer.layer,
                plain(factor)
            ),
        },
        events: case.events_of(&slow_ones),
        is_always_serious: false,
    })
}

/// The share of top requests' time that is spent in a layer and those below it.
fn reach(case: &Case, layer: &LayerFigures) -> f64 {
    case.all.layers.iter().filter(|one| one.layer >= layer.layer).map(|one| one.path_share).sum()
}

/// T20: one server or device gets far more than the others.
pub fn hot_spot(case: &Case) -> Option<Draft> {
    let layers = [Layer::Pfss, Layer::Net, Layer::Dev, Layer::Blk];
    let layer = layers
        .iter()
        .filter_map(|layer| case.layer(*layer))
        .find(|layer| layer.members.members.len() >= 3 && layer.members.bytes_max_over_mean > 2.0)?;
    let factor = layer.members.bytes_max_over_mean;
    let most: &MemberFigures = layer.members.members.first()?;
    let share = most.bytes as f64 / layer.load.bytes.max(1) as f64;
    if layer.data_requests() < 64 {
        return None;
    }
    let signs = Signs::default()
        .see(layer.layer, "bytes by the mean", factor, plain(factor), "at most 2", true)
        .see(
            layer.layer,
            "bytes",
            most.bytes as f64,
            format!(
                "{} of {} on 1 of {}",
                bytes(most.bytes as f64),
                bytes(layer.load.bytes as f64),
                layer.members.members.len()
            ),
            "",
            true,
        )
        .see(
            layer.layer,
            "its latency by that of the others",
            most.slow_factor.unwrap_or(1.0),
            plain(most.slow_factor.unwrap_or(1.0)),
            "",
            most.slow_factor.is_some_and(|slow| slow > 1.2),
        );
    Some(Draft {
        layer: layer.layer,
        upper: case.all.above(layer.layer).map(|above| above.layer),
        says: format!(
            "{} gets {} of the bytes, {} times the \
            mean",
            most.name,
            percent(share),
            plain(factor)
        ),
        signs,
        cause: "the layout of the files puts most bytes on one server or device".into(),
        unless: "a file that is meant to be on one server".into(),
        fixes: vec![
            "stripe the files over more servers (`lfs setstripe -c -1`, a distributed volume), and copy \
                them"
                .into(),
        ],
        gain: Gain {
            seconds: case.all.seconds * reach(case, layer) * (1.0 - 1.0 / factor),
            formula: format!(
                "{:.2} s x share of time in {} and below x (1 - 1 / {})",
                case.all.seconds,
                layer.layer,
                plain(factor)
            ),
        },
        events: case.events(layer.layer, &[Kind::Admit]),
        is_always_serious: false,
    })
}

/// T21: requests fail, or go back to the queue.
pub fn errors(case: &Case) -> Option<Draft> {
    let layer = case.all.layers.iter().rev().find(|layer| layer.errors.failed + layer.errors.requeued > 0)?;
    let errors = &layer.errors;
    let (op, errno, times) = errors
        .by_errno
        .iter()
        .max_by_key(|(_, _, times)| *times)
        .map_or(("", 0, 0), |(op, errno, times)| (op.as_str(), *errno, *times));
    let number = errors.failed + errors.requeued;
    let share = errors.failed as f64 / layer.load.requests.max(1) as f64;
    let (what, cause) = if errors.failed > 0 {
        let what = format!("failed or went back to the queue, most of them {op} with error {errno}");
        (what, format!("errors of the medium or on the way to it ({times} x {op}, error {errno})"))
    } else {
        let cause =
            "the device or its driver could not take them at once: a full queue, or a path in trouble";
        ("went back to the queue".to_owned(), cause.to_owned())
    };
    let signs = Signs::default()
        .see(
            layer.layer,
            "failed requests",
            errors.failed as f64,
            count(errors.failed, "request"),
            "none",
            errors.failed > 0,
        )
        .see(
            layer.layer,
            "requeued requests",
            errors.requeued as f64,
            count(errors.requeued, "request"),
            "none",
            errors.requeued > 0 || errors.failed > 0,
        );
    Some(Draft {
        layer: layer.layer,
        upper: Some(layer.layer),
        says: format!("{} of {} {what}", number, count(layer.load.requests, "request")),
        signs,
        cause,
        unless: "programs that expect these errors, such as probes".into(),
        fixes: vec![
            "the kernel log and the server's log at that time".into(),
            "the path to the device: cables, multipath, the state of the array".into(),
        ],
        gain: Gain {
            seconds: layer.load.busy_seconds * share,
            formula: format!(
                "busy {} {:.2} s x share of failed requests; going back to the queue costs little by itself",
                layer.layer, layer.load.busy_seconds
            ),
        },
        events: case.all.album.of(layer.layer).failed.clone(),
        is_always_serious: errors.failed > 0,
    })
}
