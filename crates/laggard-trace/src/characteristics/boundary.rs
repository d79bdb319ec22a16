//! The transition of requests from one layer to the next: split, merge, size, early acknowledgement and order.
//! Characteristics 15 to 18 and 25.

use serde::Serialize;

use crate::linking::{Link, OpenRequest};
use crate::model::{Kind, Layer, LinkRule, Op};

/// Links from the requests of one layer to those of another.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundaryCollector {
    links: u64,
    parents: u64,
    children: u64,
    parent_bytes: u64,
    child_bytes: u64,
    max_children: u32,
    writes_ended: u64,
    writes_early: u64,
    last_admit_ns: u64,
    inversions: u64,
    metadata: u64,
    confidence: u64,
    rules: [u64; LinkRule::ALL.len()],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundaryMetrics {
    pub upper: Layer,
    pub lower: Layer,
    /// Between data requests.
    pub links: u64,
    /// The mean, from 0 to 1.
    pub link_confidence: f64,
    /// Busy concurrency below divided by that above.
    pub concurrency_ratio: Option<f64>,
    /// Children of a request that has some.
    pub split: f64,
    pub max_split: u32,
    /// Parents of a request that has some.
    pub merge: f64,
    /// Mean size below divided by mean size above.
    pub size_ratio: f64,
    /// Bytes below divided by bytes above, of linked requests.
    pub byte_amplification: f64,
    /// The share of linked writes that were acknowledged above before the layer below had them.
    pub early_ack_share: Option<f64>,
    /// Metadata requests caused by data requests of the layer above.
    pub metadata_children: u64,
    /// The share of neighbours below whose parents came in the other order.
    pub inversion_share: f64,
    /// Links by rule.
    pub rules: Vec<(String, u64)>,
}

impl BoundaryCollector {
    pub(super) fn linked(&mut self, child: &OpenRequest, link: &Link) {
        if !link.parent_op.is_data() {
            return;
        }
        if !child.request.op.is_data() {
            self.metadata += u64::from(matches!(child.request.op, Op::Meta(_)));
            return;
        }
        self.links += 1;
        self.child_bytes = self.child_bytes.saturating_add(link.bytes);
        self.confidence += u64::from(link.rule.confidence());
        self.rules[link.rule as usize] += 1;
        self.max_children = self.max_children.max(link.parent_children);
        if link.is_parents_first {
            self.parents += 1;
            self.add_parent_bytes(link.parent_bytes);
        }
        if link.is_childs_first {
            self.children += 1;
            self.inversions += u64::from(link.parent_admit_ns < self.last_admit_ns);
            self.last_admit_ns = link.parent_admit_ns;
        }
    }

    /// Also called when a parent ends whose size was unknown when its children began.
    pub(super) fn add_parent_bytes(&mut self, nbytes: u64) {
        self.parent_bytes = self.parent_bytes.saturating_add(nbytes);
    }

    /// A child ended; `parent_callback_ns` is set if its parent ended before.
    pub(super) fn ended(&mut self, child: &OpenRequest, parent_callback_ns: Option<u64>) {
        let request = &child.request;
        if request.op != Op::Write {
            return;
        }
        let Some(done_ns) = request.at(Kind::Complt).or(request.at(Kind::Callback)) else { return };
        self.writes_ended += 1;
        self.writes_early += u64::from(parent_callback_ns.is_some_and(|callback_ns| callback_ns < done_ns));
    }

    pub(super) fn metrics(&self, upper: Layer, lower: Layer) -> BoundaryMetrics {
        let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let amplification = ratio(self.child_bytes, self.parent_bytes);
        let (split, merge) = (ratio(self.links, self.parents), ratio(self.links, self.children));
        let rules = LinkRule::ALL.iter().zip(self.rules).filter(|(_, count)| *count > 0);
        BoundaryMetrics {
            upper,
            lower,
            links: self.links,
            link_confidence: ratio(self.confidence, self.links) / 100.0,
            concurrency_ratio: None,
            split,
            max_split: self.max_children,
            merge,
            size_ratio: if split > 0.0 { amplification / split * merge } else { 0.0 },
            byte_amplification: amplification,
            early_ack_share: (self.writes_ended > 0).then(|| ratio(self.writes_early, self.writes_ended)),
            metadata_children: self.metadata,
            inversion_share: ratio(self.inversions, self.children.saturating_sub(1)),
            rules: rules.map(|(rule, count)| (format!("{rule:?}").to_lowercase(), count)).collect(),
        }
    }
}
