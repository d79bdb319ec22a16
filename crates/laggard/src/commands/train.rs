//! `laggard train`: thresholds from a calm recording.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use laggard_core::methods::laggard::{Laggard, Settings};
use laggard_core::methods::papers::thresholds::{Origin, Thresholds};
use laggard_core::model::time::Span;
use laggard_core::report::html::training;
use laggard_core::report::number::{instant, ratio, significant, span};
use laggard_core::report::trained::{Lesson, Trained};
use laggard_core::report::{Report, Suspect, Warning, foreign, words};
use laggard_core::suspects::feedback::Feedback;

use super::tables;
use crate::arguments::now;
use crate::atomic_file::AtomicFile;
use crate::choosing::Details;
use crate::diagnosing::{Unwatched, diagnose};
use crate::examining::Recording;
use crate::failure::{Outcome, TooPoor, tell};
use crate::timeframe::Timeframe;
use crate::training::{Class, Learnt, Shown, Trainable};
use crate::{output, progress};

/// Learn from a calm recording how unlike its peers each component may be.
///
/// For the methods production and testbench; the method laggard needs no training. The recording should be calm: choose
/// a time in which nobody was in trouble and the system had work to do. Whether it was is checked, and --html shows it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard train data -o thresholds.toml --from 2026-11-14 --to 2026-11-15 --html calm.html
  laggard train stress -o bench.toml --method testbench
  laggard diagnose data --method production --thresholds thresholds.toml

Exit status: 0 done, 2 usage or input error, 4 too little to learn from.")]
pub struct Train {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// Where to write the thresholds.
    #[arg(short, long, value_name = "THRESHOLDS.toml")]
    out: PathBuf,
    /// The method to train.
    #[arg(long, value_enum, default_value_t)]
    method: Word,
    #[command(flatten)]
    details: Details,
    /// The cluster file. Default: cluster.toml in the dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    #[command(flatten)]
    timeframe: Timeframe,
    /// Write a page with all members of each group in one picture, to see that the time was calm.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// A method that is trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Word {
    /// Intrepid in production: cumulative histograms over 15 minutes, every 15 s.
    #[default]
    Production,
    /// FAST '10 test bench: histograms over 64 s, every second.
    Testbench,
}

/// The paper trained on a day (4.2.1); what comes once a day is not in less. A day's recording lacks a little of it.
const ENOUGH: Span = Span::from_seconds(23 * 3600);
/// Suspects that are named.
const MOST_NAMED: usize = 5;

impl Train {
    pub fn run(self) -> Outcome {
        let out = AtomicFile::create(&self.out)?;
        let page = self.html.as_deref().map(AtomicFile::create).transpose()?;
        let dataset = tables::open(&self.dataset)?;
        let mut recording = Recording::open(dataset, self.cluster.as_deref(), self.timeframe.ends()?)?;
        // A repaired component was broken before: that it is well now does not make the training span calm.
        recording.feedback = Feedback::default();
        let trained = self.trained(&mut recording, out);
        recording.problems.iter().for_each(tell);
        self.tell(&trained?, page)?;
        Ok(recording.done())
    }

    fn trainable(&self) -> Trainable {
        match self.method {
            Word::Production => Trainable::Production(self.details.published()),
            Word::Testbench => Trainable::Testbench(self.details.published()),
        }
    }

    /// Learns, writes the thresholds, and looks whether they can be relied on.
    fn trained(&self, recording: &mut Recording, out: AtomicFile) -> anyhow::Result<Trained> {
        let trainable = self.trainable();
        let step = trainable.method().step(recording.slowest);
        let (from, to) = recording.ends(step)?;
        let shown = self.html.is_some().then_some(Shown { from, to, step });
        let Learnt { groups, refused, pictures } = learn(recording, &trainable, shown)?;
        let needed = trainable.method().needs(recording.slowest).unwrap_or(Span::ZERO);
        // What asks for less time could be learnt alone, and would pass for all.
        if groups.is_empty() || (!refused.is_empty() && to - from < needed) {
            let first = refused.first().map_or_else(|| "no metric was recorded".into(), ToString::to_string);
            let (length, needed, name) = (span(to - from), span(needed), trainable.method().name());
            bail!(TooPoor(format!(
                "too little to learn from {length}, {name} needs {needed} at least: {first}"
            )));
        }
        let origin = Origin {
            dataset: self.dataset.clone(),
            from,
            to,
            method: trainable.method().name().into(),
            measure: trainable.measure(),
            date: now(),
        };
        let lessons = groups.iter().map(Lesson::of).collect();
        out.write(&Thresholds::new(origin.clone(), groups).to_toml()?)?;
        let mut warnings: Vec<Warning> = refused.iter().map(untaught).collect();
        warnings.extend(short(&origin, self.method));
        let suspects = match calmness(recording) {
            Ok(report) => report.suspects,
            // The thresholds are there: that nobody can say whether to trust them is worth a warning, not more.
            Err(error) => {
                warnings.push(unchecked(&error));
                Vec::new()
            }
        };
        warnings.extend(troubled(&suspects));
        let mut trained = Trained { origin, lessons, warnings, pictures };
        name_outsiders(&mut trained, &suspects);
        Ok(trained)
    }

    fn tell(&self, trained: &Trained, page: Option<AtomicFile>) -> anyhow::Result<()> {
        page.map_or(Ok(()), |page| page.write(&training::page(trained)))?;
        output::print(&lines(&trained.lessons))?;
        let mut out = output::stdout();
        out.write_all(standing_out(&trained.lessons).as_bytes())?;
        out.flush()?;
        for Warning { text, next } in &trained.warnings {
            tell(format_args!("  !  {text}\n  -> {next}"));
        }
        let (out, origin) = (self.out.display(), &trained.origin);
        tell(format_args!(
            "{}: from {} to {} ({}); use it with --method {} --thresholds {}",
            out,
            instant(origin.from),
            instant(origin.to),
            span(origin.to - origin.from),
            origin.method,
            out
        ));
        if let Some(path) = &self.html {
            tell(format_args!("look whether it was calm: {}", path.display()));
        }
        Ok(())
    }
}

fn learn(recording: &mut Recording, trainable: &Trainable, shown: Option<Shown>) -> anyhow::Result<Learnt> {
    let class = Class::new(trainable, shown);
    let bar = progress::over_shares();
    let examined = recording.examine(&class, &mut |_, done| {
        bar.set_position((done * progress::SHARES as f64) as u64);
        Ok(())
    });
    bar.finish_and_clear();
    examined?;
    Ok(class.learnt())
}

/// What the method laggard, which needs no training, says of the same time.
fn calmness(recording: &mut Recording) -> anyhow::Result<Report> {
    let settings = Settings { span: Some(recording.span()?), ..Settings::default() };
    let method = Laggard { settings, only: Vec::new() };
    diagnose(recording, &method, &mut Unwatched)
}

fn unchecked(error: &anyhow::Error) -> Warning {
    Warning {
        text: format!("whether the training span was calm could not be checked: {error:#}"),
        next: "look at it yourself: --html FILE".into(),
    }
}

fn troubled(suspects: &[Suspect]) -> Option<Warning> {
    let named: Vec<String> = suspects.iter().map(in_short).collect();
    (!suspects.is_empty()).then(|| Warning {
        text: format!("the training span is not calm: {}", foreign::listed_with(&named, MOST_NAMED, "; ")),
        next: "choose a calmer time with --from and --to, or mend it and record anew. Only these components are \
               affected: their later trouble will be told late or not at all"
            .into(),
    })
}

fn in_short(suspect: &Suspect) -> String {
    let (name, cause) = (&suspect.component.name, words::cause(suspect.cause));
    format!("{name} ({cause}, {} to {})", instant(suspect.since), instant(suspect.until))
}

fn untaught(too_little: &laggard_core::methods::papers::training::TooLittle) -> Warning {
    Warning {
        text: format!("not trained: {too_little}"),
        next: "with these thresholds this metric of the group goes by its own spread, as if untrained".into(),
    }
}

fn short(origin: &Origin, method: Word) -> Option<Warning> {
    let length = origin.to - origin.from;
    (method == Word::Production && length < ENOUGH).then(|| Warning {
        text: format!("trained on {}: what happens once a day may be missing", span(length)),
        next: "train on a whole day, or on a stress test with all kinds of work".into(),
    })
}

/// Suspects, and those whose thresholds stand out, are named in the pictures.
fn name_outsiders(trained: &mut Trained, suspects: &[Suspect]) {
    let suspects: Vec<&String> = suspects.iter().flat_map(|one| &one.explains).collect();
    for shown in &mut trained.pictures {
        let lesson = trained.lessons.iter().find(|l| l.group == shown.group && l.metric == shown.metric.id);
        let standing_out = lesson.map_or(&[][..], |lesson| &lesson.standing_out);
        let names = suspects.iter().copied().chain(standing_out.iter().map(|one| &one.component));
        let mut places: Vec<usize> =
            names.filter_map(|name| shown.names.iter().position(|known| known == name)).collect();
        let mut seen = BTreeSet::new();
        places.retain(|place| seen.insert(*place));
        shown.standing_out = places;
    }
}

fn lines(lessons: &[Lesson]) -> comfy_table::Table {
    let heading = ["peer group", "metric", "thresholds", "windows", "lowest", "median", "highest"];
    let mut table = output::table(&heading, &[2, 3, 4, 5, 6]);
    for lesson in lessons {
        table.add_row([
            lesson.group.clone(),
            lesson.metric.to_string(),
            lesson.thresholds.to_string(),
            lesson.windows.to_string(),
            significant(lesson.lowest),
            significant(lesson.median),
            significant(lesson.highest),
        ]);
    }
    table
}

/// The highest thresholds, if they are far above the others.
fn standing_out(lessons: &[Lesson]) -> String {
    let mut all: Vec<(f64, String)> = Vec::new();
    for lesson in lessons {
        let told = lesson.standing_out.iter().map(|one| {
            let times = ratio(one.ratio);
            (
                one.ratio,
                format!("  {}: {}, {times} the median of {}\n", one.component, lesson.metric, lesson.group),
            )
        });
        all.extend(told);
    }
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    if all.is_empty() {
        return "\nNo threshold stands out.\n".into();
    }
    let heading = "\nThresholds far above the others: were these in trouble?\n".to_owned();
    all.into_iter().take(MOST_NAMED).fold(heading, |told, (_, line)| told + &line)
}
