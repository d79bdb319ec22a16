//! A block of addresses, such as `198.18.0.0/15`.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address: write it like 198.18.0.7, 198.18.0.0/15 or 2001:db8::/32")]
pub struct PrefixError(String);

impl Prefix {
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(mine), IpAddr::V4(other)) => {
                same_bits(mine.to_bits().into(), other.to_bits().into(), 32, self.length)
            }
            (IpAddr::V6(mine), IpAddr::V6(other)) => {
                same_bits(mine.to_bits(), other.to_bits(), Ipv6Addr::BITS, self.length)
            }
            _ => false,
        }
    }
}

fn same_bits(a: u128, b: u128, width: u32, length: u8) -> bool {
    let ignored = width - u32::from(length);
    (a ^ b).checked_shr(ignored).unwrap_or(0) == 0
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        let wrong = || PrefixError(text.into());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length.parse::<u8>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let length = length.unwrap_or(width);
        if length > width {
            return Err(wrong());
        }
        Ok(Prefix { address, length })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_the_addresses_that_begin_like_them() {
        for (block, inside, outside) in [
            ("198.18.0.0/15", "198.19.255.255", "198.20.0.0"),
            ("198.18.0.7", "198.18.0.7", "198.18.0.8"),
            ("2001:db8::/32", "2001:db8:1::1", "2001:db9::1"),
            ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("::/0", "2001:db8::1", "198.18.0.7"),
        ] {
            let prefix: Prefix = block.parse().unwrap();
            assert!(prefix.contains(inside.parse().unwrap()), "{block} {inside}");
            assert!(!prefix.contains(outside.parse().unwrap()), "{block} {outside}");
        }
    }

    #[test]
    fn a_malformed_block_is_refused_with_an_example() {
        for wrong in ["", "oss3", "198.18.0.0/33", "::/129", "198.18.0.0/x"] {
            assert!(wrong.parse::<Prefix>().unwrap_err().to_string().contains("write it like"), "{wrong}");
        }
    }
}
