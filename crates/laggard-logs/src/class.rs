//! The classes of messages: those of the paper, those beyond, and customised ones.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::errno;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// `a` to `k`, as in Table 7 of the PFault paper.
    Letter(char),
    /// An error number that the paper does not list.
    Beyond(u8),
    /// A customised message, by its template: `y`.
    Custom(Arc<str>),
}

/// Letter, error number, and whether the letter stands for its customised form (Table 7).
pub const LETTERS: [(char, u8, bool); 11] = [
    ('a', 2, false),
    ('b', 5, false),
    ('c', 11, false),
    ('d', 16, false),
    ('e', 30, false),
    ('f', 107, false),
    ('g', 110, false),
    ('h', 2, true),
    ('i', 30, true),
    ('j', 101, true),
    ('k', 110, true),
];

impl Class {
    /// The class of an error number that was logged as such.
    pub fn of(errno: u8) -> Class {
        let letter = LETTERS.iter().find(|(_, number, is_custom)| *number == errno && !is_custom);
        letter.map_or(Class::Beyond(errno), |(letter, ..)| Class::Letter(*letter))
    }

    pub fn errno(&self) -> Option<u8> {
        match self {
            Class::Letter(letter) => LETTERS.iter().find(|row| row.0 == *letter).map(|row| row.1),
            Class::Beyond(errno) => Some(*errno),
            Class::Custom(_) => None,
        }
    }

    /// `ENOENT`, or `y` for a customised message.
    pub fn name(&self) -> &'static str {
        self.errno().map_or("y", errno::name)
    }

    pub fn template(&self) -> Option<&str> {
        match self {
            Class::Custom(template) => Some(template),
            _ => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Letter(letter) => write!(f, "{letter}"),
            _ => f.write_str(self.name()),
        }
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
