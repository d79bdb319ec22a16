//! The layers of an I/O stack, from the application down to the device.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A layer; the order is from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Layer {
    /// The application's own calls.
    App,
    /// The MPI-IO library.
    Mpiio,
    /// POSIX asynchronous I/O of the C library.
    Aio,
    /// io_uring, as the application sees it.
    Uring,
    /// System calls of the application.
    Sys,
    /// The page cache.
    Cache,
    /// Requests of the kernel to a file system in user space.
    Fuse,
    /// The client of a parallel file system.
    Pfsc,
    /// Between client and server.
    Net,
    /// The server of a parallel file system.
    Pfss,
    /// System calls of that server.
    Ssys,
    /// The queue of a block device.
    Blk,
    /// The block device itself.
    Dev,
}

/// What a layer is like; decides which values are to be expected of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// An application.
    App,
    /// A library in the application's process.
    Lib,
    /// The operating system.
    Os,
    /// A client daemon.
    Client,
    /// The network.
    Net,
    /// A server daemon.
    Server,
    /// A queue before a device.
    Queue,
    /// A device.
    Device,
}

impl Layer {
    /// All layers, top first.
    pub const ALL: [Layer; 13] = [
        Layer::App,
        Layer::Mpiio,
        Layer::Aio,
        Layer::Uring,
        Layer::Sys,
        Layer::Cache,
        Layer::Fuse,
        Layer::Pfsc,
        Layer::Net,
        Layer::Pfss,
        Layer::Ssys,
        Layer::Blk,
        Layer::Dev,
    ];

    /// How many layers there are.
    pub const COUNT: usize = Layer::ALL.len();

    /// Its place from the top, from 0.
    pub const fn order(self) -> u8 {
        self as u8
    }

    /// The layer at a place from the top.
    pub fn from_order(order: u8) -> Option<Layer> {
        Layer::ALL.get(usize::from(order)).copied()
    }

    /// What it is like.
    pub const fn class(self) -> Class {
        match self {
            Layer::App => Class::App,
            Layer::Mpiio | Layer::Aio | Layer::Uring => Class::Lib,
            Layer::Sys | Layer::Cache | Layer::Fuse | Layer::Ssys => Class::Os,
            Layer::Pfsc => Class::Client,
            Layer::Net => Class::Net,
            Layer::Pfss => Class::Server,
            Layer::Blk => Class::Queue,
            Layer::Dev => Class::Device,
        }
    }

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Layer::App => "app",
            Layer::Mpiio => "mpiio",
            Layer::Aio => "aio",
            Layer::Uring => "uring",
            Layer::Sys => "sys",
            Layer::Cache => "cache",
            Layer::Fuse => "fuse",
            Layer::Pfsc => "pfsc",
            Layer::Net => "net",
            Layer::Pfss => "pfss",
            Layer::Ssys => "ssys",
            Layer::Blk => "blk",
            Layer::Dev => "dev",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Not the word of a layer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a layer: expected one of app, mpiio, aio, uring, sys, cache, fuse, pfsc, net, pfss, ssys, blk, dev"
)]
pub struct UnknownLayer(String);

impl FromStr for Layer {
    type Err = UnknownLayer;

    fn from_str(word: &str) -> Result<Layer, UnknownLayer> {
        Layer::ALL.into_iter().find(|layer| layer.name() == word).ok_or_else(|| UnknownLayer(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_found_by_its_place_and_by_its_word() {
        for layer in Layer::ALL {
            assert_eq!(Layer::from_order(layer.order()), Some(layer));
            assert_eq!(layer.name().parse(), Ok(layer));
        }
        assert_eq!(Layer::from_order(13), None);
    }
}
