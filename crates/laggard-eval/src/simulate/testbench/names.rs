//! Names of the hosts, disks, interfaces and addresses of the test bench.

/// The disk that serves the file system.
pub(super) const DEVICE: &str = "sdb";
/// The interface.
pub(super) const INTERFACE: &str = "eth0";
/// A host that is neither server nor client.
pub(super) const OUTSIDER_ADDRESS: &str = "198.18.2.1";

/// `oss1`, and so on.
pub(super) fn server(number: usize) -> String {
    format!("oss{}", number + 1)
}

/// `client1`, and so on.
pub(super) fn client(number: usize) -> String {
    format!("client{}", number + 1)
}

/// In the range for benchmarks.
pub(super) fn server_address(number: usize) -> String {
    format!("198.18.0.{}", number + 1)
}

/// In the range for benchmarks.
pub(super) fn client_address(number: usize) -> String {
    format!("198.18.1.{}", number + 1)
}
