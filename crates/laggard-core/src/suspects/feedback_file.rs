//! Feedback as it is kept: a TOML file that only grows, one `[[event]]` after the other.
//!
//! Each event is read by itself, so that one that was cut short or mistyped does not hide the others.

use serde::{Deserialize, Serialize};

use super::feedback::{Event, Feedback, FeedbackKind};

/// The name and version of the file's form.
pub const SCHEMA: &str = "laggard.feedback/1";
/// The file's name in a dataset.
pub const FILE: &str = "feedback.toml";

const MARK: &str = "[[event]]";

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedbackFile {
    pub feedback: Feedback,
    /// Lines that could not be read, and why.
    pub problems: Vec<(usize, String)>,
}

/// The header of a new file.
pub fn heading() -> String {
    format!("# What operators said of components: laggard feedback\nschema = \"{SCHEMA}\"\n")
}

#[derive(Serialize)]
struct Written<'a> {
    event: [&'a Event; 1],
}

/// An event as it is added at the end of the file. Its texts are put in one line each: no line of them may look like
/// the beginning of another event.
pub fn block(event: &Event) -> Result<String, toml::ser::Error> {
    let in_one_line = |text: &str| text.replace(char::is_control, " ");
    let (component, note) = (in_one_line(&event.component), in_one_line(&event.note));
    let event = Event { component, note, ..event.clone() };
    Ok(format!("\n{}", toml::to_string(&Written { event: [&event] })?))
}

#[derive(Deserialize)]
struct Heading {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Events {
    event: Vec<Event>,
}

/// Reads a file.
pub fn read(text: &str) -> FeedbackFile {
    let mut file = FeedbackFile::default();
    for (line, part) in parts(text) {
        let taken =
            if part.starts_with(MARK) { event(part).map(Some) } else { check_heading(part).map(|()| None) };
        match taken {
            Ok(event) => file.feedback.events.extend(event),
            Err(error) => file.problems.push((line, error)),
        }
    }
    file
}

/// Where the last event begins, if it was cut short: what is to be cut off before another is added.
pub fn torn(text: &str) -> Option<usize> {
    if text.is_empty() || text.ends_with('\n') {
        return None;
    }
    let (_, last) = parts(text).pop()?;
    let is_whole = last.starts_with(MARK) && event(last).is_ok();
    (!is_whole).then(|| text.len() - last.len())
}

/// The heading and the events, each with the number of its first line.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let (mut parts, mut start, mut first_line) = (Vec::new(), 0, 1);
    let (mut offset, mut number) = (0, 1);
    for line in text.split_inclusive('\n') {
        if is_mark(line) && offset > start {
            parts.push((first_line, &text[start..offset]));
            (start, first_line) = (offset, number);
        }
        offset += line.len();
        number += 1;
    }
    parts.push((first_line, &text[start..]));
    parts
}

/// A mark that was cut short is one too: it does not belong to the event before.
fn is_mark(line: &str) -> bool {
    let is_cut = !line.is_empty() && !line.ends_with('\n') && MARK.starts_with(line);
    line.trim_end() == MARK || is_cut
}

fn event(part: &str) -> Result<Event, String> {
    let mut events: Events = toml::from_str(part).map_err(in_one_line)?;
    let event = events.event.pop().ok_or("expected an event")?;
    match event.word {
        FeedbackKind::Snooze if event.until.is_none() => Err("a snooze without `until`: say how long".into()),
        _ if event.component.is_empty() => Err("expected a `component`, found an empty one".into()),
        _ => Ok(event),
    }
}

fn check_heading(part: &str) -> Result<(), String> {
    let heading: Heading = toml::from_str(part).map_err(in_one_line)?;
    match heading.schema.as_deref() {
        Some(SCHEMA) => Ok(()),
        other => Err(format!("expected schema {SCHEMA:?}, found {:?}", other.unwrap_or_default())),
    }
}

fn in_one_line(error: toml::de::Error) -> String {
    error.message().lines().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;
    use crate::model::time::Timestamp;

    fn event(word: FeedbackKind, note: &str) -> Event {
        let at = |seconds| Some(Timestamp::from_seconds(seconds));
        let until = (word == FeedbackKind::Snooze).then_some(()).and(at(7200));
        let noted = Timestamp::from_seconds(10_000);
        Event { word, component: "oss3:sdb".into(), at: at(3600), until, note: note.into(), noted }
    }

    fn written(events: &[Event]) -> String {
        events.iter().fold(heading(), |text, event| text + &block(event).unwrap())
    }

    #[test]
    fn what_is_written_is_read() {
        let events = vec![
            event(FeedbackKind::Repaired, "new disk"),
            event(FeedbackKind::Snooze, "\"a\" '''b''' [[event]]"),
        ];
        let text = written(&events);
        assert_eq!(read(&text), FeedbackFile { feedback: Feedback { events }, problems: Vec::new() });
        insta::assert_snapshot!(written(&[event(FeedbackKind::Repaired, "new disk")]), @r#"
        # What operators said of components: laggard feedback
        schema = "laggard.feedback/1"

        [[event]]
        word = "repaired"
        component = "oss3:sdb"
        at = "1970-01-01T01:00:00Z"
        note = "new disk"
        noted = "1970-01-01T02:46:40Z"
        "#);
    }

    #[test]
    fn a_text_of_several_lines_is_written_in_one() {
        let text = written(&[event(FeedbackKind::Ignore, "a\n[[event]]\nb")]);
        assert_eq!(read(&text).feedback.events, [event(FeedbackKind::Ignore, "a [[event]] b")]);
    }

    #[test]
    fn an_event_cut_anywhere_leaves_the_others_and_is_found() {
        let first = written(&[event(FeedbackKind::Ignore, "known")]);
        let whole = first.clone() + &block(&event(FeedbackKind::Snooze, "later")).unwrap();
        let begin = first.len() + 1;
        for cut in begin + 1..whole.len() - 1 {
            let read = read(&whole[..cut]);
            assert_eq!(read.feedback.events[0], event(FeedbackKind::Ignore, "known"), "{}", &whole[..cut]);
            assert_eq!(read.feedback.events.len(), 1, "{}", &whole[..cut]);
            if !whole[..cut].ends_with('\n') {
                let torn = torn(&whole[..cut]).unwrap();
                assert!(torn <= begin && torn >= heading().len(), "{torn} of {cut}");
            }
        }
        assert_eq!(torn(&whole), None);
        assert_eq!(torn(whole.trim_end()), None);
    }

    #[test]
    fn a_wrong_event_is_named_with_its_line() {
        let text = written(&[event(FeedbackKind::Ignore, "")]).replace("ignore", "forget")
            + "\n[[event]]\nword = 1\n";
        let problems = read(&text).problems;
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 10]);
        assert!(problems[0].1.contains("forget"), "{problems:?}");
        assert!(read("schema = 'laggard.feedback/9'\n").problems[0].1.contains("laggard.feedback/1"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in any::<String>(), tail in "(\\[\\[event\\]\\]\n|[a-z]+ = 1\n){0,4}") {
            read(&(text + "\n" + &tail));
        }
    }
}
