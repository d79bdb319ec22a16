//! Lines of every format, and of none.

use super::*;
use crate::line::Severity;

const CLOCK: Clock = Clock { year: 2021, booted: Some(Timestamp::from_seconds(1000)) };

/// Time, severity, component, function and text.
fn shown(parser: Parser, line: &str) -> String {
    let line = parser.line(line.as_bytes(), &CLOCK);
    let time = line.time.map_or("-".to_owned(), |time| time.to_string());
    let severity = line.severity.map_or("-".to_owned(), |severity| format!("{severity:?}"));
    let [component, function, text] = [line.component, line.function, line.text].map(String::from_utf8_lossy);
    format!("{time}|{severity}|{component}|{function}|{text}")
}

#[test]
fn the_debug_buffer_of_lustre_is_read() {
    let line =
        "00100000:00020000:1.0F:1579387514.25:0:3461:0:(osd_io.c:17:osd_read()) sdb: can't (read): rc = -5";
    assert_eq!(
        shown(Parser::Lustre, line),
        "2020-01-18T22:45:14.25Z|Error|osd_io.c|osd_read|sdb: can't (read): rc = -5"
    );
    let short = "00000100:00080000:0.0:1579387514.000001:0:1:0:(a.c:1:b())";
    assert_eq!(shown(Parser::Lustre, short), "2020-01-18T22:45:14.000001Z|Debug|a.c|b|");
    for other in ["00000100:00080000:0.0", "00000100:xyz:0.0:1.5:0:1:0:(a.c:1:b()) c", "", ":::::::"] {
        assert_eq!(shown(Parser::Lustre, other), format!("-|-|||{other}"));
    }
}

#[test]
fn lustre_s_consoles_are_read_with_and_without_an_origin() {
    let error = "LustreError: 2345:0:(client.c:21:expire()) @@@ lost";
    assert_eq!(shown(Parser::Lustre, error), "-|Error|client.c|expire|@@@ lost");
    assert_eq!(
        shown(Parser::Lustre, "Lustre: x-OST0000 (at 1@tcp): lost"),
        "-|Notice|||x-OST0000 (at 1@tcp): lost"
    );
    let within = "[   12.500000] LustreError: 11-0: x: lost";
    assert_eq!(shown(Parser::Kernel, within), "1970-01-01T00:16:52.5Z|Error|||11-0: x: lost");
}

#[test]
fn logs_of_gluster_are_read_with_all_their_letters() {
    let line = "[2026-11-15 20:00:05.709951 +0000] M [MSGID: 113075] [posix.c:20:health] 0-v1-posix: going down [{a=b}] ";
    assert_eq!(
        shown(Parser::Gluster, line),
        "2026-11-15T20:00:05.709951Z|Emergency|0-v1-posix|health|going down [{a=b}]"
    );
    let bare = "[2026-11-15 20:00:05.7] W [rpc.c:9:notify] 0-x: lost [1]";
    assert_eq!(shown(Parser::Gluster, bare), "2026-11-15T20:00:05.7Z|Warning|0-x|notify|lost [1]");
    let history = "[2026-11-15 20:00:05.7 +0100]  : volume start v1 : SUCCESS";
    assert_eq!(shown(Parser::Gluster, history), "2026-11-15T19:00:05.7Z|-|||volume start v1 : SUCCESS");
    let severities = "MACEWNIDT".chars().map(|letter| {
        let line = format!("[2026-11-15 20:00:05] {letter} [a:1:b] 0-c: d");
        Parser::Gluster.line(line.as_bytes(), &CLOCK).severity
    });
    assert!(severities.into_iter().all(|severity| severity.is_some()));
}

#[test]
fn logs_of_beegfs_are_read_in_the_year_of_the_clock() {
    let line = "(0) Feb07 19:48:42 XNodeSync [Messaging (RPC)] >> Communication error: lost ";
    assert_eq!(
        shown(Parser::Beegfs, line),
        "2021-02-07T19:48:42Z|Error|XNodeSync|Messaging (RPC)|Communication error: lost"
    );
    assert_eq!(
        shown(Parser::Beegfs, "(3) 2024-02-07 19:48:42 Main [App] >> up"),
        "2024-02-07T19:48:42Z|Notice|Main|App|up"
    );
    assert_eq!(shown(Parser::Beegfs, "(3) Feb31 19:48:42 Main [App] >> up").split('|').next(), Some("-"));
}

#[test]
fn logs_of_ceph_s_daemons_and_clusters_are_read() {
    let daemon = "2022-02-10T09:32:05.746+0100 7f6fa1d2ad80 -1 osd.0 12 heartbeat lost";
    assert_eq!(shown(Parser::Ceph, daemon), "2022-02-10T08:32:05.746Z|Error|||osd.0 12 heartbeat lost");
    let cluster = "2022-02-10 09:32:05.7 mon.a (mon.0) 18 : cluster [WRN] osd.4 failed";
    assert_eq!(shown(Parser::Ceph, cluster), "2022-02-10T09:32:05.7Z|Warning|mon.a||osd.4 failed");
}

#[test]
fn syslog_and_kernel_messages_in_it_are_read() {
    let line = "Feb  7 19:48:42 s1 mfschunkserver[812]: disk /mnt: CRC error";
    assert_eq!(shown(Parser::Syslog, line), "2021-02-07T19:48:42Z|-|mfschunkserver||disk /mnt: CRC error");
    let kernel = "2026-11-15T20:00:05+00:00 s1 kernel: [  12.5] I/O error, dev sdb, sector 8";
    assert_eq!(shown(Parser::Syslog, kernel), "2026-11-15T20:00:05Z|-|kernel||I/O error, dev sdb, sector 8");
}

#[test]
fn messages_of_the_kernel_are_read_in_all_four_forms() {
    let time = "1970-01-01T00:16:52.5Z";
    assert_eq!(shown(Parser::Kernel, "[   12.500000] XFS: lost"), format!("{time}|-|kernel||XFS: lost"));
    assert_eq!(shown(Parser::Kernel, "<3>[   12.5] XFS: lost"), format!("{time}|Error|kernel||XFS: lost"));
    assert_eq!(
        shown(Parser::Kernel, "11,339,12500000,-;XFS: lost"),
        format!("{time}|Error|kernel||XFS: lost")
    );
    let iso = "2026-11-15T20:00:05,500000+00:00 XFS: lost";
    assert_eq!(shown(Parser::Kernel, iso), "2026-11-15T20:00:05.5Z|-|kernel||XFS: lost");
    let unknown = Clock { booted: None, ..CLOCK };
    assert_eq!(Parser::Kernel.line(b"[ 12.5] x", &unknown).time, None);
}

#[test]
fn any_other_line_keeps_its_date_where_it_has_one() {
    assert_eq!(shown(Parser::Generic, "2026-11-15 20:00:05,5 lost"), "2026-11-15T20:00:05.5Z|-|||lost");
    assert_eq!(shown(Parser::Generic, "[Nov 15 20:00:05] lost"), "2021-11-15T20:00:05Z|-|||lost");
    assert_eq!(shown(Parser::Generic, "no date, no time"), "-|-|||no date, no time");
    assert_eq!(shown(Parser::Generic, "2026-13-45 99:99:99 lost"), "-|-|||2026-13-45 99:99:99 lost");
}

#[test]
fn the_format_is_detected_from_the_content() {
    let starts: [(&str, Parser); 8] = [
        ("00000100:00080000:0.0:1579387514.0:0:1:0:(a.c:1:b()) c\n", Parser::Lustre),
        ("[2026-11-15 20:00:05.7 +0000] I [a.c:1:b] 0-c: d\n  1: volume x\n  2: type y\n", Parser::Gluster),
        ("(1) Feb07 19:48:58 Main [App] >> up\n", Parser::Beegfs),
        ("2022-02-10T09:32:05.746+0000 7f6fa1d2ad80  0 up\n", Parser::Ceph),
        ("Feb  7 19:48:42 s1 mfsmaster[1]: up\n", Parser::Syslog),
        ("[    0.000000] Linux version 6\n", Parser::Kernel),
        ("anything else\n", Parser::Generic),
        ("", Parser::Generic),
    ];
    for (start, parser) in starts {
        let many = start.repeat(5);
        assert_eq!(Parser::of(many.as_bytes()), parser, "{start}");
        assert_eq!(Parser::named(parser.name()), Some(parser));
    }
    assert!(Severity::Emergency < Severity::Debug);
}
