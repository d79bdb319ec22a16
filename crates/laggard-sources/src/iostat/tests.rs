//! Output of all versions of iostat, intact and damaged.

use laggard_input::ReadError;

use super::{json, text};
use crate::sink::{MemorySink, Sink};
use crate::testing::corpus;

const TIMED: &str = include_str!("../../tests/fixtures/printed/iostat-xt.txt");
const TIMELESS: &str = include_str!("../../tests/fixtures/printed/iostat-dx.txt");
const HUMAN: &str = include_str!("../../tests/fixtures/printed/iostat-dxh.txt");
const JSON: &str = include_str!("../../tests/fixtures/printed/iostat-xt.json");

type Read = fn(&mut dyn std::io::BufRead, &str, &mut dyn Sink) -> Result<(), ReadError>;
const ALL: [(&str, Read); 4] =
    [(TIMED, text::read), (TIMELESS, text::read), (HUMAN, text::read), (JSON, json::read)];

fn collect(read: Read, text: impl AsRef<[u8]>) -> (MemorySink, Result<(), ReadError>) {
    let mut collected = MemorySink::default();
    let result = read(&mut text.as_ref(), "host", &mut collected);
    (collected, result)
}

fn good(read: Read, text: &str) -> MemorySink {
    let (collected, result) = collect(read, text);
    result.unwrap();
    collected
}

#[test]
fn timed_reports_give_all_that_is_printed() {
    let collected = good(text::read, TIMED);
    assert_eq!(
        collected.series("oss1:vda", "tps"),
        [("2026-11-15T22:28:59Z".into(), 479.0), ("2026-11-15T22:29:00Z".into(), 628.0)]
    );
    let first = |metric| collected.values("oss1:vda", metric)[0];
    assert_eq!((first("r_tps"), first("w_tps"), first("flushes")), (382.0, 80.0, 0.0));
    assert_eq!((first("rd_sec"), first("wr_sec"), first("throughput")), (12304.0, 10240.0, 11272.0 * 1024.0));
    assert_eq!((first("r_await"), first("w_await"), first("f_await")), (0.05, 0.07, 0.0));
    assert_eq!(first("await"), (382.0 * 0.05 + 80.0 * 0.07 + 17.0 * 0.18) / 479.0);
    assert_eq!(first("avgrq-sz"), (6152.0 + 5120.0 + 5156.0) * 2.0 / 479.0);
    assert_eq!((first("avgqu-sz"), first("%util")), (0.03, 0.8));
    assert!(first("svctm").is_nan());
    assert!(collected.note_texts()[0].contains("since boot and was skipped"));
    assert!(collected.note_texts()[1].contains("read as UTC"));
}

#[test]
fn json_gives_the_same_rows_as_text() {
    let collected = good(json::read, JSON);
    let times: Vec<String> = collected.series("oss1:vda", "tps").into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, ["2026-11-15T22:29:01Z", "2026-11-15T22:29:02Z"]);
    assert!(collected.values("oss1:vda", "%util").iter().all(|util| *util > 0.0));
    assert_eq!(collected.note_texts(), ["the first report is an average since boot and was skipped"]);
}

#[test]
fn reports_without_times_are_a_second_apart() {
    let collected = good(text::read, TIMELESS);
    assert_eq!(collected.series("oss1:vda", "r_tps"), [("2026-11-15T00:00:01Z".into(), 419.0)]);
    assert!(collected.note_texts()[1].contains("no times"));
}

#[test]
fn human_readable_reports_are_put_together() {
    let collected = good(text::read, HUMAN);
    let only = |metric| collected.values("oss1:vda", metric);
    assert_eq!((only("tps"), only("rd_sec"), only("%util")), (vec![411.0], vec![5.0 * 2048.0], vec![0.8]));
    assert_eq!(only("await").len(), 1);
}

#[test]
fn a_single_report_is_kept_with_a_note() {
    let first = &TIMED[..TIMED.find("11/15/26 22:28:59").unwrap()];
    let collected = good(text::read, first);
    assert_eq!(collected.values("oss1:vda", "r_tps"), [40.86]);
    assert!(collected.note_texts()[0].contains("may be an average since boot"));
}

#[test]
fn runs_one_after_the_other_each_lose_their_first_report() {
    let twice = format!("{TIMED}{TIMED}");
    assert_eq!(good(text::read, &twice).count("disk_rates"), 4);
    let twice = format!("{JSON}{JSON}");
    assert_eq!(good(json::read, &twice).count("disk_rates"), 4);
}

#[test]
fn clocks_that_pass_midnight_go_to_the_next_day() {
    let report = |time| {
        format!(
            "Time: {time}\nDevice:  r/s w/s rsec/s wsec/s await svctm %util\nsda 1,5 2 8 8 3,25 1 0,5\n\n"
        )
    };
    let text = [
        "Linux 2.6.18 (old) \t12/31/09\n\n",
        &report("11:59:58 PM"),
        &report("11:59:59 PM"),
        &report("12:00:00 AM"),
    ]
    .concat();
    let collected = good(text::read, &text);
    assert_eq!(
        collected.series("old:sda", "await"),
        [("2009-12-31T23:59:59Z".into(), 3.25), ("2010-01-01T00:00:00Z".into(), 3.25)]
    );
    assert_eq!(collected.values("old:sda", "r_tps"), [1.5, 1.5]);
}

#[test]
fn long_names_may_have_a_line_of_their_own_and_groups_are_left_out() {
    let text = "Linux 3.10.0 (oss1) \t2014-10-07\n\nDevice: tps Blk_read/s Blk_wrtn/s\n\
                mapper_with_a_long_name\n              1.00 2.00 3.00\nsda 4.00 5.00 6.00\n ALL 5.00 7.00 9.00\n";
    let collected = good(text::read, text);
    assert_eq!(collected.components("disk_rates"), ["oss1:mapper_with_a_long_name", "oss1:sda"]);
    assert_eq!(collected.values("oss1:mapper_with_a_long_name", "wr_sec"), [3.0]);
    assert!(collected.note_texts().iter().any(|note| note.contains("groups")));
}

#[test]
fn bad_lines_are_counted_and_the_rest_is_read() {
    let text = TIMED.replace("vda            382.00", "vda            garbage");
    let collected = good(text::read, &text);
    assert_eq!(collected.count("disk_rates"), 1);
    assert!(
        collected
            .note_texts()
            .iter()
            .any(|note| note.starts_with("unreadable lines skipped: 1, the first is line 16"))
    );
}

#[test]
fn output_without_devices_or_dates_is_an_error() {
    let error = |text: &str| collect(text::read, text).1.unwrap_err().to_string();
    assert!(error("").contains("expected at least one report of devices"));
    assert!(
        error("Device r/s w/s\nsda 1 2\n")
            .starts_with("line 2: expected at least one report of devices, with a date")
    );
    let (_, result) =
        collect(json::read, r#"{"sysstat": {"hosts": [{"nodename": "a", "statistics": [{}]}]}}"#);
    assert!(result.unwrap_err().to_string().contains("iostat -xt -o JSON"));
}

#[test]
fn cuts_and_broken_bytes_never_panic() {
    for (text, read) in ALL {
        let times =
            |c: MemorySink| c.series("oss1:vda", "%util").into_iter().map(|s| s.0).collect::<Vec<_>>();
        for cut in 0..text.len() {
            let (collected, _) = collect(read, &text[..cut]);
            assert!(times(collected).len() <= 2);
            let mut broken = text.as_bytes().to_vec();
            broken[cut] ^= 0x15;
            let _ = collect(read, broken);
        }
    }
}

#[test]
fn a_cut_document_gives_all_complete_reports() {
    let (collected, result) = collect(json::read, &JSON[..JSON.len() - 10]);
    assert_eq!(collected.count("disk_rates"), 2);
    assert!(matches!(result, Err(ReadError::Truncated { .. })));
}

fn read_corpus(read: Read, path: &str) -> Option<MemorySink> {
    let bytes = std::fs::read(corpus(path)?).unwrap();
    let (collected, result) = collect(read, bytes);
    result.unwrap();
    Some(collected)
}

#[test]
fn real_output_of_many_generations_is_read() {
    if let Some(old) = read_corpus(text::read, "iostat/iostat-t-x-bud") {
        assert_eq!(old.components("disk_rates").len(), 13);
        assert_eq!(old.series("somehost.redhat.com:sda", "svctm")[0].0, "2014-10-07T15:49:59Z");
    }
    if let Some(iso) = read_corpus(text::read, "iostat/iostat-t.ISO") {
        assert_eq!(
            iso.series("bozo:sda", "rd_sec"),
            [("2010-07-27T02:46:10Z".into(), 1427.24), ("2010-07-27T02:46:13Z".into(), 1701.33)]
        );
    }
    if let Some(timeless) = read_corpus(text::read, "iostat/iostat-x") {
        assert_eq!(timeless.series("bozo:sdb", "await")[0], ("2010-07-27T00:00:01Z".into(), 4.36));
    }
    if let Some(new) = read_corpus(text::read, "iostat/iostat-xt.txt") {
        assert_eq!(new.components("disk_rates").len(), 8);
    }
    if let Some(json) = read_corpus(json::read, "iostat/iostat-xt.json") {
        assert_eq!(json.values("vm:vda", "rd_sec").last(), Some(&1896.0));
    }
}
