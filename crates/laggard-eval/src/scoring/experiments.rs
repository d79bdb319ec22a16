//! Rates of a test bench, as in FAST '10, section 11. One dataset is one experiment.
//! In: the labels of each experiment, and the reported servers with their causes. Out: the four rates of Tables 2 to 5,
//! for each fault and for all. Always: true-positive rates are over experiments with a fault, false-positive rates over
//! all experiments.

use std::collections::BTreeMap;

use laggard_core::diagnosis::Cause;
use laggard_core::model::time::Timestamp;
use serde::Serialize;

use super::confusion::share;
use super::labels::Label;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Experiment {
    /// `disk-hog`, `receive-pktloss`, ..., or `none`.
    pub fault: String,
    /// Empty if unknown.
    pub workload: String,
    /// Progress of the workload during the fault, if it was measured.
    pub rate: Option<f64>,
    pub labels: Vec<Label>,
    /// Most serious first.
    pub reported: Vec<ReportedServer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportedServer {
    /// The server; if labels name components of it, the component.
    pub name: String,
    pub server: String,
    /// Indices of the labels that concern it, at any time.
    pub labels: Vec<usize>,
    pub cause: Cause,
    pub since: Timestamp,
    pub until: Timestamp,
}

/// The paper's rates (footnote 5 of section 11), of some experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    pub experiments: u64,
    /// All faulty servers are reported.
    pub itp: Option<f64>,
    /// A healthy server is reported.
    pub ifp: Option<f64>,
    /// All faults are reported with the right cause.
    pub dtp: Option<f64>,
    /// A fault is reported with a wrong cause, or a healthy server is reported.
    pub dfp: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchRates {
    pub faults: BTreeMap<String, Rates>,
    pub aggregate: Rates,
    /// Experiments whose fault is observable.
    pub observable: Rates,
    /// Experiments whose fault changed the progress of the workload, and those without a fault; `None`: not measured.
    pub felt: Option<Rates>,
}

/// A fault is felt if it changes the progress of the workload by more than this share.
const FELT: f64 = 0.05;

#[derive(Clone, Copy)]
struct Outcome {
    is_faulty: bool,
    itp: bool,
    ifp: bool,
    dtp: bool,
    dfp: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CauseVerdict {
    Right,
    Unknown,
    Wrong,
}

impl Experiment {
    /// Packet loss is not observable if the data flow in the other direction, or if there are so few packets that
    /// retransmission timers hide the loss (FAST '10, section 11).
    pub(crate) fn is_observable(&self) -> bool {
        let unseen: &[&str] = match self.fault.as_str() {
            "receive-pktloss" => &["ddr", "iozoner", "postmark"],
            "send-pktloss" => &["ddw", "iozonew", "postmark"],
            _ => &[],
        };
        !unseen.contains(&self.workload.as_str())
    }

    /// The most serious report of each server. If labels name components of a server: one for each label, and one for
    /// the other components. Workload skew does not count.
    fn reports(&self) -> Vec<&ReportedServer> {
        let mut reports: Vec<&ReportedServer> = Vec::new();
        for reported in self.reported.iter().filter(|reported| reported.cause != Cause::WorkloadSkew) {
            let is_same = |known: &&ReportedServer| {
                (&known.server, &known.labels) == (&reported.server, &reported.labels)
            };
            if !reports.iter().any(is_same) {
                reports.push(reported);
            }
        }
        reports
    }

    /// True if the label concerns the reported server and overlaps the report in time.
    fn fits(&self, number: usize, reported: &ReportedServer) -> bool {
        let is_then = |label: &Label| {
            label.begin.is_none_or(|begin| reported.until > begin)
                && label.end.is_none_or(|end| reported.since < end)
        };
        reported.labels.contains(&number) && self.labels.get(number).is_some_and(is_then)
    }

    fn outcome(&self) -> Outcome {
        let reports = self.reports();
        let numbers = 0..self.labels.len();
        let verdict: Vec<Option<CauseVerdict>> =
            numbers.clone().map(|number| self.verdict(number, &reports)).collect();
        let is_faulty = !verdict.is_empty();
        let ifp = reports.iter().any(|reported| !numbers.clone().any(|number| self.fits(number, reported)));
        Outcome {
            is_faulty,
            itp: is_faulty && verdict.iter().all(Option::is_some),
            ifp,
            dtp: is_faulty && verdict.iter().all(|verdict| *verdict == Some(CauseVerdict::Right)),
            dfp: ifp || verdict.contains(&Some(CauseVerdict::Wrong)),
        }
    }

    /// Compares the cause of the most serious report that matches a label.
    fn verdict(&self, number: usize, reports: &[&ReportedServer]) -> Option<CauseVerdict> {
        let reported = reports.iter().find(|reported| self.fits(number, reported))?;
        Some(match reported.cause {
            cause if self.labels[number].known_cause() == Some(cause) => CauseVerdict::Right,
            // An unknown cause is a missed cause, not a wrong one.
            Cause::Unknown => CauseVerdict::Unknown,
            _ => CauseVerdict::Wrong,
        })
    }
}

pub(crate) fn bench_rates(experiments: &[Experiment]) -> BenchRates {
    let of_fault = |fault: &str| rates(experiments.iter().filter(|e| e.fault == fault));
    let faults = experiments.iter().map(|e| (e.fault.clone(), of_fault(&e.fault))).collect();
    let observable = rates(experiments.iter().filter(|experiment| experiment.is_observable()));
    let is_measured = experiments.iter().any(|experiment| experiment.rate.is_some());
    let felt = is_measured.then(|| rates(experiments.iter().filter(|e| is_felt(e, experiments))));
    BenchRates { faults, aggregate: rates(experiments.iter()), observable, felt }
}

/// Compares the progress with the mean of the fault-free experiments with the same workload.
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

    fn experiment(fault: &str, workload: &str, label: &str, reported: &[(&str, Cause)]) -> Experiment {
        let labels = parse(&format!("component,begin,end,cause\n{label}")).unwrap();
        let server = |name: &str| name.split(':').next().unwrap().to_owned();
        let concerns =
            |label: &str, name: &str| label == name || label == server(name) || server(label) == name;
        let reported = reported.iter().map(|&(name, cause)| ReportedServer {
            name: name.into(),
            server: server(name),
            labels: (0..labels.len()).filter(|&n| concerns(&labels[n].component, name)).collect(),
            cause,
            since: Timestamp::from_seconds(60),
            until: Timestamp::from_seconds(120),
        });
        let reported = reported.collect();
        Experiment { fault: fault.into(), workload: workload.into(), rate: None, labels, reported }
    }

    fn rates_of(experiment: Experiment) -> [Option<f64>; 4] {
        let Rates { itp, ifp, dtp, dfp, .. } = bench_rates(&[experiment]).aggregate;
        [itp, ifp, dtp, dfp]
    }

    const YES: Option<f64> = Some(1.0);
    const NO: Option<f64> = Some(0.0);

    #[test]
    fn the_right_server_with_the_right_cause() {
        let label = "oss3,,,disk-hog\n";
        let of = |reported: &[(&str, Cause)]| rates_of(experiment("disk-hog", "ddr", label, reported));
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
    fn if_a_label_names_a_disk_the_disk_and_its_server_are_right() {
        let label = "oss3:sdb,,,disk-hog\n";
        let of = |reported: &[(&str, Cause)]| rates_of(experiment("disk-hog", "ddr", label, reported));
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
    fn every_report_without_a_fault_is_wrong() {
        assert_eq!(rates_of(experiment("none", "ddr", "", &[])), [None, NO, None, NO]);
        assert_eq!(rates_of(experiment("none", "ddr", "", &[("a", Cause::DiskHog)])), [None, YES, None, YES]);
    }

    #[test]
    fn a_report_at_another_time_is_wrong() {
        let label = "oss3,1970-01-01T01:00:00Z,,disk-hog\n";
        let rates = rates_of(experiment("disk-hog", "ddr", label, &[("oss3", Cause::DiskHog)]));
        assert_eq!(rates, [NO, YES, NO, YES]);
    }

    /// Rows of the paper's Table 2, 50 experiments each, and its aggregate.
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
        for (fault, cause, reported, diagnosed) in rows {
            for number in 0..50 {
                let right = Cause::named(cause).unwrap();
                let reported = match number {
                    n if n < diagnosed => vec![("s", right)],
                    n if n < reported => vec![("s", Cause::SlowLun)],
                    _ => vec![],
                };
                experiments.push(experiment(fault, "ddw", &format!("s,,,{cause}\n"), &reported));
            }
        }
        experiments.extend((0..50).map(|_| experiment("none", "ddw", "", &[])));
        let Rates { itp, dtp, .. } = bench_rates(&experiments).aggregate;
        assert_eq!(format!("{:.1} {:.1}", 100.0 * itp.unwrap(), 100.0 * dtp.unwrap()), "77.3 76.0");
    }

    #[test]
    fn packet_loss_is_observable_in_the_direction_of_the_data() {
        let is_observable = |fault, workload| experiment(fault, workload, "", &[]).is_observable();
        assert!(
            is_observable("receive-pktloss", "ddw")
                && is_observable("send-pktloss", "iozoner")
                && is_observable("disk-hog", "postmark")
        );
        assert!(
            !is_observable("receive-pktloss", "ddr")
                && !is_observable("send-pktloss", "ddw")
                && !is_observable("send-pktloss", "postmark")
        );
    }

    #[test]
    fn a_fault_is_felt_if_it_changes_the_progress_of_the_workload() {
        let with_rate = |fault: &str, workload: &str, label: &str, rate: f64| Experiment {
            rate: Some(rate),
            ..experiment(fault, workload, label, &[])
        };
        let label = "a,,,disk-busy";
        let mut experiments =
            vec![experiment("none", "ddw", "", &[]), experiment("disk-busy", "ddw", label, &[])];
        assert_eq!(bench_rates(&experiments).felt, None);
        experiments = vec![
            with_rate("none", "ddw", "", 90.0),
            with_rate("none", "ddw", "", 110.0),
            with_rate("none", "ddr", "", 10.0),
            with_rate("disk-busy", "ddw", label, 96.0),
            with_rate("disk-busy", "ddw", label, 94.0),
            with_rate("disk-busy", "ddw", label, 106.0),
        ];
        assert_eq!(bench_rates(&experiments).felt.unwrap().experiments, 5);
    }
}
