//! The engine, on what was recorded of a real GlusterFS with real faults (`recordings/`).
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::prints;

fn eval(archive: &str, more: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recordings").join(archive);
    let path = path.to_str().unwrap();
    prints(&[&["eval", path, "--step", "200ms"], more].concat())
}

#[test]
fn without_a_fault_there_is_no_suspect_and_suspects_have_the_right_cause() {
    for archive in ["gluster-10-10.tar.zst", "gluster-12-6.tar.zst"] {
        let printed = eval(archive, &["--method", "laggard", "--json"]);
        let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let rate = |name: &str| document["experiments"][0]["aggregate"][name].as_f64().unwrap();
        assert_eq!((rate("ifp"), rate("dfp")), (0.0, 0.0), "{archive}");
        assert_eq!(rate("itp"), rate("dtp"), "{archive}");
    }
}

#[test]
fn the_tables_are_what_they_were() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recordings");
    let printed = eval("gluster-10-10.tar.zst", &["--method", "laggard", "--method", "testbench"]);
    insta::assert_snapshot!(printed.replace(archive.to_str().unwrap(), "recordings"));
}
