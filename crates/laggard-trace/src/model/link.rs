//! Which request of one layer caused which of the next, and how sure that is.

use super::event::RequestId;

/// Why a request is believed to be for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LinkRule {
    /// There is no link.
    #[default]
    None,
    /// It is the same request, seen one layer on (blk to dev).
    Same,
    /// It began on the thread of the parent while that was open.
    Thread,
    /// Same process, descriptor, offset and size.
    Descriptor,
    /// Same operation, offset and size, and no other request had them.
    Range,
    /// The same, the first of several that had them.
    RangeFifo,
    /// Its bytes overlap the parent's.
    Overlap,
    /// Order per connection, and size.
    Order,
    /// Another device's bytes, by a remapping event.
    Remap,
    /// The process id of the record.
    Process,
    /// By which bytes of which file a block belongs to.
    Extent,
    /// It lies within the parent in time, on the same rank or thread and file.
    Nesting,
    /// Another rank's, by bytes and time.
    Collective,
}

impl LinkRule {
    /// All rules.
    pub const ALL: [LinkRule; 13] = [
        LinkRule::None,
        LinkRule::Same,
        LinkRule::Thread,
        LinkRule::Descriptor,
        LinkRule::Range,
        LinkRule::RangeFifo,
        LinkRule::Overlap,
        LinkRule::Order,
        LinkRule::Remap,
        LinkRule::Process,
        LinkRule::Extent,
        LinkRule::Nesting,
        LinkRule::Collective,
    ];

    /// Its number in a file.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The rule with a number.
    pub fn from_code(code: u8) -> Option<LinkRule> {
        LinkRule::ALL.get(usize::from(code)).copied()
    }

    /// How sure such a link is, in percent.
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

/// A further parent of a request, next to the one its `Admit` tells: merges have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// In the layer above.
    pub parent: RequestId,
    /// In the layer below.
    pub child: RequestId,
    /// How many bytes of the child are for this parent.
    pub bytes: u64,
    /// Why.
    pub rule: LinkRule,
    /// How sure, in percent.
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
