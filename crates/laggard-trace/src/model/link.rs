//! Links between requests of neighbouring layers, with their confidence.

use super::ids::RequestId;

named_enum! {
    /// The rule by which a request was linked to its parent.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum LinkRule {
        #[default]
        None "none",
        /// The same request in the next layer (blk to dev).
        Same "same",
        /// Began on the parent's thread while the parent was open.
        Thread "thread",
        /// Same process, descriptor, offset and size.
        Descriptor "descriptor",
        /// Same operation, offset and size; unique.
        Range "range",
        /// Same operation, offset and size; the first of several candidates.
        RangeFifo "range-fifo",
        /// Its bytes overlap the parent's.
        Overlap "overlap",
        /// Order within the connection, and size.
        Order "order",
        /// A remap event to another device.
        Remap "remap",
        Process "process",
        /// The extent map of the file.
        Extent "extent",
        /// Within the parent in time, on the same rank or thread and file.
        Nesting "nesting",
        /// Another rank's request, by bytes and time.
        Collective "collective",
    }
}

impl LinkRule {
    pub const fn code(self) -> u8 {
        self as u8
    }

    pub fn from_code(code: u8) -> Option<LinkRule> {
        LinkRule::ALL.get(usize::from(code)).copied()
    }

    /// In percent.
    pub const fn confidence(self) -> u8 {
        match self {
            LinkRule::None => 0,
            LinkRule::Same => 100,
            LinkRule::Thread | LinkRule::Descriptor | LinkRule::Range => 95,
            LinkRule::Remap => 90,
            LinkRule::Process | LinkRule::Nesting => 80,
            LinkRule::Extent | LinkRule::Overlap => 70,
            LinkRule::Order | LinkRule::RangeFifo => 60,
            LinkRule::Collective => 50,
        }
    }
}

/// An additional parent of a request. Merged requests have several; the first is in the `Admit` event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub parent: RequestId,
    pub child: RequestId,
    /// Bytes of the child that belong to this parent.
    pub bytes: u64,
    pub rule: LinkRule,
    /// In percent.
    pub confidence: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_found_by_its_number() {
        for rule in LinkRule::ALL {
            assert_eq!(LinkRule::from_code(rule.code()), Some(rule));
        }
        assert_eq!(LinkRule::from_code(13), None);
    }
}
