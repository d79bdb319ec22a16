//! A dataset in an object store reads like one in a folder.

use std::sync::Arc;

use crate::samples::{all_rows, origin, selected_rows, tick, ticks, time};
use laggard_core::model::time::Span;
use laggard_store::{Dataset, Importer, Origin, Recorder, Retention, Selection, State};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use tempfile::tempdir;

/// A store with a day of a host whose name needs encoding.
fn imported() -> (Arc<dyn ObjectStore>, Dataset) {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let dataset = Dataset::in_store(store.clone(), "lab/run 1").unwrap();
    let mut importer = Importer::into(dataset.clone()).unwrap();
    for number in 0..10 {
        let at = time("2026-11-15T12:00:00Z") + Span::SECOND * number;
        let origin = Origin { source: "sa15".into(), ..origin("cluster_A/host_22") };
        importer.add(&origin, &tick("disk", at, number as u64)).unwrap();
    }
    importer.finish().unwrap();
    (store, dataset)
}

#[test]
fn what_is_imported_into_a_store_is_what_is_read() {
    let (_store, dataset) = imported();
    let listing = dataset.segments().unwrap();
    assert_eq!(listing.segments.len(), 1);
    assert_eq!(listing.segments[0].host, "cluster_A/host_22");
    assert_eq!(listing.segments[0].origin().unwrap().source, "sa15");
    assert_eq!(listing.segments[0].summary().unwrap().rows, 30);
    let rows = selected_rows(&dataset, &Selection::default());
    crate::samples::assert_exact(&rows);
    assert_eq!(ticks(&rows).len(), 10);
}

#[test]
fn components_and_times_are_selected_in_a_store_too() {
    let (_store, dataset) = imported();
    let from = Some(time("2026-11-15T12:00:08Z"));
    let rows = selected_rows(
        &dataset,
        &Selection { components: Some(&|name| name.ends_with("sdc")), from, ..Selection::default() },
    );
    assert_eq!((rows.len(), ticks(&rows)), (1, vec![8, 9]));
}

#[test]
fn a_tail_that_was_copied_to_a_store_is_read() {
    let folder = tempdir().unwrap();
    crate::samples::leave_tail(folder.path(), "disk", time("2026-11-15T12:00:00Z"), 3);
    let store = Arc::new(InMemory::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for name in crate::samples::files(folder.path()) {
        let bytes = std::fs::read(folder.path().join(&name)).unwrap();
        runtime.block_on(store.put(&name.as_str().into(), bytes.into())).unwrap();
    }
    let dataset = Dataset::in_store(store, "").unwrap();
    assert_eq!(dataset.segments().unwrap().segments[0].state, State::Live);
    assert_eq!(ticks(&selected_rows(&dataset, &Selection::default())), [0, 1, 2]);
}

#[test]
fn retention_works_in_a_store() {
    let (_store, dataset) = imported();
    let nothing = Retention { max_age: Some(Span::ZERO), max_bytes: None };
    assert_eq!(dataset.retain(nothing, time("2026-11-20")).unwrap().len(), 1);
    assert!(dataset.segments().unwrap().segments.is_empty());
}

#[test]
fn a_file_url_is_a_folder() {
    let folder = tempdir().unwrap();
    let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
    recorder.append(&tick("disk", time("2026-11-15T12:00:00Z"), 0)).unwrap();
    assert!(recorder.close().iter().all(Result::is_ok));
    let dataset = Dataset::open(&format!("file://{}", folder.path().display())).unwrap();
    assert_eq!(selected_rows(&dataset, &Selection::default()), all_rows(folder.path()));
}

#[test]
fn a_location_that_makes_no_sense_is_an_error_in_words() {
    assert!(Dataset::open("ftp://host/dataset").is_err());
    assert!(Dataset::open("http://[").is_err());
    assert!(
        Dataset::open("/no/such/folder")
            .unwrap()
            .segments()
            .unwrap_err()
            .to_string()
            .contains("cannot list it")
    );
}
