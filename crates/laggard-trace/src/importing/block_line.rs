//! A block event as a line of a temporary file, for sorting more events than memory holds.

use super::sorting::Timed;
use crate::tracepoints::{BlockFields, BlockStep, Comm, Device, Payload, Rwbs, Tracepoint};

type Line = (u64, u16, u32, Vec<u8>, usize, [u32; 4], [u64; 2], [u32; 2], Vec<u8>, i32);

impl Timed for Tracepoint {
    fn ts_ns(&self) -> u64 {
        self.ts_ns
    }

    fn write(&self, to: &mut Vec<u8>) {
        let Payload::Block(step, fields) = &self.payload else { return };
        let (from, to_device) = (fields.other_device, fields.device);
        let line: Line = (
            self.ts_ns,
            self.cpu,
            self.tid,
            self.comm.as_bytes().to_vec(),
            *step as usize,
            [to_device.major, to_device.minor, from.major, from.minor],
            [fields.sector, fields.other_sector],
            [fields.sectors, fields.bytes],
            fields.rwbs.letters().to_vec(),
            fields.error,
        );
        // Numbers and lists of numbers can always be serialised.
        if serde_json::to_writer(&mut *to, &line).is_ok() {
            to.push(b'\n');
        }
    }

    fn read(line: &[u8]) -> Option<Tracepoint> {
        let (ts_ns, cpu, tid, comm, step, devices, places, sizes, rwbs, error): Line =
            serde_json::from_slice(line).ok()?;
        let fields = BlockFields {
            device: Device { major: devices[0], minor: devices[1] },
            sector: places[0],
            sectors: sizes[0],
            bytes: sizes[1],
            rwbs: Rwbs::new(&rwbs),
            error,
            other_sector: places[1],
            other_device: Device { major: devices[2], minor: devices[3] },
        };
        let payload = Payload::Block(BlockStep::ALL.get(step)?.0, fields);
        Some(Tracepoint { ts_ns, cpu, tid, tgid: None, comm: Comm::new(&comm), payload })
    }
}
