//! `laggard feedback`: repairs and other facts that a recording does not contain.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use laggard_core::model::cluster::Inventory;
use laggard_core::model::component::Container;
use laggard_core::model::time::{Span, Timestamp, parse_time};
use laggard_core::suspects::feedback::{Event, Feedback as Said, FeedbackKind, covers};
use laggard_store::dataset::Dataset;
use laggard_store::dataset_recording::{by_host, cluster_file, recorded_components};
use laggard_store::notebook;
use serde::Serialize;

use super::tables;
use crate::arguments::{now, positive_span};
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// Record that a suspect was repaired or shall be ignored, or list the feedback.
///
/// A component is named as in reports; a server, controller, array, ... stands for all that it contains. Feedback is
/// stored in the dataset, in feedback.toml, and used by `diagnose` and `rank`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard feedback data repaired oss3:sdb --at 2026-11-15T14:00:00Z --note replaced
  laggard feedback data ignore ddn19a --note known
  laggard feedback data snooze oss3 --for 2h
  laggard feedback data unignore ddn19a
  laggard feedback data list

Exit status: 0 done, 2 usage or input error.")]
pub(crate) struct Feedback {
    /// The dataset: a folder.
    dataset: String,
    #[arg(value_enum)]
    action: Action,
    /// A component, or a server, controller, array, ...; where the name is not enough, `controller=NAME`.
    component: Option<String>,
    /// From when on: 2026-11-15T10:00:00Z, -2h, now. Default: now for repaired and snooze, always for the others.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<String>,
    /// How long to snooze: 2h, 1d.
    #[arg(long = "for", value_name = "SPAN", value_parser = positive_span)]
    length: Option<Span>,
    /// The reason, for later readers.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
    /// The cluster file. Default: cluster.toml in the dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Print the list as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// It was repaired: earlier incidents are over, later ones are new.
    Repaired,
    /// Do not report it any more.
    Ignore,
    /// Do not report it for a while.
    Snooze,
    /// Report it again.
    Unignore,
    /// List the feedback.
    List,
}

impl Feedback {
    pub(crate) fn run(self) -> Outcome {
        let dataset = tables::open(&self.dataset)?;
        let word = match self.action {
            Action::List => return self.list(&dataset),
            Action::Repaired => FeedbackKind::Repaired,
            Action::Ignore => FeedbackKind::Ignore,
            Action::Snooze => FeedbackKind::Snooze,
            Action::Unignore => FeedbackKind::Unignore,
        };
        let event = self.event(word)?;
        let meant = self.meant(&dataset, &event.component)?;
        notebook::add(&dataset, &event)?;
        tell(format_args!("{} {}{}{meant}", event.word.as_str(), event.component, shown_time(&event)));
        Ok(Done::Well)
    }

    fn event(&self, word: FeedbackKind) -> anyhow::Result<Event> {
        let Some(component) = self.component.clone() else {
            bail!(
                "{}: name a component: `laggard cluster check DATASET --members` lists them",
                word.as_str()
            );
        };
        if (word == FeedbackKind::Snooze) != self.length.is_some() {
            let next = if word == FeedbackKind::Snooze {
                "say for how long: --for 2h"
            } else {
                "--for is for snooze"
            };
            bail!("{}: {next}", word.as_str());
        }
        let noted = now();
        let said = self.at.as_deref().map(|text| parse_time(text, noted)).transpose()?;
        let at =
            said.or_else(|| matches!(word, FeedbackKind::Repaired | FeedbackKind::Snooze).then_some(noted));
        let until = at.zip(self.length).map(|(at, length)| at + length);
        Ok(Event { word, component, at, until, note: self.note.clone(), noted })
    }

    /// The number of components, in words. Fails where there is none, with the most similar name.
    fn meant(&self, dataset: &Dataset, name: &str) -> anyhow::Result<String> {
        let file = cluster_file(dataset, self.cluster.as_deref())?;
        let (recorded, problems) = recorded_components(dataset)?;
        let (facts, unread) = dataset.facts(Timestamp::MAX)?;
        problems.iter().chain(&unread).for_each(tell);
        let inventory = Inventory::with_facts(&file, &recorded, &by_host(&facts));
        let of_name = inventory.components.iter().filter(|component| covers(name, component));
        match of_name.count() {
            0 => bail!("{}", unknown(name, &inventory)),
            1 => Ok(String::new()),
            many => Ok(format!(" ({many} components)")),
        }
    }

    fn list(&self, dataset: &Dataset) -> Outcome {
        if let Some(component) = &self.component {
            bail!("list takes no component: remove {component:?}");
        }
        let (said, problems) = notebook::read(dataset)?;
        if self.json {
            output::json(&Document { schema: "laggard.feedback/1", events: &said.events })?;
        } else if said.events.is_empty() {
            tell("there is no feedback");
        } else {
            output::print(&lines(&said))?;
        }
        problems.iter().for_each(tell);
        Ok(if problems.is_empty() { Done::Well } else { Done::WithErrors })
    }
}

/// Longer names are not typing errors.
const LONGEST_NAME: usize = 200;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    events: &'a [Event],
}

fn lines(said: &Said) -> comfy_table::Table {
    let mut table = output::table(&["said", "word", "component", "from", "until", "note"], &[]);
    let time =
        |time: Option<Timestamp>, none: &str| time.map_or_else(|| none.to_owned(), |time| time.to_string());
    for event in &said.events {
        table.add_row([
            event.noted.to_string(),
            event.word.as_str().to_owned(),
            event.component.clone(),
            time(event.at, "always"),
            time(event.until, ""),
            event.note.clone(),
        ]);
    }
    table
}

fn shown_time(event: &Event) -> String {
    match (event.at, event.until) {
        (Some(at), Some(until)) => format!(" from {at} to {until}"),
        (Some(at), None) => format!(" from {at} on"),
        (None, _) => String::new(),
    }
}

fn unknown(name: &str, inventory: &Inventory) -> String {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for component in &inventory.components {
        known.extend([component.name.as_str(), component.recorded.as_str()]);
        known.extend(
            Container::ALL.iter().filter_map(|container| component.container(*container)).map(String::as_str),
        );
    }
    // The time to compare names grows with the product of both lengths.
    let known = known.into_iter().filter(|_| name.len() <= LONGEST_NAME);
    let nearest = known.min_by_key(|known| strsim::damerau_levenshtein(name, known));
    let hint = nearest.map_or_else(String::new, |nearest| format!(": is it {nearest}?"));
    format!("no component is called {name:?}{hint} `laggard cluster check DATASET --members` lists them")
}
