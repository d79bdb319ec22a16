//! Creates files in binary formats.

use std::io::Write;

/// A log of Darshan 3.21 with the given compression.
pub(crate) fn darshan(compression: u8, segments: &[Segment]) -> Vec<u8> {
    let mut job = Vec::new();
    for number in [1000i64, 1_619_109_091, 1_619_109_092, 2, 77] {
        job.extend(number.to_le_bytes());
    }
    job.resize(4096, 0);
    let names =
        [&7u64.to_le_bytes()[..], b"/scratch/out.h5\0", &9u64.to_le_bytes()[..], b"/scratch/in\0"].concat();
    let regions = [job, names, module(segments, false), module(segments, true)]
        .map(|region| packed(compression, &region));
    const HEADER: usize = 8 + 8 + 8 + 16 + 16 * 16 + 16 * 4;
    let mut at = HEADER as u64 + regions[0].len() as u64;
    let mut place = |length: usize| {
        at += length as u64;
        [at - length as u64, length as u64]
    };
    let (names, posix, mpiio) = (place(regions[1].len()), place(regions[2].len()), place(regions[3].len()));
    let mut file = b"3.21\0\0\0\0".to_vec();
    file.extend(6_567_223i64.to_le_bytes());
    file.extend([compression, 0, 0, 0, 0, 0, 0, 0]);
    let mut maps = vec![[0u64; 2]; 17];
    (maps[0], maps[10], maps[11]) = (names, posix, mpiio);
    maps.iter().flatten().for_each(|number| file.extend(number.to_le_bytes()));
    (0..16u32).for_each(|module| file.extend(u32::from(module == 9 || module == 10).to_le_bytes()));
    assert_eq!(file.len(), HEADER);
    [file, regions.concat()].concat()
}

#[derive(Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) is_mpiio: bool,
    pub(crate) file: u64,
    pub(crate) rank: i64,
    pub(crate) is_write: bool,
    pub(crate) offset: i64,
    pub(crate) length: i64,
    pub(crate) begin_s: f64,
    pub(crate) end_s: f64,
}

fn module(segments: &[Segment], is_mpiio: bool) -> Vec<u8> {
    let mut module = Vec::new();
    let ours: Vec<&Segment> = segments.iter().filter(|segment| segment.is_mpiio == is_mpiio).collect();
    let mut keys: Vec<(u64, i64)> = ours.iter().map(|segment| (segment.file, segment.rank)).collect();
    keys.dedup();
    for key in keys {
        let of = |is_write: bool| {
            ours.iter().filter(move |s| (s.file, s.rank) == key && s.is_write == is_write).collect::<Vec<_>>()
        };
        let (writes, reads) = (of(true), of(false));
        module.extend(key.0.to_le_bytes());
        module.extend(key.1.to_le_bytes());
        module.extend(0i64.to_le_bytes());
        let mut host = b"node1".to_vec();
        host.resize(64, 0);
        module.extend(host);
        module.extend((writes.len() as i64).to_le_bytes());
        module.extend((reads.len() as i64).to_le_bytes());
        for segment in writes.iter().chain(&reads) {
            module.extend(segment.offset.to_le_bytes());
            module.extend(segment.length.to_le_bytes());
            module.extend(segment.begin_s.to_le_bytes());
            module.extend(segment.end_s.to_le_bytes());
        }
    }
    module
}

/// Two consecutive streams, as two processes write them.
fn packed(compression: u8, region: &[u8]) -> Vec<u8> {
    let (first, second) = region.split_at(region.len() / 2);
    let pack = |part: &[u8]| match compression {
        0 => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(part).unwrap();
            encoder.finish().unwrap()
        }
        1 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
            encoder.write_all(part).unwrap();
            encoder.finish().unwrap()
        }
        _ => part.to_vec(),
    };
    [pack(first), pack(second)].concat()
}

/// A write through MPI-IO that became two system calls, and a read without MPI-IO.
pub(crate) fn darshan_job(compression: u8) -> Vec<u8> {
    let segment = |is_mpiio, file, is_write, offset, length, begin_s, end_s| Segment {
        is_mpiio,
        file,
        rank: 1,
        is_write,
        offset,
        length,
        begin_s,
        end_s,
    };
    darshan(
        compression,
        &[
            segment(true, 7, true, 0, 8192, 0.5, 0.6),
            segment(false, 7, true, 0, 4096, 0.51, 0.55),
            segment(false, 7, true, 4096, 4096, 0.55, 0.59),
            segment(false, 9, false, 100, 50, 0.7, 0.75),
        ],
    )
}

pub(crate) fn blktrace_record(
    is_big: bool,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    carried: &[u8],
) -> Vec<u8> {
    let mut record = Vec::new();
    let mut word =
        |number: u32| record.extend(if is_big { number.to_be_bytes() } else { number.to_le_bytes() });
    let long = |number: u64| [number as u32, (number >> 32) as u32];
    let halves = |first: u16, second: u16| match is_big {
        true => u32::from(first) << 16 | u32::from(second),
        false => u32::from(second) << 16 | u32::from(first),
    };
    word(0x6561_7407);
    word(0);
    for number in [time, sector] {
        let [low, high] = long(number);
        if is_big { [high, low] } else { [low, high] }.into_iter().for_each(&mut word);
    }
    [bytes, action, pid, 7 << 20 | 6, 1].into_iter().for_each(&mut word);
    word(halves(0, carried.len() as u16));
    record.extend(carried);
    record
}

/// A read of fio, from the queue to the device and back.
pub(crate) fn blktrace(is_big: bool) -> Vec<u8> {
    const READ: u32 = 1 << 16;
    const NOTIFY: u32 = 1 << 26;
    [
        blktrace_record(is_big, 0, 0, 0, NOTIFY, 42, b"fio\0"),
        blktrace_record(is_big, 1_000, 64, 4096, READ | 1, 42, b""),
        blktrace_record(is_big, 2_000, 64, 4096, READ | 7, 42, b""),
        blktrace_record(is_big, 9_000, 64, 4096, READ | 8, 0, b""),
    ]
    .concat()
}
