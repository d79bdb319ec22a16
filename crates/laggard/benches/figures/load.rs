//! Load on this host, to be recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::connections::Connections;
use crate::disks::Disks;
use crate::random::Random;

/// Block devices in use.
pub(crate) const DEVICES: usize = 72;
/// TCP connections in use, as the kernel counts them: both ends are on this host, and each is one.
pub(crate) const CONNECTIONS: usize = 200;

/// Requests and messages at a varying rate.
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<()>>,
}

const A_WHILE: Duration = Duration::from_millis(20);
/// The number of intervals with the same load, and the requests in an interval.
const STEADY_WHILES: (f64, f64) = (50.0, 1500.0);
const REQUESTS: (f64, f64) = (0.2, 12.0);

impl Load {
    /// Creates the devices and connections and starts the load.
    pub(crate) fn start() -> anyhow::Result<Load> {
        let (mut disks, mut connections) = (Disks::attach(DEVICES)?, Connections::open(CONNECTIONS / 2)?);
        (0..DEVICES).try_for_each(|number| disks.exercise(number))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let work = move || {
            let mut random = Random::new(11);
            let (mut requests, mut whiles) = (0.0, 0);
            while !over.load(Ordering::Relaxed) {
                if whiles == 0 {
                    requests = random.magnitude(REQUESTS.0, REQUESTS.1);
                    whiles = random.magnitude(STEADY_WHILES.0, STEADY_WHILES.1) as u64;
                }
                whiles -= 1;
                for _ in 0..random.count(requests) {
                    disks.exercise(random.below(DEVICES))?;
                    connections.exercise(random.below(CONNECTIONS / 2))?;
                }
                std::thread::sleep(A_WHILE);
            }
            Ok(())
        };
        Ok(Load { is_over, thread: std::thread::spawn(work) })
    }

    /// Stops the load and removes the devices.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow::anyhow!("the load failed"))?
    }
}
