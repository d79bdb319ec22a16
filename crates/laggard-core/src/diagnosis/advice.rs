//! What an operator looks at next.

use super::cause::Cause;
use crate::model::cluster::Component;

/// For a disk: which layer above it waits, and for what.
const TRACE: &str = "on {host}: `laggard trace record -o {device}.ltr --dev {device} --duration 30s`, then `laggard trace \
    analyze {device}.ltr`: which requests are slow, and in which layer?";

/// Where to look, for a culprit of that name, of whose components `worst` is in the worst trouble. Commands name what there
/// is on its host, however it is called in reports.
pub fn next(cause: Cause, name: &str, worst: Option<&Component>) -> Vec<String> {
    let host = worst.and_then(|worst| worst.attributes.get("server")).map_or(name, String::as_str);
    let recorded = worst.map_or(name, |worst| &worst.recorded);
    let device = recorded.rsplit_once(':').map_or(recorded, |(_, device)| device);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::component::Kind;

    #[test]
    fn commands_name_a_device_of_the_server_that_is_blamed() {
        let disk = Component {
            name: "lun7".into(),
            recorded: "oss3:sdb".into(),
            kind: Kind::ATTACHMENT,
            attributes: [("server".to_owned(), "oss3".to_owned())].into(),
        };
        let next = next(Cause::DiskBusy, "oss3", Some(&disk));
        assert!(next[0].contains("on oss3: `smartctl -a /dev/sdb`"), "{next:?}");
    }
}
