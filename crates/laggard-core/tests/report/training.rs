//! The page to check before thresholds are used.

use laggard_core::diagnosis::{Cause, KnownIncident, Warning};
use laggard_core::methods::papers::distances::Measure;
use laggard_core::methods::papers::settings::PaperSettings;
use laggard_core::methods::papers::thresholds::Origin;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::html::training::page;
use laggard_core::report::svg::superimposed;
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;
use laggard_core::tables::value_ranges::Envelope;
use laggard_core::training::{GroupPicture, Outlier, ThresholdSummary, TrainingResult};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

use crate::{pictures, xml};

fn shown(members: usize, len: usize, values: &[f64], name: &str) -> GroupPicture {
    let grid = Grid { start: Timestamp::from_seconds(1_800_000_000), step: Span::SECOND, len };
    let names: Vec<String> = (0..members).map(|member| format!("{name}{member}")).collect();
    let metric = Metric::named("await").unwrap();
    let value = |at: usize| values.get(at % values.len().max(1)).copied().unwrap_or(f64::NAN);
    let components = names.iter().map(|name| name.as_str().into()).collect();
    let table = Table { metric, grid, components, values: (0..members * len).map(value).collect() };
    let mut envelope = Envelope::new(grid.start - grid.step, grid.end(), grid.step, members);
    envelope.take(&table);
    GroupPicture { group: name.into(), metric, names, envelope, outliers: vec![0, 1, 2, 700] }
}

fn trained(name: &str) -> TrainingResult {
    let (from, to) = (Timestamp::from_seconds(1_800_000_000), Timestamp::from_seconds(1_800_086_400));
    let (method, measure, dataset) = ("production".into(), Measure::Cdf, name.into());
    let one = Outlier { component: name.into(), threshold: 40.0, ratio: 4.0 };
    let summary = ThresholdSummary {
        group: name.into(),
        metric: MetricId::Await,
        thresholds: 3,
        windows: 190,
        lowest: 8.0,
        median: 10.0,
        highest: 40.0,
        outliers: vec![one],
    };
    TrainingResult {
        origin: Origin { dataset, from, to, method, measure, date: to, settings: PaperSettings::default() },
        summaries: vec![summary],
        warnings: vec![Warning::NotCalm {
            suspects: vec![KnownIncident {
                component: name.into(),
                cause: Cause::DiskBusy,
                since: from,
                until: to,
            }],
        }],
        pictures: vec![shown(3, 50, &[1.0, 2.0, 3.0], name), shown(3, 0, &[], name)],
    }
}

#[test]
fn the_page_is_well_formed_whatever_things_are_called() {
    let page = page(&trained("<script>\"&'\u{202e}\u{7}"));
    let elements = xml::elements(page.strip_prefix("<!DOCTYPE html>").unwrap());
    assert!(elements.iter().all(|element| element.name != "script"));
    assert_eq!(elements.iter().filter(|element| element.name == "svg").count(), 1);
    assert!(page.contains("no values") && page.contains("is not calm"));
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::NAN), Just(0.0), Just(f64::MAX), Just(f64::INFINITY), 0.0..100.0, any::<f64>()]
}

proptest! {
    #[test]
    fn pictures_of_few_members_stay_inside(
        values in proptest::collection::vec(value(), 0..40), members in 0usize..5, len in 0usize..40, name in any::<String>(),
    ) {
        pictures::check(&superimposed::draw(&shown(members, len, &values, &name)).into_string());
    }
}

#[test]
fn pictures_of_many_members_stay_inside() {
    for values in [&[0.0, 0.0][..], &[1.0, f64::NAN, 1e9, -4.0, f64::INFINITY], &[f64::MAX, 0.0, -f64::MAX]] {
        pictures::check(&superimposed::draw(&shown(120, 900, values, "oss")).into_string());
    }
}
