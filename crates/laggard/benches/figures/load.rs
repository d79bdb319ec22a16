//! A host that has something to record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::connections::Connections;
use crate::disks::Disks;

/// Block devices in use.
pub const DEVICES: usize = 72;
/// TCP connections in use.
pub const CONNECTIONS: usize = 200;

/// Requests and messages, some of each a second for everything.
pub struct Load {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<()>>,
}

const A_WHILE: Duration = Duration::from_millis(20);
const AT_ONCE: usize = 4;

impl Load {
    /// Sets everything up, and begins.
    pub fn start() -> anyhow::Result<Load> {
        let (mut disks, mut connections) = (Disks::attach(DEVICES)?, Connections::open(CONNECTIONS)?);
        for number in 0..DEVICES {
            disks.exercise(number)?;
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let work = move || {
            for number in (0..).step_by(AT_ONCE).take_while(|_| !over.load(Ordering::Relaxed)) {
                for number in number..number + AT_ONCE {
                    disks.exercise(number)?;
                    connections.exercise(number)?;
                }
                std::thread::sleep(A_WHILE);
            }
            Ok(())
        };
        Ok(Load { is_over, thread: std::thread::spawn(work) })
    }

    /// Ends it, and removes everything.
    pub fn stop(self) -> anyhow::Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow::anyhow!("the load failed"))?
    }
}
