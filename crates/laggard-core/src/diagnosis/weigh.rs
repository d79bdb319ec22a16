//! Causes by weight of evidence.
//! In: [`Facts`]. Out: causes with weights, heaviest first. Always: what is thin stays unknown.
//!
//! Every cause says how well it fits, whatever the others say; a secondary manifestation does not win because it
//! was looked at first (FAST '10, section 14).

use super::cause::Cause;
use super::facts::{Facts, Strengths};

/// A cause, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighed {
    /// Which.
    pub cause: Cause,
    /// How sure, from 0 to 1.
    pub confidence: f64,
    /// What speaks for it.
    pub because: &'static str,
}

/// The weight of not knowing.
const DOUBT: f64 = 0.35;
/// Differences are told apart by their logarithm up to this multiple of the threshold.
const MOST: f64 = 8.0;

/// Causes that fit, heaviest first. There is always one: unknown, if nothing fits.
pub fn weigh(facts: &Facts) -> Vec<Weighed> {
    let mut causes: Vec<(Cause, f64, &'static str)> =
        RULES.iter().filter_map(|rule| rule(facts)).filter(|(_, weight, _)| *weight > 0.0).collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let all: f64 = causes.iter().map(|(_, weight, _)| weight).sum::<f64>() + DOUBT;
    let mut weighed: Vec<Weighed> = causes
        .into_iter()
        .map(|(cause, weight, because)| Weighed { cause, confidence: weight / all, because })
        .collect();
    if weighed.first().is_none_or(|first| first.confidence < 0.3) {
        let unknown =
            Weighed { cause: Cause::Unknown, confidence: DOUBT / all, because: "nothing fits well" };
        weighed.insert(0, unknown);
    }
    weighed
}

type Rule = fn(&Facts) -> Option<(Cause, f64, &'static str)>;

/// One for each cause.
const RULES: [Rule; 11] = [
    server_down,
    lost_attachment,
    controller_trouble,
    array_jitter,
    slow_lun,
    disk_hog,
    disk_busy,
    network_hog,
    packet_loss,
    rerouted_load,
    workload_skew,
];

/// From nothing at the threshold to 1 far beyond it.
fn weight(strength: f64) -> f64 {
    if strength <= 1.0 {
        return 0.0;
    }
    strength.min(MOST).ln() / MOST.ln() * 0.7 + 0.3
}

fn is_at(facts: &Facts, container: &str) -> bool {
    facts.container.as_deref() == Some(container)
}

/// More LUNs of an array than one drawer can take down.
const WHOLE: f64 = 0.9;

fn lost(strengths: &Strengths) -> f64 {
    strengths.absence.max(strengths.idleness)
}

fn server_down(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let is_silent = is_at(facts, "server") && facts.share > 0.4;
    let fits = if is_silent { weight(facts.strengths.absence) } else { 0.0 };
    Some((Cause::ServerDown, fits, "nothing of the server was recorded while its peers were"))
}

fn lost_attachment(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let is_big = is_at(facts, "controller") || is_at(facts, "array");
    let of_server = is_at(facts, "server") && facts.share > 0.4;
    let is_whole_server = of_server && facts.strengths.absence > 1.0;
    let fits = weight(lost(&facts.strengths)) * if is_big || is_whole_server { 0.3 } else { 1.0 };
    let fits = fits * unless(facts.strengths.latency);
    let because = match facts.strengths.latency {
        slow if slow > 1.0 => {
            "it is not there, or not used, while its peers are; but when it is used, it is slow"
        }
        _ => "it is not there, or not used, while its peers are",
    };
    Some((Cause::LostAttachment, fits, because))
}

fn controller_trouble(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    let fits = match facts.container.as_deref() {
        Some("controller") => weight(lost(s).max(s.latency).max(s.activity)),
        Some("array") => (weight(lost(s)) * unless(s.latency)).max(if facts.share > WHOLE {
            weight(s.latency)
        } else {
            0.0
        }),
        _ => 0.0,
    };
    Some((Cause::ControllerTrouble, fits, "what it serves is in trouble together"))
}

fn array_jitter(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    let fits = match facts.container.as_deref() {
        Some("array" | "enclosure" | "drawer") => {
            weight(s.latency) * if facts.share > WHOLE { 0.5 } else { 1.0 }
        }
        Some("controller") => 0.5 * weight(s.latency),
        _ => 0.0,
    };
    Some((Cause::ArrayJitter, fits, "many LUNs of one array are slow together"))
}

fn slow_lun(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    let is_one = facts.container.is_none() || is_at(facts, "lun");
    let fits = if facts.is_lun && is_one { weight(s.latency) * unless(s.more_disk_traffic) } else { 0.0 };
    let because = match s.more_disk_traffic {
        more if more > 1.0 => "it is slow; but it has more to do than its peers, too",
        _ => "it is slow, and has no more to do than its peers",
    };
    Some((Cause::SlowLun, fits, because))
}

fn disk_hog(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    // What came by the network is no hog; where the network was not recorded, that cannot be told.
    let network = s.more_received.max(s.more_sent);
    let fits = if facts.is_lun || s.more_disk_traffic <= 1.0 {
        0.0
    } else {
        // A hog explains both that more is moved and that all of it waits; a slow disk only that it waits.
        let both = (s.more_disk_traffic * s.latency).sqrt().max(s.more_disk_traffic);
        weight(both) * unless(network) * if facts.has_network { 1.0 } else { 0.7 }
    };
    let because = match network {
        _ if !facts.has_network => "its disk moves more data than its peers'; its network was not recorded",
        more if more > 1.0 => "its disk moves more data than its peers'; but so does its network",
        _ => "its disk moves more data than its peers', and its network does not",
    };
    Some((Cause::DiskHog, fits, because))
}

fn disk_busy(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    let fits = if facts.is_lun { 0.0 } else { weight(s.latency) * unless(s.more_disk_traffic) };
    let because = match s.more_disk_traffic {
        more if more > 1.0 => "it is slow; but it moves more data than its peers, too",
        _ => "it is slow, and moves no more data than its peers",
    };
    Some((Cause::DiskBusy, fits, because))
}

fn network_hog(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    let disk = s.latency.max(s.more_disk_traffic);
    let fits = weight(s.more_received.max(s.more_sent)) * unless(disk);
    let because = match disk {
        unlike if unlike > 1.0 => {
            "its interface carries traffic that its peers' do not; but its disk is unlike theirs"
        }
        _ => "its interface carries traffic that its peers' do not",
    };
    Some((Cause::NetworkHog, fits, because))
}

fn packet_loss(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    // A slow disk sends in bursts, which its windows show too: storage comes first (FAST '10, section 12).
    let traffic = s.more_received.max(s.more_sent);
    let fits = weight(s.congestion) * unless(s.latency) * unless(traffic);
    let because = match () {
        () if s.latency > 1.0 => {
            "its connections send in small windows, or again and again; but its disk is slow"
        }
        () if traffic > 1.0 => {
            "its connections send in small windows, or again and again; but its interface carries more than its peers'"
        }
        () => "its connections send in small windows, or again and again",
    };
    Some((Cause::PacketLoss, fits, because))
}

fn rerouted_load(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    let is_server = is_at(facts, "server") && facts.share > 0.4;
    let fits = if is_server { 0.3 } else { 1.0 } * weight(s.activity) * unless(lost(s));
    Some((Cause::ReroutedLoad, fits, "it does work where its peers have none"))
}

fn workload_skew(facts: &Facts) -> Option<(Cause, f64, &'static str)> {
    let s = &facts.strengths;
    // A server's own jobs touch all its attachments (Intrepid paper, 5.3.2).
    let own_jobs = if is_at(facts, "server") && facts.share > 0.4 { weight(s.activity) } else { 0.0 };
    let network = s.more_received.max(s.more_sent);
    let more = weight(s.more_disk_traffic) * unless(s.activity);
    let asked = match facts.container.as_deref() {
        Some("controller" | "array" | "enclosure" | "drawer" | "switch" | "rack") => 0.0,
        _ if facts.is_lun => more,
        _ if facts.has_network => more.min(weight(network)),
        _ => 0.4 * more,
    };
    let fits = own_jobs.max(asked) * unless(lost(s));
    Some((Cause::WorkloadSkew, fits, "it is asked to do more than its peers"))
}

/// How much is left of a weight when something speaks against it.
fn unless(against: f64) -> f64 {
    1.0 - 0.8 * weight(against)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(container: Option<&str>, is_lun: bool, has_network: bool, strengths: Strengths) -> Facts {
        Facts {
            affected: [0].into(),
            held: 1,
            share: 0.6,
            container: container.map(String::from),
            has_network,
            is_lun,
            strengths,
            evidence: Vec::new(),
        }
    }

    fn cause(container: Option<&str>, is_lun: bool, strengths: Strengths) -> Cause {
        weigh(&facts(container, is_lun, true, strengths))[0].cause
    }

    #[test]
    fn the_papers_four_are_told_apart() {
        let none = Strengths::default();
        assert_eq!(
            cause(None, false, Strengths { latency: 3.0, more_disk_traffic: 3.0, ..none }),
            Cause::DiskHog
        );
        assert_eq!(
            cause(None, false, Strengths { latency: 16.0, more_disk_traffic: 1.9, ..none }),
            Cause::DiskHog
        );
        assert_eq!(cause(None, false, Strengths { latency: 3.0, ..none }), Cause::DiskBusy);
        assert_eq!(
            cause(None, false, Strengths { more_received: 3.0, congestion: 2.0, ..none }),
            Cause::NetworkHog
        );
        assert_eq!(cause(None, false, Strengths { congestion: 3.0, ..none }), Cause::PacketLoss);
    }

    #[test]
    fn a_slow_disk_that_shows_in_windows_is_a_slow_disk() {
        let strengths = Strengths { latency: 2.0, congestion: 3.0, ..Strengths::default() };
        assert_eq!(cause(None, false, strengths), Cause::DiskBusy);
    }

    #[test]
    fn a_box_of_luns_is_known_by_what_they_share() {
        let slow = Strengths { latency: 4.0, ..Strengths::default() };
        let lost = Strengths { absence: 3.0, ..Strengths::default() };
        assert_eq!(cause(Some("array"), true, slow), Cause::ArrayJitter);
        assert_eq!(cause(Some("controller"), true, lost), Cause::ControllerTrouble);
        assert_eq!(cause(Some("server"), true, lost), Cause::ServerDown);
        assert_eq!(cause(None, true, lost), Cause::LostAttachment);
        assert_eq!(cause(None, true, slow), Cause::SlowLun);
    }

    #[test]
    fn a_servers_own_jobs_are_no_fault() {
        let active = Strengths { activity: 4.0, ..Strengths::default() };
        assert_eq!(cause(Some("server"), true, active), Cause::WorkloadSkew);
        assert_eq!(cause(None, true, active), Cause::ReroutedLoad);
    }

    #[test]
    fn what_is_said_of_an_alternative_is_true_of_it() {
        let hog = Strengths { latency: 3.0, more_disk_traffic: 3.0, ..Strengths::default() };
        let weighed = weigh(&facts(None, false, true, hog));
        let busy = weighed.iter().find(|other| other.cause == Cause::DiskBusy).unwrap();
        assert_eq!(busy.because, "it is slow; but it moves more data than its peers, too");
        let alone = weigh(&facts(None, false, false, hog));
        assert_eq!(
            alone[0].because,
            "its disk moves more data than its peers'; its network was not recorded"
        );
    }

    #[test]
    fn thin_evidence_is_unknown() {
        assert_eq!(cause(None, false, Strengths::default()), Cause::Unknown);
    }
}
