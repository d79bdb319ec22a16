//! The topology, with the suspect marked. A line for each component that contains others or is remarkable; leaves
//! of no interest stand side by side as small boxes behind the part that holds them.

use maud::{Markup, html};

use super::comparison::WIDTH;
use super::frame::{number, picture, rectangle, text};
use crate::diagnosis::{Mark, Node};
use crate::report::number::count;
use crate::report::untrusted_text;

const LINE: f64 = 22.0;
const INDENT: f64 = 22.0;
const BOX: f64 = 11.0;
const BOX_STEP: f64 = 14.0;
const NAME_ROOM: usize = 34;
/// About the width of a letter of a name.
const LETTER: f64 = 7.4;
const KIND_LETTER: f64 = 6.4;
const MOST_LINES: usize = 60;
const MOST_DEPTH: usize = 8;
/// Leaves that are no suspects are listed by name up to this many, and drawn as boxes beyond.
const MOST_NAMED: usize = 4;
const MOST_BOXES: usize = 400;

/// One line of the picture.
struct Line<'n> {
    depth: usize,
    /// The number of the line that it hangs on.
    parent: Option<usize>,
    node: &'n Node,
    /// Leaves drawn as boxes.
    boxes: Vec<&'n Node>,
}

/// Draws it; nothing where there is nothing.
pub fn draw(roots: &[Node]) -> Option<Markup> {
    let (lines, is_cut) = lines(roots);
    if lines.is_empty() {
        return None;
    }
    let (tops, bottom) = tops(&lines);
    let content = html! {
        (legend())
        @for (line, y) in lines.iter().zip(&tops) {
            @if let Some(parent) = line.parent { (branch(line, tops[parent], *y)) }
            (drawn(line, *y))
        }
        @if is_cut { (text("mark faint", 12.0, bottom + 12.0, "Further parts are not drawn.")) }
    };
    Some(picture(WIDTH, bottom + 20.0, "What contains what", &description(roots), &content))
}

/// All parts where there is room for them; otherwise only those that are remarkable or hold such.
fn lines(roots: &[Node]) -> (Vec<Line<'_>>, bool) {
    let collected = |is_wanted: fn(&Node) -> bool| {
        let mut lines = Vec::new();
        let wanted = roots.iter().filter(|root| is_wanted(root));
        wanted.for_each(|root| collect(root, 0, None, is_wanted, &mut lines));
        lines
    };
    let mut lines = collected(|_| true);
    let is_cut = lines.len() > MOST_LINES;
    if is_cut {
        lines = collected(is_remarkable);
        lines.truncate(MOST_LINES);
    }
    (lines, is_cut)
}

fn is_remarkable(node: &Node) -> bool {
    node.mark != Mark::Unremarkable || node.parts.iter().any(is_remarkable)
}

fn collect<'n>(
    node: &'n Node,
    depth: usize,
    parent: Option<usize>,
    is_wanted: fn(&Node) -> bool,
    lines: &mut Vec<Line<'n>>,
) {
    let number = lines.len();
    let boxes = boxes_of(node);
    let has_boxes = !boxes.is_empty();
    lines.push(Line { depth, parent, node, boxes });
    // Deeper or longer trees than people can read are cut.
    if depth < MOST_DEPTH && number <= MOST_LINES {
        let own_line = |part: &&Node| !(has_boxes && is_box(part)) && is_wanted(part);
        let parts = node.parts.iter().filter(own_line);
        parts.for_each(|part| collect(part, depth + 1, Some(number), is_wanted, lines));
    }
}

/// A leaf that may be drawn as a box.
fn is_box(node: &Node) -> bool {
    node.parts.is_empty() && node.mark != Mark::Suspect
}

/// The leaves drawn as boxes, explained ones first; none where few enough to be named.
fn boxes_of(node: &Node) -> Vec<&Node> {
    let leaves = |mark: Mark| node.parts.iter().filter(move |part| is_box(part) && part.mark == mark);
    let boxes: Vec<&Node> =
        leaves(Mark::Explained).chain(leaves(Mark::Unremarkable)).take(MOST_BOXES).collect();
    if boxes.len() > MOST_NAMED { boxes } else { Vec::new() }
}

/// Where each line begins, and where the last one ends.
fn tops(lines: &[Line]) -> (Vec<f64>, f64) {
    let mut bottom = 36.0;
    let mut tops = Vec::with_capacity(lines.len());
    for line in lines {
        tops.push(bottom);
        bottom += LINE * rows(line) as f64;
    }
    (tops, bottom)
}

/// Where the boxes of a line begin.
fn boxes_left(line: &Line) -> f64 {
    let name = untrusted_text::shortened(&line.node.component.name, NAME_ROOM).chars().count() as f64;
    let kind = line.node.component.shown_kind().chars().take(NAME_ROOM).count() as f64;
    (left(line) + 32.0 + LETTER * name + KIND_LETTER * kind).min(WIDTH / 2.0)
}

fn left(line: &Line) -> f64 {
    12.0 + line.depth as f64 * INDENT
}

fn boxes_in_a_row(line: &Line) -> usize {
    // Room for "and N more" stays at the right.
    ((WIDTH - 150.0 - boxes_left(line)) / BOX_STEP).max(1.0) as usize
}

fn rows(line: &Line) -> usize {
    line.boxes.len().div_ceil(boxes_in_a_row(line)).max(1)
}

fn drawn(line: &Line, y: f64) -> Markup {
    let (x, node) = (left(line), line.node);
    let name = untrusted_text::shortened(&node.component.name, NAME_ROOM);
    let kind = untrusted_text::shortened(node.component.shown_kind(), NAME_ROOM);
    let kind_x = (x + 18.0 + LETTER * name.chars().count() as f64).min(WIDTH / 2.0 - 40.0);
    html! {
        g {
            title { (node.component.name) " (" (node.component.shown_kind()) ")" }
            (mark(node.mark, x, y + 5.0))
            (text(name_class(node.mark), x + 17.0, y + 15.0, &name))
        }
        (text("mark faint", kind_x + 6.0, y + 15.0, &kind))
        (boxes(line, y))
    }
}

/// From the part that holds it, down and to the right.
fn branch(line: &Line, top: f64, y: f64) -> Markup {
    let x = left(line);
    let (stem, top, middle, end) =
        (number(x - INDENT + 5.0), number(top + 18.0), number(y + 10.5), number(x - 4.0));
    html! { path class="branch" d={ "M" (stem) "," (top) "V" (middle) "H" (end) } {} }
}

fn name_class(mark: Mark) -> &'static str {
    if mark == Mark::Suspect { "name culprit" } else { "name" }
}

fn boxes(line: &Line, y: f64) -> Markup {
    let (left, in_a_row) = (boxes_left(line), boxes_in_a_row(line));
    let at = |k: usize| (left + (k % in_a_row) as f64 * BOX_STEP, y + 5.0 + (k / in_a_row) as f64 * LINE);
    let (end_x, end_y) = match line.boxes.len() {
        0 => (left, y + 5.0),
        len => (at((len - 1) % in_a_row).0 + BOX_STEP, at(len - 1).1),
    };
    html! {
        @for (k, part) in line.boxes.iter().enumerate() {
            g {
                title { (part.component.name) }
                (mark(part.mark, at(k).0, at(k).1))
            }
        }
        @if let Some(words) = others(line) {
            (text("mark faint", end_x + 6.0, end_y + 10.0, &words))
        }
    }
}

fn others(line: &Line) -> Option<String> {
    let leaves = line.node.parts.iter().filter(|part| is_box(part)).count();
    let cut = if line.boxes.is_empty() { 0 } else { leaves - line.boxes.len() };
    let others = line.node.others.saturating_add(cut);
    let more = if line.node.parts.is_empty() { "" } else { " more" };
    // Among those cut off there may be explained ones.
    let finding = if cut > 0 { "" } else { " without a finding" };
    (others > 0).then(|| format!("{others}{more}{finding}"))
}

/// Shapes differ as well as colours: a diamond for the suspect, a full box, an empty one.
fn mark(mark: Mark, x: f64, y: f64) -> Markup {
    match mark {
        Mark::Unremarkable => rectangle("part", x + 0.5, y + 0.5, BOX - 1.0, BOX - 1.0),
        Mark::Explained => rectangle("explained", x, y, BOX, BOX),
        Mark::Suspect => html! {
            path class="suspect" d={ "M" (number(x + 5.5)) "," (number(y - 2.0)) "l7.5,7.5l-7.5,7.5l-7.5,-7.5Z" } {}
        },
    }
}

fn legend() -> Markup {
    let entries = [
        (Mark::Suspect, "suspect"),
        (Mark::Explained, "explained by it"),
        (Mark::Unremarkable, "no finding"),
    ];
    html! {
        @for (k, (what, words)) in entries.into_iter().enumerate() {
            (mark(what, 12.0 + 130.0 * k as f64, 9.0))
            (text("mark", 31.0 + 130.0 * k as f64, 19.0, words))
        }
    }
}

fn description(roots: &[Node]) -> String {
    let suspects = names(roots, Mark::Suspect);
    if suspects.is_empty() {
        return "No part is a suspect.".into();
    }
    let explained = names(roots, Mark::Explained).len();
    format!(
        "Suspects: {}. They explain {}.",
        untrusted_text::listed(&suspects, 5),
        count(explained, "other component")
    )
}

fn names(nodes: &[Node], mark: Mark) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Vec<&Node> = nodes.iter().rev().collect();
    while let Some(node) = open.pop() {
        if node.mark == mark {
            found.push(node.component.name.as_str());
        }
        open.extend(node.parts.iter().rev());
    }
    found
}
