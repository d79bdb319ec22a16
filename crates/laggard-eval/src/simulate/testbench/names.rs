//! Names of the hosts, disks, interfaces and addresses of the test bench.

/// The disk that serves the file system.
pub const DEVICE: &str = "sdb";
/// The interface.
pub const INTERFACE: &str = "eth0";
/// A host that is neither server nor client.
pub const OUTSIDER_ADDRESS: &str = "198.18.2.1";

/// `oss1`, and so on.
pub fn server(number: usize) -> String {
    format!("oss{}", number + 1)
}

/// `client1`, and so on.
pub fn client(number: usize) -> String {
    format!("client{}", number + 1)
}

/// In the range for benchmarks.
pub fn server_address(number: usize) -> String {
    format!("198.18.0.{}", number + 1)
}

/// In the range for benchmarks.
pub fn client_address(number: usize) -> String {
    format!("198.18.1.{}", number + 1)
}
