//! Pictures as SVG, for stand-alone pages and live ones alike.
//! In: values of a report. Out: one `<svg>` each, styled by classes that [`STYLE`] gives colours to.
//! Always: no scripts, no inline styles; every coordinate is inside the view box; every name is escaped.

pub mod band;
pub mod comparison;
pub mod frame;
pub mod heat;
pub mod line;
pub mod readout;
pub mod reduction;
pub mod scale;
pub mod score_line;
pub mod superimposed;
pub mod time;
pub mod tree;

/// Colours and lines of all pictures, light and dark. Belongs into the page's style sheet.
pub const STYLE: &str = include_str!("style.css");
