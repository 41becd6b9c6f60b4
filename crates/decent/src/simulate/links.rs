//! How far it is from one component to another.

use crate::system::{ComponentId, System};
use std::fmt;

/// A message for a component to which there is no way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlinked {
    from: String,
    to: String,
    relay: bool,
}

impl fmt::Display for Unlinked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unlinked { from, to, relay } = self;
        if *relay {
            write!(f, "{from} sends to {to}, but no chain of links leads there: add a link")
        } else {
            write!(f, "{from} sends to {to}, but has no link to it: add one, or let others pass it on")
        }
    }
}

impl std::error::Error for Unlinked {}

/// The number of links between any two components. Nothing is kept where everybody has a link to everybody.
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

    /// The largest number of links that a message takes.
    pub(super) fn farthest(&self) -> u32 {
        let known = self.hops.iter().flatten().filter(|hops| **hops != u32::MAX);
        known.copied().max().unwrap_or(1).max(1)
    }

    /// How many links it takes. A message that stays where it is takes one.
    pub(super) fn hops(&self, from: ComponentId, to: ComponentId) -> Result<u32, Unlinked> {
        let Some(hops) = &self.hops else { return Ok(1) };
        match hops.get(from.index() * self.names.len() + to.index()) {
            Some(hops) if *hops != u32::MAX => Ok((*hops).max(1)),
            _ => {
                let name =
                    |component: ComponentId| self.names.get(component.index()).cloned().unwrap_or_default();
                Err(Unlinked { from: name(from), to: name(to), relay: self.relay })
            }
        }
    }
}

/// How many links it is to each component; without others that pass things on, at most one.
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
