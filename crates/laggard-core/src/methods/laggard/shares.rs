//! Percentages of what is rare: lost segments.
//! In: at every instant, a percentage of each member and what it is a percentage of. Out: percentages of the last while.
//!
//! At most instants nothing is lost, so samples say little; what was counted over a while says more, and what all
//! members of one server counted together says most. So a member's percentage is that of its own counts and of a few
//! more, of which as many are lost as of its server's; and a server's, of its counts and of a few more of which none is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::time::Span;

/// What was counted so long ago weighs 1/e.
const WHILE_S: f64 = 10.0;
/// How many more are counted. One lost of a hundred is chance; five of three hundred are not.
const MORE: f64 = 300.0;

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    lost: f64,
    all: f64,
}

/// The percentages of a peer group.
pub struct Shares {
    counts: Vec<Counts>,
    /// The number of each member's server.
    servers: Vec<usize>,
    of_server: Vec<Counts>,
    percentages: Vec<f64>,
}

impl Shares {
    /// For so many members, of these servers; without servers, each is by itself.
    pub fn new(members: usize, servers: &[Arc<str>]) -> Shares {
        let mut numbers = BTreeMap::new();
        let numbered = servers.iter().map(|server| {
            let next = numbers.len();
            *numbers.entry(server).or_insert(next)
        });
        let servers = if servers.len() == members { numbered.collect() } else { (0..members).collect() };
        Shares {
            counts: vec![Counts::default(); members],
            servers,
            of_server: vec![Counts::default(); members],
            percentages: vec![f64::NAN; members],
        }
    }

    /// Takes the percentages of a step, and of how many a second they are, so long after those before; gives those of
    /// the last while. Who has no sample has none.
    pub fn gather(&mut self, percentages: &[f64], per_second: &[f64], step: Span, elapsed: Span) -> &[f64] {
        let seconds = |span: Span| span.micros() as f64 / 1e6;
        let (step_s, fade) = (seconds(step), (-seconds(elapsed) / WHILE_S).exp());
        for (counts, (percent, rate)) in self.counts.iter_mut().zip(percentages.iter().zip(per_second)) {
            let all = if rate.is_nan() || percent.is_nan() { 0.0 } else { rate * step_s };
            counts.all = counts.all * fade + all;
            counts.lost = counts.lost * fade + if all > 0.0 { all * percent / 100.0 } else { 0.0 };
        }
        self.of_server.fill(Counts::default());
        for (counts, &server) in self.counts.iter().zip(&self.servers) {
            self.of_server[server].lost += counts.lost;
            self.of_server[server].all += counts.all;
        }
        for (member, out) in self.percentages.iter_mut().enumerate() {
            let (own, server) = (self.counts[member], self.of_server[self.servers[member]]);
            let expected = server.lost / (server.all + MORE);
            *out = 100.0 * (own.lost + MORE * expected) / (own.all + MORE);
            if percentages[member].is_nan() {
                *out = f64::NAN;
            }
        }
        &self.percentages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two servers of three links each, after ten seconds at these percentages of so many segments a second.
    fn after_ten_seconds(percentages: [f64; 6], per_second: f64) -> Vec<f64> {
        let servers = ["a", "a", "a", "b", "b", "b"].map(Arc::from);
        let mut shares = Shares::new(6, &servers);
        for _ in 0..9 {
            shares.gather(&percentages, &[per_second; 6], Span::SECOND, Span::SECOND);
        }
        shares.gather(&percentages, &[per_second; 6], Span::SECOND, Span::SECOND).to_vec()
    }

    #[test]
    fn links_of_one_server_that_all_lose_a_little_add_up() {
        let shares = after_ten_seconds([5.0, 5.0, 5.0, 0.0, 0.0, 0.0], 60.0);
        assert!(shares[..3].iter().all(|share| *share > 3.5), "{shares:?}");
        assert_eq!(shares[3..], [0.0; 3]);
    }

    #[test]
    fn one_link_that_loses_hardly_blackens_its_servers_others() {
        let shares = after_ten_seconds([5.0, 0.0, 0.0, 0.0, 0.0, 0.0], 300.0);
        assert!(shares[0] > 4.0 && shares[1] < 0.3, "{shares:?}");
    }

    #[test]
    fn a_single_loss_of_next_to_nothing_is_chance() {
        let shares = after_ten_seconds([10.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0);
        assert!(shares[0] < 0.5, "{shares:?}");
    }

    #[test]
    fn who_has_no_sample_has_no_share() {
        let shares = after_ten_seconds([f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0], 100.0);
        assert!(shares[0].is_nan() && !shares[1].is_nan());
    }
}
