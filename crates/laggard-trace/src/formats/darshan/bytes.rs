//! Numbers in the byte order of the host that wrote the log.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub(super) fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self == Order::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    pub(super) fn long(self, bytes: &[u8], at: usize) -> Option<u64> {
        let bytes = bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
        Some(if self == Order::Little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    pub(super) fn float(self, bytes: &[u8], at: usize) -> Option<f64> {
        self.long(bytes, at).map(f64::from_bits)
    }
}
