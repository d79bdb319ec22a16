//! The scores file: every verdict, for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use laggard_core::examination::Examined;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::time::Timestamp;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::atomic_file::AtomicFile;

/// Writes verdicts, as Parquet or CSV by the file's name.
pub struct Scores {
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
    pub fn create(path: &Path) -> anyhow::Result<Scores> {
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

    /// Writes what a method said.
    pub fn write(&mut self, inventory: &Inventory, examined: &[Examined]) -> anyhow::Result<()> {
        for examined in examined {
            match &mut self.form {
                Form::Csv(csv) => write_csv(csv, inventory, examined)?,
                Form::Parquet(writer) => write_parquet(writer, inventory, examined)?,
            }
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> anyhow::Result<()> {
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

fn lines<'a>(inventory: &'a Inventory, examined: &'a Examined) -> impl Iterator<Item = Line<'a>> {
    let group = &inventory.groups[examined.group];
    examined.judgements.iter().flat_map(move |judgement| {
        judgement.windows.iter().flat_map(move |judged| {
            group.members.iter().zip(&judged.scores).map(move |(&member, verdict)| Line {
                start: judged.window.start.micros(),
                seconds: judged.window.length.seconds(),
                component: &inventory.components[member].name,
                group: &group.name,
                metric: judgement.metric.name,
                score: verdict.score,
                threshold: verdict.threshold,
                is_anomalous: verdict.is_anomalous,
                is_faulty: verdict.is_faulty,
            })
        })
    })
}

fn write_csv(csv: &mut impl Write, inventory: &Inventory, examined: &Examined) -> anyhow::Result<()> {
    for line in lines(inventory, examined) {
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
    examined: &Examined,
) -> anyhow::Result<()> {
    const ROWS_AT_ONCE: usize = 1 << 20;
    let mut rows = lines(inventory, examined).peekable();
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
