//! Controls a running disk: a line of JSON each way, over a socket.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fault::DiskFault;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Order {
    Status,
    /// Replaces the fault.
    SetFault(DiskFault),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskStatus {
    pub fault: DiskFault,
    pub reads: u64,
    pub writes: u64,
    /// Requests answered with an error.
    pub errors: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("{socket}: {error}")]
    Connection { socket: String, error: io::Error },
    #[error("{socket}: unexpected answer {answer:?}")]
    Answer { socket: String, answer: String },
}

/// A disk answers immediately, or not at all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends an order to a disk; returns its status afterwards.
pub(crate) fn ask(socket: &Path, order: &Order) -> Result<DiskStatus, ControlError> {
    let name = || socket.display().to_string();
    let line = exchange(socket, order).map_err(|error| ControlError::Connection { socket: name(), error })?;
    serde_json::from_str(&line).map_err(|_| ControlError::Answer { socket: name(), answer: line })
}

fn exchange(socket: &Path, order: &Order) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut line = serde_json::to_string(order)?;
    line.push('\n');
    stream.write_all(line.as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(answer.trim_end().to_owned())
}

/// Answers orders, one connection after the other, until the socket fails. An invalid order is answered with an error.
pub(super) fn attend(listener: &UnixListener, mut obey: impl FnMut(Order) -> DiskStatus) -> io::Result<()> {
    for stream in listener.incoming() {
        // A client may disconnect early.
        let _ = answer(stream?, &mut obey);
    }
    Ok(())
}

fn answer(mut stream: UnixStream, obey: &mut impl FnMut(Order) -> DiskStatus) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.try_clone()?).read_line(&mut line)?;
    let mut answer = match serde_json::from_str(&line) {
        Ok(order) => serde_json::to_string(&obey(order))?,
        Err(error) => error.to_string(),
    };
    answer.push('\n');
    stream.write_all(answer.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reaches_the_disk_and_an_invalid_one_is_answered_with_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            attend(&listener, |order| match order {
                Order::Status => DiskStatus::default(),
                Order::SetFault(fault) => DiskStatus { fault, ..DiskStatus::default() },
            })
        });
        let busy = DiskFault { neighbour: 0.5, ..DiskFault::default() };
        assert_eq!(ask(&socket, &Order::SetFault(busy.clone())).unwrap().fault, busy);
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(b"{\"burn\":1}\n").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        assert!(answer.contains("unknown variant"), "{answer}");
        assert_eq!(ask(&socket, &Order::Status).unwrap(), DiskStatus::default());
    }

    #[test]
    fn the_error_of_a_missing_disk_names_the_socket() {
        let error = ask(Path::new("/nowhere/at/all"), &Order::Status).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/at/all: "));
    }
}
