//! Device nodes: what a command on the host can open.

use super::class::DeviceClass;
use super::name::{Named, device_number, parse};

/// The node of a recorded device, where there is one by that name.
pub fn node(name: &str, class: DeviceClass) -> Option<String> {
    if let Some((major, minor)) = device_number(name) {
        return Some(format!("/dev/block/{major}:{minor}"));
    }
    match (parse(name), class) {
        // A path has no node; that of its multipath device leads to the same drive.
        (Named::Path { device }, _) => Some(format!("/dev/{device}")),
        (Named::Device(DeviceClass::Multipath), _) if name.starts_with("mpath") => {
            Some(format!("/dev/mapper/{name}"))
        }
        (Named::Unknown, DeviceClass::DeviceMapper | DeviceClass::Multipath) => {
            Some(format!("/dev/mapper/{name}"))
        }
        (Named::Unknown, _) => None,
        _ => Some(format!("/dev/{}", name.strip_prefix("/dev/").unwrap_or(name).replace('!', "/"))),
    }
}
