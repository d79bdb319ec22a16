//! What happens to requests from one layer to the next: how many come of one, how large, how early they are
//! acknowledged, in which order. Characteristics 15 to 18 and 25.

use serde::Serialize;

use crate::linking::{Link, Open};
use crate::model::{Kind, Layer, LinkRule, Op};

/// Edges from the requests of one layer to those of another.
#[derive(Clone, Debug)]
pub struct Boundary {
    edges: u64,
    parents: u64,
    children: u64,
    parent_bytes: u64,
    child_bytes: u64,
    most_children: u32,
    writes_ended: u64,
    writes_early: u64,
    last_admit_ns: u64,
    inversions: u64,
    meta: u64,
    confidence: u64,
    rules: [u64; LinkRule::ALL.len()],
}

impl Default for Boundary {
    fn default() -> Boundary {
        Boundary {
            edges: 0,
            parents: 0,
            children: 0,
            parent_bytes: 0,
            child_bytes: 0,
            most_children: 0,
            writes_ended: 0,
            writes_early: 0,
            last_admit_ns: 0,
            inversions: 0,
            meta: 0,
            confidence: 0,
            rules: [0; LinkRule::ALL.len()],
        }
    }
}

/// What is told of a boundary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundaryFigures {
    /// The layer above.
    pub upper: Layer,
    /// The layer below.
    pub lower: Layer,
    /// Links between data requests.
    pub links: u64,
    /// How sure they are in the mean, from 0 to 1.
    pub link_confidence: f64,
    /// Concurrency collapse: busy concurrency below over that above.
    pub concurrency_ratio: Option<f64>,
    /// Children of a request that has some.
    pub split: f64,
    /// The most children of one request.
    pub max_split: u32,
    /// Parents of a request that has some.
    pub merge: f64,
    /// Mean size below over mean size above.
    pub size_ratio: f64,
    /// Bytes below over bytes above, of requests that are linked.
    pub byte_amplification: f64,
    /// The share of linked writes that were acknowledged above before the layer below had them.
    pub early_ack_share: Option<f64>,
    /// Metadata requests that a data request of the layer above caused.
    pub metadata_children: u64,
    /// Neighbours below whose parents came in the other order, by pairs of neighbours.
    pub inversion_share: f64,
    /// Links by rule.
    pub rules: Vec<(String, u64)>,
}

impl Boundary {
    /// A request turns out to be for another.
    pub fn linked(&mut self, child: &Open, link: &Link) {
        if !link.parent_op.is_data() {
            return;
        }
        if !child.request.op.is_data() {
            self.meta += u64::from(matches!(child.request.op, Op::Meta(_)));
            return;
        }
        self.edges += 1;
        self.child_bytes = self.child_bytes.saturating_add(link.bytes);
        self.confidence += u64::from(link.rule.confidence());
        self.rules[link.rule as usize] += 1;
        self.most_children = self.most_children.max(link.parent_children);
        if link.is_parents_first {
            self.parents += 1;
            self.parent_bytes = self.parent_bytes.saturating_add(link.parent_bytes);
        }
        if link.is_childs_first {
            self.children += 1;
            self.inversions += u64::from(link.parent_admit_ns < self.last_admit_ns);
            self.last_admit_ns = link.parent_admit_ns;
        }
    }

    /// The size of a parent that was not known when its children began.
    pub fn parent_sized(&mut self, nbytes: u64) {
        self.parent_bytes = self.parent_bytes.saturating_add(nbytes);
    }

    /// A child ended; with its parent's end if that came before.
    pub fn ended(&mut self, child: &Open, parent_callback_ns: Option<u64>) {
        let request = &child.request;
        if request.op != Op::Write {
            return;
        }
        let Some(done_ns) = request.at(Kind::Complt).or(request.at(Kind::Callback)) else { return };
        self.writes_ended += 1;
        self.writes_early += u64::from(parent_callback_ns.is_some_and(|callback_ns| callback_ns < done_ns));
    }

    /// What is told of it.
    pub fn figures(&self, upper: Layer, lower: Layer) -> BoundaryFigures {
        let of = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let amplification = of(self.child_bytes, self.parent_bytes);
        let split = of(self.edges, self.parents);
        let rules = LinkRule::ALL.iter().zip(self.rules).filter(|(_, count)| *count > 0);
        BoundaryFigures {
            upper,
            lower,
            links: self.edges,
            link_confidence: of(self.confidence, self.edges) / 100.0,
            concurrency_ratio: None,
            split,
            max_split: self.most_children,
            merge: of(self.edges, self.children),
            size_ratio: if split > 0.0 { amplification / split * of(self.edges, self.children) } else { 0.0 },
            byte_amplification: amplification,
            early_ack_share: (self.writes_ended > 0).then(|| of(self.writes_early, self.writes_ended)),
            metadata_children: self.meta,
            inversion_share: of(self.inversions, self.children.saturating_sub(1)),
            rules: rules.map(|(rule, count)| (format!("{rule:?}").to_lowercase(), count)).collect(),
        }
    }
}
