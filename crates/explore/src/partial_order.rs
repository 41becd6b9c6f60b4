//! Partial-order reduction: explores one of several equivalent orders of independent actions.
//!
//! A location of a process is *safe* if all its actions are local: no other process takes part in them, no action of
//! another process accesses the same data, and no property observes them. At a safe location, only the actions of this
//! process are explored (an ample set), and the others are postponed. Safe locations are computed before the search. No
//! action is postponed forever, because an action that closes a cycle of locations makes its location unsafe.
//! Deadlocks, violations and, for stutter-invariant properties, infinite behaviours are preserved. The reduction works
//! with every search and any number of threads.

use crate::state_space::{FAULT, StateSpace, Successors};
use invigil_model::{Expression, Model};
use std::collections::BTreeSet;

/// The safe locations of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialOrderReduction {
    /// For each process that has safe locations.
    processes: Vec<Option<LocationTable>>,
    /// The process of each action that belongs to one process only.
    owners: Vec<Option<u32>>,
}

/// Where the location of a process is stored, and which of its locations are safe.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LocationTable {
    word: usize,
    bit: u32,
    mask: u64,
    is_safe: Vec<bool>,
}

/// Why a model cannot be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotReducible {
    /// Priorities make an action depend on which other actions are enabled.
    Priorities,
    /// Committed locations make an action depend on the locations of other processes.
    Committed,
    /// A scheduler or a filter makes an action depend on other actions.
    Scheduled,
    /// No location of any process is safe.
    NoSafeLocation,
}

impl NotReducible {
    /// The reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            NotReducible::Priorities => "the model has priorities",
            NotReducible::Committed => "the model has committed locations",
            NotReducible::Scheduled => "a scheduler or a filter restricts the actions",
            NotReducible::NoSafeLocation => "no location has only local actions",
        }
    }
}

impl PartialOrderReduction {
    /// Computes the reduction for a search that evaluates the expressions `observed`. Actions with one of `events` are
    /// observed as well.
    pub fn of(
        model: &Model,
        observed: &[&Expression],
        events: &[&str],
    ) -> Result<PartialOrderReduction, NotReducible> {
        if model.ranks().len() > 1 {
            return Err(NotReducible::Priorities);
        }
        let parts = model.parts();
        if parts
            .processes
            .iter()
            .any(|process| process.locations.iter().any(|location| location.is_committed))
        {
            return Err(NotReducible::Committed);
        }
        let ids = 0..parts.actions.len() as u32;
        let footprints: Vec<_> = ids.clone().map(|action| model.footprint(action)).collect();
        let observed: Vec<_> = observed.iter().map(|expression| model.footprint_of(expression)).collect();
        let movers = |action: u32| model.action(action).moves.iter().map(|by| by.process);
        let is_private = |action: u32, process: u32| {
            let of = model.action(action);
            let footprint = &footprints[action as usize];
            of.moves.len() == 1
                && !of.event.as_deref().is_some_and(|event| events.contains(&event))
                && !observed
                    .iter()
                    .any(|observer| observer.refers_to(action) || footprint.is_seen_by(observer))
                && ids.clone().all(|other| {
                    movers(other).any(|mover| mover == process)
                        || !footprint.interferes(&footprints[other as usize])
                })
        };
        let mut processes = Vec::new();
        for (number, process) in (0..).zip(&parts.processes) {
            let closing_actions = closing_actions(model, number, process.locations.len());
            let from = |location: u32| {
                ids.clone().filter(move |action| {
                    let moves = &model.action(*action).moves;
                    moves.iter().any(|by| by.process == number && by.from == location)
                })
            };
            let is_safe: Vec<bool> = (0..process.locations.len() as u32)
                .map(|location| {
                    from(location).next().is_some()
                        && from(location)
                            .all(|action| is_private(action, number) && !closing_actions.contains(&action))
                })
                .collect();
            let slot = model.layout().slots[process.location as usize];
            let (word, bit) = slot.at(0);
            let table = LocationTable { word, bit, mask: slot.mask(), is_safe };
            processes.push(table.is_safe.contains(&true).then_some(table));
        }
        if processes.iter().all(Option::is_none) {
            return Err(NotReducible::NoSafeLocation);
        }
        let owners = ids
            .map(|action| match &*model.action(action).moves {
                [only] => Some(only.process),
                _ => None,
            })
            .collect();
        Ok(PartialOrderReduction { processes, owners })
    }

    /// A process that is at a safe location and whose enabled actions form an ample set.
    fn ample_process(&self, state: &[u64], enabled: &[crate::state_space::TransitionInfo]) -> Option<u32> {
        (0..).zip(&self.processes).find_map(|(process, table)| {
            let table = table.as_ref()?;
            let location = (state[table.word] >> table.bit & table.mask) as usize;
            let is_ample = *table.is_safe.get(location)?
                // If all its actions raise faults, other processes may still continue.
                && enabled.iter().any(|transition| {
                    self.owners[transition.action as usize] == Some(process) && transition.flags & FAULT == 0
                });
            is_ample.then_some(process)
        })
    }
}

/// The actions of a process that close a cycle of locations: the back edges of a depth-first search.
fn closing_actions(model: &Model, process: u32, locations: usize) -> BTreeSet<u32> {
    let mut edges: Vec<Vec<(u32, usize)>> = vec![Vec::new(); locations];
    for (action, of) in (0..).zip(&model.parts().actions) {
        for by in of.moves.iter().filter(|by| by.process == process) {
            edges[by.from as usize].push((action, by.to as usize));
        }
    }
    let mut closing_actions = BTreeSet::new();
    let mut state = vec![0_u8; locations];
    for root in 0..locations {
        let mut stack = vec![(root, 0)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 {
                if state[at] != 0 {
                    continue;
                }
                state[at] = 1;
            }
            let Some((action, to)) = edges[at].get(next).copied() else {
                state[at] = 2;
                continue;
            };
            stack.push((at, next + 1));
            match state[to] {
                0 => stack.push((to, 0)),
                1 => drop(closing_actions.insert(action)),
                _ => {}
            }
        }
    }
    closing_actions
}

/// A space over a model with partial-order reduction.
pub struct Reduced<'a, S> {
    inner: S,
    reduction: &'a PartialOrderReduction,
}

impl<'a, S: StateSpace> Reduced<'a, S> {
    /// Reduces a space. The words of the model must come first in its configurations.
    pub fn new(inner: S, reduction: &'a PartialOrderReduction) -> Reduced<'a, S> {
        Reduced { inner, reduction }
    }
}

impl<S: StateSpace> StateSpace for Reduced<'_, S> {
    fn width(&self) -> usize {
        self.inner.width()
    }

    fn initial(&self, out: &mut Successors) {
        self.inner.initial(out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let before = out.len();
        self.inner.successors(state, out);
        let Some(process) = self.reduction.ample_process(state, &out.transitions[before..]) else { return };
        let width = self.inner.width();
        let mut kept = before;
        for at in before..out.len() {
            if self.reduction.owners[out.transitions[at].action as usize] == Some(process) {
                out.words.copy_within(at * width..(at + 1) * width, kept * width);
                out.transitions[kept] = out.transitions[at];
                kept += 1;
            }
        }
        out.words.truncate(kept * width);
        out.transitions.truncate(kept);
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }
}
