//! Description of a trace, written before its events.

use serde::{Deserialize, Serialize};

use super::ids::HostId;
use super::layer::{Class, Layer};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub version: u32,
    #[serde(default)]
    pub hosts: Vec<Host>,
    /// Layers that may occur, top first, as far as known when the trace began.
    #[serde(default)]
    pub layers: Vec<LayerTitle>,
    #[serde(default)]
    pub sources: Vec<Source>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub boot_id: String,
    /// `mono`, `local`, `wall` or `job`.
    #[serde(default)]
    pub clock: String,
    /// Added to its timestamps to get the first host's.
    #[serde(default)]
    pub offset_ns: i64,
    /// The uncertainty of the offset.
    #[serde(default)]
    pub offset_err_ns: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lockdown: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerTitle {
    pub layer: Layer,
    pub order: u8,
    pub class: Class,
    /// `glibc`, `glusterfsd`
    pub title: String,
    #[serde(default)]
    pub host: HostId,
}

impl LayerTitle {
    pub fn new(layer: Layer, title: &str, host: HostId) -> LayerTitle {
        LayerTitle { layer, order: layer.order(), class: layer.class(), title: title.to_owned(), host }
    }
}

/// The origin of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// `ftrace`, `strace`, `blktrace`, ...
    pub tool: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    pub resolution_ns: u64,
    /// The limits of the capture, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    #[serde(default)]
    pub host: HostId,
}

/// A period on the clock of the first host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub begin_ns: u64,
    pub end_ns: u64,
    /// UTC of the begin, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_us: Option<i64>,
}

/// Measured cost per event on the captured host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// One traced system call, enter and exit together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syscall_ns: Option<f64>,
    /// One probe in user space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uprobe_ns: Option<f64>,
    /// One block event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_ns: Option<f64>,
}
