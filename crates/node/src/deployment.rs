//! Deployments: the part of each node in a run.

use crate::host::{DividedMonitors, MonitorKind, divide};
use crate::wire::{RunId, WireError};
use invigil_decent::algorithm::MonitorSet;
use invigil_decent::encoding::States;
use invigil_decent::system::{ComponentId, MonitorId, System};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;

/// Maximum number of nodes in a run.
pub const MAX_NODES: usize = 1024;

/// Source of a component's observations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceSource {
    /// File in the node's folder: `traces/NUMBER-COMPONENT.trace`.
    Local(u32),
    /// The trace itself.
    Inline(String),
}

/// A node's part in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    /// Id of the run.
    pub run: RunId,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// Index of this node.
    pub own_node: u16,
    /// The monitored system.
    pub system: System,
    /// Index of the node of each component.
    pub component_nodes: Vec<u16>,
    /// Component of each monitor.
    pub monitor_components: Vec<ComponentId>,
    /// Rounds to continue after the traces.
    pub grace: u32,
    /// Sources of the observations of this node's components.
    pub sources: Vec<(ComponentId, TraceSource)>,
    /// Kind of the monitors.
    pub kind: MonitorKind,
    /// Serialized monitors of this node.
    pub monitors: Vec<u8>,
}

/// Reason why something cannot be deployed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeploymentError {
    /// A component has no node.
    Unassigned(String),
    /// Invalid name of a node or component.
    InvalidName(String),
    /// The parts are inconsistent.
    Inconsistent(&'static str),
    /// It cannot be encoded or decoded.
    Wire(WireError),
}

impl fmt::Display for DeploymentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeploymentError::Unassigned(component) => {
                write!(f, "component {component} has no node: give `--nodes {component}=NODE`")
            }
            DeploymentError::InvalidName(name) => write!(
                f,
                "`{name}` is not a valid name of a node or component: use up to 64 bytes of letters, digits, `-`, `_` and `.`, and no `.` at the start"
            ),
            DeploymentError::Inconsistent(reason) => write!(f, "the deployment is inconsistent: {reason}"),
            DeploymentError::Wire(error) => write!(f, "invalid deployment: {error}"),
        }
    }
}

impl std::error::Error for DeploymentError {}

impl From<WireError> for DeploymentError {
    fn from(error: WireError) -> DeploymentError {
        DeploymentError::Wire(error)
    }
}

/// Checks the name of a node or component, which becomes part of network keys and file names.
///
/// # Errors
/// Fails if the name is invalid.
pub fn check_name(name: &str) -> Result<(), DeploymentError> {
    let is_allowed = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let is_valid = name.chars().all(is_allowed) && (1..=64).contains(&name.len()) && !name.starts_with('.');
    if is_valid { Ok(()) } else { Err(DeploymentError::InvalidName(name.to_owned())) }
}

fn are_unique<T: Hash + Eq>(all: impl IntoIterator<Item = T>) -> bool {
    let mut previous = HashSet::new();
    all.into_iter().all(|item| previous.insert(item))
}

impl Deployment {
    /// Creates the parts of all nodes. `node_of` returns the node of a component, `source` the source of its
    /// observations.
    ///
    /// # Errors
    /// Fails if a component has no node, a name is invalid, there are too many nodes, or a monitor cannot be encoded.
    pub fn plan(
        run: RunId,
        system: &System,
        prepared: &MonitorSet<States>,
        node_of: impl Fn(&str) -> Option<String>,
        source: impl Fn(ComponentId) -> TraceSource,
        grace: u32,
    ) -> Result<Vec<Deployment>, DeploymentError> {
        let mut nodes: Vec<String> = Vec::new();
        let mut component_nodes: Vec<u16> = Vec::new();
        for component in system.components() {
            let component = system.component_name(component);
            check_name(component)?;
            let name = node_of(component).ok_or_else(|| DeploymentError::Unassigned(component.to_owned()))?;
            check_name(&name)?;
            let index = nodes.iter().position(|node| *node == name).unwrap_or_else(|| {
                nodes.push(name);
                nodes.len() - 1
            });
            if index >= MAX_NODES {
                return Err(DeploymentError::Inconsistent("it has more than 1024 nodes"));
            }
            component_nodes.push(index as u16);
        }
        let DividedMonitors { kind, monitor_components, monitors } =
            divide(prepared, nodes.len(), |component| usize::from(component_nodes[component.index()]))?;
        let deployments = monitors.into_iter().enumerate().map(|(own, monitors)| {
            let components = system
                .components()
                .filter(|component| usize::from(component_nodes[component.index()]) == own);
            Deployment {
                run,
                nodes: nodes.clone(),
                own_node: own as u16,
                system: system.clone(),
                component_nodes: component_nodes.clone(),
                monitor_components: monitor_components.clone(),
                grace,
                sources: components.map(|component| (component, source(component))).collect(),
                kind,
                monitors,
            }
        });
        Ok(deployments.collect())
    }

    /// Checks that the parts are consistent; deployments come from the network.
    ///
    /// # Errors
    /// Returns the inconsistency.
    pub fn check(&self) -> Result<(), DeploymentError> {
        let (nodes, components) = (self.nodes.len(), self.system.components().len());
        let inconsistent = |reason| Err(DeploymentError::Inconsistent(reason));
        if usize::from(self.own_node) >= nodes || nodes > MAX_NODES {
            return inconsistent("the number of nodes");
        }
        for name in &self.nodes {
            check_name(name)?;
        }
        if !are_unique(&self.nodes) {
            return inconsistent("a node that is named twice");
        }
        if self.system.propositions().any(|proposition| self.system.owner(proposition).index() >= components)
        {
            return inconsistent("a proposition without a component");
        }
        if self.component_nodes.len() != components
            || self.component_nodes.iter().any(|node| usize::from(*node) >= nodes)
        {
            return inconsistent("a component without a node, or one that is named twice");
        }
        if self.monitor_components.iter().any(|component| component.index() >= components) {
            return inconsistent("a monitor without a component");
        }
        if self
            .sources
            .iter()
            .any(|(component, _)| self.component_nodes.get(component.index()) != Some(&self.own_node))
        {
            return inconsistent("a trace of a component on another node");
        }
        if !are_unique(self.sources.iter().map(|(component, _)| component)) {
            return inconsistent("two traces of one component");
        }
        for component in self.system.components() {
            check_name(self.system.component_name(component))?;
        }
        Ok(())
    }

    /// Returns the name of the node that this part is for.
    pub fn node(&self) -> Option<&str> {
        self.nodes.get(usize::from(self.own_node)).map(String::as_str)
    }

    /// Returns the index of a monitor's node.
    pub fn node_of(&self, monitor: MonitorId) -> Option<usize> {
        let component = self.monitor_components.get(monitor.index())?;
        self.component_nodes.get(component.index()).map(|node| usize::from(*node))
    }
}
