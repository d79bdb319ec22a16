//! Peer groups, and why some of them were not evaluated.

use crate::model::component::Kind;

/// A peer group in a diagnosis.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub name: String,
    pub kind: Kind,
    pub members: usize,
    /// Nothing: the group was evaluated.
    pub not_evaluated: Option<NotEvaluated>,
}

/// The reason why a group was not evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEvaluated {
    /// The method compares no metric of this kind of component.
    KindNotCompared,
    /// There are samples of what the components contain, and none of the components.
    NoSamplesOfItsOwn,
    TooFewPeers,
    /// No window had enough samples.
    NoWindow,
}
