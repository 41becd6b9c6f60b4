//! Distances between components.

use crate::system::{ComponentId, System};
use std::fmt;

/// A message cannot reach the component that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRouteError {
    from: String,
    to: String,
    relay: bool,
}

impl fmt::Display for NoRouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoRouteError { from, to, relay } = self;
        if *relay {
            write!(f, "{from} sends to {to}, but there is no path of links: add a link")
        } else {
            write!(f, "{from} sends to {to}, but has no link to it: add one, or allow relaying")
        }
    }
}

impl std::error::Error for NoRouteError {}

/// Number of links between any two components. No table is stored if every component has a link to every other.
pub(super) struct Links {
    names: Vec<String>,
    hops: Option<Vec<u32>>,
    relay: bool,
}

impl Links {
    pub(super) fn of(system: &System, relay: bool) -> Links {
        let all: Vec<ComponentId> = system.components().collect();
        let names = all.iter().map(|component| system.component_name(*component).to_owned()).collect();
        let complete = all.iter().all(|from| all.iter().all(|to| system.is_linked(*from, *to)));
        let hops = (!complete).then(|| all.iter().flat_map(|from| distances(system, *from, relay)).collect());
        Links { names, hops, relay }
    }

    /// Returns the largest number of links that a message takes.
    pub(super) fn farthest(&self) -> u32 {
        let finite = self.hops.iter().flatten().filter(|hops| **hops != u32::MAX);
        finite.copied().max().unwrap_or(1).max(1)
    }

    /// Returns the number of links that a message takes. A message within one component takes one.
    pub(super) fn hops(&self, from: ComponentId, to: ComponentId) -> Result<u32, NoRouteError> {
        let Some(hops) = &self.hops else { return Ok(1) };
        match hops.get(from.index() * self.names.len() + to.index()) {
            Some(hops) if *hops != u32::MAX => Ok((*hops).max(1)),
            _ => {
                let name =
                    |component: ComponentId| self.names.get(component.index()).cloned().unwrap_or_default();
                Err(NoRouteError { from: name(from), to: name(to), relay: self.relay })
            }
        }
    }
}

/// Returns the number of links to each component; without relaying, at most one.
fn distances(system: &System, from: ComponentId, relay: bool) -> Vec<u32> {
    let mut far = vec![u32::MAX; system.components().len()];
    far[from.index()] = 0;
    let mut open = vec![from];
    let mut next = 0;
    while let Some(&at) = open.get(next) {
        next += 1;
        if far[at.index()] > 0 && !relay {
            continue;
        }
        for to in system.components() {
            if far[to.index()] == u32::MAX && system.is_linked(at, to) {
                far[to.index()] = far[at.index()] + 1;
                open.push(to);
            }
        }
    }
    far
}
