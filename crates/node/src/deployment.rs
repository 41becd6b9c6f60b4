//! What a node is given to do, and how a specification becomes that.

use crate::host::{Divided, Kind, divide};
use crate::wire::{Refusal, RunId};
use invigil_decent::algorithm::Prepared;
use invigil_decent::encoding::States;
use invigil_decent::system::{ComponentId, MonitorId, System};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;

/// How many nodes there may be in a run.
pub const MOST_NODES: usize = 1024;

/// Where the observations of a component come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// From a file in the node's folder: `traces/NUMBER-COMPONENT.trace`.
    Own(u32),
    /// The trace itself.
    Sent(String),
}

/// The part of a node in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    /// Which run.
    pub run: RunId,
    /// The names of its nodes.
    pub nodes: Vec<String>,
    /// The place of this one.
    pub own: u16,
    /// What is watched.
    pub system: System,
    /// The place of the node of each component.
    pub homes: Vec<u16>,
    /// The component of each monitor.
    pub places: Vec<ComponentId>,
    /// For how many rounds it goes on after the traces.
    pub grace: u32,
    /// Where the observations of this node's components come from.
    pub sources: Vec<(ComponentId, Source)>,
    /// Of which kind the monitors are.
    pub kind: Kind,
    /// The monitors of this node.
    pub monitors: Vec<u8>,
}

/// Why something cannot be deployed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// A component is on no node.
    Homeless(String),
    /// A name that a node cannot have.
    Name(String),
    /// The parts do not fit together: what.
    Inconsistent(&'static str),
    /// It cannot be read or written.
    Refused(Refusal),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Homeless(component) => {
                write!(f, "component {component} is on no node: say `--nodes {component}=NODE`")
            }
            Unfit::Name(name) => write!(
                f,
                "`{name}` cannot be the name of a node or component: take up to 64 letters, digits, `-`, `_` and `.`"
            ),
            Unfit::Inconsistent(what) => write!(f, "the deployment contradicts itself: {what}"),
            Unfit::Refused(refusal) => write!(f, "the deployment cannot be used: {refusal}"),
        }
    }
}

impl std::error::Error for Unfit {}

impl From<Refusal> for Unfit {
    fn from(refusal: Refusal) -> Unfit {
        Unfit::Refused(refusal)
    }
}

/// Checks the name of a node or component: it becomes part of keys and of file names.
///
/// # Errors
/// If it cannot.
pub fn check_name(name: &str) -> Result<(), Unfit> {
    let letter = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let is_good = name.chars().all(letter) && (1..=64).contains(&name.len()) && !name.starts_with('.');
    if is_good { Ok(()) } else { Err(Unfit::Name(name.to_owned())) }
}

fn are_unique<T: Hash + Eq>(all: impl IntoIterator<Item = T>) -> bool {
    let mut known = HashSet::new();
    all.into_iter().all(|one| known.insert(one))
}

impl Deployment {
    /// The parts of all nodes. `home` gives the name of a component's node, `source` where its observations come from.
    ///
    /// # Errors
    /// If a component has no home, or if a name cannot be used.
    pub fn plan(
        run: RunId,
        system: &System,
        prepared: &Prepared<States>,
        home: impl Fn(&str) -> Option<String>,
        source: impl Fn(ComponentId) -> Source,
        grace: u32,
    ) -> Result<Vec<Deployment>, Unfit> {
        let mut nodes: Vec<String> = Vec::new();
        let mut homes: Vec<u16> = Vec::new();
        for component in system.components() {
            let component = system.component_name(component);
            check_name(component)?;
            let name = home(component).ok_or_else(|| Unfit::Homeless(component.to_owned()))?;
            check_name(&name)?;
            let place = nodes.iter().position(|known| *known == name).unwrap_or_else(|| {
                nodes.push(name);
                nodes.len() - 1
            });
            if place >= MOST_NODES {
                return Err(Unfit::Inconsistent("it has too many nodes"));
            }
            homes.push(place as u16);
        }
        let Divided { kind, places, monitors } =
            divide(prepared, nodes.len(), |component| usize::from(homes[component.index()]))?;
        let own = monitors.into_iter().enumerate().map(|(own, monitors)| {
            let components = system.components().filter(|known| usize::from(homes[known.index()]) == own);
            Deployment {
                run,
                nodes: nodes.clone(),
                own: own as u16,
                system: system.clone(),
                homes: homes.clone(),
                places: places.clone(),
                grace,
                sources: components.map(|component| (component, source(component))).collect(),
                kind,
                monitors,
            }
        });
        Ok(own.collect())
    }

    /// Checks that its parts fit together: it came from elsewhere.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(&self) -> Result<(), Unfit> {
        let (nodes, components) = (self.nodes.len(), self.system.components().len());
        let wrong = |what| Err(Unfit::Inconsistent(what));
        if usize::from(self.own) >= nodes || nodes > MOST_NODES {
            return wrong("the number of nodes");
        }
        for name in &self.nodes {
            check_name(name)?;
        }
        if !are_unique(&self.nodes) {
            return wrong("a node that is named twice");
        }
        if self.system.propositions().any(|known| self.system.owner(known).index() >= components) {
            return wrong("a proposition of nobody");
        }
        if self.homes.len() != components || self.homes.iter().any(|home| usize::from(*home) >= nodes) {
            return wrong("a component without a node, or one that is named twice");
        }
        if self.places.iter().any(|component| component.index() >= components) {
            return wrong("a monitor without a component");
        }
        if self.sources.iter().any(|(component, _)| self.homes.get(component.index()) != Some(&self.own)) {
            return wrong("a trace of a component that is elsewhere");
        }
        if !are_unique(self.sources.iter().map(|(component, _)| component)) {
            return wrong("two traces of one component");
        }
        for component in self.system.components() {
            check_name(self.system.component_name(component))?;
        }
        Ok(())
    }

    /// The name of the node whose part this is.
    pub fn node(&self) -> Option<&str> {
        self.nodes.get(usize::from(self.own)).map(String::as_str)
    }

    /// The node of a monitor, by its place.
    pub fn node_of(&self, monitor: MonitorId) -> Option<usize> {
        let component = self.places.get(monitor.index())?;
        self.homes.get(component.index()).map(|home| usize::from(*home))
    }
}
