//! Which faults a lab has now, written down before they are applied: whoever applied one may have been killed.

use std::path::PathBuf;

use super::Fault;
use crate::lab::Lab;
use crate::machine::LabError;

/// The faults that were applied and not healed, each with its server.
pub fn all(lab: &Lab) -> Vec<(Fault, String)> {
    let text = std::fs::read_to_string(file(lab)).unwrap_or_default();
    let of_line = |line: &str| {
        let (fault, server) = line.split_once(' ')?;
        Some((Fault::named(fault).ok()?, server.to_owned()))
    };
    text.lines().filter_map(of_line).collect()
}

/// Heals them all.
pub fn heal_all(lab: &Lab) -> Result<(), LabError> {
    all(lab).into_iter().try_for_each(|(fault, server)| fault.heal(lab, &server))
}

/// Writes a fault down.
pub fn note(lab: &Lab, fault: Fault, server: &str) -> Result<(), LabError> {
    let mut standing = without(lab, fault, server);
    standing.push((fault, server.to_owned()));
    write(lab, &standing)
}

/// Strikes a fault off.
pub fn strike(lab: &Lab, fault: Fault, server: &str) -> Result<(), LabError> {
    write(lab, &without(lab, fault, server))
}

fn without(lab: &Lab, fault: Fault, server: &str) -> Vec<(Fault, String)> {
    let mut standing = all(lab);
    standing.retain(|(other, at)| *other != fault || at != server);
    standing
}

fn write(lab: &Lab, standing: &[(Fault, String)]) -> Result<(), LabError> {
    let path = file(lab);
    let lines = standing.iter().map(|(fault, server)| format!("{} {server}\n", fault.as_str()));
    std::fs::write(&path, lines.collect::<String>()).map_err(LabError::at(&path))
}

fn file(lab: &Lab) -> PathBuf {
    lab.folder.join("faults")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::plan::file::LabFile;

    #[test]
    fn what_was_noted_stands_until_it_is_struck_off() {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab { folder: folder.path().into(), manifest: Manifest::new(LabFile::default()) };
        assert_eq!(all(&lab), []);
        note(&lab, Fault::DiskBusy, "oss3").unwrap();
        note(&lab, Fault::SlowLink, "oss3").unwrap();
        note(&lab, Fault::DiskBusy, "oss3").unwrap();
        assert_eq!(all(&lab), [(Fault::SlowLink, "oss3".into()), (Fault::DiskBusy, "oss3".into())]);
        strike(&lab, Fault::SlowLink, "oss3").unwrap();
        strike(&lab, Fault::SlowLink, "oss4").unwrap();
        assert_eq!(all(&lab), [(Fault::DiskBusy, "oss3".into())]);
    }
}
