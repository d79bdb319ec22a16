//! A link that is down (PFault's way to cut a node off, 4.2). Routes and IPv6 addresses that disappear with it are
//! restored. Unlike a partition by packet filters, the kernel does not end it by itself.

use std::time::Duration;

use crate::faults::model::PlanContext;
use crate::faults::steps::{Choice, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::{Node, quoted};

/// `state` prints everything that disappears with a link, to compare; `routes` what the kernel does not create by itself,
/// which takes it a moment.
const OWN: &str = "
is_up() { ip -o link show dev \"$link\" | grep -Eq '<([^>]*,)?UP[,>]'; }
state() {
    ip -o addr show dev \"$link\" | sed 's/ tentative//; s/valid_lft.*//'
    { ip -4 route show table all dev \"$link\"; ip -6 route show table all dev \"$link\"; } | grep -v '^multicast' |
        sed 's/ linkdown//; s/ expires [0-9]*sec//' | sort
}
routes() {
    ip \"$1\" route show table all dev \"$link\" | sed 's/ linkdown//; s/ expires [0-9]*sec//' |
        grep -Ev 'proto kernel|^(local|broadcast|multicast|anycast) ' || :
}
settled() {
    for attempt in $(seq 50); do if state | cmp -s - \"$kept/state\"; then return 0; fi; sleep 0.1; done
    state | diff \"$kept/state\" - >&2
}
";

const APPLY: &str = "
[ ! -e \"$kept\" ] || { echo \"$kept exists already\" >&2; exit 1; }
is_up || { echo \"$link is down already\" >&2; exit 1; }
mkdir -p \"$kept\"
state > \"$kept/state\"
ip -6 addr save dev \"$link\" > \"$kept/addresses\"
routes -4 > \"$kept/routes4\"
routes -6 > \"$kept/routes6\"
sync -f \"$kept\"
: > \"$kept/complete\"
ip link set dev \"$link\" down";

const IS_DOWN: &str = "
! is_up || { echo \"$link is up\" >&2; exit 1; }";

/// Errors for addresses and routes that exist are ignored. A route may need another one first.
const RESTORE: &str = "
[ -e \"$kept/complete\" ] || { rm -rf \"$kept\"; exit 0; }
ip link set dev \"$link\" up
state | cmp -s - \"$kept/state\" || {
    ip -6 addr restore < \"$kept/addresses\" 2> /dev/null || :
    for pass in 1 2; do for version in 4 6
    do while read -r route; do ip -$version route add $route dev \"$link\" 2> /dev/null || :; done < \"$kept/routes$version\"
    done; done
}
settled";

const IS_UP: &str = "
[ -e \"$kept/complete\" ] || exit 0
is_up || { echo \"$link is down\" >&2; exit 1; }
settled";

/// The parent folder may hold copies of other faults.
const CLEAN_UP: &str = "
rm -rf \"$kept\"
rmdir \"$(dirname \"$kept\")\" 2> /dev/null || :";

pub(super) fn plan(named: Option<&str>, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
    let link = match named {
        Some(link) => link.to_owned(),
        None => own_link(node)?,
    };
    let kept = node.keep.join(aim.id).display().to_string();
    let own = format!("link={}; kept={}{OWN}", quoted(&link), quoted(&kept));
    let script = |text: &str| Step::Shell(format!("{own}{text}"));
    Ok(NodeSteps {
        node: node.clone(),
        choices: vec![Choice::Link(link)],
        apply: script(APPLY),
        verify_applied: script(IS_DOWN),
        revert: script(RESTORE),
        verify_reverted: script(IS_UP),
        clean_up: Some(script(CLEAN_UP)),
    })
}

/// The link that has the first of the node's addresses.
fn own_link(node: &Node) -> Result<String, LabError> {
    let lacks = |what: &str| {
        let name = &node.name;
        LabError::Input(format!("{name} {what}: name the link as `link`"))
    };
    let address = node.addresses.first().ok_or_else(|| lacks("has no address"))?.to_string();
    let printed = node.read("ip -o addr show", Duration::from_secs(10))?;
    link_of(&printed, &address).ok_or_else(|| lacks(&format!("has no link with {address}")))
}

/// Lines like `2: eth0    inet 198.18.1.1/15 brd ...`; a link to another namespace is `eth0@if7`.
fn link_of(printed: &str, address: &str) -> Option<String> {
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, link, _, with_mask, ..] = words[..] else { return None };
        let own = with_mask.split('/').next()?;
        (own == address).then(|| link.split('@').next().unwrap_or(link).to_owned())
    };
    printed.lines().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_by_its_address_whole() {
        let printed = "1: lo    inet 127.0.0.1/8 scope host lo\n7: eth0@if8    inet 198.18.1.11/15 scope global eth0\n\
                    9: eth1    inet 198.18.1.1/15 scope global eth1\n9: eth1    inet6 fd00::1/64 scope global\n";
        assert_eq!(link_of(printed, "198.18.1.1").as_deref(), Some("eth1"));
        assert_eq!(link_of(printed, "198.18.1.11").as_deref(), Some("eth0"));
        assert_eq!(link_of(printed, "fd00::1").as_deref(), Some("eth1"));
        assert_eq!(link_of(printed, "198.18.1.2"), None);
    }
}
