//! Which faults a lab has now, written down before they are applied: whoever applied one may have been killed.

use std::fs::File;
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
    let _turn = turn(lab)?;
    let mut standing = without(lab, fault, server);
    standing.push((fault, server.to_owned()));
    write(lab, &standing)
}

/// Strikes a fault off.
pub fn strike(lab: &Lab, fault: Fault, server: &str) -> Result<(), LabError> {
    let _turn = turn(lab)?;
    write(lab, &without(lab, fault, server))
}

fn without(lab: &Lab, fault: Fault, server: &str) -> Vec<(Fault, String)> {
    let mut standing = all(lab);
    standing.retain(|(other, at)| *other != fault || at != server);
    standing
}

/// One at a time: several servers may be hurt at once, by several programs. Ends with the process.
fn turn(lab: &Lab) -> Result<File, LabError> {
    let path = lab.folder.join("faults.turn");
    let file = File::create(&path).map_err(LabError::at(&path))?;
    file.lock().map_err(LabError::at(&path))?;
    Ok(file)
}

/// Whole or not at all: others read it without a turn.
fn write(lab: &Lab, standing: &[(Fault, String)]) -> Result<(), LabError> {
    let (path, new) = (file(lab), lab.folder.join("faults.new"));
    let lines = standing.iter().map(|(fault, server)| format!("{} {server}\n", fault.as_str()));
    std::fs::write(&new, lines.collect::<String>()).map_err(LabError::at(&new))?;
    std::fs::rename(&new, &path).map_err(LabError::at(&path))
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
    fn no_note_is_lost_when_several_servers_are_hurt_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab { folder: folder.path().into(), manifest: Manifest::new(LabFile::default()) };
        let (lab, names) = (&lab, (1..=8).map(|number| format!("oss{number}")).collect::<Vec<String>>());
        for _ in 0..20 {
            std::thread::scope(|scope| {
                for name in &names {
                    scope.spawn(move || note(lab, Fault::DiskBusy, name).unwrap());
                }
            });
            assert_eq!(all(lab).len(), names.len());
            std::thread::scope(|scope| {
                for name in &names {
                    scope.spawn(move || strike(lab, Fault::DiskBusy, name).unwrap());
                }
            });
            assert_eq!(all(lab), []);
        }
    }

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
