//! Refuses nodes that must not be changed, with the reason.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;

use crate::disks::control::{self, Order};
use crate::disks::fault::DiskFault;
use crate::faults::{Area, Choice, Fault, PlannedFault};
use crate::machine::LabError;
use crate::nodes::{Exec, Node, quoted};
use crate::undo;

const LIMIT: Duration = Duration::from_secs(15);

/// Refuses a node that the fault must not change.
pub(super) fn check(fault: &Fault, node: &Node) -> Result<(), LabError> {
    let refuse = |why: String| LabError::Refused(format!("{}: {why}", node.name));
    let marker = node.marker().display().to_string();
    if !node.run(&format!("[ -f {} ]", quoted(&marker)), LIMIT)?.is_healthy() {
        return Err(refuse(format!(
            "the marker {marker} is missing: if faults may be injected into this node, create it with `touch`"
        )));
    }
    if fault.affects(Area::Brick) {
        check_brick(node)?.map_err(refuse)?;
    }
    if fault.affects(Area::Network) {
        check_network(node)?.map_err(refuse)?;
    }
    if fault.affects(Area::Lab) {
        check_lab(node)?.map_err(refuse)?;
    }
    Ok(())
}

/// The outer error: the node could not be examined. The inner one: the reason of a refusal.
type Verdict = Result<Result<(), String>, LabError>;

/// The folder for copies need not exist yet: the first existing one above it counts.
const BRICK_FACTS: &str = "
findmnt -no TARGET --target \"$brick\"
findmnt -no MAJ:MIN --target \"$brick\"
findmnt -no MAJ:MIN --target /
while [ ! -e \"$keep\" ]; do keep=$(dirname \"$keep\"); done
findmnt -no MAJ:MIN --target \"$keep\"
awk 'NR > 1 { print $1 }' /proc/swaps | while read -r swap
do findmnt -no MAJ:MIN --target \"$swap\" 2> /dev/null || :
   lsblk -no MAJ:MIN \"$swap\" 2> /dev/null || :
done";

fn check_brick(node: &Node) -> Verdict {
    let (brick, keep) = (quoted(node.brick()?), quoted(&node.keep.display().to_string()));
    let facts = node.read(&format!("brick={brick}; keep={keep}{BRICK_FACTS}"), LIMIT)?;
    Ok(brick_refusal(node.brick()?, &facts))
}

/// Facts: the mount point of the brick, its device, that of the root, that of the copies, those of swap.
fn brick_refusal(brick: &str, facts: &str) -> Result<(), String> {
    let lines: Vec<&str> = facts.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let [mountpoint, device, root, keep, ref swaps @ ..] = lines[..] else {
        return Err(format!("the device of {brick} is unknown"));
    };
    if mountpoint == "/" || device == root {
        Err(format!("{brick} is on the root file system"))
    } else if mountpoint != brick {
        Err(format!("{brick} is not a mount point, but in {mountpoint}"))
    } else if device == keep {
        Err(format!("the copies for the revert would be on {brick} itself"))
    } else if swaps.contains(&device) {
        Err(format!("{brick} has swap on it"))
    } else {
        Ok(())
    }
}

/// The network namespace, packet filters and queues.
const NETWORK_FACTS: &str = "
readlink /proc/self/ns/net
nft -j list ruleset
tc -j qdisc show";

fn check_network(node: &Node) -> Verdict {
    let facts = node.read(NETWORK_FACTS, LIMIT)?;
    let own = std::fs::read_link("/proc/self/ns/net").unwrap_or_default().display().to_string();
    Ok(network_refusal(node, &own, &facts))
}

fn network_refusal(node: &Node, own: &str, facts: &str) -> Result<(), String> {
    let mut lines = facts.lines();
    let [network, tables, queues] = [(); 3].map(|()| lines.next().unwrap_or_default().trim());
    if !matches!(node.exec, Exec::Ssh(_)) && network == own {
        return Err("it is in the network namespace of the controller".into());
    }
    if let Some(table) = foreign_table(tables)? {
        return Err(format!("it has a packet filter that laggard did not create, the table {table}"));
    }
    if let Some(queue) = foreign_queue(node, queues)? {
        return Err(format!("it has a queue that laggard did not create, {queue}"));
    }
    Ok(())
}

/// A copy of a whole brick contains the effects of other faults, and restores them.
pub(super) fn check_beside<'a>(
    fault: &PlannedFault,
    active: impl Iterator<Item = &'a PlannedFault>,
) -> Result<(), LabError> {
    let affects = |planned: &PlannedFault, area: Area| planned.fault.affects(area);
    for other in active {
        let both = affects(fault, Area::Brick) && affects(other, Area::Brick);
        let is_whole = affects(fault, Area::WholeBrick) || affects(other, Area::WholeBrick);
        let shared = fault.nodes().into_iter().find(|name| other.nodes().contains(name));
        if let (Some(node), true) = (shared, both && is_whole) {
            let (name, id) = (other.fault.name(), &other.id);
            return Err(LabError::Refused(format!(
                "{node}: {name} is active there, and neither could be reverted before the other: \
                 `laggard inject undo {id}`"
            )));
        }
    }
    Ok(())
}

/// Refuses to cut a node off from its controller.
pub(super) fn check_link(node: &Node, choices: &[Choice]) -> Result<(), LabError> {
    let Exec::Ssh(_) = &node.exec else { return Ok(()) };
    let refused = |why: String| LabError::Refused(format!("{}: {why}", node.name));
    for choice in choices {
        match choice {
            Choice::Cut { peers } => {
                address_refusal(peers, &node.read("echo \"${SSH_CONNECTION:-}\"", LIMIT)?)
                    .map_err(refused)?;
            }
            Choice::Link(link) => {
                let way = "ip -o route get \"${SSH_CONNECTION%% *}\"";
                route_refusal(link, &node.read(way, LIMIT)?).map_err(refused)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The route from a node to its controller: `10.0.0.9 via 10.0.0.1 dev eth0 src ...`.
fn route_refusal(link: &str, printed: &str) -> Result<(), String> {
    let mut words = printed.split_whitespace().skip_while(|word| *word != "dev");
    match words.nth(1) {
        None => Err("the link to the controller is unknown".into()),
        Some(own) if own == link => Err(format!("the link to the controller, {link}, would be cut")),
        Some(_) => Ok(()),
    }
}

fn address_refusal(peers: &[IpAddr], connection: &str) -> Result<(), String> {
    let address = connection.split_whitespace().next().and_then(|word| word.parse::<IpAddr>().ok());
    match address {
        None => Err("the link to the controller is unknown".into()),
        Some(address) if peers.contains(&address) => {
            Err(format!("the link to the controller, {address}, would be cut"))
        }
        Some(_) => Ok(()),
    }
}

/// The first table that is not ours. iptables leaves tables without rules behind, which are harmless.
fn foreign_table(printed: &str) -> Result<Option<String>, String> {
    let ruleset: Value =
        serde_json::from_str(printed).map_err(|_| "its packet filters are unreadable".to_owned())?;
    let empty = vec![];
    let items = ruleset["nftables"].as_array().unwrap_or(&empty);
    let name = |item: &Value, of: &str| Some(format!("{} {}", item["family"].as_str()?, item[of].as_str()?));
    let ruled: BTreeSet<String> = items.iter().filter_map(|item| name(&item["rule"], "table")).collect();
    let tables = items.iter().filter_map(|item| name(&item["table"], "name"));
    let is_ours = |table: &str| table.split(' ').nth(1).is_some_and(|name| name.starts_with("lgd_"));
    let is_left = |table: &str| ["ip filter", "ip6 filter"].contains(&table) && !ruled.contains(table);
    Ok(tables.into_iter().find(|table| !is_ours(table) && !is_left(table)))
}

/// The first queue that neither the kernel nor the lab has created.
fn foreign_queue(node: &Node, printed: &str) -> Result<Option<String>, String> {
    const COMMON: [&str; 7] = ["noqueue", "mq", "fq_codel", "fq", "pfifo_fast", "pfifo", "bfifo"];
    let queues: Vec<Value> =
        serde_json::from_str(printed).map_err(|_| "its queues are unreadable".to_owned())?;
    let is_lab = matches!(node.exec, Exec::Lab { .. });
    let foreign = queues.iter().find(|queue| {
        let (kind, device) = (queue["kind"].as_str().unwrap_or_default(), queue["dev"].as_str());
        let is_link = is_lab && kind == "tbf" && device == Some("eth0") && queue["root"] == true;
        !COMMON.contains(&kind) && !is_link
    });
    let describe = |queue: &Value| {
        let word = |key: &str| queue[key].as_str().unwrap_or("?").to_owned();
        format!("{} {} at {}", word("kind"), word("handle"), word("dev"))
    };
    Ok(foreign.map(describe))
}

/// A lab's disk has one fault at a time: a second one would be reverted with the first.
fn check_lab(node: &Node) -> Verdict {
    let Some((lab, host)) = node.lab()? else { return Ok(Ok(())) };
    let is_by_lab = |name: &str| Fault::named(name).is_ok_and(|fault| fault.affects(Area::Lab));
    let mut active = undo::faults_of(&lab)?.into_iter();
    if let Some((fault, _)) = active.find(|(name, server)| server == host && is_by_lab(name)) {
        return Ok(Err(format!("{fault} is active there")));
    }
    if node.brick.is_some() && control::ask(&lab.socket(host), &Order::Status)?.fault != DiskFault::default()
    {
        return Ok(Err("its disk has a fault already".into()));
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{node, planned};

    #[test]
    fn a_brick_on_root_on_swap_or_in_a_folder_is_refused() {
        let refusal = |facts: &str| brick_refusal("/bricks/s1", facts);
        assert_eq!(refusal("/bricks/s1\n7:1\n8:1\n8:1\n8:2\n"), Ok(()));
        assert!(refusal("/\n8:1\n8:1\n8:1\n").unwrap_err().contains("root file system"));
        assert!(refusal("/bricks/s1\n8:1\n8:1\n8:3\n").unwrap_err().contains("root file system"));
        assert!(refusal("/bricks\n7:1\n8:1\n8:1\n").unwrap_err().contains("but in /bricks"));
        assert!(refusal("/bricks/s1\n7:1\n8:1\n7:1\n").unwrap_err().contains("copies for the revert"));
        assert!(refusal("/bricks/s1\n8:2\n8:1\n8:1\n8:2\n").unwrap_err().contains("swap"));
        assert!(refusal("").unwrap_err().contains("is unknown"));
    }

    fn network(exec: Exec, tables: &str, queues: &str) -> Result<(), String> {
        let node = Node { exec, ..node() };
        let facts = format!("net:[2]\n{{\"nftables\":[{tables}]}}\n[{queues}]\n");
        network_refusal(&node, "net:[1]", &facts)
    }

    #[test]
    fn filters_and_queues_of_others_are_refused_and_named() {
        let lab = || Exec::Lab { lab: "x".into(), host: "s1".into() };
        let link = "{\"kind\":\"tbf\",\"handle\":\"8001:\",\"dev\":\"eth0\",\"root\":true}";
        let left = "{\"table\":{\"family\":\"ip\",\"name\":\"filter\"}}";
        let rule = "{\"rule\":{\"family\":\"ip\",\"table\":\"filter\"}}";
        let ours = "{\"table\":{\"family\":\"inet\",\"name\":\"lgd_1\"}}";
        let other = "{\"table\":{\"family\":\"inet\",\"name\":\"firewall\"}}";
        assert_eq!(network(lab(), &format!("{ours},{left}"), link), Ok(()));
        let error = |tables: &str, queues: &str| network(lab(), tables, queues).unwrap_err();
        assert!(error(other, link).ends_with("the table inet firewall"));
        assert!(error(&format!("{left},{rule}"), link).ends_with("the table ip filter"));
        assert!(error("", &link.replace("tbf", "netem")).ends_with("netem 8001: at eth0"));
        assert!(network(Exec::Ns(1), "", link).unwrap_err().ends_with("tbf 8001: at eth0"));
        assert!(error("x", link).contains("unreadable"));
    }

    #[test]
    fn the_network_of_the_controller_is_refused() {
        let facts = "net:[1]\n{\"nftables\":[]}\n[]\n";
        assert!(
            network_refusal(&node(), "net:[1]", facts).unwrap_err().contains("namespace of the controller")
        );
    }

    #[test]
    fn no_other_fault_is_applied_to_a_brick_whose_file_system_is_damaged() {
        let meta = Fault::parse("inconsist", &[("how".to_owned(), "meta".to_owned())].into()).unwrap();
        let (full, meta) = (planned("a"), PlannedFault { fault: meta, ..planned("b") });
        let pause = PlannedFault { fault: Fault::named("pause").unwrap(), ..planned("c") };
        let check = |new: &PlannedFault, old: &PlannedFault| {
            check_beside(new, [old].into_iter()).map_err(|error| error.to_string())
        };
        assert!(check(&meta, &full).unwrap_err().starts_with("refused: here: full is active there"));
        assert!(check(&full, &meta).unwrap_err().ends_with("undo b`"));
        assert_eq!((check(&meta, &pause), check(&full, &full)), (Ok(()), Ok(())));
        let mut elsewhere = full.clone();
        elsewhere.steps[0].node.name = "there".into();
        assert_eq!(check(&meta, &elsewhere), Ok(()));
    }

    #[test]
    fn the_link_to_the_controller_is_not_cut() {
        let peers = ["10.0.0.2".parse().unwrap()];
        assert_eq!(address_refusal(&peers, "10.0.0.9 4711 10.0.0.1 22\n"), Ok(()));
        assert!(
            address_refusal(&peers, "10.0.0.2 4711 10.0.0.1 22\n")
                .unwrap_err()
                .contains("10.0.0.2, would be cut")
        );
        assert!(address_refusal(&peers, "\n").unwrap_err().contains("is unknown"));
        let way = "10.0.0.9 via 10.0.1.1 dev eth0 src 10.0.1.2 uid 0 \\ cache\n";
        assert_eq!(route_refusal("eth1", way), Ok(()));
        assert!(route_refusal("eth0", way).unwrap_err().contains("eth0, would be cut"));
        assert!(route_refusal("eth0", "").unwrap_err().contains("is unknown"));
    }

    #[test]
    fn a_node_without_the_marker_is_always_refused() {
        let folder = tempfile::tempdir().unwrap();
        let node = Node { marker: Some(folder.path().join("m")), ..node() };
        let fault = Fault::named("pause").unwrap();
        let error = check(&fault, &node).unwrap_err().to_string();
        assert!(error.starts_with("refused: here: the marker ") && error.contains("is missing"), "{error}");
        std::fs::write(folder.path().join("m"), "").unwrap();
        assert!(check(&fault, &node).is_ok());
    }
}
