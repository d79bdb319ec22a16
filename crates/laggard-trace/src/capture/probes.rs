//! Probes on the C library's asynchronous I/O. They are the only change that affects the whole host: a probe
//! interrupts every program that uses the library, but records only the captured processes.

use std::path::{Path, PathBuf};

use super::CaptureError;
use super::symbols;
use super::tracefs::Tracefs;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// The name in its group.
    pub event: String,
    /// The line for `uprobe_events`.
    pub definition: String,
    /// Empty for all records.
    pub filter: String,
}

/// Versions of a function and its 64-bit name usually have the same address.
const FUNCTIONS: [&str; 10] = [
    "aio_read",
    "aio_read64",
    "aio_write",
    "aio_write64",
    "aio_fsync",
    "aio_fsync64",
    "aio_return",
    "aio_return64",
    "lio_listio",
    "lio_listio64",
];
/// The number of entries of a list that are probed.
const ENTRIES: usize = 8;

/// Fields of `struct aiocb` on 64-bit hosts; stable since it has 64-bit offsets.
const DESCRIPTOR: usize = 0;
const OPERATION: usize = 4;
const BYTES: usize = 24;
const RESULT: usize = 120;
const OFFSET: usize = 128;

/// The registers of the first three arguments.
#[cfg(target_arch = "aarch64")]
const ARGUMENTS: [&str; 3] = ["%x0", "%x1", "%x2"];
#[cfg(not(target_arch = "aarch64"))]
const ARGUMENTS: [&str; 3] = ["%di", "%si", "%dx"];

/// Empty if the library has no asynchronous I/O.
pub(super) fn probes(group: &str, library: &Path, number: usize) -> Result<Vec<Probe>, CaptureError> {
    let places = symbols::places(library, &FUNCTIONS)?;
    let mut probes: Vec<Probe> = vec![];
    for (place, function) in places {
        let function = function.trim_end_matches("64");
        let layout = format!("{}:{place:#x}", library.display());
        let is_same = |probe: &Probe| probe.event.split("__").next() == Some(function);
        let is_first = number == 0 && !probes.iter().any(is_same);
        let event = if is_first { function.to_owned() } else { format!("{function}__{number}_{place:x}") };
        match function {
            "lio_listio" => probes.extend((0..ENTRIES).map(|entry| list(group, &layout, &event, entry))),
            _ => probes.push(single(group, &layout, event, function)),
        }
    }
    Ok(probes)
}

fn single(group: &str, layout: &str, event: String, function: &str) -> Probe {
    let control = ARGUMENTS[0];
    let definition = match function {
        "aio_return" => format!("cb={control}:x64 ret=+{RESULT}({control}):s64"),
        // The first argument is the kind of synchronisation.
        "aio_fsync" => format!("cb={0}:x64 fd=+{DESCRIPTOR}({0}):s32", ARGUMENTS[1]),
        _ => fields(control),
    };
    Probe { definition: format!("p:{group}/{event} {layout} {definition}"), event, filter: String::new() }
}

fn list(group: &str, layout: &str, event: &str, entry: usize) -> Probe {
    // The suffix after two underscores only makes the name unique.
    let event = format!("{event}__{entry}");
    let control = format!("+{}({})", 8 * entry, ARGUMENTS[1]);
    let fields = fields(&control);
    let definition = format!(
        "p:{group}/{event} {layout} {fields} op=+{OPERATION}({control}):s32 nent={}:s32",
        ARGUMENTS[2]
    );
    Probe { definition, event, filter: format!("nent > {entry}") }
}

fn fields(control: &str) -> String {
    format!(
        "cb={control}:x64 fd=+{DESCRIPTOR}({control}):s32 nbytes=+{BYTES}({control}):u64 off=+{OFFSET}({control}):s64"
    )
}

pub(super) fn set(tracefs: &Tracefs, probes: &[Probe]) -> Result<(), CaptureError> {
    probes.iter().try_for_each(|probe| tracefs.append("uprobe_events", &probe.definition))
}

/// The libraries with asynchronous I/O that the processes have mapped, and the host's C library.
pub(super) fn libraries(procfs: &Path, processes: &[u32]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = vec![];
    for process in processes {
        let folder = procfs.join(process.to_string());
        let maps = std::fs::read_to_string(folder.join("maps")).unwrap_or_default();
        for library in mapped(&maps) {
            let path = folder.join("root").join(library.trim_start_matches('/'));
            found.extend(std::fs::canonicalize(&path).ok().or_else(|| path.exists().then_some(path)));
        }
    }
    found.extend(symbols::c_library(Path::new("/")));
    found.sort();
    found.dedup_by(|one, other| is_same(one, other));
    found
}

/// Before glibc 2.34 the functions were in librt.
fn mapped(maps: &str) -> Vec<&str> {
    let paths = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    let is_library = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        ["libc.so.6", "libc-2.", "librt.so.1", "librt-2."].iter().any(|begin| name.starts_with(begin))
    };
    let mut paths: Vec<&str> = paths.filter(is_library).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    identity(one) == identity(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_probe_has_the_control_block_and_its_fields() {
        let probe = single("laggard_x", "/lib/libc.so.6:0x92d90", "aio_read__0_1".into(), "aio_read");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            probe.definition,
            "p:laggard_x/aio_read__0_1 /lib/libc.so.6:0x92d90 cb=%di:x64 fd=+0(%di):s32 nbytes=+24(%di):u64 \
             off=+128(%di):s64"
        );
        assert!(probe.filter.is_empty());
    }

    #[test]
    fn entries_beyond_the_end_of_a_list_are_filtered() {
        let probe = list("g", "/lib/libc.so.6:0x1", "lio_listio", 3);
        assert!(probe.definition.contains("op=+4(+24(") && probe.event == "lio_listio__3");
        assert_eq!(probe.filter, "nent > 3");
    }

    #[test]
    fn libraries_are_found_in_the_maps_of_a_process() {
        let maps = "7f00-7f01 r-xp 00000000 fe:00 12  /usr/lib/x86_64-linux-gnu/libc.so.6\n\
                    7f01-7f02 r--p 00000000 fe:00 12  /usr/lib/x86_64-linux-gnu/libc.so.6\n\
                    7f02-7f03 r--p 00000000 fe:00 13  /usr/lib/x86_64-linux-gnu/libcrypt.so.1\n\
                    7f03-7f04 rw-p 00000000 00:00 0\n\
                    7f04-7f05 r--p 00000000 fe:00 14  /lib64/librt-2.28.so\n";
        assert_eq!(mapped(maps), ["/lib64/librt-2.28.so", "/usr/lib/x86_64-linux-gnu/libc.so.6"]);
    }
}
