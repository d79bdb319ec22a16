//! Lines other than events.

use serde::{Deserialize, Serialize};

use crate::model::{Footer, Header, Object};

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LineRef<'l> {
    Header(&'l Header),
    Object(u32, &'l Object),
    Comm(u16, &'l str),
    /// Parent, child, bytes, code of the rule, confidence in percent.
    Edge(u64, u64, u64, u8, u8),
    Footer(&'l Footer),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Line {
    Header(Header),
    Object(u32, Object),
    Comm(u16, String),
    Edge(u64, u64, u64, u8, u8),
    Footer(Footer),
}
