//! What must not be hurt. Looks at a node and says why not.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;

use super::deed::{Choice, Deed};
use super::model::{How, Model};
use super::node::{Exec, Node};
use super::running::quoted;
use crate::disks::control::{self, Order};
use crate::disks::trouble::Trouble;
use crate::faults::{Fault, standing};
use crate::machine::LabError;

const LIMIT: Duration = Duration::from_secs(15);

/// Refuses what must not be hurt.
pub fn check(model: &Model, node: &Node) -> Result<(), LabError> {
    let refuse = |why: String| LabError::Refused(format!("{}: {why}", node.name));
    let marker = node.marker().display().to_string();
    if !node.run(&format!("[ -f {} ]", quoted(&marker)), LIMIT)?.is_well() {
        return Err(refuse(format!(
            "the marker {marker} is missing: make it, if this node may be hurt, by `touch`"
        )));
    }
    if hurts_brick(model) {
        check_brick(node)?.map_err(refuse)?;
    }
    if hurts_network(model) {
        check_network(node)?.map_err(refuse)?;
    }
    if uses_lab(model) {
        check_lab(node)?.map_err(refuse)?;
    }
    Ok(())
}

/// What is looked at could be looked at, and is fit to be hurt, or not.
type Verdict = Result<Result<(), String>, LabError>;

fn hurts_brick(model: &Model) -> bool {
    matches!(
        model,
        Model::DevFail { .. } | Model::Inconsist { .. } | Model::Bitflip { .. } | Model::Full { .. }
    )
}

fn hurts_network(model: &Model) -> bool {
    let is_network = |fault: Fault| {
        use Fault::*;
        matches!(fault, SlowLink | ReceivePacketLoss | SendPacketLoss | WriteNetworkHog | ReadNetworkHog)
    };
    match model {
        Model::Partition { .. } => true,
        Model::Slow { fault } => Fault::named(fault).is_ok_and(is_network),
        _ => false,
    }
}

fn uses_lab(model: &Model) -> bool {
    matches!(model, Model::Slow { .. } | Model::SlowDisk { .. } | Model::DevFail { .. })
}

/// The folder that is kept to undo things need not be there yet: the first one above it that is counts.
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
    Ok(judge_brick(node.brick()?, &facts))
}

/// Facts: the mount point of the brick, its device, that of the root, that of the kept things, those of swap.
fn judge_brick(brick: &str, facts: &str) -> Result<(), String> {
    let lines: Vec<&str> = facts.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let [mountpoint, device, root, keep, ref swaps @ ..] = lines[..] else {
        return Err(format!("what {brick} lies on cannot be told"));
    };
    match () {
        () if mountpoint == "/" || device == root => Err(format!("{brick} is on the root file system")),
        () if mountpoint != brick => {
            Err(format!("{brick} is not where a disk is mounted, but in {mountpoint}"))
        }
        () if device == keep => Err(format!("what is needed to undo it would be on {brick} itself")),
        () if swaps.contains(&device) => Err(format!("{brick} has swap on it")),
        () => Ok(()),
    }
}

/// Whose network it is; filters and queues.
const NETWORK_FACTS: &str = "
readlink /proc/self/ns/net
nft -j list ruleset
tc -j qdisc show";

fn check_network(node: &Node) -> Verdict {
    let facts = node.read(NETWORK_FACTS, LIMIT)?;
    let own = std::fs::read_link("/proc/self/ns/net").unwrap_or_default().display().to_string();
    Ok(judge_network(node, &own, &facts))
}

fn judge_network(node: &Node, own: &str, facts: &str) -> Result<(), String> {
    let mut lines = facts.lines();
    let [network, tables, queues] = [(); 3].map(|()| lines.next().unwrap_or_default().trim());
    if !matches!(node.exec, Exec::Ssh(_)) && network == own {
        return Err("its network is the controller's own".into());
    }
    if let Some(table) = foreign_table(tables)? {
        return Err(format!("it has a packet filter of somebody else, the table {table}"));
    }
    if let Some(queue) = foreign_queue(node, queues)? {
        return Err(format!("it has a queue of somebody else, {queue}"));
    }
    Ok(())
}

/// A copy of a whole brick holds whatever else is wrong with it then: put back, it would bring that back.
pub fn check_beside<'a>(deed: &Deed, standing: impl Iterator<Item = &'a Deed>) -> Result<(), LabError> {
    let is_whole = |deed: &Deed| matches!(deed.model, Model::Inconsist { how: How::Meta, .. });
    for other in standing {
        let both = hurts_brick(&deed.model) && hurts_brick(&other.model);
        let shared = deed.nodes().into_iter().find(|name| other.nodes().contains(name));
        if let (Some(node), true) = (shared, both && (is_whole(deed) || is_whole(other))) {
            let (model, id) = (other.model.name(), &other.id);
            return Err(LabError::Refused(format!(
                "{node}: it has {model} already, and neither could be undone before the other: \
                 `laggard inject undo {id}`"
            )));
        }
    }
    Ok(())
}

/// Refuses to cut a node off from its controller.
pub fn check_link(node: &Node, choices: &[Choice]) -> Result<(), LabError> {
    let Exec::Ssh(_) = &node.exec else { return Ok(()) };
    let refused = |why: String| LabError::Refused(format!("{}: {why}", node.name));
    for choice in choices {
        match choice {
            Choice::Cut { peers } => {
                judge_link(peers, &node.read("echo \"${SSH_CONNECTION:-}\"", LIMIT)?).map_err(refused)?;
            }
            Choice::Link(link) => {
                let way = "ip -o route get \"${SSH_CONNECTION%% *}\"";
                judge_way(link, &node.read(way, LIMIT)?).map_err(refused)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The way from a node to its controller: `10.0.0.9 via 10.0.0.1 dev eth0 src ...`.
fn judge_way(link: &str, told: &str) -> Result<(), String> {
    let mut words = told.split_whitespace().skip_while(|word| *word != "dev");
    match words.nth(1) {
        None => Err("by which link the controller reaches it cannot be told".into()),
        Some(own) if own == link => {
            Err(format!("the controller's own link would be cut: it comes by {link}"))
        }
        Some(_) => Ok(()),
    }
}

fn judge_link(peers: &[IpAddr], connection: &str) -> Result<(), String> {
    let address = connection.split_whitespace().next().and_then(|word| word.parse::<IpAddr>().ok());
    match address {
        None => Err("by which link the controller reaches it cannot be told".into()),
        Some(address) if peers.contains(&address) => {
            Err(format!("the controller's own link would be cut: it comes from {address}"))
        }
        Some(_) => Ok(()),
    }
}

/// The first table that is not ours. What iptables leaves behind is a table without a rule, and no harm.
fn foreign_table(told: &str) -> Result<Option<String>, String> {
    let told: Value =
        serde_json::from_str(told).map_err(|_| "its packet filters cannot be told".to_owned())?;
    let empty = vec![];
    let items = told["nftables"].as_array().unwrap_or(&empty);
    let name = |item: &Value, of: &str| Some(format!("{} {}", item["family"].as_str()?, item[of].as_str()?));
    let ruled: BTreeSet<String> = items.iter().filter_map(|item| name(&item["rule"], "table")).collect();
    let tables = items.iter().filter_map(|item| name(&item["table"], "name"));
    let is_ours = |table: &str| table.split(' ').nth(1).is_some_and(|name| name.starts_with("lgd_"));
    let is_left = |table: &str| ["ip filter", "ip6 filter"].contains(&table) && !ruled.contains(table);
    Ok(tables.into_iter().find(|table| !is_ours(table) && !is_left(table)))
}

/// The first queue that the kernel, or the lab, has not made by itself.
fn foreign_queue(node: &Node, told: &str) -> Result<Option<String>, String> {
    const COMMON: [&str; 7] = ["noqueue", "mq", "fq_codel", "fq", "pfifo_fast", "pfifo", "bfifo"];
    let told: Vec<Value> = serde_json::from_str(told).map_err(|_| "its queues cannot be told".to_owned())?;
    let is_lab = matches!(node.exec, Exec::Lab { .. });
    let foreign = told.iter().find(|queue| {
        let (kind, device) = (queue["kind"].as_str().unwrap_or_default(), queue["dev"].as_str());
        let is_link = is_lab && kind == "tbf" && device == Some("eth0") && queue["root"] == true;
        !COMMON.contains(&kind) && !is_link
    });
    let told = |queue: &Value| {
        let word = |key: &str| queue[key].as_str().unwrap_or("?").to_owned();
        format!("{} {} at {}", word("kind"), word("handle"), word("dev"))
    };
    Ok(foreign.map(told))
}

/// A lab's disk has one trouble at a time: a second one would be healed with the first.
fn check_lab(node: &Node) -> Verdict {
    let Some((lab, host)) = node.lab()? else { return Ok(Ok(())) };
    if let Some((fault, _)) = standing::all(&lab).into_iter().find(|(_, server)| server == host) {
        return Ok(Err(format!("it has {} already", fault.as_str())));
    }
    if node.brick.is_some() && control::ask(&lab.socket(host), &Order::Tell)?.trouble != Trouble::default() {
        return Ok(Err("its disk has a trouble already".into()));
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::node;

    #[test]
    fn a_brick_on_the_root_on_swap_or_in_a_folder_is_refused() {
        let judge = |facts: &str| judge_brick("/bricks/s1", facts);
        assert_eq!(judge("/bricks/s1\n7:1\n8:1\n8:1\n8:2\n"), Ok(()));
        assert!(judge("/\n8:1\n8:1\n8:1\n").unwrap_err().contains("root file system"));
        assert!(judge("/bricks/s1\n8:1\n8:1\n8:3\n").unwrap_err().contains("root file system"));
        assert!(judge("/bricks\n7:1\n8:1\n8:1\n").unwrap_err().contains("but in /bricks"));
        assert!(judge("/bricks/s1\n7:1\n8:1\n7:1\n").unwrap_err().contains("needed to undo"));
        assert!(judge("/bricks/s1\n8:2\n8:1\n8:1\n8:2\n").unwrap_err().contains("swap"));
        assert!(judge("").unwrap_err().contains("cannot be told"));
    }

    fn network(exec: Exec, tables: &str, queues: &str) -> Result<(), String> {
        let node = Node { exec, ..node() };
        let facts = format!("net:[2]\n{{\"nftables\":[{tables}]}}\n[{queues}]\n");
        judge_network(&node, "net:[1]", &facts)
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
        let told = |tables: &str, queues: &str| network(lab(), tables, queues).unwrap_err();
        assert!(told(other, link).ends_with("the table inet firewall"));
        assert!(told(&format!("{left},{rule}"), link).ends_with("the table ip filter"));
        assert!(told("", &link.replace("tbf", "netem")).ends_with("netem 8001: at eth0"));
        assert!(network(Exec::Ns(1), "", link).unwrap_err().ends_with("tbf 8001: at eth0"));
        assert!(told("x", link).contains("cannot be told"));
    }

    #[test]
    fn the_controllers_own_network_is_refused() {
        let facts = "net:[1]\n{\"nftables\":[]}\n[]\n";
        assert!(judge_network(&node(), "net:[1]", facts).unwrap_err().contains("controller's own"));
    }

    #[test]
    fn nothing_else_is_done_to_a_brick_whose_own_file_system_is_damaged() {
        use crate::inject::testing::deed;
        let meta = Model::parse("inconsist", &[("how".to_owned(), "meta".to_owned())].into()).unwrap();
        let (full, meta) = (deed("a"), Deed { model: meta, ..deed("b") });
        let pause = Deed { model: Model::Pause { processes: vec![] }, ..deed("c") };
        let told = |new: &Deed, old: &Deed| check_beside(new, [old].into_iter()).map_err(|e| e.to_string());
        assert!(told(&meta, &full).unwrap_err().starts_with("refused: here: it has full already"));
        assert!(told(&full, &meta).unwrap_err().ends_with("undo b`"));
        assert_eq!((told(&meta, &pause), told(&full, &full)), (Ok(()), Ok(())));
        let mut elsewhere = full.clone();
        elsewhere.parts[0].node.name = "there".into();
        assert_eq!(told(&meta, &elsewhere), Ok(()));
    }

    #[test]
    fn the_controllers_own_link_is_not_cut() {
        let peers = ["10.0.0.2".parse().unwrap()];
        assert_eq!(judge_link(&peers, "10.0.0.9 4711 10.0.0.1 22\n"), Ok(()));
        assert!(judge_link(&peers, "10.0.0.2 4711 10.0.0.1 22\n").unwrap_err().ends_with("from 10.0.0.2"));
        assert!(judge_link(&peers, "\n").unwrap_err().contains("cannot be told"));
        let way = "10.0.0.9 via 10.0.1.1 dev eth0 src 10.0.1.2 uid 0 \\ cache\n";
        assert_eq!(judge_way("eth1", way), Ok(()));
        assert!(judge_way("eth0", way).unwrap_err().ends_with("comes by eth0"));
        assert!(judge_way("eth0", "").unwrap_err().contains("cannot be told"));
    }

    #[test]
    fn a_node_without_the_marker_is_refused_whatever_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let node = Node { marker: Some(folder.path().join("m")), ..node() };
        let model = Model::Pause { processes: vec!["x".into()] };
        let error = check(&model, &node).unwrap_err().to_string();
        assert!(error.starts_with("refused: here: the marker ") && error.contains("is missing"), "{error}");
        std::fs::write(folder.path().join("m"), "").unwrap();
        assert!(check(&model, &node).is_ok());
    }
}
