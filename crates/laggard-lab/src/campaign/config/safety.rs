//! The `[safety]` table.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;

use super::Config;
use super::place::Place;
use super::sections::{SafetyTable, StopTable};
use crate::inject::{LONGEST, MARKER, Node};
use crate::machine::LabError;
use crate::runner::case_plan::{Safety, StopIf, System};
use crate::runner::template;

const EVERY: Duration = Duration::from_secs(5);
const LEAST_EVERY: Duration = Duration::from_millis(200);
/// Never touched, whether they are named or not.
const ALWAYS: [&str; 3] = ["/", "swap", "controller-iface"];

pub(super) fn safety(
    place: &Place,
    table: SafetyTable,
    has_lab: bool,
    known: &[String],
) -> Result<Safety, LabError> {
    let marker =
        table.require_marker.map_or(Ok(MARKER.to_owned()), |marker| named_marker(place, marker, has_lab))?;
    let forbidden = table.forbid.into_iter().map(|path| forbidden(place, path)).filter_map(Result::transpose);
    let stop_if = table.stop_if.into_iter().map(|table| stop_if(place, table, known));
    Ok(Safety {
        max_faults: table.max_faults.unwrap_or(usize::MAX),
        max_hold: table.max_hold.map_or(LONGEST, |time| time.0),
        marker,
        forbidden: forbidden.collect::<Result<_, _>>()?,
        stop_if: stop_if.collect::<Result<_, _>>()?,
    })
}

fn named_marker(place: &Place, marker: Spanned<String>, has_lab: bool) -> Result<String, LabError> {
    let (span, name) = (marker.span(), marker.into_inner());
    let wrong = |what: String| place.wrong(span, "safety.require_marker", what);
    if name.is_empty() || name.ends_with('/') || (name.contains('/') && !name.starts_with('/')) {
        Err(wrong(format!("{name:?} is neither the name of a file on a brick nor an absolute path")))
    } else if has_lab && name != MARKER {
        Err(wrong(format!("hosts of a lab have the marker {MARKER:?}")))
    } else {
        Ok(name)
    }
}

fn forbidden(place: &Place, path: Spanned<String>) -> Result<Option<PathBuf>, LabError> {
    match path.get_ref().as_str() {
        word if ALWAYS.contains(&word) => Ok(None),
        path if path.starts_with('/') => Ok(Some(path.into())),
        other => {
            let error = format!(
                "{other:?} is not one of {}, a folder like /home or a device like /dev/sda",
                ALWAYS.join(", ")
            );
            Err(place.wrong(path.span(), "safety.forbid", error))
        }
    }
}

fn stop_if(place: &Place, table: StopTable, known: &[String]) -> Result<StopIf, LabError> {
    let key = "safety.stop_if.cmd";
    if table.cmd.get_ref().trim().is_empty() {
        return Err(place.wrong(
            table.cmd.span(),
            key,
            "is empty: write a command that fails when the campaign must end",
        ));
    }
    template::check(table.cmd.get_ref(), known).map_err(|error| place.wrong(table.cmd.span(), key, error))?;
    if let Some(every) = table.every.as_ref().filter(|every| every.get_ref().0 < LEAST_EVERY) {
        let error = format!("is too short: at least {} ms", LEAST_EVERY.as_millis());
        return Err(place.wrong(every.span(), "safety.stop_if.every", error));
    }
    let every = table.every.map_or(EVERY, |every| every.into_inner().0);
    Ok(StopIf { cmd: table.cmd.into_inner(), every })
}

impl Config {
    /// Nodes without a marker of their own have the campaign's.
    pub(super) fn mark_nodes(&mut self) {
        let marker = &self.steps.safety.marker;
        let System::Nodes(nodes) = &mut self.steps.system else { return };
        for node in nodes {
            let folder = node.brick.as_deref().unwrap_or(Path::new("/etc/laggard"));
            node.marker = Some(node.marker.take().unwrap_or_else(|| folder.join(marker)));
        }
    }

    /// The forbidden folder that holds the brick of a node.
    pub(super) fn forbids(&self, node: &Node) -> Option<&Path> {
        let brick = node.brick.as_deref()?;
        self.steps.safety.forbidden.iter().map(PathBuf::as_path).find(|folder| brick.starts_with(folder))
    }
}
