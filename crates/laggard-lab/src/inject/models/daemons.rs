//! Daemons that are killed, or stand still.

use std::time::Duration;

use crate::inject::deed::{Choice, LabStep, Part, Step};
use crate::inject::node::{Exec, Node};
use crate::inject::running::quoted;
use crate::machine::LabError;

/// Processes of the node's own network: the hosts of a lab count theirs together.
const OWN: &str = "
own() { for name in $names; do pgrep --ns $$ --nslist net -x \"$name\" || :; done; }
each() { for process in $(own); do kill \"$1\" \"$process\" || :; done; }";

const IS_DEAD: &str = "
left=$(own); [ -z \"$left\" ] || { echo \"still there: $left\" >&2; exit 1; }";

const RUNS: &str = "
for name in $names
do pgrep --ns $$ --nslist net -x \"$name\" > /dev/null || { echo \"$name does not run\" >&2; exit 1; }
done";

/// Daemons start others, which takes a while.
const COME: &str = "
for name in $names
do for attempt in $(seq 50)
   do if pgrep --ns $$ --nslist net -x \"$name\" > /dev/null; then break; fi; sleep 0.2
   done
done";

/// The third word of a process's status, after its name, which may be anything in parentheses.
const STATES: &str = "
stopped=0; all=0
for process in $(own)
do all=$((all + 1)); state=$(sed 's/.*) //; s/ .*//' \"/proc/$process/stat\" 2> /dev/null) || continue
   if [ \"$state\" = T ]; then stopped=$((stopped + 1)); fi
done";

/// Kills them as a crash would.
pub fn kill(names: &[String], restart: Option<&str>, node: &Node) -> Result<Part, LabError> {
    let names = found(names, node)?;
    let script = with(&names);
    let mut verify_undone = vec![script(&format!("{COME}\n({RUNS}\n)"))];
    let undo = match (restart.or(node.restart.as_deref()), &node.exec) {
        (Some(restart), _) => script(&format!("\nif ! ({RUNS}\n) 2> /dev/null\nthen\n{restart}\nfi")),
        (None, Exec::Lab { .. }) if lab_starts(&names, node)? => {
            verify_undone.push(Step::Lab(LabStep::IsWell));
            Step::Lab(LabStep::StartDaemons)
        }
        (None, _) => {
            let (name, names) = (&node.name, names.join(", "));
            return Err(LabError::Input(format!(
                "nothing says how to start {names} of {name} again: give it as `restart`"
            )));
        }
    };
    Ok(Part {
        node: node.clone(),
        choices: vec![Choice::Processes(names.clone())],
        apply: script("\neach -KILL; sleep 0.2"),
        verify_applied: script(IS_DEAD),
        undo,
        verify_undone: Step::Several(verify_undone),
        tidy: None,
    })
}

/// Stops them, as a machine that swaps itself to death would.
pub fn pause(names: &[String], node: &Node) -> Result<Part, LabError> {
    let names = found(names, node)?;
    let script = with(&names);
    let state = |what: &str| script(&format!("{STATES}\n{what}"));
    let told = "{ echo \"$stopped of $all stand still\" >&2; exit 1; }";
    Ok(Part {
        node: node.clone(),
        choices: vec![Choice::Processes(names.clone())],
        apply: script("\neach -STOP; sleep 0.1"),
        verify_applied: state(&format!("[ \"$all\" -gt 0 ] && [ \"$stopped\" = \"$all\" ] || {told}")),
        undo: script("\neach -CONT; sleep 0.1"),
        verify_undone: state(&format!("[ \"$stopped\" = 0 ] || {told}")),
        tidy: None,
    })
}

/// Whether they are all daemons of the lab's own file system.
fn lab_starts(names: &[String], node: &Node) -> Result<bool, LabError> {
    let Some((lab, _)) = node.lab()? else { return Ok(false) };
    let known = lab.adapter()?.map_or_else(Vec::new, |adapter| adapter.daemons);
    Ok(names.iter().all(|name| known.contains(name)))
}

fn with(names: &[String]) -> impl Fn(&str) -> Step + use<> {
    let own = format!("names={}{OWN}", quoted(&names.join(" ")));
    move |text| Step::Shell(format!("{own}{text}"))
}

/// The daemons that run there now, of those that are named or that the lab's file system has.
fn found(names: &[String], node: &Node) -> Result<Vec<String>, LabError> {
    let known = match (names, node.lab()?) {
        ([], Some((lab, _))) => lab.adapter()?.map_or_else(Vec::new, |adapter| adapter.daemons),
        (names, _) => names.to_vec(),
    };
    if known.is_empty() {
        return Err(LabError::Input(format!("which daemons of {}? Name them as `process`", node.name)));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    if let Some(odd) = known.iter().find(|name| name.starts_with('-') || !name.chars().all(is_word)) {
        return Err(LabError::Input(format!("{odd:?} is no name of a program")));
    }
    let look = "for name in $names; do if pgrep --ns $$ --nslist net -x \"$name\" > /dev/null; then echo \"$name\"; fi; done";
    let own = format!("names={}\n", quoted(&known.join(" ")));
    let told = node.read(&format!("{own}{look}"), Duration::from_secs(10))?;
    let running: Vec<String> = told.split_whitespace().map(str::to_owned).collect();
    if running.is_empty() {
        let (known, name) = (known.join(", "), &node.name);
        return Err(LabError::Input(format!("{name} runs none of {known}: there is nothing to hurt")));
    }
    Ok(running)
}
