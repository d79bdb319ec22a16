//! The addresses of the live host.
//! In: `fib_trie` and `if_inet6` of a network namespace. Out: addresses that other hosts may connect to.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// `net` is a folder such as `/proc/thread-self/net`. None if it cannot be read; a host without IPv6 has no `if_inet6`.
pub(super) fn addresses(net: &Path) -> Option<BTreeSet<IpAddr>> {
    let trie = std::fs::read_to_string(net.join("fib_trie")).ok()?;
    let list = std::fs::read_to_string(net.join("if_inet6")).unwrap_or_default();
    Some(of_trie(&trie).map(IpAddr::from).chain(of_list(&list).map(IpAddr::from)).collect())
}

/// Each address is on a line of its own; the next line is its entry: `/32 host LOCAL`.
fn of_trie(text: &str) -> impl Iterator<Item = Ipv4Addr> {
    text.lines().zip(text.lines().skip(1)).filter_map(|(line, entry)| {
        let is_local = entry.trim() == "/32 host LOCAL";
        let address: Ipv4Addr = line.trim().strip_prefix("|-- ")?.parse().ok()?;
        (is_local && !address.is_loopback() && !address.is_link_local()).then_some(address)
    })
}

/// The first word of a line is an address in 32 hexadecimal digits, the fourth its scope.
fn of_list(text: &str) -> impl Iterator<Item = Ipv6Addr> {
    const GLOBAL_SCOPE: &str = "00";
    text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let bits = u128::from_str_radix(words.first()?, 16).ok()?;
        (*words.get(3)? == GLOBAL_SCOPE).then(|| Ipv6Addr::from_bits(bits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIE: &str = "Main:
  +-- 0.0.0.0/0 3 0 5
     +-- 127.0.0.0/8 2 0 2
           |-- 127.0.0.1
              /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
        +-- 198.18.1.0/30 2 0 2
           |-- 198.18.1.0
              /24 link UNICAST
           |-- 198.18.1.2
              /32 host LOCAL
Local:
           |-- 198.18.1.2
              /32 host LOCAL
";

    const LIST: &str = "00000000000000000000000000000001 01 80 10 80       lo
fd000000000000000000000000000002 04 40 00 82     eth0
fe8000000000000000fc00fffe000001 04 40 20 80     eth0
";

    #[test]
    fn addresses_of_other_hosts_and_of_the_host_itself_are_left_out() {
        assert_eq!(of_trie(TRIE).collect::<BTreeSet<_>>(), [Ipv4Addr::new(198, 18, 1, 2)].into());
        assert_eq!(of_list(LIST).collect::<Vec<_>>(), ["fd00::2".parse::<Ipv6Addr>().unwrap()]);
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(addresses(folder.path()), None);
        std::fs::write(folder.path().join("fib_trie"), TRIE).unwrap();
        assert_eq!(addresses(folder.path()), Some([IpAddr::from([198, 18, 1, 2])].into()));
    }

    #[test]
    fn a_broken_file_has_no_addresses() {
        assert_eq!(of_trie("|-- 1.2.3\n /32 host LOCAL\n|-- 1.2.3.4").count(), 0);
        assert_eq!(of_list("zz 04 40 00\nfd00\n\n").count(), 0);
    }
}
