//! The rules, one file each: a condition, a cause, fixes and the estimated gain.
//! In: `Context`. Out: a `RuleMatch` where the condition holds. Always: a rule reads metrics only; confidence and
//! origin of the finding follow from the match.
//!
//! A new rule is a file, its `mod` line and its row in `rules!`, with tests in `tests/rules.rs`.

mod t01_one_request_per_descriptor;
mod t02_interleaved_streams;
mod t03_no_write_buffering;
mod t04_metadata_with_every_request;
mod t05_split_requests;
mod t06_small_unmerged_requests;
mod t07_small_read_ahead;
mod t08_read_amplification;
mod t09_sync_storm;
mod t10_queue_wait;
mod t11_slow_device;
mod t12_slow_component;
mod t13_network;
mod t14_server;
mod t15_client;
mod t16_misaligned;
mod t17_redundant_io;
mod t18_application;
mod t19_throttled_writers;
mod t20_hot_spot;
mod t21_errors;
mod t22_one_request_per_thread;
mod time_in_layer;

use std::fmt;

use serde::Serialize;

use super::rule::Rule;

macro_rules! rules {
    ($($id:ident $file:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum RuleId { $($id,)* }

        impl RuleId {
            pub(super) const ALL: &[RuleId] = &[$(RuleId::$id,)*];

            pub(super) fn rule(self) -> &'static Rule {
                match self { $(RuleId::$id => &$file::RULE,)* }
            }
        }
    };
}

rules! {
    T01 t01_one_request_per_descriptor,
    T02 t02_interleaved_streams,
    T03 t03_no_write_buffering,
    T04 t04_metadata_with_every_request,
    T05 t05_split_requests,
    T06 t06_small_unmerged_requests,
    T07 t07_small_read_ahead,
    T08 t08_read_amplification,
    T09 t09_sync_storm,
    T10 t10_queue_wait,
    T11 t11_slow_device,
    T12 t12_slow_component,
    T13 t13_network,
    T14 t14_server,
    T15 t15_client,
    T16 t16_misaligned,
    T17 t17_redundant_io,
    T18 t18_application,
    T19 t19_throttled_writers,
    T20 t20_hot_spot,
    T21 t21_errors,
    T22 t22_one_request_per_thread,
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
