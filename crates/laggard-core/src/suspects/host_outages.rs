//! Hosts that went silent, as incidents of their own: a dead server is one incident, however few disks it has.
//! In: [`Outage`]s. Out: [`Incident`]s, with an episode of absence for each of the host's components.

use std::collections::BTreeSet;

use super::blame::{Culprit, Incident, blame};
use super::episodes::Episode;
use crate::model::cluster::Inventory;
use crate::model::component::Container;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};
use crate::tables::outages::Outage;

/// A shorter outage is a restart, or a recorder that was stopped before the others.
const RESTART: Span = Span::from_seconds(600);
/// Recorders that are stopped one after the other end within this time.
const STOP: Span = Span::from_seconds(120);

/// As strong as absence can be.
const PEAK: f64 = 3.5;

/// True if an outage says nothing about the host. Of several hosts without samples at the end, the recorders may have been
/// stopped one after the other; if all others go on until the end of the recording, a single one did not come back.
pub fn is_restart(outage: &Outage, all: &[Outage], end: Timestamp) -> bool {
    let lasted = outage.end - outage.begin;
    let is_only_one = || all.iter().filter(|other| !other.is_over).count() == 1;
    let do_others_go_on = || is_only_one() && end - outage.end < STOP;
    lasted < RESTART && (outage.is_over || lasted < STOP || !do_others_go_on())
}

/// The incidents of some outages. Their episodes are added to `episodes`. Hosts that went silent together because of what
/// they share, such as a controller, are one incident of that.
pub fn incidents(
    inventory: &Inventory,
    outages: &[&Outage],
    step: Span,
    episodes: &mut Vec<Episode>,
) -> Vec<Incident> {
    let first = episodes.len();
    let mut own = Vec::new();
    for outage in outages {
        let begin = episodes.len();
        episodes.extend(of_host(inventory, outage, step));
        own.push(begin..episodes.len());
    }
    let mut incidents: Vec<Incident> = blame(inventory, &episodes[first..])
        .into_iter()
        .map(|incident| shifted(incident, first))
        .filter(|incident| is_shared(inventory, episodes, incident))
        .collect();
    let explained: BTreeSet<usize> =
        incidents.iter().flat_map(|incident| incident.episodes.clone()).collect();
    for (outage, own) in outages.iter().zip(own) {
        if !own.is_empty() && !own.clone().any(|episode| explained.contains(&episode)) {
            incidents.push(Incident {
                culprit: Culprit::Container { attribute: Container::Server, value: outage.host.clone() },
                episodes: own.collect(),
                begin: outage.begin,
                end: outage.end,
            });
        }
    }
    incidents
}

fn shifted(incident: Incident, first: usize) -> Incident {
    Incident { episodes: incident.episodes.iter().map(|episode| episode + first).collect(), ..incident }
}

/// True if an incident is that of something other than a server, and affects several hosts.
fn is_shared(inventory: &Inventory, episodes: &[Episode], incident: &Incident) -> bool {
    let hosts: BTreeSet<&str> = incident
        .episodes
        .iter()
        .map(|&episode| inventory.components[episodes[episode].component].host.as_str())
        .collect();
    let is_other =
        matches!(&incident.culprit, Culprit::Container { attribute, .. } if *attribute != Container::Server);
    is_other && hosts.len() > 1
}

fn of_host<'a>(
    inventory: &'a Inventory,
    outage: &'a Outage,
    step: Span,
) -> impl Iterator<Item = Episode> + 'a {
    let groups = inventory.groups.iter().enumerate();
    let members = groups.flat_map(|(group, of)| of.members.iter().map(move |&component| (group, component)));
    let of_host = members.filter(|&(_, component)| inventory.components[component].host == outage.host);
    of_host.map(move |(group, component)| Episode {
        component,
        group,
        metric: MetricId::Absence.metric(),
        begin: outage.begin,
        end: outage.end,
        uncertainty: step,
        peak: PEAK,
        windows: 1,
        persistence: 1.0,
    })
}
