//! Reports: golden files of small ones, and properties of all.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod html;
mod json;
mod pictures;
mod sample;
mod text;
mod training;
mod words;
mod xml;
