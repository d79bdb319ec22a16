//! The hourly lists of the most persistently anomalous components (Intrepid paper, Figure 5).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::persistence::Persistence;
use crate::model::component::natural_order;
use crate::model::time::{Span, Timestamp};
use crate::scores::ScoredWindow;

/// Components listed each hour (Intrepid paper, 5.1).
pub const LISTED: usize = 100;

const HOUR: Span = Span::from_seconds(3600);

/// One place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// How persistent.
    pub persistence: u32,
    /// The peer group, as it is shown.
    pub group: Arc<str>,
    /// Who.
    pub component: Arc<str>,
}

/// The list of one hour, most persistent first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HourList {
    /// When the hour begins. It holds the windows that end in it, its very end included.
    pub hour: Timestamp,
    /// Who, as it stands at the end of the hour.
    pub places: Vec<Ranked>,
}

/// Lists of several hours. Its text form is the paper's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HourLists(pub Vec<HourList>);

/// Follows the windows of several peer groups and lists them by the hour.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    groups: Vec<(Arc<str>, Persistence)>,
    /// The persistence of each group at the end of the hour.
    hours: BTreeMap<Timestamp, Vec<Ranked>>,
    listed: usize,
}

impl Ranking {
    /// Lists `count` components each hour.
    pub fn new(listed: usize) -> Ranking {
        Ranking { listed, ..Ranking::default() }
    }

    /// Takes one more group; the number says which in [`Ranking::take`].
    pub fn add_group(&mut self, shown: &str, members: Vec<Arc<str>>) -> usize {
        self.groups.push((shown.into(), Persistence::new(members)));
        self.groups.len() - 1
    }

    /// Takes windows of a group, in the order of their ends. Groups may come one after the other.
    pub fn take(&mut self, group: usize, windows: &[ScoredWindow]) {
        let Some((_, persistence)) = self.groups.get_mut(group) else { return };
        let mut ends = windows.iter().map(|scored| hour_of(scored.window.end())).peekable();
        let mut finished = Vec::new();
        for scored in windows {
            persistence.take(scored);
            let hour = ends.next();
            if ends.peek().copied() != hour {
                finished.extend(hour.map(|hour| (hour, persistence.clone())));
            }
        }
        for (hour, persistence) in finished {
            self.note(group, hour, &persistence);
        }
    }

    /// A later stretch may go on in the same hour: its word replaces the one before.
    fn note(&mut self, group: usize, hour: Timestamp, persistence: &Persistence) {
        let (shown, _) = &self.groups[group];
        let places = self.hours.entry(hour).or_default();
        places.retain(|place| place.group != *shown);
        let ranked = |(component, persistence): (&Arc<str>, u32)| Ranked {
            persistence,
            group: shown.clone(),
            component: component.clone(),
        };
        let mut fresh: Vec<Ranked> = persistence.counts().map(ranked).collect();
        sort(&mut fresh);
        fresh.truncate(self.listed);
        places.extend(fresh);
    }

    /// An operator has repaired a component.
    pub fn repaired(&mut self, component: &str) {
        self.groups.iter_mut().for_each(|(_, persistence)| persistence.repaired(component));
    }

    /// The lists of all hours so far.
    pub fn lists(&self) -> HourLists {
        let list = |(&hour, places): (&Timestamp, &Vec<Ranked>)| {
            let mut places = places.clone();
            sort(&mut places);
            places.truncate(self.listed);
            HourList { hour, places }
        };
        HourLists(self.hours.iter().map(list).collect())
    }
}

/// A window that ends on the full hour belongs to the hour that ends there.
fn hour_of(end: Timestamp) -> Timestamp {
    (end - Span::from_micros(1)).floor(HOUR)
}

fn sort(places: &mut [Ranked]) {
    let key = |place: &Ranked| {
        (std::cmp::Reverse(place.persistence), natural_order(&place.group), natural_order(&place.component))
    };
    places.sort_by_cached_key(key);
}

impl fmt::Display for HourLists {
    /// `20110417.00:` and then, for each place, the persistence and `group:component`, in columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |place: &Ranked| format!("{}:{}", place.group, place.component);
        let widths = self.0.iter().flat_map(|list| &list.places).map(|place| name(place).chars().count());
        let width = widths.max().unwrap_or(0);
        writeln!(f, "{:<13}{:>5} PG:LUN-server", "Date.Hour:", "Value")?;
        for list in &self.0 {
            let places =
                list.places.iter().map(|place| format!("{:>5} {:<width$}", place.persistence, name(place)));
            let line = format!("{:<13}{}", date_and_hour(list.hour), places.collect::<Vec<_>>().join(" "));
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
    use crate::scores::MemberScore;
    use crate::scores::Window;

    fn window(end: Timestamp, anomalous: &[bool]) -> ScoredWindow {
        let length = Span::from_seconds(900);
        let verdict = |&is_anomalous: &bool| MemberScore {
            score: 1.0,
            threshold: 0.5,
            is_anomalous,
            is_unlikely: false,
            is_faulty: false,
        };
        let verdicts = anomalous.iter().map(verdict).collect();
        ScoredWindow { window: Window { start: end - length, length }, scores: verdicts }
    }

    /// Windows every 7.5 minutes from midnight on; who is anomalous in which.
    fn windows(first: usize, count: usize, who: impl Fn(usize) -> Vec<bool>) -> Vec<ScoredWindow> {
        let midnight: Timestamp = "2011-04-17".parse().unwrap();
        let end = |number: usize| midnight + Span::from_seconds(450 * (number as i64 + 1));
        (first..first + count).map(|number| window(end(number), &who(number))).collect()
    }

    fn ranking() -> Ranking {
        let mut ranking = Ranking::new(2);
        let first = ranking.add_group("1", vec!["6.39.8".into(), "10.03.36".into()]);
        let second = ranking.add_group("2", vec!["18.61.102".into()]);
        ranking.take(first, &windows(0, 24, |number| vec![number % 4 != 3, number > 12]));
        ranking.take(second, &windows(0, 5, |_| vec![true]));
        ranking.take(second, &windows(5, 19, |number| vec![number < 8]));
        ranking
    }

    #[test]
    fn lists_are_those_of_the_paper() {
        insta::assert_snapshot!(ranking().lists().to_string(), @r"
        Date.Hour:   Value PG:LUN-server
        20110417.00:     8 2:18.61.102     4 1:6.39.8
        20110417.01:     8 1:6.39.8        3 1:10.03.36
        20110417.02:    12 1:6.39.8       11 1:10.03.36
        ");
    }

    #[test]
    fn a_window_on_the_hour_belongs_to_the_hour_before() {
        let lists = ranking().lists();
        assert_eq!(lists.0.len(), 3);
        assert_eq!(lists.0[0].places[0].persistence, 8);
    }

    #[test]
    fn repaired_components_leave_the_lists_to_come() {
        let mut ranking = ranking();
        ranking.repaired("10.03.36");
        ranking.take(0, &windows(24, 8, |_| vec![false, false]));
        let lists = ranking.lists();
        assert!(lists.0[3].places.iter().all(|place| &*place.component != "10.03.36"));
    }
}
