//! Describes the machine on which the measurements are taken.

/// Processor, kernel and date, in a line.
pub(crate) fn described() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name);
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d");
    format!("machine: {count} x {model}, Linux {}, {today}", kernel.trim())
}
