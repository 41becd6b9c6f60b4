//! Partial-order reduction: of several orders in which independent actions can happen, one is looked at.
//!
//! Where all that a process can do at its location is its own business (nobody else is part of it, no action of
//! another process touches what it touches, and no property can notice it), its actions are taken first and the others
//! wait. Which locations these are is known before the search. Nothing is put off for ever: an action that closes a
//! cycle of locations never is taken in this way. So deadlocks, violations and, for properties that do not count steps,
//! infinite behaviours remain; it works with every search and any number of threads.

use crate::space::{FAULT, Space, Successors};
use invigil_model::{Expression, Model};
use std::collections::BTreeSet;

/// Which locations allow the reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// For each process that has such locations.
    processes: Vec<Option<Places>>,
    /// The process of each action, if it is of one alone.
    owners: Vec<Option<u32>>,
}

/// Where a process says at which location it is, and which locations allow the reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Places {
    word: usize,
    bit: u32,
    mask: u64,
    allows: Vec<bool>,
}

/// Why a model is not reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsound {
    /// Whether an action is enabled depends on what else is.
    Priorities,
    /// Whether an action is enabled depends on where everybody is.
    Committed,
    /// Whether an action is enabled depends on a scheduler or a filter.
    Scheduled,
    /// No location of any process allows it: there would be nothing to gain.
    Nothing,
}

impl Unsound {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Unsound::Priorities => "the model has priorities",
            Unsound::Committed => "the model has committed locations",
            Unsound::Scheduled => "a scheduler or a filter decides what is possible",
            Unsound::Nothing => "every location has something that others can notice",
        }
    }
}

impl Reduction {
    /// The reduction of a model for a search that looks at these expressions; `events` names actions that somebody
    /// watches.
    pub fn of(model: &Model, seen: &[&Expression], events: &[&str]) -> Result<Reduction, Unsound> {
        if model.ranks().len() > 1 {
            return Err(Unsound::Priorities);
        }
        let parts = model.parts();
        if parts
            .processes
            .iter()
            .any(|process| process.locations.iter().any(|location| location.is_committed))
        {
            return Err(Unsound::Committed);
        }
        let ids = 0..parts.actions.len() as u32;
        let footprints: Vec<_> = ids.clone().map(|action| model.footprint(action)).collect();
        let watched: Vec<_> = seen.iter().map(|expression| model.looks_at(expression)).collect();
        let movers = |action: u32| model.action(action).moves.iter().map(|by| by.process);
        let is_private = |action: u32, process: u32| {
            let of = model.action(action);
            let print = &footprints[action as usize];
            of.moves.len() == 1
                && !of.event.as_deref().is_some_and(|event| events.contains(&event))
                && !watched.iter().any(|seen| seen.names(action) || print.is_seen_by(seen))
                && ids.clone().all(|other| {
                    movers(other).any(|mover| mover == process)
                        || !print.interferes(&footprints[other as usize])
                })
        };
        let mut processes = Vec::new();
        for (number, process) in (0..).zip(&parts.processes) {
            let closing = closing(model, number, process.locations.len());
            let from = |location: u32| {
                ids.clone().filter(move |action| {
                    let moves = &model.action(*action).moves;
                    moves.iter().any(|by| by.process == number && by.from == location)
                })
            };
            let allows: Vec<bool> = (0..process.locations.len() as u32)
                .map(|location| {
                    from(location).next().is_some()
                        && from(location)
                            .all(|action| is_private(action, number) && !closing.contains(&action))
                })
                .collect();
            let slot = model.layout().slots[process.location as usize];
            let (word, bit) = slot.at(0);
            let places = Places { word, bit, mask: slot.mask(), allows };
            processes.push(places.allows.contains(&true).then_some(places));
        }
        if processes.iter().all(Option::is_none) {
            return Err(Unsound::Nothing);
        }
        let owners = ids
            .map(|action| match &*model.action(action).moves {
                [only] => Some(only.process),
                _ => None,
            })
            .collect();
        Ok(Reduction { processes, owners })
    }

    /// A process whose actions are enough here, of those that some action of `enabled` is of.
    fn enough(&self, state: &[u64], enabled: &[crate::space::Taken]) -> Option<u32> {
        (0..).zip(&self.processes).find_map(|(process, places)| {
            let places = places.as_ref()?;
            let location = (state[places.word] >> places.bit & places.mask) as usize;
            let is_allowed = *places.allows.get(location)?
                // Where all that it does goes wrong, others may still go on.
                && enabled.iter().any(|taken| {
                    self.owners[taken.action as usize] == Some(process) && taken.flags & FAULT == 0
                });
            is_allowed.then_some(process)
        })
    }
}

/// The actions of a process that lead back to a location on the way from its first: each cycle of locations has one.
fn closing(model: &Model, process: u32, locations: usize) -> BTreeSet<u32> {
    let mut edges: Vec<Vec<(u32, usize)>> = vec![Vec::new(); locations];
    for (action, of) in (0..).zip(&model.parts().actions) {
        for by in of.moves.iter().filter(|by| by.process == process) {
            edges[by.from as usize].push((action, by.to as usize));
        }
    }
    let mut closing = BTreeSet::new();
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
                1 => drop(closing.insert(action)),
                _ => {}
            }
        }
    }
    closing
}

/// A space over a model, reduced.
pub struct Reduced<'a, S> {
    inner: S,
    reduction: &'a Reduction,
}

impl<'a, S: Space> Reduced<'a, S> {
    /// The space with the reduction of its model. The words of the model come first in its configurations.
    pub fn new(inner: S, reduction: &'a Reduction) -> Reduced<'a, S> {
        Reduced { inner, reduction }
    }
}

impl<S: Space> Space for Reduced<'_, S> {
    fn width(&self) -> usize {
        self.inner.width()
    }

    fn initial(&self, out: &mut Successors) {
        self.inner.initial(out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let before = out.len();
        self.inner.successors(state, out);
        let Some(process) = self.reduction.enough(state, &out.taken[before..]) else { return };
        let width = self.inner.width();
        let mut kept = before;
        for at in before..out.len() {
            if self.reduction.owners[out.taken[at].action as usize] == Some(process) {
                out.words.copy_within(at * width..(at + 1) * width, kept * width);
                out.taken[kept] = out.taken[at];
                kept += 1;
            }
        }
        out.words.truncate(kept * width);
        out.taken.truncate(kept);
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }
}
