//! Percentages of rare events, such as lost segments.
//! In: at every instant, the percentage of each member and the rate it refers to. Out: percentages over the last seconds.
//! Always: a few lost segments out of a few do not count.
//!
//! A single sample says little, because nothing is lost at most instants. So counts are accumulated over time, and
//! smoothed in two steps: a member's percentage is pulled towards that of its server, and a server's towards zero.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::time::Span;

/// After this many seconds, a count weighs 1/e.
const MEMORY_S: f64 = 10.0;
/// The weight of the smoothing, in segments. One lost of a hundred is chance; five of three hundred are not.
const PRIOR: f64 = 300.0;

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    lost: f64,
    all: f64,
}

/// The percentages of a peer group.
pub(super) struct Shares {
    counts: Vec<Counts>,
    /// The index of each member's server.
    servers: Vec<usize>,
    of_server: Vec<Counts>,
    percentages: Vec<f64>,
}

impl Shares {
    /// Without servers, each member is its own.
    pub(super) fn new(members: usize, servers: &[Arc<str>]) -> Shares {
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

    /// Adds the percentages of a step and the rates that they refer to, `elapsed` after the previous ones. Returns the
    /// accumulated percentages, NaN for members without a sample or traffic.
    pub(super) fn add(
        &mut self,
        percentages: &[f64],
        per_second: &[f64],
        step: Span,
        elapsed: Span,
    ) -> &[f64] {
        let seconds = |span: Span| span.micros() as f64 / 1e6;
        let (step_s, fade) = (seconds(step), (-seconds(elapsed) / MEMORY_S).exp());
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
            let expected = server.lost / (server.all + PRIOR);
            *out = 100.0 * (own.lost + PRIOR * expected) / (own.all + PRIOR);
            // What carries nothing loses nothing: the counts of before are old.
            if percentages[member].is_nan() || per_second[member] == 0.0 {
                *out = f64::NAN;
            }
        }
        &self.percentages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two servers with three links each, after ten seconds.
    fn after_ten_seconds(percentages: [f64; 6], per_second: f64) -> Vec<f64> {
        let servers = ["a", "a", "a", "b", "b", "b"].map(Arc::from);
        let mut shares = Shares::new(6, &servers);
        for _ in 0..9 {
            shares.add(&percentages, &[per_second; 6], Span::SECOND, Span::SECOND);
        }
        shares.add(&percentages, &[per_second; 6], Span::SECOND, Span::SECOND).to_vec()
    }

    #[test]
    fn links_of_one_server_that_all_lose_a_little_add_up() {
        let shares = after_ten_seconds([5.0, 5.0, 5.0, 0.0, 0.0, 0.0], 60.0);
        assert!(shares[..3].iter().all(|share| *share > 3.5), "{shares:?}");
        assert_eq!(shares[3..], [0.0; 3]);
    }

    #[test]
    fn one_lossy_link_hardly_affects_the_others_of_its_server() {
        let shares = after_ten_seconds([5.0, 0.0, 0.0, 0.0, 0.0, 0.0], 300.0);
        assert!(shares[0] > 4.0 && shares[1] < 0.3, "{shares:?}");
    }

    #[test]
    fn a_single_loss_of_few_segments_is_chance() {
        let shares = after_ten_seconds([10.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0);
        assert!(shares[0] < 0.5, "{shares:?}");
    }

    #[test]
    fn a_member_without_a_sample_has_no_share() {
        let shares = after_ten_seconds([f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0], 100.0);
        assert!(shares[0].is_nan() && !shares[1].is_nan());
    }

    #[test]
    fn losses_of_before_do_not_count_while_nothing_is_sent() {
        let mut shares = Shares::new(2, &[]);
        shares.add(&[5.0, 5.0], &[100.0, 100.0], Span::SECOND, Span::SECOND);
        let later = shares.add(&[0.0, 5.0], &[0.0, 100.0], Span::SECOND, Span::SECOND);
        assert!(later[0].is_nan() && later[1] > 1.0, "{later:?}");
    }
}
