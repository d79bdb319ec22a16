use proptest::prelude::*;

use super::*;
use crate::model::{
    CommId, Counters, Edge, Event, Flags, Footer, Header, Host, HostId, Kind, Layer, LinkRule, MetaOp,
    Object, ObjectId, Op, Record, RequestId, Source,
};

fn header() -> Header {
    let host = Host { name: "oss1".into(), clock: "mono".into(), offset_ns: -7, ..Host::default() };
    let source = Source { tool: "ftrace".into(), resolution_ns: 1000, ..Source::default() };
    Header { version: VERSION, hosts: vec![host], sources: vec![source], ..Header::default() }
}

fn footer() -> Footer {
    Footer { sources: vec![Counters { read: 9, lost: 2, ..Counters::default() }], ..Footer::default() }
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish(footer()).unwrap()
}

fn any_event() -> impl Strategy<Value = Event> {
    let numbers = (any::<u64>(), any::<u64>(), any::<u64>(), any::<i64>(), any::<u64>());
    let smaller = (any::<u32>(), any::<i32>(), any::<u32>(), any::<u32>(), any::<i32>(), any::<u32>());
    let codes = (any::<u16>(), any::<u16>(), 0..13u8, 0..5u8, 0..5u8, 0..13u8);
    (numbers, smaller, codes).prop_map(|((ts_ns, req, parent, offset, nbytes), s, c)| Event {
        ts_ns,
        req: RequestId(req),
        parent: RequestId(parent),
        offset,
        nbytes,
        obj: ObjectId(s.0),
        fd: s.1,
        tgid: s.2,
        tid: s.3,
        status: s.4,
        flags: Flags::from_bits(s.5),
        host: HostId(c.0),
        comm: CommId(c.1),
        layer: Layer::from_order(c.2).unwrap(),
        kind: Kind::from_code(c.3).unwrap(),
        op: Op::from_code(c.4).unwrap(),
        link: LinkRule::from_code(c.5).unwrap(),
    })
}

fn any_record() -> impl Strategy<Value = Record> {
    prop_oneof![
        8 => any_event().prop_map(Record::Event),
        1 => (any::<u64>(), any::<u64>(), any::<u64>(), 0..13u8, 0..101u8).prop_map(|(p, c, bytes, rule, confidence)| {
            let rule = LinkRule::from_code(rule).unwrap();
            Record::Edge(Edge { parent: RequestId(p), child: RequestId(c), bytes, rule, confidence })
        }),
    ]
}

fn event() -> Event {
    Event {
        ts_ns: 932_729_073_000,
        req: RequestId::new(HostId(0), Layer::Fuse, 1),
        parent: RequestId::NONE,
        offset: -1,
        nbytes: 0,
        obj: ObjectId(1),
        fd: -1,
        tgid: 7,
        tid: 8,
        status: -61,
        flags: Flags::INFERRED,
        host: HostId(0),
        comm: CommId(1),
        layer: Layer::Fuse,
        kind: Kind::Callback,
        op: Op::Meta(MetaOp::Getxattr),
        link: LinkRule::None,
    }
}

proptest! {
    #[test]
    fn written_records_are_read(records in proptest::collection::vec(any_record(), 0..60)) {
        let file = written(&records);
        let mut reader = Reader::open(file.as_slice()).unwrap();
        let read: Vec<Record> = reader.by_ref().collect();
        prop_assert_eq!(read, records);
        prop_assert_eq!(reader.header(), &header());
        prop_assert_eq!(reader.footer().sources, footer().sources);
        prop_assert_eq!(reader.damage().lines, 0);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(reader) = Reader::open(bytes.as_slice()) {
            reader.for_each(drop);
        }
    }
}

#[test]
fn names_come_before_their_events_and_are_kept() {
    let object = Object::File { path: "/mnt/a \"b\"".into(), inode: Some(3), device: None };
    let records = [
        Record::Object(ObjectId(1), object.clone()),
        Record::Comm(CommId(1), "fio".into()),
        Record::Event(event()),
    ];
    let file = written(&records);
    let mut reader = Reader::open(file.as_slice()).unwrap();
    assert_eq!(reader.by_ref().collect::<Vec<_>>(), records);
    assert_eq!(reader.names().object(ObjectId(1)), Some(&object));
    assert_eq!(reader.names().comm(CommId(1)), "fio");
}

#[test]
fn the_footer_has_layers_window_and_number_of_events() {
    let file = written(&[Record::Event(event()), Record::Event(Event { ts_ns: 1, ..event() })]);
    let mut reader = Reader::open(file.as_slice()).unwrap();
    reader.by_ref().for_each(drop);
    let footer = reader.footer();
    assert_eq!(footer.events, 2);
    assert_eq!(footer.window.map(|window| (window.begin_ns, window.end_ns)), Some((1, 932_729_073_000)));
    assert_eq!(footer.layers.iter().map(|title| title.layer).collect::<Vec<_>>(), [Layer::Fuse]);
}

#[test]
fn a_file_of_a_killed_writer_is_read_up_to_its_last_flush() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &header()).unwrap();
    writer.write(&Record::Event(event())).unwrap();
    writer.flush().unwrap();
    drop(writer);
    let mut reader = Reader::open(file.as_slice()).unwrap();
    assert_eq!(reader.by_ref().count(), 1);
    assert!(reader.footer().is_cut_short);
    assert!(reader.damage().cut_short.as_ref().unwrap().to_string().contains("the file ends here"));
}

#[test]
fn a_truncated_short_file_keeps_at_least_a_quarter_of_its_records() {
    let records: Vec<Record> = (0..2000u64)
        .map(|number| {
            Record::Event(Event { ts_ns: number * 977 % 100_000, offset: number as i64, ..event() })
        })
        .collect();
    let file = written(&records);
    for cut in [file.len() / 8, file.len() / 3, file.len() / 2, file.len() - 200] {
        let mut reader = Reader::open(&file[..cut]).unwrap();
        let kept = reader.by_ref().count();
        let share = kept as f64 / (records.len() as f64 * cut as f64 / file.len() as f64);
        assert!(share > 0.25, "{kept} records of {cut} of {} bytes", file.len());
        assert!(reader.footer().is_cut_short && reader.damage().cut_short.is_some());
        assert_eq!(reader.damage().lines, 0, "{:?}", reader.damage());
    }
}

#[test]
fn a_damaged_line_is_skipped_and_reported() {
    let text = [
        serde_json::to_string(&line::LineRef::Header(&header())).unwrap().as_str(),
        "[0,6,17",
        "{\"object\":[900,{\"device\":{\"major\":7,\"minor\":6}}]}",
        "[0,6,0,5,1]",
    ]
    .join("\n");
    let file = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let mut reader = Reader::open(file.as_slice()).unwrap();
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!(reader.damage().lines, 2);
    let first = reader.damage().first.as_ref().unwrap().to_string();
    assert_eq!(first, "line 2: expected a record of a trace, found \"[0,6,17\"");
}

#[test]
fn a_later_version_and_a_foreign_file_are_refused() {
    let later = zstd::encode_all(b"{\"header\":{\"version\":9}}".as_slice(), 1).unwrap();
    let refusal = Reader::open(later.as_slice()).err().unwrap().to_string();
    assert_eq!(refusal, "line 1: expected version 1 of the format or an earlier one, found \"9\"");
    assert!(Reader::open(b"PAR1".as_slice()).is_err());
}

#[test]
fn a_written_file_is_recognised() {
    let text = zstd::decode_all(written(&[]).as_slice()).unwrap();
    assert!(recognises(&text));
}
