//! Network namespaces: a recorder can see another one's interfaces and connections than its own.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Where ip(8) keeps the namespaces it names.
const NAMED: &str = "/run/netns";

/// Why a network namespace could not be entered.
#[derive(Debug, thiserror::Error)]
pub enum NetnsError {
    /// There is none.
    #[error("network namespace {path}: {error}; `ip netns list` names those there are")]
    Open {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The kernel did not let us in.
    #[error("network namespace {path}: cannot enter it: {error}{hint}")]
    Enter {
        /// Where it is.
        path: PathBuf,
        /// What the kernel said.
        error: io::Error,
        /// What to do.
        hint: &'static str,
    },
}

/// The file of a namespace: a path stands for itself, a name for what ip(8) called so.
pub fn path(name: &str) -> PathBuf {
    if name.contains('/') { PathBuf::from(name) } else { Path::new(NAMED).join(name) }
}

/// Moves the calling thread, and no other, into a network namespace. Sockets and `/proc/thread-self/net` files
/// that it opens from then on belong to that namespace, and still do after they go to another thread.
pub fn enter(name: &str) -> Result<(), NetnsError> {
    let path = path(name);
    let file = File::open(&path).map_err(|error| NetnsError::Open { path: path.clone(), error })?;
    let entered = move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network));
    entered.map_err(|errno| NetnsError::Enter { path, error: errno.into(), hint: hint(errno) })
}

fn hint(errno: Errno) -> &'static str {
    match errno {
        Errno::PERM => "; run as root, or with CAP_SYS_ADMIN",
        Errno::INVAL => "; it is no network namespace",
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
    fn a_namespace_that_is_not_there_says_where_it_was_looked_for() {
        let error = enter("no-such-namespace").unwrap_err().to_string();
        assert!(error.starts_with("network namespace /run/netns/no-such-namespace: "), "{error}");
    }

    #[test]
    fn a_file_that_is_no_namespace_is_refused() {
        assert!(matches!(enter("/dev/null"), Err(NetnsError::Enter { .. })));
    }
}
