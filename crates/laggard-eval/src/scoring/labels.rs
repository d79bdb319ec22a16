//! Reads a labels file.
//! In: the text of a CSV file. Out: [`Label`]s. Always: a line that cannot be read is an error with its line number,
//! because scores with incomplete labels would be wrong without a warning.

use laggard_core::diagnosis::Cause;
use laggard_core::model::time::Timestamp;
use laggard_core::scores::Window;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// A component, or a server, controller, array or LUN that components belong to.
    pub component: String,
    /// `None`: the begin of the recording.
    pub begin: Option<Timestamp>,
    /// `None`: the end of the recording.
    pub end: Option<Timestamp>,
    /// Empty if unknown.
    pub cause: String,
    pub line: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelsError {
    #[error("line 1: expected the columns component,begin,end,cause, found no {0:?}")]
    Column(&'static str),
    #[error("line {line}: {problem}")]
    Line { line: u64, problem: String },
}

/// Required columns.
const COLUMNS: [&str; 3] = ["component", "begin", "end"];

impl Label {
    pub fn overlaps(&self, window: &Window) -> bool {
        self.begin.is_none_or(|begin| window.end() > begin) && self.end.is_none_or(|end| window.start < end)
    }

    /// `None` if the label has no cause.
    pub fn known_cause(&self) -> Option<Cause> {
        Cause::named(&self.cause)
    }

    /// True if the component is not at fault and only its load differs.
    pub fn is_workload_skew(&self) -> bool {
        self.known_cause() == Some(Cause::WorkloadSkew)
    }
}

pub(crate) fn parse(text: &str) -> Result<Vec<Label>, LabelsError> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let heading = reader.headers().map_err(|error| broken(1, &error))?.clone();
    let column = |name: &str| heading.iter().position(|word| word.eq_ignore_ascii_case(name));
    let missing = COLUMNS.into_iter().find(|name| column(name).is_none());
    if let Some(name) = missing {
        return Err(LabelsError::Column(name));
    }
    let columns = ["component", "begin", "end", "cause"].map(column);
    reader.records().map(|record| label(record, columns)).collect()
}

fn label(record: csv::Result<csv::StringRecord>, columns: [Option<usize>; 4]) -> Result<Label, LabelsError> {
    let record = record.map_err(|error| broken(error.position().map_or(0, csv::Position::line), &error))?;
    let line = record.position().map_or(0, csv::Position::line);
    let wrong = |problem: String| LabelsError::Line { line, problem };
    let [component, begin, end, cause] = columns.map(|at| at.and_then(|at| record.get(at)).unwrap_or(""));
    if component.is_empty() {
        return Err(wrong("expected the name of a component, found nothing".into()));
    }
    let time = |text: &str| (!text.is_empty()).then(|| text.parse::<Timestamp>()).transpose();
    let (begin, end) =
        (time(begin).map_err(|e| wrong(e.to_string()))?, time(end).map_err(|e| wrong(e.to_string()))?);
    if begin.zip(end).is_some_and(|(begin, end)| begin >= end) {
        return Err(wrong("its begin is not before its end".into()));
    }
    if !cause.is_empty() && Cause::named(cause).is_none() {
        let known = Cause::ALL.map(Cause::as_str).join(", ");
        return Err(wrong(format!("{cause:?} is not a cause; there are {known}, or leave it empty")));
    }
    Ok(Label { component: component.into(), begin, end, cause: cause.into(), line })
}

fn broken(line: u64, error: &csv::Error) -> LabelsError {
    LabelsError::Line { line, problem: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::model::time::Span;

    #[test]
    fn empty_times_mean_the_whole_span() {
        let labels = parse("component,begin,end,cause\na:sdb,,,\nb:sdb,2026-11-15,,disk-busy\n").unwrap();
        assert_eq!((labels[0].begin, labels[0].end, labels[0].cause.as_str()), (None, None, ""));
        assert_eq!(labels[1].known_cause(), Some(Cause::DiskBusy));
        assert_eq!(labels[1].line, 3);
    }

    #[test]
    fn a_bad_line_is_reported_with_its_number() {
        let problem = |text: &str| parse(text).unwrap_err().to_string();
        assert!(
            problem("component,begin,end,cause\na,,,\nb,soon,,\n")
                .starts_with("line 3: \"soon\" is not a time")
        );
        assert!(problem("component,begin,end,cause\n,,,\n").starts_with("line 2: expected the name"));
        let backwards = "component,begin,end,cause\na,2026-11-15,2026-11-14,\n";
        assert_eq!(problem(backwards), "line 2: its begin is not before its end");
        let unknown = problem("component,begin,end,cause\na,,,workload-skwe\n");
        assert!(
            unknown.starts_with("line 2: \"workload-skwe\" is not a cause; there are disk-hog, "),
            "{unknown}"
        );
        assert!(problem("name,from,to\n").starts_with("line 1: expected the columns"));
    }

    #[test]
    fn a_label_overlaps_the_windows_that_share_time_with_it() {
        let label =
            &parse("component,begin,end,cause\na,1970-01-01T00:01:00Z,1970-01-01T00:02:00Z,\n").unwrap()[0];
        let window = |from, seconds| Window {
            start: Timestamp::from_seconds(from),
            length: Span::from_seconds(seconds),
        };
        assert!(label.overlaps(&window(0, 61)) && label.overlaps(&window(119, 60)));
        assert!(!label.overlaps(&window(0, 60)) && !label.overlaps(&window(120, 60)));
    }
}
