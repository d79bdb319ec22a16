//! Daemons that are killed or paused.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::faults::model::Need::Program;
use crate::faults::model::{Area, FaultModel, Mechanism, PlanContext};
use crate::faults::parameters::Parameters;
use crate::faults::steps::{Choice, LabStep, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::{Exec, Node, quoted};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    /// Names of programs; none: all daemons of the lab's file system.
    processes: Vec<String>,
    /// A script that starts them again; none: that of the node or of the lab.
    restart: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Names of programs; none: all daemons of the lab's file system.
    pub(crate) processes: Vec<String>,
}

/// Processes in the node's own network namespace: the hosts of a lab share a process namespace.
const OWN: &str = "
own() { for name in $names; do pgrep --ns $$ --nslist net -x \"$name\" || :; done; }
each() { for process in $(own); do kill \"$1\" \"$process\" || :; done; }";

const IS_DEAD: &str = "
left=$(own); [ -z \"$left\" ] || { echo \"still running: $left\" >&2; exit 1; }";

const RUNS: &str = "
for name in $names
do pgrep --ns $$ --nslist net -x \"$name\" > /dev/null || { echo \"$name is not running\" >&2; exit 1; }
done";

/// Waits for daemons that other daemons start.
const WAIT: &str = "
for name in $names
do for attempt in $(seq 50)
   do if pgrep --ns $$ --nslist net -x \"$name\" > /dev/null; then break; fi; sleep 0.2
   done
done";

/// The state follows the name, which is in parentheses and may contain anything.
const STATES: &str = "
stopped=0; all=0
for process in $(own)
do all=$((all + 1)); state=$(sed 's/.*) //; s/ .*//' \"/proc/$process/stat\" 2> /dev/null) || continue
   if [ \"$state\" = T ]; then stopped=$((stopped + 1)); fi
done";

const SIGNAL: &[Mechanism] = &[Mechanism { name: "signal", needs: &[Program("pgrep", "procps")] }];

impl FaultModel for Kill {
    const NAME: &'static str = "kill";
    const PARAMETERS: &'static str = "process=NAME,... restart=SCRIPT";
    const SUMMARY: &'static str = "daemons are killed";
    const MECHANISMS: &'static [Mechanism] = SIGNAL;

    fn read(parameters: &mut Parameters) -> Result<Kill, LabError> {
        Ok(Kill { processes: parameters.list("process"), restart: parameters.take("restart") })
    }

    fn plan(&self, node: &Node, _: &PlanContext) -> Result<NodeSteps, LabError> {
        let names = running(&self.processes, node)?;
        let script = with(&names);
        let mut verify_reverted = vec![script(&format!("{WAIT}\n({RUNS}\n)"))];
        let revert = match (self.restart.as_ref().or(node.restart.as_ref()), &node.exec) {
            (Some(restart), _) => script(&format!("\nif ! ({RUNS}\n) 2> /dev/null\nthen\n{restart}\nfi")),
            (None, Exec::Lab { .. }) if lab_starts(&names, node)? => {
                verify_reverted.push(Step::Lab(LabStep::IsHealthy));
                Step::Lab(LabStep::StartDaemons)
            }
            (None, _) => {
                let (name, names) = (&node.name, names.join(", "));
                return Err(LabError::Input(format!(
                    "how to start {names} of {name} again is unknown: give a script as `restart`"
                )));
            }
        };
        Ok(NodeSteps {
            node: node.clone(),
            choices: vec![Choice::Processes(names)],
            apply: script("\neach -KILL; sleep 0.2"),
            verify_applied: script(IS_DEAD),
            revert,
            verify_reverted: Step::Several(verify_reverted),
            clean_up: None,
        })
    }

    fn affects(&self) -> &'static [Area] {
        &[]
    }
}

impl FaultModel for Pause {
    const NAME: &'static str = "pause";
    const PARAMETERS: &'static str = "process=NAME,...";
    const SUMMARY: &'static str = "daemons are paused (SIGSTOP), as on a machine that swaps heavily";
    const MECHANISMS: &'static [Mechanism] = SIGNAL;

    fn read(parameters: &mut Parameters) -> Result<Pause, LabError> {
        Ok(Pause { processes: parameters.list("process") })
    }

    fn plan(&self, node: &Node, _: &PlanContext) -> Result<NodeSteps, LabError> {
        let names = running(&self.processes, node)?;
        let script = with(&names);
        let state = |test: &str| script(&format!("{STATES}\n{test}"));
        let fail = "{ echo \"$stopped of $all are stopped\" >&2; exit 1; }";
        Ok(NodeSteps {
            node: node.clone(),
            choices: vec![Choice::Processes(names)],
            apply: script("\neach -STOP; sleep 0.1"),
            verify_applied: state(&format!("[ \"$all\" -gt 0 ] && [ \"$stopped\" = \"$all\" ] || {fail}")),
            revert: script("\neach -CONT; sleep 0.1"),
            verify_reverted: state(&format!("[ \"$stopped\" = 0 ] || {fail}")),
            clean_up: None,
        })
    }

    fn affects(&self) -> &'static [Area] {
        &[]
    }
}

/// True if all are daemons of the lab's own file system.
fn lab_starts(names: &[String], node: &Node) -> Result<bool, LabError> {
    let Some((lab, _)) = node.lab()? else { return Ok(false) };
    let known = lab.adapter()?.map_or_else(Vec::new, |adapter| adapter.daemons);
    Ok(names.iter().all(|name| known.contains(name)))
}

fn with(names: &[String]) -> impl Fn(&str) -> Step + use<> {
    let own = format!("names={}{OWN}", quoted(&names.join(" ")));
    move |text| Step::Shell(format!("{own}{text}"))
}

/// The daemons that run on the node now, among those named or those of the lab's file system.
fn running(names: &[String], node: &Node) -> Result<Vec<String>, LabError> {
    let known = match (names, node.lab()?) {
        ([], Some((lab, _))) => lab.adapter()?.map_or_else(Vec::new, |adapter| adapter.daemons),
        (names, _) => names.to_vec(),
    };
    if known.is_empty() {
        return Err(LabError::Input(format!("{} runs no known daemons: name them as `process`", node.name)));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    if let Some(odd) = known.iter().find(|name| name.starts_with('-') || !name.chars().all(is_word)) {
        return Err(LabError::Input(format!("{odd:?} is not the name of a program")));
    }
    let look = "for name in $names; do if pgrep --ns $$ --nslist net -x \"$name\" > /dev/null; then echo \"$name\"; fi; done";
    let own = format!("names={}\n", quoted(&known.join(" ")));
    let printed = node.read(&format!("{own}{look}"), Duration::from_secs(10))?;
    let running: Vec<String> = printed.split_whitespace().map(str::to_owned).collect();
    if running.is_empty() {
        let (known, name) = (known.join(", "), &node.name);
        return Err(LabError::Input(format!("{name} runs none of {known}")));
    }
    Ok(running)
}
