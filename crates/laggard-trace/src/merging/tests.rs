use super::*;
use crate::ltr::{Reader, Writer};
use crate::model::{
    CommId, Event, Flags, Footer, Header, Host, HostId, Kind, Layer, LinkRule, Object, ObjectId, Op, Record,
    RequestId, Trace,
};

/// A host's trace of reads in one layer: begin and end on its own clock, and offset.
fn trace(name: &str, layer: Layer, reads: &[(u64, u64, i64)]) -> Vec<u8> {
    let header = Header { hosts: vec![Host { name: name.into(), ..Host::default() }], ..Header::default() };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    writer.write(&Record::Object(ObjectId(1), Object::Named { name: format!("file of {name}") })).unwrap();
    writer.write(&Record::Comm(CommId(1), "fio".into())).unwrap();
    let mut events: Vec<Event> = Vec::new();
    for (nth, &(begin, end, offset)) in reads.iter().enumerate() {
        let admit = Event {
            ts_ns: begin,
            req: RequestId::new(HostId(0), layer, nth as u64 + 1),
            parent: RequestId::NONE,
            offset,
            nbytes: 4096,
            obj: ObjectId(1),
            fd: 3,
            tgid: 7,
            tid: 7,
            status: 0,
            flags: Flags::NONE,
            host: HostId(0),
            comm: CommId(1),
            layer,
            kind: Kind::Admit,
            op: Op::Read,
            link: LinkRule::None,
        };
        events.extend([admit, Event { ts_ns: end, kind: Kind::Callback, ..admit }]);
    }
    events.sort_by_key(|event| event.ts_ns);
    events.into_iter().for_each(|event| writer.write(&Record::Event(event)).unwrap());
    writer.finish(Footer::default()).unwrap()
}

fn requests_of(file: &[u8]) -> MatchableRequests {
    matchable_requests(&mut Reader::open(file).unwrap())
}

/// The server's clock is 1000 s ahead; requests take 100 us on the server and 20 to 80 us in each direction.
const AHEAD: u64 = 1_000_000_000_000;

fn client_and_server() -> (Vec<u8>, Vec<u8>) {
    let client: Vec<_> =
        (0..40u64).map(|n| (n * 1_000_000, n * 1_000_000 + 240_000, n as i64 * 4096)).collect();
    let there = |n: u64| 20_000 + (n * 7919) % 60_000;
    let server: Vec<_> = (0..40u64)
        .map(|n| {
            (AHEAD + n * 1_000_000 + there(n), AHEAD + n * 1_000_000 + there(n) + 100_000, n as i64 * 4096)
        })
        .collect();
    (trace("client", Layer::Fuse, &client), trace("server", Layer::Pfss, &server))
}

#[test]
fn the_offset_of_a_servers_clock_is_found_by_requests_and_answers() {
    let (client, server) = client_and_server();
    let found = offset(&requests_of(&client), &requests_of(&server)).unwrap();
    assert!((found.offset_ns + AHEAD as i64).unsigned_abs() <= found.err_ns, "{found:?}");
    assert!(found.err_ns < 70_000, "{found:?}");
    assert_eq!(found.pairs, 40);
    let reverse = offset(&requests_of(&server), &requests_of(&client)).unwrap();
    assert!((reverse.offset_ns - AHEAD as i64).unsigned_abs() <= reverse.err_ns, "{reverse:?}");
}

#[test]
fn hosts_without_common_requests_have_no_offset() {
    let (client, _) = client_and_server();
    let other = trace("other", Layer::Pfss, &[(1, 2, 77)]);
    assert_eq!(offset(&requests_of(&client), &requests_of(&other)), None);
}

#[test]
fn merged_events_are_in_the_order_of_the_first_hosts_clock_and_keep_their_own_times() {
    let (client, server) = client_and_server();
    let found = offset(&requests_of(&client), &requests_of(&server));
    let readers = vec![Reader::open(client.as_slice()).unwrap(), Reader::open(server.as_slice()).unwrap()];
    let (file, footer) = merge(readers, &[None, found], Vec::new()).unwrap();
    assert_eq!(footer.events, 160);
    let mut reader = Reader::open(file.as_slice()).unwrap();
    let mut merged = Trace { header: reader.header().clone(), ..Trace::default() };
    reader.by_ref().for_each(|record| merged.take(record));
    let names: Vec<&str> = merged.header.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["client", "server"]);
    let on_first = |event: &Event| {
        event.ts_ns.saturating_add_signed(merged.header.hosts[usize::from(event.host.0)].offset_ns)
    };
    assert!(merged.events.iter().map(on_first).is_sorted());
    let admits: Vec<Layer> =
        merged.events.iter().filter(|event| event.kind == Kind::Admit).map(|event| event.layer).collect();
    assert_eq!(admits[..4], [Layer::Fuse, Layer::Pfss, Layer::Fuse, Layer::Pfss]);
    let servers = merged.events.iter().find(|event| event.host == HostId(1)).unwrap();
    assert_eq!(servers.req.host(), HostId(1));
    assert_eq!(merged.names.object(servers.obj).unwrap().label(), "file of server");
    assert_eq!(merged.names.comm(servers.comm), "fio");
}
