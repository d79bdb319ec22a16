//! Operators' feedback on a dataset's components, kept beside its files.
//! In: a dataset. Out: [`Feedback`]. Always: an event is on disk before [`add`] returns, and neither a
//! crash nor a concurrent writer loses earlier events.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use laggard_core::suspects::feedback::{Event, Feedback};
use laggard_core::suspects::feedback_file::{self as notebook, FILE, FeedbackFile};

use crate::dataset::Dataset;
use crate::error::{Problem, StoreError};

/// Far beyond what people write.
const MOST_BYTES: u64 = 64 << 20;

/// All events, and the lines that could not be parsed. A dataset without the file has no events.
pub fn read(dataset: &Dataset) -> Result<(Feedback, Vec<Problem>), StoreError> {
    let path = dataset.location.path(FILE);
    let source = match dataset.location.open(FILE) {
        Ok(source) => source,
        Err(error) if error.is_absent() => return Ok((Feedback::default(), Vec::new())),
        Err(error) => return Err(error),
    };
    if source.bytes() > MOST_BYTES {
        let what = format!("expected at most {MOST_BYTES} bytes, found {}", source.bytes());
        return Err(StoreError::broken(path, what));
    }
    let bytes = source.read(0..source.bytes()).map_err(|error| StoreError::io(&path, "read it", error))?;
    let FeedbackFile { feedback, problems } = notebook::read(&String::from_utf8_lossy(&bytes));
    let problem = |(line, what): (usize, String)| Problem {
        name: FILE.into(),
        error: StoreError::broken(format!("{}:{line}", path.display()), what),
    };
    Ok((feedback, problems.into_iter().map(problem).collect()))
}

/// Adds an event.
pub fn add(dataset: &Dataset, event: &Event) -> Result<(), StoreError> {
    let Some(folder) = dataset.folder() else {
        let location = dataset.location.path("").display().to_string();
        let what = "feedback can only be added to a dataset in a folder".into();
        return Err(StoreError::Location { location, what });
    };
    let path = folder.join(FILE);
    let block = notebook::block(event).map_err(|error| StoreError::broken(&path, error.to_string()))?;
    append(&path, &block).map_err(|error| StoreError::io(&path, "write to it", error))?;
    sync(folder).map_err(|error| StoreError::io(folder, "write it to disk", error))
}

/// Writers wait for each other; the lock goes with the file's handle, so a crash frees it.
fn append(path: &Path, block: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    file.lock()?;
    let mut text = repair(&mut file)?;
    text.push_str(block);
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Removes an event that a crash has left incomplete. Returns the text before the next event: a heading in a new
/// file, a line break after an edited last line.
fn repair(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let known = String::from_utf8_lossy(&bytes);
    // Where bytes are no text their number differs: then nothing is cut.
    let torn = notebook::torn(&known).filter(|_| known.len() == bytes.len());
    match torn {
        Some(0) => file.set_len(0).map(|()| notebook::heading()),
        Some(torn) => file.set_len(torn as u64).map(|()| String::new()),
        None if bytes.is_empty() => Ok(notebook::heading()),
        None if bytes.ends_with(b"\n") => Ok(String::new()),
        None => Ok("\n".into()),
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.into() };
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use laggard_core::model::time::Timestamp;
    use laggard_core::suspects::feedback::FeedbackKind;

    use super::*;

    fn event(number: i64) -> Event {
        Event {
            word: FeedbackKind::Repaired,
            component: format!("oss{number}:sda"),
            at: Some(Timestamp::from_seconds(number)),
            until: None,
            note: String::new(),
            noted: Timestamp::from_seconds(1000),
        }
    }

    fn components(dataset: &Dataset) -> Vec<String> {
        let (feedback, problems) = read(dataset).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        feedback.events.into_iter().map(|event| event.component).collect()
    }

    #[test]
    fn concurrent_writers_lose_no_event() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = Dataset::in_folder(folder.path());
        assert!(components(&dataset).is_empty());
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let dataset = dataset.clone();
                scope.spawn(move || (0..5).for_each(|k| add(&dataset, &event(5 * writer + k)).unwrap()));
            }
        });
        let mut kept = components(&dataset);
        kept.sort_by_key(|name| laggard_core::model::component::natural_order(name));
        assert_eq!(kept, (0..40).map(|number| format!("oss{number}:sda")).collect::<Vec<_>>());
    }

    #[test]
    fn a_writer_killed_at_any_byte_leaves_earlier_events() {
        let folder = tempfile::tempdir().unwrap();
        let (dataset, path) = (Dataset::in_folder(folder.path()), folder.path().join(FILE));
        add(&dataset, &event(1)).unwrap();
        let before = std::fs::read_to_string(&path).unwrap().len();
        add(&dataset, &event(2)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in [(0..before).step_by(7).collect::<Vec<_>>(), (before..whole.len()).collect()].concat() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            add(&dataset, &event(3)).unwrap();
            let (feedback, _) = read(&dataset).unwrap();
            let kept: Vec<String> = feedback.events.into_iter().map(|event| event.component).collect();
            assert_eq!(kept.last().unwrap(), "oss3:sda");
            assert!(cut < before || kept[0] == "oss1:sda", "{cut}: {kept:?}");
        }
    }

    #[test]
    fn a_mistyped_event_is_named_and_the_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let (dataset, path) = (Dataset::in_folder(folder.path()), folder.path().join(FILE));
        add(&dataset, &event(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}[[event]]\nword = 'forget'\n")).unwrap();
        add(&dataset, &event(2)).unwrap();
        let (feedback, problems) = read(&dataset).unwrap();
        assert_eq!((feedback.events.len(), problems.len()), (2, 1));
        assert!(problems[0].to_string().contains("feedback.toml:9: "), "{}", problems[0]);
    }
}
