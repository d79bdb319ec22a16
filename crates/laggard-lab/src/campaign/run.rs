//! Runs the cases of a campaign, one after the other.
//! Always: a case with a `result.json` is finished; a campaign that is run again continues where it ended.

use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::json;

use super::campaign_schedule::Schedule;
use super::config::{Config, StopOn};
use super::recovery::{self, RunLock};
use crate::machine::place::Place;
use crate::machine::{LabError, needs};
use crate::runner::case::Case;
use crate::runner::case_plan::{Callbacks, CasePlan};
use crate::runner::case_schedule::{Origin, checksum};
use crate::runner::files::{booted_us, remove, write_json};
use crate::runner::lifecycle::{self, CaseOutcome};
use crate::runner::queue::{self, CaseEnd, Event, Summary};
use crate::runner::result::{CaseResult, Verdict};

#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only cases whose names match.
    pub cases: Option<Regex>,
    /// Continue a run that exists.
    pub resume: bool,
}

/// The folder of a run.
pub fn folder(config: &Config) -> PathBuf {
    config.out.join(format!("{}-{}", config.name, config.seed))
}

pub fn case_folder(run: &Path, case: &Case) -> PathBuf {
    run.join("case").join(case.name())
}

/// The result of a case; none if it is not finished. A truncated one is an error.
pub fn read_result(folder: &Path) -> Result<Option<CaseResult>, LabError> {
    let path = folder.join("result.json");
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(LabError::at(&path))?,
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        LabError::Input(format!("{} is incomplete ({error}): the case counts as not run", path.display()))
    })
}

/// The result of a finished case.
pub fn read(folder: &Path) -> Option<CaseResult> {
    read_result(folder).ok().flatten()
}

/// Runs the cases that are not finished.
pub fn run_all(
    config: &Config,
    selection: &Selection,
    is_over: &(dyn Fn() -> bool + Sync),
    notify: &dyn Fn(Event),
) -> Result<Summary, LabError> {
    let run = prepare(config, selection)?;
    let lock = RunLock::take(&run)?;
    let schedule = Schedule::of(config);
    write_json(&run.join("schedule.json"), &schedule)?;
    write_json(&run.join("fingerprint.json"), &fingerprint(config))?;
    for recovered in recovery::recover(&run, config, &lock)? {
        notify(Event::Warning(&recovered.describe(&run)));
    }
    config.warm_warning().iter().for_each(|warning| notify(Event::Warning(warning)));
    let cases: Vec<Case> =
        schedule.cases.into_iter().filter(|case| selection.includes(&case.name())).collect();
    let is_finished = |case: &Case| match read_result(&case_folder(&run, case)) {
        Ok(result) => result.is_some(),
        Err(error) => {
            notify(Event::Warning(&error.to_string()));
            false
        }
    };
    if config.steps.system.new_lab().is_some()
        && !cases.iter().all(|case| read(&case_folder(&run, case)).is_some())
    {
        // Otherwise every case would fail for the same reason.
        needs::check(&config.steps.adapter.needs)?;
    }
    let origin = config.origin();
    let callbacks = Callbacks { is_over, progress: &|line| notify(Event::Progress(line)) };
    queue::run_all(&cases, Case::name, is_finished, None, notify, |case| {
        let folder = case_folder(&run, case);
        remove(&folder)?;
        run_one(config, &origin, case, &folder, callbacks, notify)
    })
}

fn run_one(
    config: &Config,
    origin: &Origin,
    case: &Case,
    folder: &Path,
    callbacks: Callbacks,
    notify: &dyn Fn(Event),
) -> Result<CaseEnd, LabError> {
    match lifecycle::run(config.plan(case, folder, origin), callbacks)? {
        CaseOutcome::Finished(result) => {
            notify(Event::End(&result));
            let verdict = result.verdict();
            let is_failed = matches!(verdict, Verdict::InfraFail | Verdict::Dirty);
            Ok(CaseEnd { is_finished: true, is_failed, is_last: is_enough(config.stop_on, verdict) })
        }
        CaseOutcome::CutShort(why, left) => {
            if let Some(why) = why {
                notify(Event::Warning(&format!("{why}: reverted and removed; no other case is run")));
            }
            left.iter().for_each(|left| notify(Event::Warning(&format!("left behind: {left}"))));
            Ok(CaseEnd { is_last: true, ..CaseEnd::default() })
        }
    }
}

impl Config {
    /// The campaign, as schedules name it.
    pub(crate) fn origin(&self) -> Origin {
        Origin::new(&self.name, self.seed, &self.text)
    }

    pub(crate) fn plan<'a>(&'a self, case: &'a Case, folder: &'a Path, origin: &'a Origin) -> CasePlan<'a> {
        let fault = case.fault.as_ref().and_then(|fault| self.faults.get(fault));
        CasePlan { case, fault, steps: &self.steps, folder, origin: Some(origin) }
    }

    /// A warning about checks that may read from caches.
    pub(crate) fn warm_warning(&self) -> Option<String> {
        let warm = self.warm_checks().join(", ");
        (!warm.is_empty()).then(|| {
            format!(
                "check.{warm}: an ok may come from caches and is not reliable: set fresh_mount = true and drop_caches = true"
            )
        })
    }
}

impl Selection {
    fn includes(&self, name: &str) -> bool {
        self.cases.as_ref().is_none_or(|pattern| pattern.is_match(name))
    }
}

fn is_enough(stop_on: StopOn, verdict: Verdict) -> bool {
    match stop_on {
        StopOn::Never => false,
        StopOn::Dirty => verdict == Verdict::Dirty,
        StopOn::Fail => matches!(verdict, Verdict::Dirty | Verdict::InfraFail),
    }
}

/// Creates the folder of a run, or checks that it belongs to this campaign.
fn prepare(config: &Config, selection: &Selection) -> Result<PathBuf, LabError> {
    let out = std::path::absolute(&config.out).map_err(LabError::at(&config.out))?;
    let run = out.join(format!("{}-{}", config.name, config.seed));
    if run.starts_with("/run") {
        return Err(LabError::Input(format!(
            "{}: hosts of a lab have their own /run: choose another `out`",
            run.display()
        )));
    }
    let path = run.join("campaign.toml");
    match std::fs::read_to_string(&path) {
        Ok(_) if !selection.resume => {
            return Err(LabError::Input(format!(
                "{} exists: --resume continues it; another seed or `out` starts a new run",
                run.display()
            )));
        }
        Ok(text) if text != config.text => {
            return Err(LabError::Input(format!(
                "{}: the campaign file has changed since this run began: choose another `out`",
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

fn fingerprint(config: &Config) -> serde_json::Value {
    let kernel = Place::Here.run(&["uname", "-sr"]).unwrap_or_default();
    let adapter = &config.steps.adapter;
    json!({
        "kernel": kernel.trim(),
        "booted_us": booted_us(),
        "adapter": adapter.name,
        "adapter_sum": checksum(&format!("{adapter:?}")),
        "config_sum": checksum(&config.text),
        "laggard": env!("CARGO_PKG_VERSION"),
    })
}
