//! The switch and the links. Nothing leads out of the keeper's network.

use super::Lab;
use crate::lab_file::host::HostPlan;
use crate::machine::LabError;
use crate::machine::place::Place;
use crate::machine::processes::{self, Process};
use crate::machine::waiting::wait_for;

const SWITCH: &str = "
ip link set lo up
ip link add switch type bridge
ip link set switch up";

/// At the switch, which limits what a host receives. Frames have the 9000 bytes of storage networks: without a limit the
/// kernel passes on 64 KiB, which would be the size of a lost packet; with 1500 bytes the machine's processors would be
/// the bottleneck.
const PORT: &str = "
ip link add $NAME type veth peer name eth0 netns $HOLDER
tc qdisc add dev $NAME root tbf rate ${RATE}mbit $BUCKET
ip link set $NAME mtu 9000 gso_max_segs 1 master switch up";

/// On the host, which limits what it sends.
const LINK: &str = "
ip link set lo up
ip addr add $ADDRESS/15 dev eth0
tc qdisc add dev eth0 root tbf rate ${RATE}mbit $BUCKET
ip link set eth0 mtu 9000 gso_max_segs 1 up";

/// Half a second of queue, as in a switch with large buffers.
const BUCKET: &str = "burst 256kb latency 500ms";

const CHANGE: &str = "tc qdisc change dev $DEVICE root tbf rate ${RATE}mbit $BUCKET";

/// Changes the limit at one end of a link.
pub(crate) fn change_rate(place: Place, device: &str, mbit: u64) -> Result<(), LabError> {
    let variables =
        [("DEVICE", device.to_owned()), ("RATE", mbit.to_string()), ("BUCKET", BUCKET.to_owned())];
    place.script(CHANGE, &variables).map(drop)
}

/// A private /run, and folders that two daemons must not share. Folders below /run are bound before it is hidden.
const MOUNTS: &str = "
hostname $NAME
for folder in $PRIVATE; do mkdir -p $OWN$folder; mount --bind $OWN$folder $folder; done
mount -t tmpfs -o mode=755 lab /run
mkdir -p $BRICK $MOUNTPOINT
touch $MARKER";

pub(super) fn lay_switch(keeper: &Process) -> Result<(), LabError> {
    Place::Network(keeper.number).script(SWITCH, &[]).map(drop)
}

/// Creates a host and connects it.
pub(super) fn make_host(lab: &Lab, keeper: &Process, plan: &HostPlan) -> Result<(), LabError> {
    let name = &plan.name;
    let holder = start_holder(lab, keeper, name)?;
    let private = lab.adapter()?.map_or_else(Vec::new, |adapter| adapter.private);
    let own = lab.folder.join("own").join(name).display().to_string();
    let variables = [
        ("NAME", name.clone()),
        ("HOLDER", holder.number.to_string()),
        ("RATE", plan.link_mbit_per_second.to_string()),
        ("BUCKET", BUCKET.into()),
        ("ADDRESS", plan.address.to_string()),
        ("PRIVATE", private.join(" ")),
        ("OWN", own),
        ("BRICK", super::BRICK.into()),
        ("MOUNTPOINT", super::MOUNTPOINT.into()),
        ("MARKER", format!("/run/lab/{}", crate::machine::MARKER)),
    ];
    Place::Network(keeper.number).script(PORT, &variables)?;
    Place::Network(holder.number).script(LINK, &variables)?;
    Place::Inside(holder.number).script(MOUNTS, &variables).map(drop)
}

impl Lab {
    /// Connects a host that is neither server nor client, and is not recorded.
    pub(crate) fn add_outsider(&self, plan: &HostPlan) -> Result<Place, LabError> {
        let keeper = self.keeper().ok_or_else(|| self.broken("its keeper"))?;
        make_host(self, &keeper, plan)?;
        let holder = self.holder(&plan.name).ok_or_else(|| self.broken(&plan.name))?;
        Ok(Place::Inside(holder.number))
    }

    /// Removes such a host, if it exists.
    pub(crate) fn remove_outsider(&self, name: &str) -> Result<(), LabError> {
        // The end of the host would remove the link, too, but later.
        let _ = self.keeper_place()?.run(&["ip", "link", "delete", name]);
        wait_for(&format!("host {name} to end"), 10, || {
            let holder = self.holder(name);
            holder.iter().for_each(|holder| processes::kill(holder.number));
            holder.is_none().then_some(())
        })
    }
}

fn start_holder(lab: &Lab, keeper: &Process, name: &str) -> Result<Process, LabError> {
    let (program, host) = (super::program()?, format!("--host={name}"));
    let unshare = ["unshare", "--mount", "--net", "--uts", "--propagation", "private"];
    let words = [&unshare[..], &[&program, "lab", "hold", &lab.manifest.mark, &host]].concat();
    Place::Inside(keeper.number).start(&words, &lab.log(&format!("{name}.host")))?;
    wait_for(&format!("host {name}"), 10, || lab.holder(name))
}
