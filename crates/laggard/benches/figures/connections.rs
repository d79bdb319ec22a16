//! TCP connections with traffic, as load for a recorder.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Connections of this process with itself.
pub(crate) struct Connections {
    pairs: Vec<(TcpStream, TcpStream)>,
}

const MESSAGE_BYTES: usize = 4096;

impl Connections {
    pub(crate) fn open(count: usize) -> std::io::Result<Connections> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let open = |_| Ok((TcpStream::connect(address)?, listener.accept()?.0));
        let pairs = (0..count).map(open).collect::<std::io::Result<Vec<_>>>()?;
        Ok(Connections { pairs })
    }

    /// Sends a message over a random connection.
    pub(crate) fn exercise(&mut self, number: usize) -> std::io::Result<()> {
        let count = self.pairs.len();
        let (near, far) = &mut self.pairs[number % count];
        near.write_all(&[1; MESSAGE_BYTES])?;
        far.read_exact(&mut [0; MESSAGE_BYTES])
    }
}
