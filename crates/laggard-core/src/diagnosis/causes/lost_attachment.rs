use super::{ABSENCE, Description, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::component::Container;

pub(super) const DESCRIPTION: Description = Description {
    name: "lost-attachment",
    title: "lost attachment",
    meaning: "the host no longer reaches the device, or no longer uses it",
    decisive: ABSENCE,
    next: &["on {host}: is {device} still there (`lsblk`, multipath), and does the file system use it?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let is_large = facts.is_in(Container::Controller) || facts.is_in(Container::Array);
    let is_whole_server = facts.is_most_of_a_server() && s.absence > 1.0;
    let is_down = is_whole_server || facts.is_silent() && !facts.keeps_connections || s.disconnection > 1.0;
    let fits = weight(s.lost()) * if is_large || is_down { 0.3 } else { 1.0 };
    let because = if s.latency > 1.0 {
        "it is absent or idle while its peers are in use; but when it is in use, it is slow"
    } else {
        "it is absent or idle while its peers are in use"
    };
    (fits * unless(s.latency), because)
}
