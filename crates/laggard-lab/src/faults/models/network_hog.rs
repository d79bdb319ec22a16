//! Traffic over a server's link that is not the file system's: another host, which is not a client, sends to the server,
//! or the server sends to it (section 8.3 of the paper). That host exists as long as the fault.

use super::rogue;
use crate::faults::model::{FaultModel, LabFault, lab_fault};
use crate::lab_file::host::HostPlan;
use crate::machine::LabError;
use crate::machine::place::Place;
use crate::machine::waiting::wait_for;
use crate::setup::Lab;

lab_fault!(
    WriteNetworkHog,
    "write-network-hog",
    "a host that is not a client sends to the server",
    [Network, Lab],
    NetworkHog
);
lab_fault!(
    ReadNetworkHog,
    "read-network-hog",
    "the server sends to a host that is not a client",
    [Network, Lab],
    NetworkHog
);

/// Reads and discards everything.
const SINK: &str = "
use IO::Socket::INET;
my $door = IO::Socket::INET->new(LocalPort => 9, Listen => 5, ReuseAddr => 1) or die $!;
$SIG{CHLD} = 'IGNORE';
while (my $caller = $door->accept) {
    next if fork;
    1 while sysread $caller, my $bytes, 1 << 20;
    exit;
}";

/// Sends zeros over eight connections: every client has one, and each gets its share.
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

/// The traffic after which the fault counts as applied.
const APPLIED_BYTES: u64 = 1 << 20;

/// The direction of the traffic, and the host outside the file system.
trait Hog: FaultModel {
    const HOST: &'static str;
    /// The third byte of the host's address.
    const RANGE: u8;
    const SERVER_SENDS: bool;
}

impl Hog for WriteNetworkHog {
    const HOST: &'static str = "sender";
    const RANGE: u8 = 255;
    const SERVER_SENDS: bool = false;
}

impl Hog for ReadNetworkHog {
    const HOST: &'static str = "fetcher";
    const RANGE: u8 = 254;
    const SERVER_SENDS: bool = true;
}

impl<T: Hog> LabFault for T {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        self.revert(lab, server)?;
        let outsider = outsider::<T>(lab, server)?;
        let (near, far) = (lab.host_place(server)?, lab.add_outsider(&outsider)?);
        let (source, sink, address) = match T::SERVER_SENDS {
            true => (near, far, outsider.address),
            false => (far, near, lab.server(server)?.address),
        };
        let start = |place: Place, words: &[&str]| rogue::start(T::NAME, lab, server, place, words);
        start(sink, &["perl", "-e", SINK, "--"])?;
        start(source, &["perl", "-e", SOURCE, "--", &address.to_string()])?;
        wait_for("the traffic to flow", 10, || self.is_applied(lab, server).is_ok_and(|is| is).then_some(()))
    }

    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        rogue::end(T::NAME, lab, server)?;
        lab.remove_outsider(&outsider::<T>(lab, server)?.name)
    }

    /// The host exists, and much has passed over its link.
    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError> {
        let Some(holder) = lab.holder(&outsider::<T>(lab, server)?.name) else {
            return Ok(rogue::is_any(T::NAME, lab, server));
        };
        let path = std::path::Path::new("/proc").join(holder.number.to_string()).join("net/dev");
        let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
        Ok(bytes(&text, "eth0") >= APPLIED_BYTES)
    }
}

/// The bytes that an interface has received and sent, from a text like /proc/net/dev.
fn bytes(text: &str, interface: &str) -> u64 {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'));
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    let number = |place: usize| words.get(place).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    number(0) + number(8)
}

/// The other host. Its link does not limit the traffic: where packets queue up, those of the clients do too. No host of a
/// lab file has a dot in its name, or an address of this range.
fn outsider<T: Hog>(lab: &Lab, server: &str) -> Result<HostPlan, LabError> {
    let number = lab.hosts().iter().position(|host| host.name == server).unwrap_or(0) + 1;
    let address = std::net::Ipv4Addr::new(198, 19, T::RANGE, u8::try_from(number).unwrap_or(0));
    let link_mbit_per_second = 10 * lab.server(server)?.link_mbit_per_second;
    Ok(HostPlan { name: format!("{}.{number}", T::HOST), address, link_mbit_per_second, disk: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_an_interface_count_in_both_directions() {
        let text =
            "Inter-| Receive\n face |bytes\n    lo: 9 1 0 0 0 0 0 0 9 1\n  eth0:70 1 0 0 0 0 0 0 5 1\n";
        assert_eq!((bytes(text, "eth0"), bytes(text, "lo"), bytes(text, "eth1")), (75, 18, 0));
    }
}
