//! Other tools open what laggard writes, and read the same numbers.
#![allow(clippy::unwrap_used)]

mod support;

use std::process::Command;

use support::{ProcTree, errors, files, laggard, left_out, prints, text, workspace};

/// A Python that has pyarrow.
fn python() -> Option<String> {
    let named = std::env::var("LAGGARD_PYTHON").ok();
    let own = text(&workspace().join("target/python/bin/python")).to_owned();
    let has_pyarrow = |python: &String| {
        Command::new(python).args(["-c", "import pyarrow.parquet"]).output().is_ok_and(|o| o.status.success())
    };
    named.into_iter().chain([own, "python3".into()]).find(has_pyarrow)
}

const READ: &str = "
import sys, pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
read = lambda name: table.column(name).to_pylist()
names = ['component', 'reads', 'sectors_read', 'read_ms', 'io_ms', 'weighted_ms']
rows = sorted(zip(*map(read, names)))
for row in rows[::table.num_rows // 3]:
    print(*row)
print(all(uptime > 0 for uptime in read('uptime')))
for name in ['time', 'uptime', 'sectors_read']:
    print(table.schema.field(name).type)
grown = table.group_by('component').aggregate([('sectors_read', 'max'), ('sectors_read', 'min')]).to_pylist()
print(all(row['sectors_read_max'] == row['sectors_read_min'] for row in grown))
print(pq.read_metadata(sys.argv[1]).metadata[b'laggard.format'].decode())
";

#[test]
fn pyarrow_reads_the_same_counters_from_a_sealed_file() {
    let Some(python) = python() else { return left_out("no Python with pyarrow (LAGGARD_PYTHON names one)") };
    let (tree, folder) = (ProcTree::new(3), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    let recorded =
        laggard(&["record", "-o", dataset, "--procfs", tree.path(), "--every", "100ms", "--for", "500ms"]);
    assert!(recorded.status.success(), "{}", errors(&recorded));
    let file = folder.path().join(&files(folder.path(), ".disk.parquet")[0]);
    let output = Command::new(python).args(["-c", READ]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    let expected = "oss1:sda 1 8 3 4 8\noss1:sdb 2 16 6 8 16\noss1:sdc 3 24 9 12 24\nTrue\n\
                    timestamp[us, tz=UTC]\nint64\nuint64\nTrue\n3\n";
    assert_eq!(printed, expected);
}

/// Values of two views of one recording: `sadf -d` and ours.
#[test]
fn show_prints_the_same_values_as_sadf() {
    if Command::new("sadf").arg("-V").output().is_err()
        || !std::path::Path::new("/usr/lib/sysstat/sadc").exists()
    {
        return left_out("no sysstat: install it to compare with sadf");
    }
    let folder = tempfile::tempdir().unwrap();
    let sa = folder.path().join("sa");
    let sadc =
        Command::new("/usr/lib/sysstat/sadc").args(["-S", "DISK", "1", "4"]).arg(&sa).output().unwrap();
    assert!(sadc.status.success(), "{}", errors(&sadc));
    let dataset = text(&folder.path().join("data")).to_owned();
    let imported = laggard(&["import", text(&sa), "-o", &dataset]);
    assert!(imported.status.success(), "{}", errors(&imported));
    let sadf = Command::new("sadf").args(["-d", "-U", text(&sa), "--", "-n", "DEV"]).output().unwrap();
    let theirs: Vec<String> = String::from_utf8(sadf.stdout).unwrap().lines().filter_map(sadf_line).collect();
    let shown = prints(&["show", &dataset, "rxpck", "txpck", "--format", "csv"]);
    let ours: Vec<String> = shown.lines().filter_map(our_line).collect();
    assert!(!theirs.is_empty());
    for line in &theirs {
        assert!(ours.contains(line), "sadf says {line}, and we say {ours:#?}");
    }
}

/// `eth0 12.00 3.00` of `vm;1;1794772123;eth0;12.00;3.00;...`.
fn sadf_line(line: &str) -> Option<String> {
    let fields: Vec<&str> = line.split(';').collect();
    let is_data = !line.starts_with('#') && fields.len() > 6 && fields[1] != "-1";
    is_data.then(|| format!("{} {} {} {}", fields[2], fields[3], fields[4], fields[5]))
}

/// The same of `2026-11-15T19:48:43Z,vm/eth0,12,3`.
fn our_line(line: &str) -> Option<String> {
    let fields: Vec<&str> = line.split(',').collect();
    let seconds = fields[0].parse::<laggard_core::model::time::Timestamp>().ok()?.micros() / 1_000_000;
    let interface = fields[1].split_once('/')?.1;
    let value = |text: &str| text.parse::<f64>().map(|v| format!("{v:.2}")).ok();
    Some(format!("{seconds} {interface} {} {}", value(fields[2])?, value(fields[3])?))
}
