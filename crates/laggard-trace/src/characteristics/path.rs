//! Which layer the time of top requests is spent in: each instant is charged to the deepest layer that has a part
//! of the request. The shares of all layers sum to one. Characteristic 13.

use crate::linking::{Open, Slot};
use crate::model::Layer;

/// What is open of one top request.
#[derive(Clone, Copy, Debug)]
struct Root {
    slot: Slot,
    open: [u16; Layer::COUNT],
    /// A bit for each layer with something open.
    layers: u16,
    since_ns: u64,
}

/// The paths of all top requests.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// By place of the root.
    roots: Vec<Option<Root>>,
    charged_ns: [u64; Layer::COUNT],
}

impl Paths {
    /// A request begins; `is_top` if it is of the top layer itself.
    pub fn begin(&mut self, open: &Open, is_top: bool, now_ns: u64) {
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

    /// A request ends.
    pub fn end(&mut self, open: &Open, now_ns: u64) {
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

    fn step(&mut self, open: &Open, now_ns: u64, change: impl Fn(&mut Root, usize)) {
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

    /// The window begins now; requests begun before are not charged.
    pub fn restart(&mut self) {
        *self = Paths::default();
    }

    /// Nanoseconds charged to each layer.
    pub fn charged_ns(&self) -> [u64; Layer::COUNT] {
        self.charged_ns
    }
}
