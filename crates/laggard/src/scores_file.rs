//! The scores file: every verdict, for other programs; and the observer that writes it.

use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use laggard_core::evaluation::GroupScores;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::time::Timestamp;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use indicatif::ProgressBar;
use laggard_core::pipeline::{Observer, Stage};
use laggard_core::report::Timings;

use crate::atomic_file::AtomicFile;
use crate::progress;

/// Writes verdicts, as Parquet or CSV by the file's name.
pub(crate) struct Scores {
    place: AtomicFile,
    form: Form,
}

enum Form {
    Csv(BufWriter<File>),
    Parquet(Box<ArrowWriter<File>>),
}

const HEADING: &str = "window_start,window_seconds,component,group,metric,score,threshold,anomalous,faulty";

impl Scores {
    /// Begins the file.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Scores> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !matches!(extension, Some("csv" | "parquet")) {
            bail!("{}: expected a name that ends in .parquet or .csv", path.display());
        }
        let place = AtomicFile::create(path)?;
        let form = if extension == Some("csv") {
            let mut csv = BufWriter::new(place.handle()?);
            writeln!(csv, "{HEADING}")?;
            Form::Csv(csv)
        } else {
            Form::Parquet(Box::new(parquet(place.handle()?)?))
        };
        Ok(Scores { place, form })
    }

    /// Begins the file again.
    fn restart(&mut self) -> anyhow::Result<()> {
        let mut file = self.place.handle()?;
        file.set_len(0)?;
        file.rewind()?;
        let again = match &self.form {
            Form::Csv(_) => {
                writeln!(file, "{HEADING}")?;
                Form::Csv(BufWriter::new(file))
            }
            Form::Parquet(_) => Form::Parquet(Box::new(parquet(file)?)),
        };
        // What the old writer still has in memory must not follow.
        if let Form::Csv(old) = std::mem::replace(&mut self.form, again) {
            let _ = old.into_parts();
        }
        Ok(())
    }

    /// Writes what a method said.
    pub(crate) fn write(&mut self, inventory: &Inventory, verdicts: &[GroupScores]) -> anyhow::Result<()> {
        for of_group in verdicts {
            match &mut self.form {
                Form::Csv(csv) => write_csv(csv, inventory, of_group)?,
                Form::Parquet(writer) => write_parquet(writer, inventory, of_group)?,
            }
        }
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self.form {
            Form::Csv(mut csv) => csv.flush()?,
            Form::Parquet(writer) => {
                writer.close()?;
            }
        }
        self.place.finish()
    }
}

fn parquet(file: File) -> anyhow::Result<ArrowWriter<File>> {
    let settings =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    Ok(ArrowWriter::try_new(file, batch(Vec::new())?.schema(), Some(settings))?)
}

struct Line<'a> {
    start: i64,
    seconds: f64,
    component: &'a str,
    group: &'a str,
    metric: &'static str,
    score: f32,
    threshold: f32,
    is_anomalous: bool,
    is_faulty: bool,
}

fn lines<'a>(inventory: &'a Inventory, verdicts: &'a GroupScores) -> impl Iterator<Item = Line<'a>> {
    let group = &inventory.groups[verdicts.group];
    verdicts.metrics.iter().flat_map(move |metric_scores| {
        metric_scores.windows.iter().flat_map(move |scored| {
            group.members.iter().zip(&scored.scores).map(move |(&member, verdict)| Line {
                start: scored.window.start.micros(),
                seconds: scored.window.length.seconds(),
                component: &inventory.components[member].name,
                group: &group.name,
                metric: metric_scores.metric.name,
                score: verdict.score,
                threshold: verdict.threshold,
                is_anomalous: verdict.is_anomalous,
                is_faulty: verdict.is_faulty,
            })
        })
    })
}

fn write_csv(csv: &mut impl Write, inventory: &Inventory, verdicts: &GroupScores) -> anyhow::Result<()> {
    for line in lines(inventory, verdicts) {
        let start = Timestamp::from_micros(line.start);
        writeln!(
            csv,
            "{start},{},{},{},{},{},{},{},{}",
            line.seconds,
            quoted(line.component),
            quoted(line.group),
            line.metric,
            line.score,
            line.threshold,
            line.is_anomalous,
            line.is_faulty
        )?;
    }
    Ok(())
}

/// A name as CSV has it.
fn quoted(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

fn write_parquet(
    writer: &mut ArrowWriter<File>,
    inventory: &Inventory,
    verdicts: &GroupScores,
) -> anyhow::Result<()> {
    const ROWS_AT_ONCE: usize = 1 << 20;
    let mut rows = lines(inventory, verdicts).peekable();
    while rows.peek().is_some() {
        writer.write(&batch(rows.by_ref().take(ROWS_AT_ONCE).collect())?)?;
    }
    Ok(())
}

fn batch(lines: Vec<Line>) -> anyhow::Result<RecordBatch> {
    let texts = |text: fn(&Line) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(lines.iter().map(text)))
    };
    let start =
        TimestampMicrosecondArray::from_iter_values(lines.iter().map(|l| l.start)).with_timezone("UTC");
    Ok(RecordBatch::try_from_iter([
        ("window_start", Arc::new(start) as ArrayRef),
        ("window_seconds", Arc::new(Float64Array::from_iter_values(lines.iter().map(|l| l.seconds)))),
        ("component", texts(|l| l.component.to_owned())),
        ("group", texts(|l| l.group.to_owned())),
        ("metric", texts(|l| l.metric.to_owned())),
        ("score", Arc::new(Float32Array::from_iter_values(lines.iter().map(|l| l.score)))),
        ("threshold", Arc::new(Float32Array::from_iter_values(lines.iter().map(|l| l.threshold)))),
        ("anomalous", Arc::new(BooleanArray::from_iter(lines.iter().map(|l| Some(l.is_anomalous))))),
        ("faulty", Arc::new(BooleanArray::from_iter(lines.iter().map(|l| Some(l.is_faulty))))),
    ])?)
}

/// Follows a diagnosis: writes scores, shows progress, and measures the time of each stage.
pub(crate) struct ScoreWriter {
    scores: Option<Scores>,
    failure: Option<anyhow::Error>,
    bar: ProgressBar,
    begun: Instant,
    /// The current stage, and when it began.
    stage: (Stage, Instant),
    timings: Timings,
}

impl ScoreWriter {
    pub(crate) fn new(scores: Option<Scores>) -> ScoreWriter {
        let (now, bar) = (Instant::now(), progress::over_shares());
        let timings = Timings::default();
        ScoreWriter { scores, failure: None, bar, begun: now, stage: (Stage::Read, now), timings }
    }

    /// Completes the scores file.
    pub(crate) fn finish(mut self) -> anyhow::Result<Timings> {
        self.bar.finish_and_clear();
        self.timings.total_seconds = self.begun.elapsed().as_secs_f64();
        match (self.failure, self.scores) {
            (Some(failure), _) => Err(failure),
            (None, Some(scores)) => scores.finish().map(|()| self.timings),
            (None, None) => Ok(self.timings),
        }
    }
}

impl Observer for ScoreWriter {
    fn stage(&mut self, next: Stage) {
        let (stage, since) = std::mem::replace(&mut self.stage, (next, Instant::now()));
        let seconds = since.elapsed().as_secs_f64();
        match stage {
            Stage::Read => self.timings.read_seconds += seconds,
            Stage::Evaluate => self.timings.detect_seconds += seconds,
            Stage::Explain => self.timings.explain_seconds += seconds,
            Stage::Limits => self.timings.limits_seconds += seconds,
            Stage::Done => {}
        }
    }

    fn progress(&mut self, done: f64) {
        self.bar.set_position((done * progress::SHARES as f64) as u64);
    }

    fn restart(&mut self) {
        let restarted = self.scores.as_mut().map_or(Ok(()), Scores::restart);
        self.failure = restarted.err();
    }

    fn verdicts(&mut self, inventory: &Inventory, verdicts: &[GroupScores]) -> ControlFlow<()> {
        let written = self.scores.as_mut().map_or(Ok(()), |scores| scores.write(inventory, verdicts));
        self.failure = self.failure.take().or(written.err());
        if self.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
