//! The interface that every fault implements.

use laggard_core::diagnosis::Cause;

use super::parameters::Parameters;
use super::steps::{Choice, FaultName, LabStep, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::Node;
use crate::setup::Lab;

/// A fault with its parameters, not yet planned for any node.
pub(crate) trait FaultModel: Sized {
    const NAME: &'static str;
    /// Parameters with their defaults, as `inject list` shows them.
    const PARAMETERS: &'static str = "";
    const SUMMARY: &'static str;
    /// The ways to apply it and their requirements; empty for a fault that only hosts of a lab have.
    const MECHANISMS: &'static [Mechanism] = &[];

    /// Takes its parameters from those that were given.
    fn read(parameters: &mut Parameters) -> Result<Self, LabError>;

    /// Chooses what happens on one node. Reads the node and changes nothing.
    fn plan(&self, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError>;

    fn affects(&self) -> &'static [Area];

    /// The cause that a diagnosis should name.
    fn cause(&self) -> Cause {
        Cause::Unknown
    }

    /// The operations of a fault that a lab applies itself.
    fn in_lab(&self) -> Option<&dyn LabFault> {
        None
    }
}

/// A fault that a lab applies to one of its servers without a script on the node.
pub(crate) trait LabFault {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError>;
    /// May run repeatedly, and where nothing was applied.
    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError>;
    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError>;
}

/// The nodes and the seed of a planned fault.
pub(crate) struct PlanContext<'a> {
    /// The id of the planned fault.
    pub(crate) id: &'a str,
    pub(crate) targets: &'a [Node],
    /// All nodes of the system.
    pub(crate) all: &'a [Node],
    pub(crate) seed: u64,
    /// How long it may last; none: until it is reverted.
    pub(crate) ttl_seconds: Option<u64>,
}

/// A part of a node that a fault changes, and that must be checked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    Brick,
    /// The brick, with a copy of all of it: no other fault may change it meanwhile.
    WholeBrick,
    Network,
    /// The virtual disk or the daemons of a lab's host.
    Lab,
}

/// A way to apply a fault, and its requirements.
pub(crate) struct Mechanism {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [Need],
}

/// A requirement of a mechanism.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    /// A program, and the Debian package that has it.
    Program(&'static str, &'static str),
    /// One of two programs, and the packages.
    Either(&'static str, &'static str, &'static str),
    Brick,
    Lab,
    NoLab,
}

/// Declares a fault without parameters, as a [`LabFault`] or with `plan = ...` from a node to its steps.
macro_rules! lab_fault {
    ($model:ident, $name:literal, $summary:literal, $areas:expr, $cause:ident) => {
        lab_fault!(@ $model, $name, $summary, $areas, $cause, crate::faults::model::lab_steps::<$model>,
            in_lab);
    };
    ($model:ident, $name:literal, $summary:literal, $areas:expr, $cause:ident, plan = $plan:expr) => {
        lab_fault!(@ $model, $name, $summary, $areas, $cause, $plan,);
    };
    (@ $model:ident, $name:literal, $summary:literal, $areas:expr, $cause:ident, $plan:expr, $($in_lab:ident)?) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $model {}

        impl crate::faults::model::FaultModel for $model {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;

            fn read(_: &mut crate::faults::parameters::Parameters) -> Result<$model, crate::machine::LabError> {
                Ok($model {})
            }

            fn plan(
                &self,
                node: &crate::nodes::Node,
                _: &crate::faults::model::PlanContext,
            ) -> Result<crate::faults::steps::NodeSteps, crate::machine::LabError> {
                $plan(node)
            }

            fn affects(&self) -> &'static [crate::faults::model::Area] {
                use crate::faults::model::Area::*;
                &$areas
            }

            fn cause(&self) -> laggard_core::diagnosis::Cause {
                laggard_core::diagnosis::Cause::$cause
            }

            $(fn $in_lab(&self) -> Option<&dyn crate::faults::model::LabFault> {
                Some(self)
            })?
        }
    };
}
pub(super) use lab_fault;

/// The steps of a [`LabFault`].
pub(super) fn lab_steps<F: FaultModel>(node: &Node) -> Result<NodeSteps, LabError> {
    let (lab, host) = lab_of::<F>(node)?;
    lab.server(host)?;
    let name = || FaultName(F::NAME.to_owned());
    Ok(NodeSteps {
        node: node.clone(),
        choices: vec![Choice::Mechanism(F::NAME.into())],
        apply: Step::Lab(LabStep::Apply(name())),
        verify_applied: Step::Lab(LabStep::IsApplied(name())),
        revert: Step::Lab(LabStep::Revert(name())),
        verify_reverted: Step::Lab(LabStep::IsReverted(name())),
        clean_up: None,
    })
}

/// The lab of a node, which a fault needs.
pub(super) fn lab_of<F: FaultModel>(node: &Node) -> Result<(Lab, &str), LabError> {
    let (fault, name) = (F::NAME, &node.name);
    node.lab()?
        .ok_or_else(|| LabError::Input(format!("{fault} is for hosts of a lab, and {name} is not one")))
}
