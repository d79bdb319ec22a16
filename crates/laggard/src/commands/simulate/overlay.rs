//! `laggard simulate overlay`: copies of a dataset with virtual slowdowns.

use std::path::Path;

use anyhow::bail;
use laggard_core::model::time::Timestamp;
use laggard_core::recording::Recording;
use laggard_core::report::limit_texts;
use laggard_eval::overlay::{self, Copied, Overlay, OverlayPattern, suite};
use laggard_eval::simulate::fleet::suite::Case;
use laggard_eval::simulate::settings::Pair;
use laggard_store::dataset::Dataset;
use laggard_store::dataset_recording::DatasetRecording;

use super::{Simulate, check_empty};
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// Writes one copy, or one for each case of a suite.
pub(super) fn write(simulate: &Simulate, pairs: &[Pair]) -> Outcome {
    let Some(on) = simulate.on.as_deref() else {
        bail!("overlay changes an existing dataset: name it with --on DATASET");
    };
    if !on.is_dir() {
        bail!("{}: no such folder: an overlay needs a dataset in a folder", on.display());
    }
    let dataset = Dataset::in_folder(on);
    let always = (Timestamp::MIN, Timestamp::MAX);
    let mut recording = DatasetRecording::open(dataset.clone(), None, always)?;
    check_empty(&simulate.out)?;
    let Some(suite) = &simulate.suite else {
        let overlay = Overlay::parse(pairs, simulate.seed, &mut recording)?;
        return write_one(simulate, &dataset, &overlay, &simulate.out);
    };
    let (from, to) = recording.times().ends(recording.times().longest_interval)?;
    let Some(cases) = suite::cases(suite, to - from, simulate.seed) else {
        bail!("there is no suite {suite:?} of overlay: it has {}", suite::SUITES.join(", "));
    };
    for Case { name, settings, seed } in cases {
        let overlay = Overlay::parse(&[&settings, pairs].concat(), seed, &mut recording)?;
        write_one(simulate, &dataset, &overlay, &simulate.out.join(name))?;
    }
    Ok(Done::Well)
}

fn write_one(simulate: &Simulate, dataset: &Dataset, overlay: &Overlay, out: &Path) -> Outcome {
    let Copied { files, changed_files, bytes } = overlay::copy(dataset, overlay, out)?;
    if simulate.no_cluster_file && out.join("cluster.toml").exists() {
        std::fs::remove_file(out.join("cluster.toml"))?;
    }
    tell(format_args!(
        "{}: {}; {}, {changed_files} of them changed, {}",
        out.display(),
        description(overlay),
        output::count(files, "file"),
        output::bytes(bytes),
    ));
    Ok(Done::Well)
}

/// `st3:sdb 3x slower from 10:00 to 11:00`.
fn description(overlay: &Overlay) -> String {
    let Overlay { pattern, component, magnitude, begin, end, .. } = overlay;
    let change = match pattern {
        OverlayPattern::SampleLoss => format!("{component} loses {magnitude} of its samples"),
        OverlayPattern::Slowdown(pattern) => {
            let magnitude = limit_texts::magnitude(*pattern, *magnitude);
            format!("{component} {} {magnitude}", pattern.as_str())
        }
    };
    format!("{change} from {begin} to {end}")
}
