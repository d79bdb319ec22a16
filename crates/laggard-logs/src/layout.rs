//! Derives the place of a log from its path.
//! In: a path as it was given, or found in an archive. Out: its [`Place`], or nothing for files that are not logs.

use super::place::{Case, Place, Side};

/// Of the seven recordings in `debug_buffer` of the PFault logs, the fifth is the first after the fault; elsewhere it
/// is the second.
const OLDER_FIRST_AFTER: u32 = 5;
const FIRST_AFTER: u32 = 2;

/// The place of the log at `path`, which was found in `root` or is `root`.
pub fn place(path: &str, root: &str) -> Option<Place> {
    let parts = parts(path);
    let name = parts.last()?;
    if [".json", ".jsonl", ".toml", ".csv", ".parquet"].iter().any(|end| name.ends_with(end)) {
        return None;
    }
    let below = path.strip_prefix(root).map(self::parts).filter(|below| !below.is_empty());
    let plain = || plain(below.as_deref().unwrap_or(&[name]));
    Some(pfault(&parts).or_else(|| campaign(&parts)).unwrap_or_else(plain))
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// `SYSTEM/NODE_log/[SOURCE/]FAULT/TARGETS/PHASE`, as the authors of PFault publish their logs.
fn pfault(parts: &[&str]) -> Option<Place> {
    let is_node = |at: &usize| parts.get(*at).is_some_and(|part| part.len() > 4 && part.ends_with("_log"));
    let at = [5, 4].into_iter().filter_map(|back| parts.len().checked_sub(back)).find(is_node)?;
    let system = at.checked_sub(1).and_then(|at| parts.get(at)).copied().unwrap_or("");
    let node = parts.get(at)?.strip_suffix("_log")?;
    let (source, fault, targets, file) = match parts.get(at + 1..)? {
        [source, fault, targets, file] => (*source, *fault, *targets, *file),
        [fault, targets, file] => ("", *fault, *targets, *file),
        _ => return None,
    };
    let (source, phase) = match file.rsplit_once('.') {
        Some((log, number)) if is_number(number) => (log, number),
        Some((log, _)) if source.is_empty() => (log, "fsck"),
        _ => (source, file),
    };
    // The older recordings are of another run than the rest.
    let run = if source == "debug_buffer" { source } else { "" };
    let case = Case { system: system.into(), fault: fault.into(), targets: targets.into(), run: run.into() };
    let source = if source.is_empty() { "log" } else { source };
    let side = recording_side(source, phase);
    Some(Place { case, phase: phase.into(), side, node: node.into(), source: source.into() })
}

/// The LFSCK states were all taken after the fault; their numbers name its components.
fn recording_side(source: &str, phase: &str) -> Side {
    let digits: String = phase.chars().take_while(char::is_ascii_digit).collect();
    let first = if source == "debug_buffer" { OLDER_FIRST_AFTER } else { FIRST_AFTER };
    match digits.parse::<u32>() {
        Ok(number) if source != "lfsck_status" && number < first => Side::Before,
        _ => Side::After,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `.../case/FAULT/TARGETS[/RUN]/logs/PHASE/NODE/SOURCE.log`, as campaigns write them.
fn campaign(parts: &[&str]) -> Option<Place> {
    let at = parts.len().checked_sub(4)?;
    let [logs, phase, node, file] = parts.get(at..)? else { return None };
    if *logs != "logs" || !Side::is_phase(phase) {
        return None;
    }
    let case = campaign_case(parts.get(..at)?);
    let source = file.trim_end_matches(".gz").trim_end_matches(".log");
    Some(Place {
        case,
        phase: (*phase).into(),
        side: Side::of_phase(phase),
        node: (*node).into(),
        source: source.into(),
    })
}

/// The path elements behind `case` or `cases`.
fn campaign_case(parts: &[&str]) -> Case {
    let at = parts.iter().rposition(|part| ["case", "cases"].contains(part));
    let system = at.and_then(|at| parts.get(at.checked_sub(1)?)).copied().unwrap_or("");
    let behind = at.and_then(|at| parts.get(at + 1..)).unwrap_or(&[]);
    let behind =
        if behind.is_empty() { parts.get(parts.len().saturating_sub(1)..).unwrap_or(&[]) } else { behind };
    let mut names = behind.iter().map(|name| (*name).to_owned());
    Case {
        system: system.into(),
        fault: names.next().unwrap_or_default(),
        targets: names.next().unwrap_or_default(),
        run: names.collect::<Vec<_>>().join("/"),
    }
}

/// Any other log. Its folder may be named after its node.
fn plain(parts: &[&str]) -> Place {
    let node = parts.len().checked_sub(2).and_then(|at| parts.get(at)).copied().unwrap_or("");
    let source = parts.last().copied().unwrap_or("");
    Place {
        case: Case::default(),
        phase: String::new(),
        side: Side::After,
        node: node.into(),
        source: source.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> String {
        let Place { case, phase, side, node, source } = place(path, "").unwrap();
        format!(
            "{}|{}|{}|{} {phase} {side:?} {node} {source}",
            case.system, case.fault, case.targets, case.run
        )
    }

    #[test]
    fn the_paper_s_logs_are_placed() {
        let lustre = "x.tar.xz/lustre_v2.10_log_latest/mds_log/debug_buffer_1/DevFail/mds";
        assert_eq!(
            shown(&format!("{lustre}/1")),
            "lustre_v2.10_log_latest|DevFail|mds| 1 Before mds debug_buffer_1"
        );
        assert_eq!(
            shown(&format!("{lustre}/redo")),
            "lustre_v2.10_log_latest|DevFail|mds| redo After mds debug_buffer_1"
        );
        assert_eq!(
            shown("l/oss0_log/debug_buffer/Network/oss_all/4"),
            "l|Network|oss_all|debug_buffer 4 Before oss0 debug_buffer"
        );
        assert_eq!(
            shown("l/oss0_log/debug_buffer/Network/oss_all/5_1"),
            "l|Network|oss_all|debug_buffer 5_1 After oss0 debug_buffer"
        );
        assert_eq!(shown("l/mds_log/lfsck_status/DevFail/mds/1"), "l|DevFail|mds| 1 After mds lfsck_status");
        let beegfs = "b/client_log/c-Network/meta";
        assert_eq!(
            shown(&format!("{beegfs}/beegfs-client.1")),
            "b|c-Network|meta| 1 Before client beegfs-client"
        );
        assert_eq!(
            shown(&format!("{beegfs}/beegfs-fsck.log")),
            "b|c-Network|meta| fsck After client beegfs-fsck"
        );
        assert_eq!(shown("b/storage0_log/c-Network/meta/3"), "b|c-Network|meta| 3 After storage0 log");
    }

    #[test]
    fn logs_of_campaigns_are_placed_and_their_other_files_are_none() {
        assert_eq!(
            shown("runs/7/cases/c-Network/META/2/logs/P5/m2/brick.log"),
            "7|c-Network|META|2 P5 After m2 brick"
        );
        assert_eq!(shown("logs/init/s1/glusterd.log"), "||| init Before s1 glusterd");
        assert_eq!(shown("oss1/messages"), "|||  After oss1 messages");
        let alone = place("/var/log/messages", "/var/log/messages").unwrap();
        assert_eq!((alone.node.as_str(), alone.source.as_str()), ("", "messages"));
        assert_eq!(shown("srv/logs/gluster/bricks/b1.log"), "|||  After bricks b1.log");
        assert!(place("runs/7/cases/a/ONE/logs/index.jsonl", "").is_none());
    }

    #[test]
    fn phases_before_the_fault_are_known_by_number_and_by_name() {
        for before in ["P0", "P3", "p1-setup", "init", "2-age", "1", "LOG_REC.1", "3_init", "baseline"] {
            assert_eq!(Side::of_phase(before), Side::Before, "{before}");
        }
        for after in
            ["P4", "P4b", "P5", "inject", "observe", "5-fsck", "2", "LOG_REC.2", "check", "revert", ""]
        {
            assert_eq!(Side::of_phase(after), Side::After, "{after}");
        }
    }
}
