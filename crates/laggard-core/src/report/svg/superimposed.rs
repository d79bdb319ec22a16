//! All members of a group in one plot, one over the other: calm peers make one thick line, and who is not like them
//! leaves it. The Intrepid authors looked at such plots to see whether a day was fit to train on (4.2.1).

use std::fmt::Write;

use maud::{Markup, html};

use super::comparison::WIDTH;
use super::frame::{Plot, Swatch, key, picture};
use super::line;
use super::scale::Scale;
use super::time::TimeScale;
use crate::report::number::{count, spaced_instant};
use crate::report::untrusted_text;
use crate::training::GroupPicture;

const HEIGHT: f64 = 282.0;
const PLOT: Plot = Plot { left: 104.0, right: 944.0, top: 48.0, bottom: 242.0 };
const NAME_ROOM: usize = 18;
/// Up to this many points each member is a line of its own; beyond, only the covered area is drawn.
const MOST_POINTS: usize = 20_000;
/// The styles of the highlighted members.
const CLASSES: [&str; 4] = ["out1", "out2", "out3", "out4"];

/// Draws it.
pub fn draw(shown: &GroupPicture) -> Markup {
    let envelope = &shown.envelope;
    let values = (0..envelope.members()).flat_map(|member| envelope.row(member));
    let scale = Scale::fitting(values.flat_map(|(low, high)| [low, high]), PLOT.bottom, PLOT.top);
    let to = envelope.start + envelope.column * i64::try_from(envelope.columns).unwrap_or(0);
    let time = TimeScale { from: envelope.start + envelope.column, to, left: PLOT.left, right: PLOT.right };
    let content = html! {
        (PLOT.value_axis(&scale, shown.metric.unit.symbol()))
        (peers(shown, &scale))
        @for (member, class) in named(shown) {
            path class=(class) d=(trace(shown, member, &scale)) { title { (shown.names[member]) } }
        }
        (PLOT.time_axis(&time))
        (legend(shown))
    };
    picture(WIDTH, HEIGHT, &title(shown), &description(shown), &content)
}

/// `await of all 768 members of attachment priority=1`.
fn title(shown: &GroupPicture) -> String {
    format!("{} of all {} members of {}", shown.metric.name, shown.envelope.members(), shown.group)
}

fn description(shown: &GroupPicture) -> String {
    let names: Vec<&str> = named(shown).map(|(member, _)| shown.names[member].as_str()).collect();
    let who = if names.is_empty() { "No member".into() } else { names.join(", ") };
    format!("From {} on. {who} stands out.", spaced_instant(shown.envelope.start))
}

fn named(shown: &GroupPicture) -> impl Iterator<Item = (usize, &'static str)> + '_ {
    let known = |member: &&usize| **member < shown.names.len().min(shown.envelope.members());
    shown.outliers.iter().filter(known).copied().zip(CLASSES)
}

fn legend(shown: &GroupPicture) -> Markup {
    let names: Vec<(String, &str)> = named(shown)
        .map(|(member, class)| (untrusted_text::shortened(&shown.names[member], NAME_ROOM), class))
        .collect();
    let members = count(shown.envelope.members(), "member");
    let mut entries = vec![(Swatch::Line, "ink", members.as_str())];
    entries.extend(names.iter().map(|(name, class)| (Swatch::Line, *class, name.as_str())));
    key(PLOT.left, 16.0, &entries)
}

fn peers(shown: &GroupPicture, scale: &Scale) -> Markup {
    let envelope = &shown.envelope;
    if envelope.members() * envelope.columns <= MOST_POINTS {
        return html! {
            @for member in 0..envelope.members() {
                path class="ink" d=(trace(shown, member, scale)) { title { (shown.names.get(member).map_or("", String::as_str)) } }
            }
        };
    }
    let width = (PLOT.right - PLOT.left) / envelope.columns.max(1) as f64;
    html! { path class="ink inked" stroke-width=(format!("{:.2}", width.max(1.0))) d=(inked(shown, scale)) {} }
}

/// A member's line, through the lowest and the highest value of each column.
fn trace(shown: &GroupPicture, member: usize, scale: &Scale) -> String {
    let is_single = shown.envelope.row(member).all(|(low, high)| low == high || low.is_nan());
    let values: Vec<f64> = if is_single {
        shown.envelope.row(member).map(|(low, _)| low).collect()
    } else {
        shown.envelope.row(member).flat_map(|(low, high)| [low, high]).collect()
    };
    line::path(&line::points(&values, PLOT.left, PLOT.right, scale))
}

/// Where any member's line is, column by column. It is as large as the picture, however many members there are.
fn inked(shown: &GroupPicture, scale: &Scale) -> String {
    let envelope = &shown.envelope;
    let mut spans: Vec<Vec<(i32, i32)>> = vec![Vec::new(); envelope.columns];
    for member in 0..envelope.members() {
        let mut last = None;
        for (column, (low, high)) in envelope.row(member).enumerate() {
            let own = scale
                .at(high)
                .zip(scale.at(low))
                .map(|(top, bottom)| (top.round() as i32, bottom.round() as i32));
            spans[column].extend(own.map(|own| joined(last, own)));
            last = own;
        }
    }
    let mut path = String::new();
    for (column, spans) in spans.iter_mut().enumerate() {
        let x = line::along(column as f64, envelope.columns, PLOT.left, PLOT.right);
        for (top, bottom) in united(spans) {
            // What lies on the axis is a pixel high, too.
            let top = top.min(PLOT.bottom as i32 - 1);
            _ = write!(path, "M{x:.1},{top}V{}", bottom.max(top + 1));
        }
    }
    path
}

/// A line goes on from where it was in the column before.
fn joined(last: Option<(i32, i32)>, (top, bottom): (i32, i32)) -> (i32, i32) {
    last.map_or((top, bottom), |last| (top.min(last.1), bottom.max(last.0)))
}

fn united(spans: &mut [(i32, i32)]) -> Vec<(i32, i32)> {
    spans.sort_unstable();
    let mut united: Vec<(i32, i32)> = Vec::new();
    for &(top, bottom) in spans.iter() {
        match united.last_mut() {
            Some(last) if top <= last.1 + 1 => last.1 = last.1.max(bottom),
            _ => united.push((top, bottom)),
        }
    }
    united
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::Metric;
    use crate::model::time::{Span, Timestamp};
    use crate::tables::Table;
    use crate::tables::grid::Grid;
    use crate::tables::value_ranges::Envelope;

    fn shown(members: usize, len: usize, value: impl Fn(usize, usize) -> f64) -> GroupPicture {
        let grid = Grid { start: Timestamp::from_seconds(0), step: Span::SECOND, len };
        let names: Vec<String> = (0..members).map(|member| format!("oss{member}:sda <&>")).collect();
        let metric = Metric::named("await").unwrap();
        let values = (0..members).flat_map(|member| (0..len).map(move |k| (member, k)));
        let table = Table {
            metric,
            grid,
            components: names.iter().map(|name| name.as_str().into()).collect(),
            values: values.map(|(member, k)| value(member, k)).collect(),
        };
        let mut envelope = Envelope::new(grid.start - grid.step, grid.end(), grid.step, members);
        envelope.take(&table);
        GroupPicture { group: "disks".into(), metric, names, envelope, outliers: vec![1] }
    }

    #[test]
    fn few_members_are_lines_and_the_one_that_stands_out_is_named() {
        let shown = shown(5, 100, |member, k| if member == 1 && k > 50 { 40.0 } else { 10.0 });
        let drawn = draw(&shown).into_string();
        assert_eq!((drawn.matches("class=\"ink\"").count(), drawn.matches("class=\"out1\"").count()), (6, 2));
        assert!(drawn.contains("oss1:sda &lt;&amp;&gt; stands out."), "{drawn}");
    }

    #[test]
    fn very_many_members_make_no_larger_a_picture() {
        let wild = |member: usize, k: usize| ((member * 7919 + k * 104_729) % 1000) as f64;
        let drawn = draw(&shown(300, 3000, wild)).into_string();
        assert!(drawn.len() < 400_000, "{}", drawn.len());
    }

    #[test]
    fn a_spike_of_one_among_many_is_inked_and_a_gap_is_not() {
        let with_spike = shown(300, 870, |member, k| match (member, k) {
            (7, 400) => 100.0,
            (_, 600..700) => f64::NAN,
            _ => 10.0,
        });
        let scale = Scale::fitting([0.0, 100.0].into_iter(), PLOT.bottom, PLOT.top);
        let path = inked(&with_spike, &scale);
        assert!(path.contains(&format!(",{}V", scale.at(100.0).unwrap().round())), "{path}");
        assert_eq!(path.matches('M').count(), 770);
    }

    #[test]
    fn spans_that_touch_are_one() {
        assert_eq!(united(&mut [(5, 9), (1, 2), (3, 4), (20, 30)]), [(1, 9), (20, 30)]);
        assert_eq!(joined(Some((10, 20)), (30, 35)), (20, 35));
        assert_eq!(joined(Some((40, 50)), (30, 35)), (30, 40));
    }
}
