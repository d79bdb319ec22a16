//! How a diagnosis is told: golden files of small reports, and what must hold for any.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod html;
mod json;
mod pictures;
mod sample;
mod text;
mod training;
mod words;
mod xml;
