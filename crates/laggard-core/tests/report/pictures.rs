//! Properties of pictures of any values.

use std::collections::HashSet;

use laggard_core::diagnosis::{Comparison, HeatMap, Mark, Named, Node};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::svg::{comparison, heat, score_line, tree};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

use crate::{sample, xml};
use laggard_core::model::metric::MetricId;

/// Fails unless the picture is well-formed and every coordinate lies in its view box.
pub(crate) fn check(picture: &str) {
    let elements = xml::elements(picture);
    let view: Vec<f64> =
        elements[0].attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    let (width, height) = (view[2], view[3]);
    for element in &elements {
        let at = |name: &str| element.attribute(name).map_or(0.0, |value| value.parse::<f64>().unwrap());
        assert!((0.0..=width).contains(&at("x")) && at("x") + at("width") <= width + 0.2, "{element:?}");
        assert!((0.0..=height).contains(&at("y")) && at("y") + at("height") <= height + 0.2, "{element:?}");
        let path = element.attribute("d").unwrap_or("");
        assert!(
            ends(path).iter().all(|(x, y)| (0.0..=width).contains(x) && (0.0..=height).contains(y)),
            "{path}"
        );
    }
}

/// The points that a path goes through.
fn ends(path: &str) -> Vec<(f64, f64)> {
    let (mut at, mut ends) = ((0.0, 0.0), Vec::new());
    let starts: Vec<usize> = path.char_indices().filter(|(_, c)| c.is_alphabetic()).map(|(k, _)| k).collect();
    for (k, &start) in starts.iter().enumerate() {
        let end = starts.get(k + 1).copied().unwrap_or(path.len());
        let numbers: Vec<f64> =
            path[start + 1..end].split(',').filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
        at = match (&path[start..=start], numbers.as_slice()) {
            ("M" | "L", &[x, y]) => (x, y),
            ("l", &[x, y]) => (at.0 + x, at.1 + y),
            ("H", &[x]) => (x, at.1),
            ("h", &[x]) => (at.0 + x, at.1),
            ("V", &[y]) => (at.0, y),
            ("Z", []) => at,
            other => panic!("{other:?} in {path}"),
        };
        ends.push(at);
    }
    ends
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::NAN), Just(0.0), Just(f64::MAX), Just(f64::INFINITY), 0.0..100.0, any::<f64>()]
}

fn instant() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        any::<i64>().prop_map(Timestamp::from_micros),
        (0i64..4_000_000_000).prop_map(Timestamp::from_seconds)
    ]
}

fn any_comparison() -> impl Strategy<Value = Comparison> {
    let series = || vec(value(), 0..40);
    let step = prop_oneof![Just(Span::from_seconds(15)), any::<i64>().prop_map(Span::from_micros)];
    let scores = vec((instant(), value(), value()), 0..20);
    (series(), series(), series(), series(), instant(), step, scores, any::<String>()).prop_map(
        |(own, median, low, high, start, step, scores, component)| Comparison {
            component,
            metric: MetricId::Await,
            unit: "ms",
            start,
            step,
            own,
            median,
            low,
            high,
            scores,
        },
    )
}

fn any_node() -> impl Strategy<Value = Node> {
    let marks = prop_oneof![Just(Mark::Unremarkable), Just(Mark::Explained), Just(Mark::Suspect)];
    let node = |parts: Vec<Node>, name: String, mark, others| Node {
        component: Named::new(name.as_str().into(), name),
        mark,
        parts,
        others,
    };
    let leaf =
        (any::<String>(), marks.clone(), any::<usize>()).prop_map(move |(n, m, o)| node(Vec::new(), n, m, o));
    leaf.prop_recursive(10, 120, 12, move |inner| {
        (vec(inner, 0..12), any::<String>(), marks.clone(), 0usize..9)
            .prop_map(move |(p, n, m, o)| node(p, n, m, o))
    })
}

proptest! {
    #[test]
    fn series_stay_inside(comparison in any_comparison(), since in instant(), until in instant()) {
        check(&comparison::draw(&comparison, Some((since, until))).into_string());
        if let Some(picture) = score_line::draw(&comparison, Some((since, until))) {
            check(&picture.into_string());
        }
    }

    #[test]
    fn heat_maps_stay_inside(
        rows in vec(any::<String>(), 0..50),
        edges in vec(instant(), 0..12),
        cells in vec(any::<f32>(), 0..300),
    ) {
        if let Some(picture) = heat::draw(&HeatMap { rows, edges, cells, left_out: 0 }, &HashSet::new()) {
            check(&picture.into_string());
        }
    }

    #[test]
    fn trees_stay_inside(roots in vec(any_node(), 0..4)) {
        if let Some(picture) = tree::draw(&roots) {
            check(&picture.into_string());
        }
    }
}

#[test]
fn a_constant_a_single_point_and_nothing_can_be_drawn() {
    let sample = sample::one_suspect().pictures.suspects.remove(0).remove(0);
    for own in [vec![7.0; 100], vec![7.0], vec![f64::NAN; 3], Vec::new()] {
        let few =
            Comparison { median: own.clone(), low: own.clone(), high: own.clone(), own, ..sample.clone() };
        check(&comparison::draw(&few, None).into_string());
    }
}

#[test]
fn a_million_points_make_a_small_picture_with_the_spike_in_it() {
    let mut sample = sample::one_suspect().pictures.suspects.remove(0).remove(0);
    sample.own = vec![10.0; 1_000_000];
    sample.own[654_321] = 60.0;
    for series in [&mut sample.median, &mut sample.low, &mut sample.high] {
        *series = vec![9.0; 1_000_000];
    }
    let picture = comparison::draw(&sample, None).into_string();
    assert!(picture.len() < 150_000, "{}", picture.len());
    let elements = xml::elements(&picture);
    let own =
        elements.iter().find(|e| e.attribute("class") == Some("own") && e.attribute("d").unwrap().len() > 20);
    let highest = ends(own.unwrap().attribute("d").unwrap()).iter().map(|end| end.1).fold(f64::MAX, f64::min);
    assert!(highest < 60.0, "{highest}");
}

#[test]
fn the_culprit_is_drawn_however_large_the_system() {
    let server = |k: usize| {
        let mark = if k == 900 { Mark::Suspect } else { Mark::Unremarkable };
        let component = Named::new("server".into(), format!("oss{k}"));
        Node { component, mark, parts: Vec::new(), others: 0 }
    };
    let roots: Vec<Node> = (0..1000).map(server).collect();
    let picture = tree::draw(&roots).unwrap().into_string();
    assert!(picture.contains("oss900") && picture.contains("Further parts are not drawn"), "{picture}");
    assert!(picture.len() < 50_000);
}
