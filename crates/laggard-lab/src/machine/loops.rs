//! Loop devices over the files of a lab.

use std::path::{Path, PathBuf};

use super::{LabError, place::Place};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// For example `loop7`.
    pub name: String,
    /// The backing file.
    pub file: PathBuf,
}

/// The loop devices whose backing files have names that begin with `prefix`, in any namespace. The kernel shows only the
/// name, not the path, of a file whose mount is gone.
pub(crate) fn over(prefix: &str) -> Vec<Loop> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut loops: Vec<Loop> = names.filter(|name| name.starts_with("loop")).filter_map(of_name).collect();
    let fits = |file: &Path| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    loops.retain(|device| fits(&device.file));
    loops.sort_by(|a, b| a.file.cmp(&b.file));
    loops
}

/// True if a loop device has no backing file.
pub(crate) fn is_free(name: &str) -> bool {
    of_name(name.to_owned()).is_none()
}

fn of_name(name: String) -> Option<Loop> {
    let text = std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()?;
    Some(Loop { name, file: PathBuf::from(text.trim_end().trim_end_matches(" (deleted)")) })
}

/// Sets up a loop device over a file, past the page cache; returns its name.
pub(crate) fn attach(place: Place, file: &Path) -> Result<String, LabError> {
    let file = file.display().to_string();
    let printed = place.run(&["losetup", "--find", "--show", "--direct-io=on", &file])?;
    Ok(printed.trim().trim_start_matches("/dev/").to_owned())
}

/// Detaches a loop device. One that is in use disappears with its last user.
pub(crate) fn detach(name: &str) -> Result<(), LabError> {
    Place::Here.run(&["losetup", "--detach", &format!("/dev/{name}")]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_matching_file_there_are_no_loops() {
        assert_eq!(over("no-file-is-called-so"), []);
        assert!(is_free("no-such-device"));
    }
}
