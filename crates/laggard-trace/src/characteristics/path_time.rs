//! The layer in which the time of top requests is spent: each instant is charged to the deepest layer that has a part
//! of the request open. The shares of all layers sum to one. Characteristic 13.

use crate::linking::{OpenRequest, Slot};
use crate::model::Layer;

/// The open requests below one top request.
#[derive(Clone, Copy, Debug)]
struct Root {
    slot: Slot,
    open: [u16; Layer::COUNT],
    /// One bit per layer with an open request.
    layers: u16,
    since_ns: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PathTimeCollector {
    /// By place of the root's slot.
    roots: Vec<Option<Root>>,
    charged_ns: [u64; Layer::COUNT],
}

impl PathTimeCollector {
    pub(super) fn begin(&mut self, open: &OpenRequest, is_top: bool, now_ns: u64) {
        if is_top && open.root == open.slot {
            let place = open.slot.place as usize;
            if place >= self.roots.len() {
                self.roots.resize(place + 1, None);
            }
            let (open_by_layer, slot) = ([0; Layer::COUNT], open.slot);
            self.roots[place] = Some(Root { slot, open: open_by_layer, layers: 0, since_ns: now_ns });
        }
        self.step(open, now_ns, |root, layer| {
            root.open[layer] = root.open[layer].saturating_add(1);
            root.layers |= 1 << layer;
        });
    }

    pub(super) fn end(&mut self, open: &OpenRequest, now_ns: u64) {
        self.step(open, now_ns, |root, layer| {
            root.open[layer] = root.open[layer].saturating_sub(1);
            if root.open[layer] == 0 {
                root.layers &= !(1 << layer);
            }
        });
        if open.root == open.slot
            && let Some(root) = self.roots.get_mut(open.slot.place as usize)
        {
            *root = None;
        }
    }

    fn step(&mut self, open: &OpenRequest, now_ns: u64, change: impl Fn(&mut Root, usize)) {
        let Some(Some(root)) = self.roots.get_mut(open.root.place as usize) else { return };
        if root.slot != open.root {
            return;
        }
        if root.layers != 0 {
            let deepest = root.layers.ilog2() as usize;
            self.charged_ns[deepest] += now_ns.saturating_sub(root.since_ns);
        }
        root.since_ns = root.since_ns.max(now_ns);
        change(root, open.request.layer as usize);
    }

    /// The window begins now; requests that began before are not charged.
    pub(super) fn restart(&mut self) {
        *self = PathTimeCollector::default();
    }

    pub(super) fn charged_ns(&self) -> [u64; Layer::COUNT] {
        self.charged_ns
    }
}
