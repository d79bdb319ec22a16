//! Plays the cells of a campaign, one after the other.
//! Always: what is in the folder of a cell, with a `result.json`, is whole; a campaign that is played again goes on where
//! it stopped.

use std::path::{Path, PathBuf};
use std::time::Instant;

use regex::Regex;
use serde_json::json;

use super::config::{Config, StopOn};
use super::recovery::{self, Turn};
use super::schedule::{self, Schedule};
use crate::machine::place::Place;
use crate::machine::{LabError, needs};
use crate::runner::case::Cell;
use crate::runner::frame::{self, Played};
use crate::runner::queue::{self, Sum};
use crate::runner::result::{CellResult, Verdict};
use crate::runner::steps::Stage;

/// What shall be played.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only cells whose names fit.
    pub cells: Option<Regex>,
    /// Whether a run that is there is gone on with.
    pub resume: bool,
}

/// What is heard of a campaign.
pub type News<'a> = queue::News<'a, Cell, CellResult>;

/// The folder of a run.
pub fn folder(config: &Config) -> PathBuf {
    config.out.join(format!("{}-{}", config.name, config.seed))
}

/// The folder of a cell.
pub fn cell_folder(run: &Path, cell: &Cell) -> PathBuf {
    run.join("cell").join(cell.name())
}

/// The result of a cell that is over; none where it is not. One that is not whole is an error.
pub fn read_result(folder: &Path) -> Result<Option<CellResult>, LabError> {
    let path = folder.join("result.json");
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(LabError::at(&path))?,
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        LabError::Input(format!("{} is not whole ({error}): the cell counts as not played", path.display()))
    })
}

/// The result of a cell that is over and whole.
pub fn read(folder: &Path) -> Option<CellResult> {
    read_result(folder).ok().flatten()
}

/// Plays what has not been played yet.
pub fn play_all(
    config: &Config,
    wanted: &Wanted,
    is_over: &(dyn Fn() -> bool + Sync),
    hear: &dyn Fn(News),
) -> Result<Sum, LabError> {
    let run = prepare(config, wanted)?;
    let turn = Turn::take(&run)?;
    write_down(config, &run)?;
    for recovered in recovery::recover(&run, config, &turn)? {
        hear(News::Warning(&recovered.told(&run)));
    }
    let warm = config.warm_checks().join(", ");
    if !warm.is_empty() {
        hear(News::Warning(&warm_warning(&warm)));
    }
    let cells: Vec<Cell> =
        Schedule::of(config).cells.into_iter().filter(|cell| wanted.fits(&cell.name())).collect();
    let is_done = |cell: &&Cell| match read_result(&cell_folder(&run, cell)) {
        Ok(result) => result.is_some(),
        Err(error) => {
            hear(News::Warning(&error.to_string()));
            false
        }
    };
    let (done, left): (Vec<&Cell>, Vec<&Cell>) = cells.iter().partition(is_done);
    let mut sum = Sum { before: done.len(), ..Sum::default() };
    if let (Some(_), false) = (&config.lab, left.is_empty()) {
        // No cell can be better than the machine.
        needs::check(&config.adapter.needs)?;
    }
    let begin = Instant::now();
    let stage = Stage { config, is_over, tell: &|line| hear(News::Line(line)) };
    for (number, cell) in left.iter().enumerate() {
        let each = (number > 0).then(|| begin.elapsed() / u32::try_from(number).unwrap_or(1));
        let remaining = each.map(|each| each * u32::try_from(left.len() - number).unwrap_or(1));
        hear(News::Begin(cell, done.len() + number + 1, cells.len(), remaining));
        let folder = cell_folder(&run, cell);
        clear(&folder)?;
        let result = match frame::play(stage, cell, &folder)? {
            Played::Whole(result) => result,
            Played::CutShort(why, left) => {
                if let Some(why) = why {
                    hear(News::Warning(&format!("{why}: healed, taken down, and no further")));
                }
                left.iter().for_each(|left| hear(News::Warning(&format!("left behind: {left}"))));
                return Ok(Sum { is_cut_short: true, ..sum });
            }
        };
        sum.now += 1;
        hear(News::End(&result));
        let verdict = result.verdict();
        sum.failed += usize::from(matches!(verdict, Verdict::InfraFail | Verdict::Dirty));
        if is_enough(config.stop_on, verdict) {
            return Ok(Sum { is_cut_short: true, ..sum });
        }
    }
    Ok(sum)
}

/// What must be said of checks that may be answered from memory.
pub fn warm_warning(checks: &str) -> String {
    format!(
        "check.{checks}: an ok may come from caches and is not to be trusted: set fresh_mount = true and drop_caches = true"
    )
}

impl Wanted {
    fn fits(&self, name: &str) -> bool {
        self.cells.as_ref().is_none_or(|pattern| pattern.is_match(name))
    }
}

fn is_enough(stop_on: StopOn, verdict: Verdict) -> bool {
    match stop_on {
        StopOn::Never => false,
        StopOn::Dirty => verdict == Verdict::Dirty,
        StopOn::Fail => matches!(verdict, Verdict::Dirty | Verdict::InfraFail),
    }
}

/// Makes the folder of a run, or finds it as it was.
fn prepare(config: &Config, wanted: &Wanted) -> Result<PathBuf, LabError> {
    let out = std::path::absolute(&config.out).map_err(LabError::at(&config.out))?;
    let run = out.join(format!("{}-{}", config.name, config.seed));
    if run.starts_with("/run") {
        return Err(LabError::Input(format!(
            "{}: hosts have a /run of their own: choose another `out`",
            run.display()
        )));
    }
    let path = run.join("campaign.toml");
    match std::fs::read_to_string(&path) {
        Ok(_) if !wanted.resume => {
            return Err(LabError::Input(format!(
                "{} is there already: --resume goes on with it, another seed or `out` makes another",
                run.display()
            )));
        }
        Ok(text) if text != config.text => {
            return Err(LabError::Input(format!(
                "{}: the campaign was another one when this run began: choose another `out`",
                path.display()
            )));
        }
        Ok(_) => {}
        Err(_) => {
            std::fs::create_dir_all(&run).map_err(LabError::at(&run))?;
            for (name, text) in &config.files {
                let path = run.join(name);
                std::fs::write(&path, text).map_err(LabError::at(&path))?;
            }
            std::fs::write(&path, &config.text).map_err(LabError::at(&path))?;
        }
    }
    Ok(run)
}

/// What was decided, and on what kind of machine.
fn write_down(config: &Config, run: &Path) -> Result<(), LabError> {
    schedule::write(&run.join("schedule.json"), &Schedule::of(config))?;
    schedule::write(&run.join("fingerprint.json"), &fingerprint(config))
}

fn fingerprint(config: &Config) -> serde_json::Value {
    let kernel = Place::Here.run(&["uname", "-sr"]).unwrap_or_default();
    json!({
        "kernel": kernel.trim(),
        "booted_us": crate::runner::stat::booted_us(),
        "adapter": config.adapter.name,
        "adapter_sum": schedule::sum(&format!("{:?}", config.adapter)),
        "config_sum": schedule::sum(&config.text),
        "laggard": env!("CARGO_PKG_VERSION"),
    })
}

/// What is left of a cell that was cut short.
fn clear(folder: &Path) -> Result<(), LabError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(LabError::at(folder)(error)),
        _ => Ok(()),
    }
}
