//! The layers of an I/O stack, from the application down to the device.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

named_enum! {
    /// A layer; ordered from top to bottom.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[repr(u8)]
    pub enum Layer {
        /// Calls of the application itself.
        App "app",
        /// The MPI-IO library.
        Mpiio "mpiio",
        /// POSIX asynchronous I/O of the C library.
        Aio "aio",
        /// io_uring, as the application sees it.
        Uring "uring",
        /// System calls of the application.
        Sys "sys",
        /// The page cache.
        Cache "cache",
        /// Requests of the kernel to a file system in user space.
        Fuse "fuse",
        /// The client of a parallel file system.
        Pfsc "pfsc",
        /// Between client and server.
        Net "net",
        /// The server of a parallel file system.
        Pfss "pfss",
        /// System calls of that server.
        Ssys "ssys",
        /// The queue of a block device.
        Blk "blk",
        /// The block device itself.
        Dev "dev",
    }
}

/// Kind of layer; decides which reference values apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    App,
    Lib,
    Os,
    Client,
    Net,
    Server,
    Queue,
    Device,
}

impl Layer {
    pub const COUNT: usize = Layer::ALL.len();

    /// Counted from 0 at the top.
    pub const fn order(self) -> u8 {
        self as u8
    }

    pub fn from_order(order: u8) -> Option<Layer> {
        Layer::ALL.get(usize::from(order)).copied()
    }

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
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a layer: expected one of {names}", names = Layer::ALL.map(Layer::name).join(", "))]
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
    fn a_layer_is_found_by_its_order_and_by_its_name() {
        for layer in Layer::ALL {
            assert_eq!(Layer::from_order(layer.order()), Some(layer));
            assert_eq!(layer.name().parse(), Ok(layer));
        }
        assert_eq!(Layer::from_order(13), None);
    }
}
