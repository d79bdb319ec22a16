//! Lists the data files of `src/filesystems`, so that a new file system is one file.

use std::path::PathBuf;

fn main() {
    let folder =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src/filesystems");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(&folder).expect("the folder exists");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let files: String = paths.iter().map(|path| format!("include_str!({path:?}),\n")).collect();
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it")).join("filesystems.rs");
    std::fs::write(out, format!("&[\n{files}]\n")).expect("OUT_DIR can be written");
}
