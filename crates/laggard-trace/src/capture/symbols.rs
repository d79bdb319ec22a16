//! Positions of functions in the file of a shared library, for probes.

use std::collections::BTreeMap;
use std::path::Path;

use object::{Object, ObjectSegment, ObjectSymbol};

use super::CaptureError;

/// The functions that the library has, by position. Versions of a function and its 64-bit name may share a
/// position.
pub(super) fn places(library: &Path, functions: &[&str]) -> Result<BTreeMap<u64, String>, CaptureError> {
    let bytes = std::fs::read(library).map_err(CaptureError::at(library))?;
    find(&bytes, functions)
        .map_err(|error| CaptureError::Input(format!("{}: is not a library: {error}", library.display())))
}

fn find(bytes: &[u8], functions: &[&str]) -> Result<BTreeMap<u64, String>, object::Error> {
    let file = object::File::parse(bytes)?;
    let mut places = BTreeMap::new();
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        let Some(function) = functions.iter().find(|function| **function == name) else { continue };
        if let Some(place) = place(&file, symbol.address()) {
            places.entry(place).or_insert_with(|| (*function).to_owned());
        }
    }
    Ok(places)
}

/// Probes need positions in the file; symbols have addresses in memory.
fn place(file: &object::File<'_>, address: u64) -> Option<u64> {
    file.segments().find_map(|segment| {
        let within = address.checked_sub(segment.address())?;
        let (begin, length) = segment.file_range();
        (within < length).then_some(begin + within)
    })
}

pub(super) fn c_library(root: &Path) -> Option<std::path::PathBuf> {
    let folders = ["lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib"];
    let places = folders.map(|folder| root.join(folder).join("libc.so.6"));
    places.into_iter().find_map(|place| std::fs::canonicalize(place).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_c_library_are_found() {
        let Some(library) = c_library(Path::new("/")) else { return };
        let places = places(&library, &["getppid", "no_such_function"]).unwrap();
        assert_eq!(places.values().collect::<Vec<_>>(), ["getppid"]);
        let bytes = std::fs::metadata(&library).unwrap().len();
        assert!(places.keys().all(|place| *place > 0 && *place < bytes));
    }

    #[test]
    fn a_file_that_is_not_a_library_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libc.so.6");
        std::fs::write(&path, "GROUP ( /lib/libc.so.6 )").unwrap();
        let error = places(&path, &["aio_read"]).unwrap_err().to_string();
        assert!(error.contains("is not a library"), "{error}");
    }
}
