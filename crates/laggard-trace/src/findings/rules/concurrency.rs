//! Too few requests at once: T01, T10, T22.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, nanoseconds, percent, plain};
use crate::model::{Kind, Layer};

/// T01: the C library serves one descriptor with one thread (paper 004, section 4.1).
pub fn one_per_descriptor(case: &Case) -> Option<Draft> {
    let aio = case.layer(Layer::Aio)?;
    let boundary = case.all.boundary_below(Layer::Aio)?;
    let lower = case.layer(boundary.lower)?;
    let (above, below) = (aio.load.concurrency.busy_avg, aio.below.concurrency.busy_avg.max(1.0));
    let ratio = below / above;
    let queue_ratio = aio.timing.queue_ratio?;
    let is_serial = aio.below.max_per_fd <= 1;
    if ratio >= 0.25 || queue_ratio <= 3.0 || !is_serial || aio.load.concurrency.max < 4 {
        return None;
    }
    let speedup = case.curve().speedup(aio.load.size_bytes.avg, below, above);
    let most = aio.load.concurrency.max;
    let signs = Signs::default()
        .see(
            Layer::Aio,
            "concurrency",
            above,
            format!("{} above, {} below", plain(above), plain(below)),
            "at least half of it below",
            true,
        )
        .see(
            Layer::Aio,
            "most at once per descriptor",
            f64::from(aio.below.max_per_fd),
            aio.below.max_per_fd.to_string(),
            "more than 1",
            true,
        )
        .see(
            Layer::Aio,
            "queue ratio",
            queue_ratio,
            format!(
                "{} (waits {}, is served in {})",
                plain(queue_ratio),
                nanoseconds(aio.timing.wait_ns.avg),
                nanoseconds(aio.timing.below_ns.avg)
            ),
            "at most 2",
            true,
        )
        .see(
            lower.layer,
            "most at once",
            f64::from(lower.load.concurrency.max),
            lower.load.concurrency.max.to_string(),
            &format!("up to {most}"),
            lower.load.concurrency.max < most,
        );
    Some(Draft {
        layer: Layer::Aio,
        upper: Some(Layer::Aio),
        says: format!(
            "{most} requests in flight above, never more than {} below, per fd",
            aio.below.max_per_fd
        ),
        signs,
        cause: format!(
            "POSIX asynchronous I/O of the C library serves each descriptor with one thread; {} \
                descriptor{} in use",
            aio.below.fds,
            if aio.below.fds == 1 { " is" } else { "s are" }
        ),
        unless: "two requests of one descriptor below at the same time".into(),
        fixes: vec![
            "use io_uring or libaio in place of aio_read and aio_write".into(),
            "or open the file (or dup the descriptor) once for each request that is to be in flight".into(),
            "or serve requests with your own threads and pread/pwrite".into(),
        ],
        gain: Gain {
            seconds: case.all.seconds * (1.0 - 1.0 / speedup),
            formula: format!(
                "{:.2} s / speedup of the layers below from {} to {} at once ({}: {}x)",
                case.all.seconds,
                plain(below),
                plain(above),
                case.curve_words(),
                plain(speedup)
            ),
        },
        events: serial_events(case, boundary.lower),
        is_always_serious: false,
    })
}

/// ISSUE and COMPLT of the library where they were seen, else begin and end of the calls it makes.
fn serial_events(case: &Case, lower: Layer) -> Vec<crate::model::Event> {
    let own = case.events(Layer::Aio, &[Kind::Issue, Kind::Complt]);
    if own.len() >= 4 { own } else { case.events(lower, &[Kind::Admit, Kind::Callback]) }
}

/// T10: most of a request's time at the block layer is waiting to be sent to the device.
pub fn queue(case: &Case) -> Option<Draft> {
    let blk = case.layer(Layer::Blk)?;
    let dev = case.layer(Layer::Dev)?;
    let (wait, below, back) = (blk.timing.wait_ns.sum, blk.timing.below_ns.sum, blk.timing.return_ns.sum);
    let share = wait / (wait + below + back).max(1.0);
    let at_limit = dev.load.concurrency.shares.get(dev.load.concurrency.max as usize).copied().unwrap_or(0.0);
    let is_at_limit = at_limit > 0.3 || dev.load.concurrency.max >= 32;
    if share <= 0.6 || blk.timing.wait_ns.count < 32 || !is_at_limit {
        return None;
    }
    let (queued, served) = (blk.load.concurrency.busy_avg, dev.load.concurrency.busy_avg.max(1.0));
    let speedup = case.curve().speedup(blk.load.size_bytes.avg, served, queued);
    let signs = Signs::default()
        .see(Layer::Blk, "waiting", share, percent(share), "at most 60 %", true)
        .see(
            Layer::Dev,
            "time at its most at once",
            at_limit,
            format!("{} at {}", percent(at_limit), dev.load.concurrency.max),
            "below 30 %",
            at_limit > 0.3,
        )
        .see(
            Layer::Blk,
            "concurrency",
            queued,
            plain(queued),
            "about that of the device",
            queued > 2.0 * served,
        );
    Some(Draft {
        layer: Layer::Blk,
        upper: Some(Layer::Blk),
        says: format!(
            "requests wait {} of their time before the device gets them; it has {} at \
            once",
            percent(share),
            dev.load.concurrency.max
        ),
        signs,
        cause: "the queue before the device holds requests back: its depth, the scheduler, or a throttle \
            of a control group"
            .into(),
        unless: "the device is as deep as it can usefully be: then it is the device".into(),
        fixes: vec![
            "look at /sys/block/DEVICE/queue/nr_requests and scheduler, and at io.max of the control \
                group"
                .into(),
            "where the device is saturated, spread the load over more devices".into(),
        ],
        gain: Gain {
            seconds: case.all.seconds * dev.path_share.max(blk.path_share) * (1.0 - 1.0 / speedup),
            formula: format!(
                "time on the device's path x (1 - 1 / speedup from {} to {} at once, {})",
                plain(served),
                plain(queued),
                case.curve_words()
            ),
        },
        events: case.events_of_both(Layer::Blk, Layer::Dev),
        is_always_serious: false,
    })
}

/// T22: every thread waits for its request, and the device could take more.
pub fn one_per_thread(case: &Case) -> Option<Draft> {
    let top = case.top()?;
    let device = case.device()?;
    let threads = top.threads as f64;
    let average = top.load.concurrency.avg;
    let optimal = case.curve().optimal_depth(device.load.size_bytes.avg);
    let most = f64::from(device.load.concurrency.max);
    if top.max_per_thread > 1 || average < 0.7 * threads || most > optimal / 2.0 || device.path_share < 0.2 {
        return None;
    }
    let depth = device.load.concurrency.busy_avg.max(1.0);
    let speedup = case.curve().speedup(device.load.size_bytes.avg, depth, optimal);
    // Whether more at once would help is not known without a calibration.
    let seconds = case.all.seconds * device.path_share * (1.0 - 1.0 / speedup);
    let is_known = case.curve().is_calibrated();
    let signs = Signs::default()
        .see(
            top.layer,
            "most at once per thread",
            f64::from(top.max_per_thread),
            top.max_per_thread.to_string(),
            "more than 1, or many threads",
            true,
        )
        .see(
            top.layer,
            "threads",
            threads,
            format!("{}, {} of them waiting", plain(threads), plain(average)),
            "",
            true,
        )
        .see(
            device.layer,
            "most at once",
            most,
            format!("{} of {}", plain(most), bytes(device.load.size_bytes.avg)),
            &format!("about {}", plain(optimal)),
            is_known,
        );
    Some(Draft {
        layer: top.layer,
        upper: None,
        says: format!(
            "every thread has one request at a time, {} in all; the device could take {}",
            plain(average),
            plain(optimal)
        ),
        signs,
        cause: "the application waits for each request before it makes the next".into(),
        unless: "a device that is no faster with more at once: `laggard trace calibrate` tells".into(),
        fixes: vec![
            "more threads, or asynchronous requests (io_uring, libaio)".into(),
            "larger requests".into(),
        ],
        gain: Gain {
            seconds: if is_known { seconds } else { 0.0 },
            formula: format!(
                "time on the device's path x (1 - 1 / speedup from {} to {} at once){}",
                plain(depth),
                plain(optimal),
                if is_known { "" } else { ": not known without `laggard trace calibrate`" }
            ),
        },
        events: case.events(top.layer, &[Kind::Admit, Kind::Callback]),
        is_always_serious: false,
    })
}
