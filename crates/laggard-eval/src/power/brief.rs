//! A few detection limits for a report.
//! In: a recording and a method. Out: [`Report`]. Always: limits are measured only where the diagnosis found nothing, on a
//! sample of the recording that is small enough for it.

use laggard_core::diagnosis::detection_limit::DetectionLimit;
use laggard_core::methods::Method;
use laggard_core::pipeline::{Observer, PipelineError, Stage, diagnose};
use laggard_core::recording::Recording;
use laggard_core::report::Report;

use super::measure::measure_plan;
use super::plan::{BriefPlan, Plan};
use super::sample::{Sample, SamplingRecording, disks};
use super::used_groups::UsedGroups;

/// Diagnoses a recording. If it finds nothing, the report states what it would have found.
pub fn diagnose_with_limits(
    recording: &mut dyn Recording,
    method: &dyn Method,
    observer: &mut dyn Observer,
) -> Result<Report, PipelineError> {
    let step = method.step(recording.times().longest_interval);
    let instants = recording.times().length()?.micros() / step.micros();
    let all_disks = disks(recording.inventory());
    let Some(brief) = BriefPlan::new(all_disks, usize::try_from(instants).unwrap_or(0)) else {
        return diagnose(recording, method, observer);
    };
    let mut used = UsedGroups { observer, inventory: None };
    let mut sampling = SamplingRecording::new(recording, brief.disks, brief.plan.seed);
    let mut report = diagnose(&mut sampling, method, &mut used)?;
    let is_without_findings = report.suspects.is_empty() && report.can_tell();
    if let Some(inventory) = used.inventory.filter(|_| is_without_findings) {
        observer.stage(Stage::Limits);
        let mut limits = limits(&mut sampling.into_sample(&inventory), method, brief.plan);
        for limit in &mut limits {
            (limit.disks, limit.all_disks) = (brief.disks, all_disks);
        }
        report.set_detection_limits(limits);
        observer.stage(Stage::Done);
    }
    Ok(report)
}

/// Empty if the sample has no disk to try, or cannot be evaluated.
fn limits(sample: &mut Sample, method: &dyn Method, plan: Plan) -> Vec<DetectionLimit> {
    let power = measure_plan(sample, method, plan, &|_| {});
    let groups = power.map(|power| power.groups).unwrap_or_default();
    groups.into_iter().flat_map(|group| group.limits).collect()
}
