//! The hourly lists of the most persistently anomalous components (Intrepid paper, Figure 5), or of what they have in common.
//! In: [`Standing`]s at the end of each hour. Out: [`HourLists`]. Always: the most persistent place is first, then the most
//! severe one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use super::blame::{Culprit, blame};
use super::episodes::Episode;
use super::standing::Standing;
use crate::model::cluster::Inventory;
use crate::model::component::{Kind, natural_order};
use crate::model::time::{Span, Timestamp};

/// Components listed each hour (Intrepid paper, 5.1).
pub const LISTED: usize = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankedBy {
    /// As in the paper.
    #[default]
    Component,
    /// Components whose anomalies a container explains have one place, that of the container.
    Incident,
}

/// One place in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Of several components, the highest.
    pub persistence: u32,
    /// How many times worse than its peers it was in the hour; of several components, the median one. Nothing if there is no
    /// such number.
    pub severity: Option<f64>,
    /// The number of the peer group. Nothing for a container: what it contains may be of several.
    pub group: Option<usize>,
    pub kind: Kind,
    pub component: String,
    /// Names of the anomalous components: of a component, its own.
    pub explains: Vec<String>,
}

/// The list of one hour.
#[derive(Clone, Debug, PartialEq)]
pub struct HourList {
    /// The begin of the hour. Windows that end in it are counted, also at its very end.
    pub hour: Timestamp,
    pub places: Vec<Ranked>,
}

/// Lists of several hours. Its text form is the paper's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HourLists {
    pub by: RankedBy,
    pub hours: Vec<HourList>,
}

/// The places of an hour whose severities are not known yet.
#[derive(Clone, Debug)]
pub struct HourPlaces {
    pub hour: Timestamp,
    places: Vec<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    culprit: Culprit,
    standings: Vec<Standing>,
}

impl HourPlaces {
    /// The `top` places, and those that only their severity may exclude.
    pub fn new(
        (hour, standings): (Timestamp, Vec<Standing>),
        inventory: &Inventory,
        by: RankedBy,
        top: usize,
    ) -> HourPlaces {
        let mut places = match by {
            RankedBy::Component => standings.into_iter().map(Place::of_component).collect(),
            RankedBy::Incident => by_incident(standings, inventory),
        };
        places.sort_by_key(|place| Reverse(place.persistence()));
        let least = places.get(top.saturating_sub(1)).map_or(0, Place::persistence);
        places.retain(|place| place.persistence() >= least);
        HourPlaces { hour, places }
    }

    pub fn standings(&self) -> impl Iterator<Item = &Standing> {
        self.places.iter().flat_map(|place| &place.standings)
    }

    /// The list, with the severity of each component.
    pub fn listed(
        &self,
        inventory: &Inventory,
        top: usize,
        severity: impl Fn(&Standing) -> Option<f64>,
    ) -> HourList {
        let mut places: Vec<Ranked> =
            self.places.iter().map(|place| place.ranked(inventory, &severity)).collect();
        places.sort_by(|one, other| {
            let severity = |place: &Ranked| place.severity.unwrap_or(0.0);
            let key = |place: &Ranked| (place.group, natural_order(&place.component));
            let by_persistence = other.persistence.cmp(&one.persistence);
            by_persistence
                .then(severity(other).total_cmp(&severity(one)))
                .then_with(|| key(one).cmp(&key(other)))
        });
        places.truncate(top);
        HourList { hour: self.hour, places }
    }
}

/// As a diagnosis collapses episodes: each component has one, since its count was last 0.
fn by_incident(standings: Vec<Standing>, inventory: &Inventory) -> Vec<Place> {
    let episode = |standing: &Standing| {
        let (begin, end) = standing.persistence.time.unwrap_or((Timestamp::MIN, Timestamp::MIN));
        Episode {
            component: standing.component,
            group: standing.group,
            metric: standing.anomalies.metric,
            begin,
            end,
            uncertainty: Span::ZERO,
            peak: standing.anomalies.peak,
            windows: standing.persistence.count as usize,
            persistence: standing.persistence.count.into(),
        }
    };
    let episodes: Vec<Episode> = standings.iter().map(episode).collect();
    let mut places: BTreeMap<Culprit, Vec<Standing>> = BTreeMap::new();
    for incident in blame(inventory, &episodes) {
        let explained = incident.episodes.iter().map(|&episode| standings[episode].clone());
        places.entry(incident.culprit).or_default().extend(explained);
    }
    places.into_iter().map(|(culprit, standings)| Place { culprit, standings }).collect()
}

impl Place {
    fn of_component(standing: Standing) -> Place {
        Place { culprit: Culprit::Component(standing.component), standings: vec![standing] }
    }

    fn persistence(&self) -> u32 {
        self.standings.iter().map(|standing| standing.persistence.count).max().unwrap_or(0)
    }

    fn ranked(&self, inventory: &Inventory, severity: &impl Fn(&Standing) -> Option<f64>) -> Ranked {
        let mut severities: Vec<f64> = self.standings.iter().filter_map(severity).collect();
        severities.sort_unstable_by(f64::total_cmp);
        let name = |standing: &Standing| inventory.components[standing.component].name.clone();
        let mut explains: Vec<String> = self.standings.iter().map(name).collect();
        explains.sort_by_key(|name| natural_order(name));
        let (group, kind, component) = match &self.culprit {
            Culprit::Component(index) => {
                let component = &inventory.components[*index];
                let group = self.standings.first().map(|standing| standing.group + 1);
                (group, component.kind.clone(), component.name.clone())
            }
            Culprit::Container { attribute, value } => (None, attribute.kind(), value.clone()),
        };
        let severity = severities.get(severities.len() / 2).copied();
        Ranked { persistence: self.persistence(), severity, group, kind, component, explains }
    }
}

impl Ranked {
    /// `2:oss3:sdb`, with the number of the group; `controller=ddn19a (24)`, with the number of explained components.
    fn shown(&self) -> String {
        match self.group {
            Some(group) => format!("{group}:{}", self.component),
            None => format!("{}={} ({})", self.kind, self.component, self.explains.len()),
        }
    }

    /// `3.1x`
    fn times_worse(&self) -> String {
        self.severity.map_or("-".into(), |severity| format!("{severity:.1}x"))
    }
}

impl fmt::Display for HourLists {
    /// `20110417.00:` and then, for each place, the persistence and `group:component`, in columns; by incident, also the
    /// severity.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.hours.iter().flat_map(|list| &list.places).map(Ranked::shown);
        let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
        let place = |place: &Ranked| match self.by {
            RankedBy::Component => format!("{:>5} {:<width$}", place.persistence, place.shown()),
            RankedBy::Incident => {
                format!("{:>5} {:>6} {:<width$}", place.persistence, place.times_worse(), place.shown())
            }
        };
        let heading = match self.by {
            RankedBy::Component => "Value PG:LUN-server",
            RankedBy::Incident => "Value  Times PG:component or container",
        };
        writeln!(f, "{:<13}{heading}", "Date.Hour:")?;
        for list in &self.hours {
            let places: Vec<String> = list.places.iter().map(place).collect();
            let line = format!("{:<13}{}", date_and_hour(list.hour), places.join(" "));
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// `20110417.05:`
fn date_and_hour(hour: Timestamp) -> String {
    let basic = hour.basic();
    match (basic.get(..8), basic.get(9..11)) {
        (Some(date), Some(hour)) => format!("{date}.{hour}:"),
        _ => format!("{basic}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::metric::MetricId;
    use crate::scores::{MemberScore, Window};
    use crate::suspects::standing::{CountedWindow, Standings};

    /// Two arrays of two controllers with twelve LUNs each.
    fn inventory() -> Inventory {
        let file = ClusterFile::parse(
            "[[component]]\nmatch = '{s}:a{a}c{c}l{l}'\nattributes = { array = 'a{a}', controller = 'a{a}c{c}' }\n",
        );
        let lun = |number: usize| {
            let (host, array, controller) = (number % 5, number / 24, number / 12 % 2);
            Recorded {
                name: format!("fs{host}:a{array}c{controller}l{}", number % 12),
                kind: Kind::ATTACHMENT,
                host: format!("fs{host}"),
            }
        };
        Inventory::new(&file.unwrap(), &(0..48).map(lun).collect::<Vec<_>>())
    }

    /// Windows of 15 minutes, one ending every 7.5 minutes from midnight on, in which some components are anomalous.
    fn standings(windows: usize, is_anomalous: impl Fn(&str, usize) -> bool) -> Standings {
        let (inventory, mut standings) = (inventory(), Standings::default());
        let members: Vec<usize> = (0..inventory.components.len()).collect();
        let group = standings.add_group(&members);
        let midnight: Timestamp = "2011-04-17".parse().unwrap();
        for number in 0..windows {
            let end = midnight + Span::from_seconds(450 * (number as i64 + 1));
            let window = Window { start: end - Span::from_seconds(900), length: Span::from_seconds(900) };
            let score = |component: &usize| MemberScore {
                score: 1.0,
                threshold: 0.5,
                is_anomalous: is_anomalous(&inventory.components[*component].name, number),
                is_unlikely: false,
                is_faulty: false,
            };
            let scores: Vec<MemberScore> = members.iter().map(score).collect();
            let scores = vec![(MetricId::Await.metric(), &scores[..])];
            standings.take(group, &[CountedWindow { window, scores }]);
        }
        standings
    }

    fn lists(
        standings: Standings,
        by: RankedBy,
        top: usize,
        severity: impl Fn(&str) -> Option<f64>,
    ) -> HourLists {
        let inventory = inventory();
        let of_standing = |standing: &Standing| severity(&inventory.components[standing.component].name);
        let places = standings.hours().map(|hour| HourPlaces::new(hour, &inventory, by, top));
        let hours = places.map(|places| places.listed(&inventory, top, of_standing)).collect();
        HourLists { by, hours }
    }

    #[test]
    fn lists_are_those_of_the_paper() {
        let two = |name: &str, window: usize| match name {
            "fs0:a0c0l0" => window % 4 != 3,
            "fs3:a1c0l4" => window > 12,
            _ => false,
        };
        insta::assert_snapshot!(lists(standings(24, two), RankedBy::Component, 2, |_| None).to_string(), @r"
        Date.Hour:   Value PG:LUN-server
        20110417.00:     4 1:fs0:a0c0l0
        20110417.01:     8 1:fs0:a0c0l0     3 1:fs3:a1c0l4
        20110417.02:    12 1:fs0:a0c0l0    11 1:fs3:a1c0l4
        ");
    }

    #[test]
    fn of_equally_persistent_places_the_most_severe_is_first_and_severity_decides_who_is_listed() {
        let three = |name: &str, _: usize| ["fs0:a0c0l0", "fs1:a0c0l1", "fs3:a1c0l4"].contains(&name);
        let severity = |name: &str| match name {
            "fs1:a0c0l1" => Some(1.5),
            "fs3:a1c0l4" => Some(4.0),
            _ => None,
        };
        let lists = lists(standings(8, three), RankedBy::Component, 2, severity);
        let names: Vec<&str> = lists.hours[0].places.iter().map(|place| place.component.as_str()).collect();
        assert_eq!(names, ["fs3:a1c0l4", "fs1:a0c0l1"]);
    }

    #[test]
    fn a_controller_has_the_place_of_all_its_luns() {
        let controller =
            |name: &str, window: usize| name.contains("a1c1") || (name == "fs2:a0c0l2" && window > 3);
        let severity = |name: &str| Some(if name.ends_with("l3") { 9.0 } else { 2.0 });
        let lists = lists(standings(8, controller), RankedBy::Incident, 3, severity);
        insta::assert_snapshot!(lists.to_string(), @r"
        Date.Hour:   Value  Times PG:component or container
        20110417.00:     8   2.0x controller=a1c1 (12)     4   2.0x 1:fs2:a0c0l2
        ");
        let [controller, lun] = &lists.hours[0].places[..] else { panic!("two places") };
        assert_eq!((controller.kind.as_str(), controller.explains.len()), ("controller", 12));
        assert_eq!((controller.severity, controller.group, lun.group), (Some(2.0), None, Some(1)));
        assert_eq!(lun.explains, ["fs2:a0c0l2"]);
    }

    #[test]
    fn a_window_on_the_hour_belongs_to_the_hour_before() {
        let lists = lists(standings(8, |name, _| name == "fs0:a0c0l0"), RankedBy::Component, 2, |_| None);
        assert_eq!(lists.hours.iter().map(|list| list.places[0].persistence).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn repaired_components_leave_the_lists_to_come() {
        let mut standings = standings(8, |name, _| name == "fs0:a0c0l0");
        let repaired = inventory().components.iter().position(|c| c.name == "fs0:a0c0l0");
        standings.repaired(repaired.unwrap());
        let end = "2011-04-17T01:07:30Z".parse::<Timestamp>().unwrap();
        let window = Window { start: end - Span::from_seconds(900), length: Span::from_seconds(900) };
        standings.take(0, &[CountedWindow { window, scores: Vec::new() }]);
        let lists = lists(standings, RankedBy::Component, 2, |_| None);
        assert_eq!(lists.hours.iter().map(|list| list.places.len()).collect::<Vec<_>>(), [1, 0]);
    }
}
