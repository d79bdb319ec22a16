//! Recognises file system daemons and kernel threads by name.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Application,
    Server,
    Client,
    /// Server or client: decided by its system calls.
    Daemon,
    /// A kernel thread that writes back asynchronously.
    Kernel,
}

/// Names of tasks; `*` matches any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// In addition to the built-in names.
    pub servers: Vec<String>,
    /// In addition to the built-in names.
    pub clients: Vec<String>,
}

/// Threads of GlusterFS have the same names in clients and servers.
const KNOWN: [(&str, Role); 22] = [
    ("glusterfsd", Role::Server),
    ("glusterfs", Role::Client),
    ("glfs_*", Role::Daemon),
    ("pvfs2-server", Role::Server),
    ("pvfs2-client*", Role::Client),
    ("orangefs-server", Role::Server),
    ("mfschunkserver", Role::Server),
    ("mfsmount", Role::Client),
    ("beegfs-storage*", Role::Server),
    ("ceph-osd", Role::Server),
    ("tp_osd_tp", Role::Server),
    ("bstore_*", Role::Server),
    ("ceph-fuse", Role::Client),
    ("nfsd", Role::Server),
    ("ll_ost*", Role::Server),
    ("kworker/*", Role::Kernel),
    ("jbd2/*", Role::Kernel),
    ("flush-*", Role::Kernel),
    ("kswapd*", Role::Kernel),
    ("xfsaild/*", Role::Kernel),
    ("btrfs-*", Role::Kernel),
    ("md*_raid*", Role::Kernel),
];

impl Roles {
    pub fn of(&self, comm: &str) -> Role {
        if self.servers.iter().any(|pattern| matches(pattern, comm)) {
            return Role::Server;
        }
        if self.clients.iter().any(|pattern| matches(pattern, comm)) {
            return Role::Client;
        }
        KNOWN.iter().find(|(pattern, _)| matches(pattern, comm)).map_or(Role::Application, |&(_, role)| role)
    }
}

fn matches(pattern: &str, comm: &str) -> bool {
    match pattern.split_once('*') {
        // The kernel stores 15 bytes of a name.
        None => comm == pattern || comm.len() == 15 && pattern.starts_with(comm),
        Some((start, end)) => comm.strip_prefix(start).is_some_and(|rest| contains_in_turn(rest, end)),
    }
}

fn contains_in_turn(rest: &str, end: &str) -> bool {
    let mut rest = rest;
    for part in end.split('*').filter(|part| !part.is_empty()) {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemons_are_known_by_name() {
        let roles = Roles { servers: vec!["my-brick*".into()], clients: vec![] };
        assert_eq!(roles.of("glusterfsd"), Role::Server);
        assert_eq!(roles.of("glfs_iotwr00a"), Role::Daemon);
        assert_eq!(roles.of("my-brick-7"), Role::Server);
        assert_eq!(roles.of("md127_raid6"), Role::Kernel);
        assert_eq!(roles.of("mdadm"), Role::Application);
        assert_eq!(roles.of("orangefs-server"), Role::Server);
        assert_eq!(roles.of("fio"), Role::Application);
    }
}
