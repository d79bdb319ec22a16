//! Traffic over a server's link that is not the file system's: another host, which is no client, sends to the server,
//! or the server sends to it (section 8.3 of the paper). That host is there as long as the fault.

use super::{Fault, rogue};
use crate::lab::Lab;
use crate::machine::LabError;
use crate::machine::place::{Place, wait_for};
use crate::plan::host::HostPlan;

/// Takes whatever comes.
const SINK: &str = "
use IO::Socket::INET;
my $door = IO::Socket::INET->new(LocalPort => 9, Listen => 5, ReuseAddr => 1) or die $!;
$SIG{CHLD} = 'IGNORE';
while (my $caller = $door->accept) {
    next if fork;
    1 while sysread $caller, my $bytes, 1 << 20;
    exit;
}";

/// Sends zeros for ever, over eight connections: every client has one, and each gets its share.
const SOURCE: &str = "
use IO::Socket::INET;
$SIG{PIPE} = 'IGNORE';
my $zeros = chr(0) x (1 << 20);
fork for 1 .. 3;
while (1) {
    my $sink = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 9);
    1 while $sink && syswrite $sink, $zeros;
    select undef, undef, undef, 0.1;
}";

/// What must have come through before the fault counts as applied.
const SOME_BYTES: u64 = 1 << 20;

pub fn set(fault: Fault, lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    let outsider = outsider(fault, lab, server)?;
    rogue::end(fault, lab, server)?;
    lab.remove_outsider(&outsider.name)?;
    if !on {
        return Ok(());
    }
    let there = lab.add_outsider(&outsider)?;
    let (near, far) = (lab.host_place(server)?, there);
    let (source, sink, address) = match fault {
        Fault::ReadNetworkHog => (near, far, outsider.address),
        _ => (far, near, lab.server(server)?.address),
    };
    let start = |place: Place, words: &[&str]| rogue::start(fault, lab, server, place, words);
    start(sink, &["perl", "-e", SINK, "--"])?;
    start(source, &["perl", "-e", SOURCE, "--", &address.to_string()])?;
    let flows = || is_on(fault, lab, server).is_ok_and(|flows| flows).then_some(());
    wait_for("the traffic to flow", 10, flows)
}

/// Whether the host is there, and much has gone over its link.
pub fn is_on(fault: Fault, lab: &Lab, server: &str) -> Result<bool, LabError> {
    let Some(holder) = lab.holder(&outsider(fault, lab, server)?.name) else {
        return Ok(!rogue::all(fault, lab, server).is_empty());
    };
    let path = std::path::Path::new("/proc").join(holder.number.to_string()).join("net/dev");
    let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
    Ok(bytes(&text, "eth0") >= SOME_BYTES)
}

/// What an interface has received and sent, by a text like /proc/net/dev.
fn bytes(text: &str, interface: &str) -> u64 {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'));
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    let number = |place: usize| words.get(place).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    number(0) + number(8)
}

/// The other host. Its link is not what limits the traffic: where packets queue up, those of the clients do too. No
/// host of a lab file has a dot in its name, or an address of this range.
fn outsider(fault: Fault, lab: &Lab, server: &str) -> Result<HostPlan, LabError> {
    let number = lab.hosts().iter().position(|host| host.name == server).unwrap_or(0) + 1;
    let (word, range) = match fault {
        Fault::ReadNetworkHog => ("fetcher", 254),
        _ => ("sender", 255),
    };
    let last = u8::try_from(number).unwrap_or(0);
    let address = std::net::Ipv4Addr::new(198, 19, range, last);
    let link_mbit_per_second = 10 * lab.server(server)?.link_mbit_per_second;
    Ok(HostPlan { name: format!("{word}.{number}"), address, link_mbit_per_second, disk: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_over_an_interface_is_read_in_both_directions() {
        let text =
            "Inter-| Receive\n face |bytes\n    lo: 9 1 0 0 0 0 0 0 9 1\n  eth0:70 1 0 0 0 0 0 0 5 1\n";
        assert_eq!((bytes(text, "eth0"), bytes(text, "lo"), bytes(text, "eth1")), (75, 18, 0));
    }
}
