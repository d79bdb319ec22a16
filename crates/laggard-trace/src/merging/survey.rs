//! What a trace has of requests that another host may have seen too.

use std::collections::HashMap;
use std::io::Read;

use crate::hashing::WordMap;
use crate::ltr::Reader;
use crate::model::{Event, Kind, Layer, Op, Record, RequestId};

/// What a request asks for: the same on both ends of a connection.
pub(super) type Asked = (Op, i64, u64);
/// When it began and ended.
pub(super) type Times = (u64, u64);

/// A few thousand pairs tell the offset as well as millions.
const MOST_KEPT: usize = 1 << 16;

/// Requests with a place, by what they ask for, in the order of time.
#[derive(Debug, Default)]
pub struct Survey {
    pub(super) client: HashMap<Asked, Vec<Times>>,
    pub(super) server: HashMap<Asked, Vec<Times>>,
    pub(super) boot_id: String,
    layers: [usize; Layer::COUNT],
}

/// Reads a trace through.
pub fn survey<R: Read>(reader: &mut Reader<R>) -> Survey {
    let boot_id = reader.header().hosts.first().map(|host| host.boot_id.clone()).unwrap_or_default();
    let mut survey = Survey { boot_id, ..Survey::default() };
    let mut open: WordMap<u64, (Asked, u64)> = WordMap::default();
    let mut by_layer: HashMap<(Layer, Asked), Vec<Times>> = HashMap::new();
    for record in reader.by_ref() {
        let Record::Event(event) = record else { continue };
        match event.kind {
            Kind::Admit if is_wanted(&event) && open.len() < MOST_KEPT => {
                open.insert(event.req.0, ((event.op, event.offset, event.nbytes), event.ts_ns));
            }
            Kind::Callback => {
                let Some((asked, begin)) = take(&mut open, event.req) else { continue };
                let kept = &mut survey.layers[usize::from(event.layer.order())];
                if *kept < MOST_KEPT && begin <= event.ts_ns {
                    *kept += 1;
                    by_layer.entry((event.layer, asked)).or_default().push((begin, event.ts_ns));
                }
            }
            _ => {}
        }
    }
    survey.sort_out(by_layer);
    survey
}

fn take(open: &mut WordMap<u64, (Asked, u64)>, req: RequestId) -> Option<(Asked, u64)> {
    open.remove(&req.0)
}

/// Whether another host may have seen it, and it has a place to be known by.
fn is_wanted(event: &Event) -> bool {
    let is_telling =
        matches!(event.layer, Layer::Sys | Layer::Fuse | Layer::Pfsc | Layer::Pfss | Layer::Ssys);
    is_telling && event.op.is_data() && event.offset >= 0
}

impl Survey {
    /// The layers next to the network tell most.
    fn sort_out(&mut self, by_layer: HashMap<(Layer, Asked), Vec<Times>>) {
        let has = |layer: &Layer| self.layers[usize::from(layer.order())] > 0;
        let client = [Layer::Pfsc, Layer::Fuse, Layer::Sys].into_iter().find(has);
        let server = [Layer::Pfss, Layer::Ssys].into_iter().find(has);
        for ((layer, asked), times) in by_layer {
            match Some(layer) {
                layer if layer == client => _ = self.client.insert(asked, times),
                layer if layer == server => _ = self.server.insert(asked, times),
                _ => {}
            }
        }
    }
}
