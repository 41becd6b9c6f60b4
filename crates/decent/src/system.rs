//! The system that is watched: components, what each can observe, and who can talk to whom.

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A component, by its place in the [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ComponentId(pub u16);

/// A proposition that a component observes, by its place in the [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PropositionId(pub u32);

/// A monitor, by its place among those of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MonitorId(pub u32);

/// A round of the system. Observations are made at 1, 2, …; at 0 nothing was seen yet.
pub type Instant = u32;

impl ComponentId {
    /// Its place among all components.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl PropositionId {
    /// Its place among all propositions.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl MonitorId {
    /// Its place among all monitors.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Components with the propositions that each observes. A proposition belongs to one component.
///
/// ```
/// use invigil_decent::system::System;
///
/// let mut system = System::default();
/// let (lamp, switch) = (system.component("lamp")?, system.component("switch")?);
/// let on = system.proposition(lamp, "on")?;
/// assert_eq!((system.owner(on), system.name(on)), (lamp, "on"));
/// assert_eq!(system.proposition(switch, "on").unwrap_err().to_string(), "`on` is observed by both lamp and switch");
/// assert!(system.can_reach(switch, lamp));
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    components: IndexSet<String>,
    propositions: IndexMap<String, ComponentId>,
    /// Who can send to whom, in one hop. None if everybody can send to everybody.
    links: Option<BTreeSet<(ComponentId, ComponentId)>>,
}

/// Something that cannot be added to a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clash {
    /// Two components observe one proposition.
    Shared {
        /// Its name.
        name: String,
        /// Both components.
        components: [String; 2],
    },
    /// There are more components than can be numbered.
    TooMany,
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clash::Shared { name, components: [first, second] } => {
                write!(f, "`{name}` is observed by both {first} and {second}")
            }
            Clash::TooMany => f.write_str("there are more than 65535 components"),
        }
    }
}

impl std::error::Error for Clash {}

impl System {
    /// The component of this name, which is added if there is none.
    ///
    /// # Errors
    /// If there are too many.
    pub fn component(&mut self, name: &str) -> Result<ComponentId, Clash> {
        if let Some(known) = self.find_component(name) {
            return Ok(known);
        }
        let id = u16::try_from(self.components.len()).map_err(|_| Clash::TooMany)?;
        self.components.insert(name.to_owned());
        Ok(ComponentId(id))
    }

    /// The proposition of this name, which is added to the component if there is none.
    ///
    /// # Errors
    /// If another component has it.
    pub fn proposition(&mut self, of: ComponentId, name: &str) -> Result<PropositionId, Clash> {
        match self.find(name) {
            Some(known) if self.owner(known) == of => Ok(known),
            Some(known) => Err(Clash::Shared {
                name: name.to_owned(),
                components: [self.owner(known), of]
                    .map(|component| self.component_name(component).to_owned()),
            }),
            None => {
                let id = u32::try_from(self.propositions.len()).map_err(|_| Clash::TooMany)?;
                self.propositions.insert(name.to_owned(), of);
                Ok(PropositionId(id))
            }
        }
    }

    /// From now on, only components with a link send to each other directly.
    pub fn link(&mut self, from: ComponentId, to: ComponentId) {
        self.links.get_or_insert_default().insert((from, to));
    }

    /// The component of this name, if there is one.
    pub fn find_component(&self, name: &str) -> Option<ComponentId> {
        self.components.get_index_of(name).map(|at| ComponentId(at as u16))
    }

    /// The proposition of this name, if there is one.
    pub fn find(&self, name: &str) -> Option<PropositionId> {
        self.propositions.get_index_of(name).map(|at| PropositionId(at as u32))
    }

    /// The name of a component.
    pub fn component_name(&self, component: ComponentId) -> &str {
        &self.components[component.index()]
    }

    /// The name of a proposition.
    pub fn name(&self, proposition: PropositionId) -> &str {
        self.propositions.get_index(proposition.index()).map_or("", |(name, _)| name)
    }

    /// The component that observes a proposition.
    pub fn owner(&self, proposition: PropositionId) -> ComponentId {
        self.propositions[proposition.index()]
    }

    /// All components.
    pub fn components(&self) -> impl ExactSizeIterator<Item = ComponentId> + use<> {
        (0..self.components.len()).map(|at| ComponentId(at as u16))
    }

    /// All propositions.
    pub fn propositions(&self) -> impl ExactSizeIterator<Item = PropositionId> + use<> {
        (0..self.propositions.len()).map(|at| PropositionId(at as u32))
    }

    /// Whether one component can send to another directly.
    pub fn is_linked(&self, from: ComponentId, to: ComponentId) -> bool {
        from == to || self.links.as_ref().is_none_or(|links| links.contains(&(from, to)))
    }

    /// The links, if not everybody can send to everybody.
    pub fn links(&self) -> Option<impl Iterator<Item = (ComponentId, ComponentId)>> {
        self.links.as_ref().map(|links| links.iter().copied())
    }

    /// Whether what one component sends can get to another, if others pass it on.
    pub fn can_reach(&self, from: ComponentId, to: ComponentId) -> bool {
        self.hops(from)[to.index()].is_some()
    }

    /// For each component: how often a message must be sent to get there. None where it cannot.
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
