//! A test bench: one dataset is one experiment, and a method names servers and causes, as in FAST '10, section 11.
//! In: what was wrong in each experiment, and who was accused of what. Out: the four rates of Tables 2 to 5, for each
//! fault and for all. Always: rates of true positives are over experiments with a fault, those of false positives over
//! all experiments.

use std::collections::BTreeMap;

use laggard_core::diagnosis::Cause;
use laggard_core::model::time::Timestamp;
use serde::Serialize;

use super::confusion::share;
use super::labels::Label;

/// One run of a test bench, and what was said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What was done to it: `disk-hog`, `receive-pktloss`, ..., or `none`.
    pub fault: String,
    /// What the clients did; empty where that is not known.
    pub workload: String,
    /// How much the workload got done while the fault was there, where that was measured.
    pub rate: Option<f64>,
    /// What was wrong.
    pub labels: Vec<Label>,
    /// Who was accused, most serious first.
    pub accused: Vec<Accused>,
}

/// Who was accused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accused {
    /// As it is told: the server, or, where labels name parts of that, the component.
    pub name: String,
    /// The server that it counts for.
    pub server: String,
    /// The numbers of the labels that concern it, whenever they hold.
    pub labels: Vec<usize>,
    /// Of what.
    pub cause: Cause,
    /// Since when.
    pub since: Timestamp,
    /// Until when.
    pub until: Timestamp,
}

/// The paper's rates (footnote 5 of section 11), of some experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// How many experiments.
    pub experiments: u64,
    /// All faulty servers are accused.
    pub itp: Option<f64>,
    /// A server that is not faulty is accused.
    pub ifp: Option<f64>,
    /// All faults are told with their cause.
    pub dtp: Option<f64>,
    /// A fault is told with a wrong cause, or a server that is not faulty is accused.
    pub dfp: Option<f64>,
}

/// The rates of a method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchFigures {
    /// For each fault.
    pub faults: BTreeMap<String, Rates>,
    /// For all.
    pub aggregate: Rates,
    /// For all whose fault can be seen.
    pub observable: Rates,
    /// For all whose fault changed how much the workload got done, and those without a fault; nothing: that was not
    /// measured.
    pub felt: Option<Rates>,
}

/// A fault is felt if it changes how much a workload gets done by more than this share.
const FELT: f64 = 0.05;

/// What is true of one experiment.
#[derive(Clone, Copy)]
struct Outcome {
    is_faulty: bool,
    itp: bool,
    ifp: bool,
    dtp: bool,
    dfp: bool,
}

/// How the cause of a fault was told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Rightly,
    Vaguely,
    Wrongly,
}

impl Experiment {
    /// Whether the fault can be seen at all: lost packets cannot where the data flow the other way, or where there
    /// are so few that a timer brings them back unnoticed (FAST '10, section 11).
    pub fn is_observable(&self) -> bool {
        let unseen: &[&str] = match self.fault.as_str() {
            "receive-pktloss" => &["ddr", "iozoner", "postmark"],
            "send-pktloss" => &["ddw", "iozonew", "postmark"],
            _ => &[],
        };
        !unseen.contains(&self.workload.as_str())
    }

    /// A server is accused once, by what is most serious; where labels name parts of it, once for each label, and once
    /// for its other parts. Unevenness of what is asked of it is no accusation.
    fn charges(&self) -> Vec<&Accused> {
        let mut charges: Vec<&Accused> = Vec::new();
        for accused in self.accused.iter().filter(|accused| accused.cause != Cause::WorkloadSkew) {
            let is_same =
                |known: &&Accused| (&known.server, &known.labels) == (&accused.server, &accused.labels);
            if !charges.iter().any(is_same) {
                charges.push(accused);
            }
        }
        charges
    }

    /// The label of that number, if it fits an accusation.
    fn fits(&self, number: usize, accused: &Accused) -> bool {
        let is_then = |label: &Label| {
            label.begin.is_none_or(|begin| accused.until > begin)
                && label.end.is_none_or(|end| accused.since < end)
        };
        accused.labels.contains(&number) && self.labels.get(number).is_some_and(is_then)
    }

    fn outcome(&self) -> Outcome {
        let charges = self.charges();
        let numbers = 0..self.labels.len();
        let told: Vec<Option<Told>> = numbers.clone().map(|number| self.told(number, &charges)).collect();
        let is_faulty = !told.is_empty();
        let ifp = charges.iter().any(|accused| !numbers.clone().any(|number| self.fits(number, accused)));
        Outcome {
            is_faulty,
            itp: is_faulty && told.iter().all(Option::is_some),
            ifp,
            dtp: is_faulty && told.iter().all(|told| *told == Some(Told::Rightly)),
            dfp: ifp || told.contains(&Some(Told::Wrongly)),
        }
    }

    /// What the most serious accusation that fits a label says of its cause.
    fn told(&self, number: usize, charges: &[&Accused]) -> Option<Told> {
        let accused = charges.iter().find(|accused| self.fits(number, accused))?;
        Some(match accused.cause {
            cause if self.labels[number].known_cause() == Some(cause) => Told::Rightly,
            // To say "unknown" is to miss the cause, not to mistake it.
            Cause::Unknown => Told::Vaguely,
            _ => Told::Wrongly,
        })
    }
}

/// The rates of many experiments.
pub fn figures(experiments: &[Experiment]) -> BenchFigures {
    let of_fault = |fault: &str| rates(experiments.iter().filter(|e| e.fault == fault));
    let faults = experiments.iter().map(|e| (e.fault.clone(), of_fault(&e.fault))).collect();
    let observable = rates(experiments.iter().filter(|experiment| experiment.is_observable()));
    let is_measured = experiments.iter().any(|experiment| experiment.rate.is_some());
    let felt = is_measured.then(|| rates(experiments.iter().filter(|e| is_felt(e, experiments))));
    BenchFigures { faults, aggregate: rates(experiments.iter()), observable, felt }
}

/// Whether an experiment has no fault, or one that changed what its workload got done without one, in the mean.
fn is_felt(experiment: &Experiment, experiments: &[Experiment]) -> bool {
    if experiment.labels.is_empty() {
        return true;
    }
    let calm = experiments.iter().filter(|e| e.labels.is_empty() && e.workload == experiment.workload);
    let rates: Vec<f64> = calm.filter_map(|calm| calm.rate).collect();
    let usual = rates.iter().sum::<f64>() / rates.len() as f64;
    experiment.rate.is_some_and(|rate| (rate / usual - 1.0).abs() > FELT)
}

fn rates<'a>(experiments: impl Iterator<Item = &'a Experiment>) -> Rates {
    let outcomes: Vec<Outcome> = experiments.map(Experiment::outcome).collect();
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count() as u64;
    let (all, faulty) = (outcomes.len() as u64, count(|o| o.is_faulty));
    Rates {
        experiments: all,
        itp: share(count(|o| o.itp), faulty),
        ifp: share(count(|o| o.ifp), all),
        dtp: share(count(|o| o.dtp), faulty),
        dfp: share(count(|o| o.dfp), all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::labels::parse;

    fn experiment(fault: &str, workload: &str, label: &str, accused: &[(&str, Cause)]) -> Experiment {
        let labels = parse(&format!("component,begin,end,cause\n{label}")).unwrap();
        let server = |name: &str| name.split(':').next().unwrap().to_owned();
        let concerns =
            |label: &str, name: &str| label == name || label == server(name) || server(label) == name;
        let accused = accused.iter().map(|&(name, cause)| Accused {
            name: name.into(),
            server: server(name),
            labels: (0..labels.len()).filter(|&n| concerns(&labels[n].component, name)).collect(),
            cause,
            since: Timestamp::from_seconds(60),
            until: Timestamp::from_seconds(120),
        });
        let accused = accused.collect();
        Experiment { fault: fault.into(), workload: workload.into(), rate: None, labels, accused }
    }

    fn rates_of(experiment: Experiment) -> [Option<f64>; 4] {
        let Rates { itp, ifp, dtp, dfp, .. } = figures(&[experiment]).aggregate;
        [itp, ifp, dtp, dfp]
    }

    const YES: Option<f64> = Some(1.0);
    const NO: Option<f64> = Some(0.0);

    #[test]
    fn the_right_server_with_the_right_cause() {
        let label = "oss3,,,disk-hog\n";
        let of = |accused: &[(&str, Cause)]| rates_of(experiment("disk-hog", "ddr", label, accused));
        assert_eq!(of(&[("oss3", Cause::DiskHog)]), [YES, NO, YES, NO]);
        assert_eq!(of(&[("oss3", Cause::DiskBusy)]), [YES, NO, NO, YES]);
        assert_eq!(of(&[("oss3", Cause::Unknown)]), [YES, NO, NO, NO]);
        assert_eq!(of(&[("oss3", Cause::DiskHog), ("oss3", Cause::DiskBusy)]), [YES, NO, YES, NO]);
        assert_eq!(of(&[("oss3", Cause::DiskHog), ("oss4", Cause::DiskHog)]), [YES, YES, YES, YES]);
        assert_eq!(of(&[("oss4", Cause::DiskHog)]), [NO, YES, NO, YES]);
        assert_eq!(of(&[("oss4", Cause::WorkloadSkew)]), [NO, NO, NO, NO]);
        assert_eq!(of(&[]), [NO, NO, NO, NO]);
    }

    #[test]
    fn a_disk_its_server_and_no_other_disk_may_be_accused_where_a_label_names_it() {
        let label = "oss3:sdb,,,disk-hog\n";
        let of = |accused: &[(&str, Cause)]| rates_of(experiment("disk-hog", "ddr", label, accused));
        assert_eq!(of(&[("oss3:sdb", Cause::DiskHog)]), [YES, NO, YES, NO]);
        assert_eq!(of(&[("oss3", Cause::DiskHog)]), [YES, NO, YES, NO]);
        assert_eq!(of(&[("oss3:sdb", Cause::DiskHog), ("oss3", Cause::DiskBusy)]), [YES, NO, YES, NO]);
        assert_eq!(of(&[("oss3:sdc", Cause::DiskHog)]), [NO, YES, NO, YES]);
        assert_eq!(of(&[("oss3:sdc", Cause::DiskHog), ("oss3:sdb", Cause::DiskHog)]), [YES, YES, YES, YES]);
        let two = "oss3:sdb,,,disk-hog\noss3:sdc,,,disk-hog\n";
        let both = [("oss3:sdb", Cause::DiskHog), ("oss3:sdc", Cause::DiskHog)];
        assert_eq!(rates_of(experiment("disk-hog", "ddr", two, &both)), [YES, NO, YES, NO]);
    }

    #[test]
    fn nobody_is_to_be_accused_where_nothing_is_wrong() {
        assert_eq!(rates_of(experiment("none", "ddr", "", &[])), [None, NO, None, NO]);
        assert_eq!(rates_of(experiment("none", "ddr", "", &[("a", Cause::DiskHog)])), [None, YES, None, YES]);
    }

    #[test]
    fn an_accusation_at_another_time_is_a_wrong_one() {
        let label = "oss3,1970-01-01T01:00:00Z,,disk-hog\n";
        let rates = rates_of(experiment("disk-hog", "ddr", label, &[("oss3", Cause::DiskHog)]));
        assert_eq!(rates, [NO, YES, NO, YES]);
    }

    /// Rows of the paper's Table 2, 50 experiments each, and what it makes of them.
    #[test]
    fn the_aggregate_is_that_of_the_paper() {
        let mut experiments = Vec::new();
        let rows = [
            ("disk-hog", "disk-hog", 50, 50),
            ("disk-busy", "disk-busy", 45, 45),
            ("write-network-hog", "network-hog", 46, 42),
            ("read-network-hog", "network-hog", 50, 50),
            ("receive-pktloss", "packet-loss", 21, 21),
            ("send-pktloss", "packet-loss", 20, 20),
        ];
        for (fault, cause, indicted, diagnosed) in rows {
            for number in 0..50 {
                let right = Cause::named(cause).unwrap();
                let accused = match number {
                    n if n < diagnosed => vec![("s", right)],
                    n if n < indicted => vec![("s", Cause::SlowLun)],
                    _ => vec![],
                };
                experiments.push(experiment(fault, "ddw", &format!("s,,,{cause}\n"), &accused));
            }
        }
        experiments.extend((0..50).map(|_| experiment("none", "ddw", "", &[])));
        let Rates { itp, dtp, .. } = figures(&experiments).aggregate;
        assert_eq!(format!("{:.1} {:.1}", 100.0 * itp.unwrap(), 100.0 * dtp.unwrap()), "77.3 76.0");
    }

    #[test]
    fn losses_that_cannot_be_seen_are_left_out() {
        let seen = |fault, workload| experiment(fault, workload, "", &[]).is_observable();
        assert!(
            seen("receive-pktloss", "ddw") && seen("send-pktloss", "iozoner") && seen("disk-hog", "postmark")
        );
        assert!(
            !seen("receive-pktloss", "ddr")
                && !seen("send-pktloss", "ddw")
                && !seen("send-pktloss", "postmark")
        );
    }

    #[test]
    fn a_fault_is_felt_where_the_workload_gets_less_done_than_without_one() {
        let with_rate = |fault: &str, workload: &str, label: &str, rate: f64| Experiment {
            rate: Some(rate),
            ..experiment(fault, workload, label, &[])
        };
        let label = "a,,,disk-busy";
        let mut experiments =
            vec![experiment("none", "ddw", "", &[]), experiment("disk-busy", "ddw", label, &[])];
        assert_eq!(figures(&experiments).felt, None);
        experiments = vec![
            with_rate("none", "ddw", "", 90.0),
            with_rate("none", "ddw", "", 110.0),
            with_rate("none", "ddr", "", 10.0),
            with_rate("disk-busy", "ddw", label, 96.0),
            with_rate("disk-busy", "ddw", label, 94.0),
            with_rate("disk-busy", "ddw", label, 106.0),
        ];
        assert_eq!(figures(&experiments).felt.unwrap().experiments, 5);
    }
}
