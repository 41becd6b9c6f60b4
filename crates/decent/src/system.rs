//! The monitored system: components, their propositions, and the links between them.

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Index of a component in its [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ComponentId(pub u16);

/// Index of a proposition in its [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PropositionId(pub u32);

/// Index of a monitor in its specification or network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MonitorId(pub u32);

/// Round of the system. Observations are made at instants 1, 2, …; at 0 nothing has been observed.
pub type Instant = u32;

impl ComponentId {
    /// Returns the index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl PropositionId {
    /// Returns the index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl MonitorId {
    /// Returns the index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Components and the propositions that each observes. A proposition belongs to exactly one component.
///
/// ```
/// use invigil_decent::system::System;
///
/// let mut system = System::default();
/// let (lamp, switch) = (system.component("lamp")?, system.component("switch")?);
/// let on = system.proposition(lamp, "on")?;
/// assert_eq!((system.owner(on), system.proposition_name(on)), (lamp, "on"));
/// assert_eq!(system.proposition(switch, "on").unwrap_err().to_string(), "`on` is observed by both lamp and switch");
/// assert!(system.can_reach(switch, lamp));
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    components: IndexSet<String>,
    propositions: IndexMap<String, ComponentId>,
    /// Links by which components can send directly. `None` if every component can send to every other.
    links: Option<BTreeSet<(ComponentId, ComponentId)>>,
}

/// Reason why something cannot be added to a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemError {
    /// Two components observe the same proposition.
    Shared {
        /// Its name.
        name: String,
        /// Both components.
        components: [String; 2],
    },
    /// A count exceeds the range of ids.
    TooMany,
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SystemError::Shared { name, components: [first, second] } => {
                write!(f, "`{name}` is observed by both {first} and {second}")
            }
            SystemError::TooMany => f.write_str("there are more than 65535 components"),
        }
    }
}

impl std::error::Error for SystemError {}

impl System {
    /// Returns the component with this name; adds it if needed.
    ///
    /// # Errors
    /// Fails if there are too many components.
    pub fn component(&mut self, name: &str) -> Result<ComponentId, SystemError> {
        if let Some(id) = self.find_component(name) {
            return Ok(id);
        }
        let id = u16::try_from(self.components.len()).map_err(|_| SystemError::TooMany)?;
        self.components.insert(name.to_owned());
        Ok(ComponentId(id))
    }

    /// Returns the proposition with this name; adds it to the component if needed.
    ///
    /// # Errors
    /// Fails if another component observes it.
    pub fn proposition(&mut self, of: ComponentId, name: &str) -> Result<PropositionId, SystemError> {
        match self.find_proposition(name) {
            Some(id) if self.owner(id) == of => Ok(id),
            Some(id) => Err(SystemError::Shared {
                name: name.to_owned(),
                components: [self.owner(id), of].map(|component| self.component_name(component).to_owned()),
            }),
            None => {
                let id = u32::try_from(self.propositions.len()).map_err(|_| SystemError::TooMany)?;
                self.propositions.insert(name.to_owned(), of);
                Ok(PropositionId(id))
            }
        }
    }

    /// Adds a link. Once a system has a link, components without one cannot send to each other directly.
    pub fn link(&mut self, from: ComponentId, to: ComponentId) {
        self.links.get_or_insert_default().insert((from, to));
    }

    /// Returns the component with this name.
    pub fn find_component(&self, name: &str) -> Option<ComponentId> {
        self.components.get_index_of(name).map(|at| ComponentId(at as u16))
    }

    /// Returns the proposition with this name.
    pub fn find_proposition(&self, name: &str) -> Option<PropositionId> {
        self.propositions.get_index_of(name).map(|at| PropositionId(at as u32))
    }

    /// Returns the name of a component.
    pub fn component_name(&self, component: ComponentId) -> &str {
        &self.components[component.index()]
    }

    /// Returns the name of a proposition.
    pub fn proposition_name(&self, proposition: PropositionId) -> &str {
        self.propositions.get_index(proposition.index()).map_or("", |(name, _)| name)
    }

    /// Returns the component that observes a proposition.
    pub fn owner(&self, proposition: PropositionId) -> ComponentId {
        self.propositions[proposition.index()]
    }

    /// Returns all components.
    pub fn components(&self) -> impl ExactSizeIterator<Item = ComponentId> + use<> {
        (0..self.components.len()).map(|at| ComponentId(at as u16))
    }

    /// Returns all propositions.
    pub fn propositions(&self) -> impl ExactSizeIterator<Item = PropositionId> + use<> {
        (0..self.propositions.len()).map(|at| PropositionId(at as u32))
    }

    /// Returns whether a component can send to another directly.
    pub fn is_linked(&self, from: ComponentId, to: ComponentId) -> bool {
        from == to || self.links.as_ref().is_none_or(|links| links.contains(&(from, to)))
    }

    /// Returns the links, or `None` if every component can send to every other.
    pub fn links(&self) -> Option<impl Iterator<Item = (ComponentId, ComponentId)>> {
        self.links.as_ref().map(|links| links.iter().copied())
    }

    /// Returns whether messages from one component can reach another, relayed if needed.
    pub fn can_reach(&self, from: ComponentId, to: ComponentId) -> bool {
        self.hops(from)[to.index()].is_some()
    }

    /// Returns for each component how many links a message to it takes, or `None` if it is unreachable.
    ///
    /// ```
    /// use invigil_decent::system::System;
    ///
    /// let mut system = System::default();
    /// let [a, b, c] = ["a", "b", "c"].map(|name| system.component(name).unwrap());
    /// system.link(a, b);
    /// system.link(b, c);
    /// assert_eq!(system.hops(a), [Some(0), Some(1), Some(2)]);
    /// assert_eq!(system.hops(b), [None, Some(0), Some(1)]);
    /// ```
    pub fn hops(&self, from: ComponentId) -> Vec<Option<u32>> {
        let Some(links) = &self.links else {
            return self.components().map(|to| Some(u32::from(to != from))).collect();
        };
        let mut hops = vec![None; self.components.len()];
        hops[from.index()] = Some(0);
        let mut reached = vec![(from, 0)];
        let mut next = 0;
        while let Some(&(at, count)) = reached.get(next) {
            next += 1;
            for (_, to) in links.range((at, ComponentId(0))..=(at, ComponentId(u16::MAX))) {
                if hops[to.index()].is_none() {
                    hops[to.index()] = Some(count + 1);
                    reached.push((*to, count + 1));
                }
            }
        }
        hops
    }
}
