//! Network namespaces, so that a recorder can see the interfaces and connections of another namespace.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Named namespaces of ip(8).
const NAMED: &str = "/run/netns";

#[derive(Debug, thiserror::Error)]
pub enum NetnsError {
    #[error("network namespace {path}: {error}; `ip netns list` shows the existing ones")]
    Open { path: PathBuf, error: io::Error },
    #[error("network namespace {path}: cannot enter it: {error}{hint}")]
    Enter { path: PathBuf, error: io::Error, hint: &'static str },
}

/// A path is used as it is; a name is one of ip(8).
pub(super) fn path(name: &str) -> PathBuf {
    if name.contains('/') { PathBuf::from(name) } else { Path::new(NAMED).join(name) }
}

/// Moves only the calling thread into a network namespace. Sockets and `/proc/thread-self/net` files that it opens
/// afterwards belong to that namespace, even when used by another thread.
pub(super) fn enter(name: &str) -> Result<(), NetnsError> {
    let path = path(name);
    let file = File::open(&path).map_err(|error| NetnsError::Open { path: path.clone(), error })?;
    let entered = move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network));
    entered.map_err(|errno| NetnsError::Enter { path, error: errno.into(), hint: hint(errno) })
}

fn hint(errno: Errno) -> &'static str {
    match errno {
        Errno::PERM => "; run as root, or with CAP_SYS_ADMIN",
        Errno::INVAL => "; it is not a network namespace",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_looked_up_where_ip_keeps_them() {
        assert_eq!(path("oss3"), Path::new("/run/netns/oss3"));
        assert_eq!(path("/proc/1/ns/net"), Path::new("/proc/1/ns/net"));
    }

    #[test]
    fn a_missing_namespace_is_reported_with_its_path() {
        let error = enter("no-such-namespace").unwrap_err().to_string();
        assert!(error.starts_with("network namespace /run/netns/no-such-namespace: "), "{error}");
    }

    #[test]
    fn a_file_that_is_not_a_namespace_is_refused() {
        assert!(matches!(enter("/dev/null"), Err(NetnsError::Enter { .. })));
    }
}
