//! What a trace says of itself before its events.

use serde::{Deserialize, Serialize};

use super::event::HostId;
use super::layer::{Class, Layer};

/// Before the events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Of the format.
    pub version: u32,
    /// The hosts, by number.
    #[serde(default)]
    pub hosts: Vec<Host>,
    /// The layers that may occur, top first, as far as known when the trace was begun.
    #[serde(default)]
    pub layers: Vec<LayerTitle>,
    /// What the events come from.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// When was captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// What capturing costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
}

/// A host of the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// The id of its boot, where known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub boot_id: String,
    /// Which clock the times are of: `mono`, `local`, `wall`, `job`.
    #[serde(default)]
    pub clock: String,
    /// To be added to its times to get those of the first host.
    #[serde(default)]
    pub offset_ns: i64,
    /// How far off that may be.
    #[serde(default)]
    pub offset_err_ns: u64,
    /// The version of its kernel.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// Its lockdown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lockdown: String,
}

/// A layer, as this trace calls it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerTitle {
    /// Which one.
    pub layer: Layer,
    /// Its place from the top.
    pub order: u8,
    /// What it is like.
    pub class: Class,
    /// What people call it: `glibc`, `glusterfsd`.
    pub title: String,
    /// The host it is on.
    #[serde(default)]
    pub host: HostId,
}

impl LayerTitle {
    /// A layer of a host under a title.
    pub fn new(layer: Layer, title: &str, host: HostId) -> LayerTitle {
        LayerTitle { layer, order: layer.order(), class: layer.class(), title: title.to_owned(), host }
    }
}

/// What events come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// `ftrace`, `strace`, `blktrace`, ...
    pub tool: String,
    /// Its version, where known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The file it was read from, where it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// How fine its times are.
    pub resolution_ns: u64,
    /// What it was limited to, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// The host it is of.
    #[serde(default)]
    pub host: HostId,
}

/// A stretch of time, on the clock of the first host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its begin.
    pub begin_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// UTC of its begin in microseconds since 1970, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_us: Option<i64>,
}

/// What capturing costs, as measured where it was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Of one traced system call, enter and exit together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syscall_ns: Option<f64>,
    /// Of one probe in user space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uprobe_ns: Option<f64>,
    /// Of one block event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_ns: Option<f64>,
}
