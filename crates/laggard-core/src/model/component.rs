//! Kinds and names of components.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An open set: a cluster file may define kinds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kind(std::borrow::Cow<'static, str>);

impl Kind {
    pub const SERVER: Kind = Kind::named("server");
    pub const CLIENT: Kind = Kind::named("client");
    /// A block device as one server sees it.
    pub const ATTACHMENT: Kind = Kind::named("attachment");
    pub const NIC: Kind = Kind::named("nic");
    /// The TCP traffic between a host and one remote host.
    pub const LINK: Kind = Kind::named("link");
    /// One TCP connection.
    pub const SOCKET: Kind = Kind::named("socket");
    /// A source of the recorder.
    pub const RECORDER: Kind = Kind::named("recorder");

    const fn named(name: &'static str) -> Kind {
        Kind(std::borrow::Cow::Borrowed(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for attachments, and for the kinds that a cluster file gives to block devices.
    pub fn is_disk(&self) -> bool {
        use Kind as K;
        ![K::SERVER, K::CLIENT, K::NIC, K::LINK, K::SOCKET, K::RECORDER].contains(self)
    }

    pub fn is_host(&self) -> bool {
        [Kind::SERVER, Kind::CLIENT].contains(self)
    }
}

impl From<&str> for Kind {
    fn from(name: &str) -> Kind {
        Kind(name.to_owned().into())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// An attribute whose values are things that can break, with all components that have the value: `controller` `ddn19a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Container {
    Array,
    Controller,
    Drawer,
    Enclosure,
    Lun,
    Rack,
    Server,
    Switch,
}

impl Container {
    pub const ALL: [Container; 8] = {
        use Container::{Array, Controller, Drawer, Enclosure, Lun, Rack, Server, Switch};
        [Array, Controller, Drawer, Enclosure, Lun, Rack, Server, Switch]
    };

    /// The attribute in the cluster file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Container::Array => "array",
            Container::Controller => "controller",
            Container::Drawer => "drawer",
            Container::Enclosure => "enclosure",
            Container::Lun => "lun",
            Container::Rack => "rack",
            Container::Server => "server",
            Container::Switch => "switch",
        }
    }

    pub const fn kind(self) -> Kind {
        Kind::named(self.as_str())
    }
}

/// The attribute of a link with the recorded host at its far end.
pub const REMOTE_HOST: &str = "remote-host";

/// `oss3:sdb`: a block device of a host.
pub fn attachment(host: &str, device: &str) -> String {
    format!("{host}:{device}")
}

/// `oss3/eth0`: an interface of a host.
pub fn nic(host: &str, interface: &str) -> String {
    format!("{host}/{interface}")
}

/// `oss3>198.18.0.7`: a host's TCP traffic with a remote host; with ports on both sides, one connection.
pub fn link(host: &str, remote: &str) -> String {
    format!("{host}>{remote}")
}

/// `oss3@diskstats`: one source of a host's recorder.
pub fn recorder(host: &str, source: &str) -> String {
    format!("{host}@{source}")
}

/// A sort key with numeric order: `oss9:sdb` comes before `oss10:sda`.
pub fn natural_order(name: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text_end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[text_end..];
        let digits_end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number = if digits_end == 0 { 0 } else { digits[..digits_end].parse().unwrap_or(u64::MAX) };
        parts.push((0, rest[..text_end].to_owned()));
        parts.push((number, digits[..digits_end].to_owned()));
        rest = &digits[digits_end..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_numeric_order() {
        let mut names = ["oss10:sda", "oss9:sdb", "oss9:sda", "oss10:sda1"];
        names.sort_by_key(|name| natural_order(name));
        assert_eq!(names, ["oss9:sda", "oss9:sdb", "oss10:sda", "oss10:sda1"]);
    }
}
