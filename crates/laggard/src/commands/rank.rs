//! `laggard rank`: the components that have differed from their peers for longest, hour by hour.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use laggard_core::model::component::Kind;
use laggard_core::model::time::Timestamp;
use laggard_core::pipeline::{HourlyRanking, NumberedGroup, rank, threshold_warnings};
use laggard_core::recording::Recording;
use laggard_core::report::number::count;
use laggard_core::report::warning_texts::remark;
use laggard_core::suspects::ranked::{HourList, LISTED, Ranked, RankedBy};
use laggard_store::dataset_recording::DatasetRecording;
use serde::Serialize;

use super::tables;
use crate::failure::{Done, Outcome, tell};
use crate::method_options::MethodOptions;
use crate::timeframe::Timeframe;
use crate::{output, progress};

/// List, hour by hour, the components that have differed from their peers for longest.
///
/// Each component has a count: plus one for each anomalous window, minus one for each other window, never below 0. A line is an
/// hour, with the components of the highest counts as they stand at its end: the count, the number of the peer group, and the
/// name. With --by incident, components whose anomalies a common container explains, such as a controller, have one place,
/// and the severity is shown: how many times worse than its peers. `laggard feedback` zeroes or hides components.
#[derive(Args)]
#[command(
    mut_arg("method", |method| method.default_value("production")),
    after_help = "\
Examples:
  laggard rank data --thresholds thresholds.toml
  laggard rank data --top 4 --from -1d
  laggard rank data --by incident --top 10
  laggard rank data --json | jq '.hours[-1].places[0]'

Exit status: 0 done, 2 usage or input error, 4 data too poor to evaluate."
)]
pub(crate) struct Rank {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// The cluster file. Default: cluster.toml in the dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    timeframe: Timeframe,
    /// A place for each component, or one for all components whose anomalies a container explains.
    #[arg(long, value_enum, default_value_t)]
    by: By,
    /// Places listed each hour.
    #[arg(long, value_name = "N", default_value_t = LISTED as u16, value_parser = value_parser!(u16).range(1..))]
    top: u16,
    /// Print JSON: see docs/operating.md.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum By {
    /// As in the Intrepid paper.
    #[default]
    Component,
    /// Containers, and components that no container explains, with their severity.
    Incident,
}

impl Rank {
    pub(crate) fn run(self) -> Outcome {
        let dataset = tables::open(&self.dataset)?;
        let mut recording = DatasetRecording::open(dataset, self.cluster.as_deref(), self.timeframe.ends()?)?;
        let choice = self.method.parsed()?;
        let method = choice.method(recording.times().length()?, false)?;
        let bar = progress::over_shares();
        let by = match self.by {
            By::Component => RankedBy::Component,
            By::Incident => RankedBy::Incident,
        };
        let ranking = rank(&mut recording, &*method, by, self.top.into(), &mut |done| {
            bar.set_position((done * progress::SHARES as f64) as u64);
        });
        bar.finish_and_clear();
        recording.problems().iter().for_each(tell);
        let ranking = ranking?;
        for warning in threshold_warnings(&choice, &ranking.metrics).iter().map(remark) {
            tell(format_args!("  !  {}\n  -> {}", warning.text, warning.next));
        }
        self.print(method.name(), &ranking)?;
        Ok(if recording.has_problems() { Done::WithErrors } else { Done::Well })
    }

    fn print(&self, method: &str, ranking: &HourlyRanking) -> anyhow::Result<()> {
        if self.json {
            return output::json(&document(method, ranking));
        }
        let mut out = output::stdout();
        write!(out, "{}", ranking.lists)?;
        out.flush()?;
        for NumberedGroup { number, name, members, .. } in &ranking.groups {
            tell(format_args!("group {number}: {name} ({})", count(*members, "member")));
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    method: &'a str,
    groups: &'a [NumberedGroup],
    hours: Vec<Hour<'a>>,
}

#[derive(Serialize)]
struct Hour<'a> {
    hour: Timestamp,
    places: Vec<Place<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    persistence: u32,
    severity: Option<f64>,
    group: Option<usize>,
    kind: &'a Kind,
    component: &'a str,
    explains: &'a [String],
}

fn document<'a>(method: &'a str, ranking: &'a HourlyRanking) -> Document<'a> {
    let place = |place: &'a Ranked| Place {
        persistence: place.persistence,
        severity: place.severity.map(|severity| (severity * 1000.0).round() / 1000.0),
        group: place.group,
        kind: &place.kind,
        component: &place.component,
        explains: &place.explains,
    };
    let hour = |list: &'a HourList| Hour { hour: list.hour, places: list.places.iter().map(place).collect() };
    let hours = ranking.lists.hours.iter().map(hour).collect();
    Document { schema: "laggard.rank/1", method, groups: &ranking.groups, hours }
}
