//! Requests of a trace that another host may also have recorded.

use std::collections::HashMap;
use std::io::Read;

use crate::hashing::WordMap;
use crate::ltr::Reader;
use crate::model::{Event, Kind, Layer, Op, Record, RequestId};

/// Operation, offset and size: the same on both ends of a connection.
pub(super) type RequestShape = (Op, i64, u64);
/// Begin and end.
pub(super) type Times = (u64, u64);

/// More pairs do not improve the offset.
const MAX_KEPT: usize = 1 << 16;

/// Requests with an offset, ordered by time.
#[derive(Debug, Default)]
pub struct MatchableRequests {
    pub(super) client: HashMap<RequestShape, Vec<Times>>,
    pub(super) server: HashMap<RequestShape, Vec<Times>>,
    pub(super) boot_id: String,
    layers: [usize; Layer::COUNT],
}

/// Reads the whole trace.
pub fn matchable_requests<R: Read>(reader: &mut Reader<R>) -> MatchableRequests {
    let boot_id = reader.header().hosts.first().map(|host| host.boot_id.clone()).unwrap_or_default();
    let mut requests = MatchableRequests { boot_id, ..MatchableRequests::default() };
    let mut open: WordMap<u64, (RequestShape, u64)> = WordMap::default();
    let mut by_layer: HashMap<(Layer, RequestShape), Vec<Times>> = HashMap::new();
    for record in reader.by_ref() {
        let Record::Event(event) = record else { continue };
        match event.kind {
            Kind::Admit if is_wanted(&event) && open.len() < MAX_KEPT => {
                open.insert(event.req.0, ((event.op, event.offset, event.nbytes), event.ts_ns));
            }
            Kind::Callback => {
                let Some((asked, begin)) = take(&mut open, event.req) else { continue };
                let kept = &mut requests.layers[usize::from(event.layer.order())];
                if *kept < MAX_KEPT && begin <= event.ts_ns {
                    *kept += 1;
                    by_layer.entry((event.layer, asked)).or_default().push((begin, event.ts_ns));
                }
            }
            _ => {}
        }
    }
    requests.sort_out(by_layer);
    requests
}

fn take(open: &mut WordMap<u64, (RequestShape, u64)>, req: RequestId) -> Option<(RequestShape, u64)> {
    open.remove(&req.0)
}

/// True if another host may have recorded it, and it has an offset.
fn is_wanted(event: &Event) -> bool {
    let is_telling =
        matches!(event.layer, Layer::Sys | Layer::Fuse | Layer::Pfsc | Layer::Pfss | Layer::Ssys);
    is_telling && event.op.is_data() && event.offset >= 0
}

impl MatchableRequests {
    /// Keeps the layer nearest to the network on each side.
    fn sort_out(&mut self, by_layer: HashMap<(Layer, RequestShape), Vec<Times>>) {
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
