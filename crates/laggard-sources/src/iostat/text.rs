//! iostat's text output.

use std::io::BufRead;

use laggard_input::{Lines, ReadError};

use super::report::Reports;
use crate::sink::Sink;
use crate::sysstat_text::bad_lines::BadLines;
use crate::sysstat_text::column::{RateTable, Row, Target};
use crate::sysstat_text::date;

const EXPECTED: &str = "at least one report of devices, with a date (iostat -xt)";

/// True if the text has a heading of devices.
pub fn recognises(start: &[u8]) -> bool {
    let is_heading =
        |line| Heading::read(line).is_some_and(|heading| heading.targets.iter().any(Option::is_some));
    String::from_utf8_lossy(start).lines().any(is_heading)
}

/// `host` is used for output without a host name.
pub fn read(input: &mut dyn BufRead, host: &str, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut reader = Reader::new(Reports::new(sink, host));
    let read = reader.lines(Lines::new(input));
    let ended = reader.reports.end_run();
    reader.reports.remark();
    let noted = reader.bad.settle(&mut reader.reports.row_buffer, EXPECTED);
    match ended {
        Err(error) => Err(error),
        Ok(()) => read.and(noted),
    }
}

struct Reader<'s> {
    reports: Reports<'s>,
    state: State,
    /// A second heading with the same columns begins another report.
    headings: Vec<Heading>,
    /// A device name on a line of its own: its values are on the next line.
    pending: Option<String>,
    bad: BadLines,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Before the first report, or in the processor section.
    Elsewhere,
    /// After the time of a report, before its heading.
    Begun,
    Devices,
}

#[derive(PartialEq)]
struct Heading {
    columns: Vec<String>,
    targets: Vec<Option<Target>>,
    is_name_last: bool,
}

impl<'s> Reader<'s> {
    fn new(reports: Reports<'s>) -> Self {
        let bad = BadLines::default();
        Reader { reports, state: State::Elsewhere, headings: Vec::new(), pending: None, bad }
    }

    fn lines(&mut self, mut lines: Lines<&mut dyn BufRead>) -> Result<(), ReadError> {
        while let Some(line) = lines.read_line()? {
            if !line.is_complete || !self.line(&line.text())? {
                self.bad.add_line(&line);
            }
        }
        Ok(())
    }

    /// False for a device line that cannot be read.
    fn line(&mut self, text: &str) -> Result<bool, ReadError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Ok(true);
        }
        if let Some((host, date)) = banner(trimmed) {
            self.reports.begin_run(Some(host), Some(date))?;
            self.begin_section(State::Elsewhere);
        } else if let Some(heading) = Heading::read(trimmed) {
            self.heading(heading)?;
        } else if trimmed.starts_with("avg-cpu") || trimmed.starts_with("Filesystem") {
            self.elsewhere();
        } else if let Some(begun) = self.time(trimmed) {
            begun?;
        } else if self.state == State::Devices {
            return Ok(self.device(text));
        }
        Ok(true)
    }

    fn begin_section(&mut self, state: State) {
        self.state = state;
        self.headings.clear();
        self.pending = None;
    }

    fn elsewhere(&mut self) {
        if self.state == State::Devices {
            self.begin_section(State::Elsewhere);
        }
    }

    /// A line with only a time begins a report.
    fn time(&mut self, text: &str) -> Option<Result<(), ReadError>> {
        let reports = &mut self.reports;
        let clock = text.strip_prefix("Time:").and_then(date::time);
        let time = match clock {
            Some(clock) => reports.at(clock),
            None => Some(reports.calendar.instant(text)?),
        };
        self.begin_section(State::Begun);
        Some(self.reports.begin(time))
    }

    fn heading(&mut self, heading: Heading) -> Result<(), ReadError> {
        let is_another = self.state == State::Elsewhere || self.headings.contains(&heading);
        if is_another {
            self.begin_section(State::Devices);
            self.reports.begin(None)?;
        }
        self.state = State::Devices;
        self.pending = None;
        self.headings.push(heading);
        Ok(())
    }

    fn device(&mut self, text: &str) -> bool {
        let Some(heading) = self.headings.last() else { return true };
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let is_name_alone = words.len() == 1 && !heading.is_name_last;
        let device = match self.pending.take() {
            Some(name) => name,
            None if is_name_alone => return self.wait_for_values(words[0]),
            None if heading.is_name_last => words.pop().unwrap_or_default().to_owned(),
            // Totals of device groups (-g) are indented by a space.
            None if text.starts_with(' ') => return self.pass_over_group(),
            None => words.remove(0).to_owned(),
        };
        match heading.row(&words) {
            Some(row) if heading.is_name_last => self.reports.device_part(&device, row),
            Some(row) => self.reports.device(&device, row),
            None => false,
        }
    }

    /// Old versions print a long name on a line of its own.
    fn wait_for_values(&mut self, device: &str) -> bool {
        self.pending = Some(device.to_owned());
        true
    }

    fn pass_over_group(&mut self) -> bool {
        self.reports.group();
        true
    }
}

impl Heading {
    /// `Device: rrqm/s ...`, `Device r/s ...`, or, with `iostat -h`, `r/s ... Device`.
    fn read(text: &str) -> Option<Heading> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let is_name = |word: Option<&&str>| matches!(word, Some(&("Device" | "Device:")));
        let is_name_last = !is_name(words.first());
        if is_name_last {
            words.pop().filter(|word| is_name(Some(word)))?;
        } else {
            words.remove(0);
        }
        let targets = words.iter().map(|word| Target::named(RateTable::Disk, word)).collect();
        Some(Heading { columns: words.into_iter().map(str::to_owned).collect(), targets, is_name_last })
    }

    fn row(&self, words: &[&str]) -> Option<Row> {
        let mut row = Row::new(RateTable::Disk);
        let fits = words.len() == self.targets.len();
        let set =
            |(target, word): (&Option<Target>, &&str)| target.is_none_or(|target| row.set_text(target, word));
        let all = self.targets.iter().zip(words).all(set);
        (fits && all).then_some(row)
    }
}

/// `Linux 6.1.0 (oss1) 11/15/26 _x86_64_ (2 CPU)`: the host and the date.
pub(crate) fn banner(text: &str) -> Option<(&str, &str)> {
    let (system, rest) = text.split_once(" (")?;
    let (host, rest) = rest.split_once(')')?;
    let date = rest.split_whitespace().next()?;
    let is_banner = system.split(' ').count() == 2 && date.chars().any(|c| c.is_ascii_digit());
    is_banner.then_some((host, date))
}
