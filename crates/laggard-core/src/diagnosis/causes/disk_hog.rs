use super::{Description, TRACE, TRAFFIC, unless, weight};
use crate::diagnosis::facts::Facts;

pub(super) const DESCRIPTION: Description = Description {
    name: "disk-hog",
    title: "disk hog",
    meaning: "another process on the same host uses the disk",
    decisive: TRAFFIC,
    next: &["on {host}: `iotop -oa` or `pidstat -d 5`: which process is not the file server's?", TRACE],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    // Traffic that came by the network is not a hog; where the network was not recorded, that is unknown.
    let network = s.more_network();
    let fits = if facts.is_lun || s.more_disk_traffic <= 1.0 {
        0.0
    } else {
        // A hog explains both that more is moved and that all of it waits; a slow disk only that it waits.
        let both = (s.more_disk_traffic * s.latency).sqrt().max(s.more_disk_traffic);
        // A host that is short of memory pages to its disk.
        let paging = if s.memory > 1.0 { 0.3 } else { 1.0 };
        // Its own requests take no longer each than the file server's.
        let slower = s.busy_time / s.more_disk_traffic;
        weight(both) * unless(network) * unless(slower) * paging * if facts.has_network { 1.0 } else { 0.7 }
    };
    let because = if !facts.moves_more() {
        "its disk has more requests than its peers', and moves no more data"
    } else if s.memory > 1.0 {
        "its disk moves more data than its peers'; but its tasks wait for memory"
    } else if !facts.has_network {
        "its disk moves more data than its peers'; its network was not recorded"
    } else if network > 1.0 {
        "its disk moves more data than its peers'; but so does its network"
    } else {
        "its disk moves more data than its peers', and its network does not"
    };
    (fits, because)
}
