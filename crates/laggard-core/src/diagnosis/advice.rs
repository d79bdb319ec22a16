//! What an operator looks at next.

use super::cause::Cause;

/// For a disk: which layer above it waits, and for what.
const TRACE: &str = "on {host}: `laggard trace record -o {device}.ltr --dev {device} --duration 30s`, then `laggard trace \
    analyze {device}.ltr`: which requests are slow, and in which layer?";

/// Where to look, for a culprit of that name on that server.
pub fn next(cause: Cause, name: &str, server: Option<&str>) -> Vec<String> {
    let host = server.unwrap_or(name);
    let device = name.rsplit_once(':').map_or(name, |(_, device)| device);
    let lines: &[&str] = match cause {
        Cause::DiskHog => {
            &["on {host}: `iotop -oa` or `pidstat -d 5`: which process is not the file server's?", TRACE]
        }
        Cause::DiskBusy => &[
            "on {host}: `smartctl -a /dev/{device}` and the kernel log: errors, reallocated or pending sectors?",
            "is the device shared with another host, scrubbing or rebuilding?",
            TRACE,
        ],
        Cause::NetworkHog => {
            &["on {host}: `ss -tni` sorted by bytes, or the switch port: who else uses the network?"]
        }
        Cause::PacketLoss => &[
            "on {host}: `ethtool -S` and `ip -s link`: errors, drops, CRC; then the cable and the switch port",
        ],
        Cause::LostAttachment => {
            &["on {host}: is {device} still there (`lsblk`, multipath), and does the file system use it?"]
        }
        Cause::ReroutedLoad => &["which primary path of {name} is gone, and since when?"],
        Cause::ServerDown => &["is {host} up, and does its recorder run?"],
        Cause::ControllerTrouble => {
            &["the log of {name}: failover, cache coherency, disk timeouts, LUN resets?"]
        }
        Cause::ArrayJitter => &["the log of {name}: errors of many disks of one drawer?"],
        Cause::SlowLun => &["the array's log for {name}: failing disks, parity recoveries, a rebuild?"],
        Cause::WorkloadSkew => &["which job uses {name} more than its peers? It may be healthy"],
        Cause::Unknown => &["look at {name} with `laggard show`: the evidence does not say more"],
    };
    let fill = |line: &&str| line.replace("{host}", host).replace("{device}", device).replace("{name}", name);
    lines.iter().map(fill).collect()
}
