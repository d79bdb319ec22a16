//! The settings of an overlay, for one recording.
//! In: `key=value` pairs and a recording. Out: [`Overlay`]. Always: the slowdown is within the recording.

use laggard_core::diagnosis::Cause;
use laggard_core::diagnosis::detection_limit::Pattern;
use laggard_core::diagnosis::label::Label;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::random::Random;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::recording::Recording;

use super::active_disks::ActiveDisks;
use super::error::OverlayError;
use super::slowdown::Slowdown;
use crate::simulate::settings::{Pair, SettingError, Settings, wrong};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverlayPattern {
    Slowdown(Pattern),
    /// Loses this share of the samples of a host. Not a fault.
    SampleLoss,
}

/// A change of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    pub pattern: OverlayPattern,
    /// The name in reports.
    pub component: String,
    /// The name in the recording.
    pub recorded: String,
    /// Factor, seconds of a stall, or share of lost samples.
    pub magnitude: f64,
    pub begin: Timestamp,
    pub end: Timestamp,
    pub seed: u64,
}

const KEYS: [&str; 7] = ["component", "pattern", "factor", "stall", "share", "begin", "duration"];

/// Identifies the random numbers of this file.
const OF_COMPONENTS: u64 = 172;

const PATTERNS: [(&str, OverlayPattern); 4] = [
    ("constant", OverlayPattern::Slowdown(Pattern::Constant)),
    ("ramp", OverlayPattern::Slowdown(Pattern::Ramp)),
    ("stalls", OverlayPattern::Slowdown(Pattern::Stalls)),
    ("sample-loss", OverlayPattern::SampleLoss),
];

impl Overlay {
    pub fn parse(pairs: &[Pair], seed: u64, recording: &mut dyn Recording) -> Result<Overlay, OverlayError> {
        let settings = Settings::new("overlay", &KEYS, pairs)?;
        let pattern = settings.choice("pattern", PATTERNS[0].1, &PATTERNS)?;
        let magnitude = magnitude(pattern, &settings)?;
        let (from, to) = recording.times().ends(recording.times().longest_interval)?;
        let (begin, end) = times(pattern, &settings, from, to)?;
        let (component, recorded) = match settings.text("component") {
            Some(name) => named(name, recording.inventory())?,
            None => drawn(seed, recording)?,
        };
        Ok(Overlay { pattern, component, recorded, magnitude, begin, end, seed })
    }

    /// Nothing for lost samples.
    pub(super) fn slowdown(&self) -> Option<Slowdown> {
        let OverlayPattern::Slowdown(pattern) = self.pattern else { return None };
        Some(Slowdown { pattern, magnitude: self.magnitude, begin: self.begin, end: self.end })
    }

    /// The label; nothing where there is no fault.
    pub fn label(&self) -> Option<Label> {
        let causes: &[&str] = match self.pattern {
            OverlayPattern::SampleLoss => &[],
            OverlayPattern::Slowdown(Pattern::Stalls) => &["stalls", "disk-busy"],
            OverlayPattern::Slowdown(_) => &["disk-busy"],
        };
        let cause = causes.iter().find_map(|name| Cause::named(name))?;
        Some(Label { component: self.component.clone(), begin: self.begin, end: self.end, cause })
    }
}

fn magnitude(pattern: OverlayPattern, settings: &Settings) -> Result<f64, SettingError> {
    let (own, magnitude) = match pattern {
        OverlayPattern::Slowdown(Pattern::Stalls) => {
            let second = Span::SECOND;
            let stall = settings.span("stall", second * 5, Span::from_millis(10), second * 60)?;
            ("stall", stall.seconds())
        }
        OverlayPattern::Slowdown(_) => ("factor", settings.decimal("factor", 3.0, 1.0, 1000.0)?),
        OverlayPattern::SampleLoss => ("share", settings.decimal("share", 0.15, 0.0, 1.0)?),
    };
    let other =
        ["factor", "stall", "share"].into_iter().find(|key| *key != own && settings.text(key).is_some());
    match other {
        Some(key) => {
            let value = settings.text(key).unwrap_or_default();
            Err(wrong(key, value, format!("{own}=, which is the magnitude of this pattern")))
        }
        None => Ok(magnitude),
    }
}

/// Begin and end: in the middle third of the recording, if nothing else is set. Samples are lost all the time.
fn times(
    pattern: OverlayPattern,
    settings: &Settings,
    from: Timestamp,
    to: Timestamp,
) -> Result<(Timestamp, Timestamp), SettingError> {
    let length = to - from;
    let usual = match pattern {
        OverlayPattern::SampleLoss => length,
        OverlayPattern::Slowdown(_) => Span::from_micros(length.micros() / 3),
    };
    let duration = settings.span("duration", usual, Span::SECOND, Span::DAY * 36_525)?;
    let centred = Span::from_micros((length.micros() - duration.micros()).max(0) / 2);
    let begin = match settings.text("begin") {
        None => from + centred,
        Some(text) => {
            let begin = text.parse::<Span>().map(|span| from + span).or_else(|_| text.parse::<Timestamp>());
            let begin = begin.ok().filter(|begin| (from..to).contains(begin));
            let expected = format!("a time from {from} to {to}, or the time since the begin, such as 20m");
            begin.ok_or_else(|| wrong("begin", text, expected))?
        }
    };
    Ok((begin, (begin + duration).min(to)))
}

/// A disk by its name in reports or in the recording.
fn named(name: &str, inventory: &Inventory) -> Result<(String, String), SettingError> {
    let mut components = inventory.components.iter();
    let is_named = |text: &str| text == name;
    match components.find(|one| is_named(&one.name) || is_named(&one.recorded)) {
        Some(one) => Ok((one.name.clone(), one.recorded.clone())),
        None => {
            let expected = "a component of the dataset: `laggard tables --components` lists them";
            Err(wrong("component", name, expected.into()))
        }
    }
}

/// An active disk that is compared with peers.
fn drawn(seed: u64, recording: &mut dyn Recording) -> Result<(String, String), OverlayError> {
    let step = recording.times().longest_interval;
    let disks = ActiveDisks::read(recording, step).map_err(OverlayError::Read)?;
    let inventory = recording.inventory();
    let compared = inventory.groups.iter().filter(|group| group.is_evaluated());
    let compared = compared.flat_map(|group| &group.members).map(|&index| &inventory.components[index]);
    let active: Vec<&str> = disks.names().collect();
    let mut names: Vec<(&String, &String)> = compared
        .filter(|component| active.binary_search(&component.recorded.as_str()).is_ok())
        .map(|component| (&component.name, &component.recorded))
        .collect();
    names.sort_unstable();
    let place = Random::of(seed, &[OF_COMPONENTS]).below(names.len());
    let (name, recorded) = names.get(place).ok_or(OverlayError::NoActiveDisk)?;
    Ok(((*name).clone(), (*recorded).clone()))
}
