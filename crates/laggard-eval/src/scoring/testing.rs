//! Small inventories and tables for tests.

use laggard_core::model::cluster::{ClusterFile, Inventory, Recorded};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;

/// Disks such as `a:sdb`, in one peer group.
pub(super) fn inventory(names: &[&str]) -> Inventory {
    let recorded = |name: &&str| Recorded {
        name: (*name).into(),
        kind: Kind::ATTACHMENT,
        host: name.split(':').next().unwrap().into(),
    };
    Inventory::new(&ClusterFile::default(), &names.iter().map(recorded).collect::<Vec<_>>())
}

/// LUNs with paths from the servers `a` and `b`, and one LUN, `z`, with a path from `c` only.
pub(super) fn two_paths(luns: &[&str]) -> Inventory {
    let paths = ["a", "b"].iter().flat_map(|server| luns.iter().map(move |lun| format!("{server}:{lun}")));
    let names: Vec<String> = paths.chain(["c:z".to_owned()]).collect();
    let mut inventory = inventory(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for component in &mut inventory.components {
        let lun = component.name.split(':').next_back().unwrap().to_owned();
        component.attributes.insert("lun".into(), lun);
    }
    inventory
}

/// Latencies, 15 s apart, a row for each name.
pub(super) fn table(names: &[&str], start: i64, rows: &[impl AsRef<[f64]>]) -> Table {
    let rows: Vec<&[f64]> = rows.iter().map(AsRef::as_ref).collect();
    let grid =
        Grid { start: Timestamp::from_seconds(start), step: Span::from_seconds(15), len: rows[0].len() };
    let components = names.iter().map(|&name| name.into()).collect();
    Table { metric: Metric::named("await").unwrap(), grid, components, values: rows.concat() }
}
