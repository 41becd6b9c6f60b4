//! Property automata: states, guarded transitions on events, and the blocks that go with them.
//!
//! An [`Automaton`] is what a property file compiles to. It is immutable; what changes while events flow is
//! its [`Slices`](crate::slices::Slices).

use crate::decision::{Decisions, Fork, Next};
use crate::event::SymbolId;
use crate::quick::Quick;
use crate::verdict::Verdict;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use invigil_expr::diag::Span;
use invigil_expr::program::{CodeId, Program};

/// A state, by its position in [`Parts::states`].
pub type StateId = u16;

/// The most parameters a property can slice on.
pub const MAX_SLICE_PARAMS: usize = 8;
/// The most states a property can have.
pub const MAX_STATES: usize = u16::MAX as usize;

/// A set of slice parameters, one bit for each in the order they are declared.
pub type Mask = u8;

/// A state of the property.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Its name.
    pub name: String,
    /// What being in it means.
    pub verdict: Verdict,
    /// Whether a slice that enters it is forgotten.
    pub is_final: bool,
    /// What runs when it is entered.
    pub action: Option<CodeId>,
    /// What it says of a run that ends here.
    pub at_end: AtEnd,
    /// Its name in the file.
    pub span: Span,
}

/// What a state says of a run that ends in it, where its verdict leaves that open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AtEnd {
    /// No more than its verdict does.
    #[default]
    Nothing,
    /// Whether the property holds as things stand; if there were more to come, that could change it.
    Presumably(bool),
    /// Whether the property holds: nothing more is to come.
    Decided(bool),
}

/// A block that decides on a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Guard {
    /// The block.
    pub code: CodeId,
    /// Whether it has no `return`: then it is an update, and counts as true.
    pub is_update: bool,
}

/// What a transition does when its guard said yes (or no).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct End {
    /// Updates the environment, and may return another state.
    pub block: Option<CodeId>,
    /// Runs after the block.
    pub action: Option<CodeId>,
    /// Where to go; `None` stays.
    pub target: Option<StateId>,
    /// The other states that the block may return.
    pub returns: Vec<StateId>,
}

/// A transition of the property.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transition {
    /// The state that it leaves.
    pub from: StateId,
    /// The event that it is for.
    pub symbol: SymbolId,
    /// What decides on it; without one it is taken.
    pub guard: Option<Guard>,
    /// When the guard gives true.
    pub success: Option<End>,
    /// When the guard gives false.
    pub failure: Option<End>,
    /// The event's parameters that its blocks read.
    pub reads: Vec<usize>,
    /// What must be so at the event for it to be taken, in words, where no block of its own says so.
    pub condition: Option<String>,
    /// Where it stands in the file.
    pub span: Span,
}

/// Which end of a transition was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Branch {
    /// The guard gave true.
    Success,
    /// The guard gave false.
    Failure,
}

impl Branch {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Branch::Success => "success",
            Branch::Failure => "failure",
        }
    }
}

/// What a property file says, names resolved: the parts of an [`Automaton`].
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parts {
    /// The property's name.
    pub name: String,
    /// The formula that it was made from, if it was.
    pub formula: Option<String>,
    /// The parameters that it slices on.
    pub slice_on: Vec<String>,
    /// For every symbol that binds slice parameters: for each slice parameter, the event parameter that
    /// gives it.
    pub bindings: Vec<(SymbolId, Vec<Option<usize>>)>,
    /// The variables of the environment.
    pub env: Vec<String>,
    /// Sets them up.
    pub initialization: Option<CodeId>,
    /// The states; at least one, at most [`MAX_STATES`].
    pub states: Vec<State>,
    /// The state to start in.
    pub initial: StateId,
    /// The transitions, in the order they are tried.
    pub transitions: Vec<Transition>,
    /// Where the transitions of a state on an event are not tried one by one: what decides between them.
    pub decisions: Decisions,
    /// The code of all blocks.
    pub program: Program,
}

/// How one kind of event concerns the property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The slice parameters that the event binds.
    pub(crate) mask: Mask,
    /// For each of those, in order, the position among the event's parameters.
    pub(crate) keys: Vec<u16>,
    /// If it binds the one slice parameter that there is: where in the event its value is.
    pub(crate) single: Option<u16>,
    /// For each state, what it does on this event: a position in `Automaton::cells`. The first cell is that
    /// of states that do nothing.
    pub(crate) by_state: Vec<u32>,
    /// The position of `mask` in `Automaton::masks`, if it binds any parameter.
    pub(crate) cover: usize,
    /// Where to look for the slice that a new one is copied from, the most specific first: positions in
    /// `Automaton::masks`.
    pub(crate) parents: Vec<usize>,
}

/// A transition in the form in which it is run: small, and next to those tried after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub(crate) guard: Option<CodeId>,
    pub(crate) is_update: bool,
    pub(crate) success: Option<Exit>,
    pub(crate) failure: Option<Exit>,
    /// Its position in [`Parts::transitions`].
    pub(crate) number: u32,
}

/// An [`End`] in the same form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) block: Option<CodeId>,
    pub(crate) action: Option<CodeId>,
    pub(crate) target: Option<StateId>,
}

impl Arc {
    fn new(number: usize, transition: &Transition) -> Arc {
        Arc {
            guard: transition.guard.map(|guard| guard.code),
            is_update: transition.guard.is_some_and(|guard| guard.is_update),
            success: transition.success.as_ref().map(Exit::new),
            failure: transition.failure.as_ref().map(Exit::new),
            number: number as u32,
        }
    }
}

impl Exit {
    fn new(end: &End) -> Exit {
        Exit { block: end.block, action: end.action, target: end.target }
    }
}

/// What one state does on one event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// Its transitions, in the order they are tried: a range of `Automaton::arcs`.
    pub(crate) arcs: Range<u32>,
    /// Its one transition, if it can be taken in one go.
    pub(crate) quick: Option<Quick>,
    /// What decides between its transitions, if they are not tried in order.
    pub(crate) first: Option<Next>,
    /// The event's parameters that its transitions read: without them it can do nothing.
    pub(crate) required: Vec<u16>,
}

/// What matters about a state while events flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) action: Option<CodeId>,
    pub(crate) verdict: Verdict,
    pub(crate) is_final: bool,
    /// States in which the same events are needed have the same number.
    pub(crate) needs: u16,
}

/// For each state a number: two have the same if they have transitions on the same events. And for each number those events.
fn needs(parts: &Parts) -> (Vec<u16>, Vec<Vec<u32>>) {
    let mut events: Vec<Vec<u32>> = alloc::vec![Vec::new(); parts.states.len()];
    for transition in &parts.transitions {
        events[usize::from(transition.from)].push(transition.symbol.0);
    }
    let (mut numbers, mut sets): (BTreeMap<Vec<u32>, u16>, Vec<Vec<u32>>) = Default::default();
    let of_state = events.into_iter().map(|mut events| {
        events.sort_unstable();
        events.dedup();
        *numbers.entry(events).or_insert_with_key(|events| {
            sets.push(events.clone());
            sets.len() as u16 - 1
        })
    });
    (of_state.collect(), sets)
}

/// A compiled property.
#[derive(Clone, Debug)]
pub struct Automaton {
    parts: Parts,
    pub(crate) plans: Vec<Plan>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) arcs: Vec<Arc>,
    /// Those of [`Parts::decisions`], with arcs in the place of transitions.
    pub(crate) forks: Vec<Fork>,
    pub(crate) entries: Vec<Entry>,
    /// The events that are needed, by [`Entry::needs`].
    pub(crate) needed: Vec<Vec<u32>>,
    /// The distinct sets of slice parameters that events bind, the empty one left out.
    pub(crate) masks: Vec<Mask>,
}

impl core::ops::Deref for Automaton {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Automaton {
    /// Prepares a property for running.
    ///
    /// # Panics
    /// If the parts contradict each other: a state or parameter that does not exist. Front ends check first.
    pub fn new(parts: Parts) -> Automaton {
        assert!(usize::from(parts.initial) < parts.states.len() && parts.states.len() <= MAX_STATES);
        assert!(parts.slice_on.len() <= MAX_SLICE_PARAMS);
        let symbols = parts.transitions.iter().map(|t| t.symbol.0 as usize + 1).max().unwrap_or(0);
        let mut plans: Vec<Plan> = (0..symbols).map(|_| Plan::default()).collect();
        for (symbol, params) in &parts.bindings {
            let Some(plan) = plans.get_mut(symbol.0 as usize) else { continue };
            for (bit, at) in params.iter().enumerate() {
                if let Some(at) = at {
                    plan.mask |= 1 << bit;
                    plan.keys.push(*at as u16);
                }
            }
        }
        let mut masks: Vec<Mask> = plans.iter().map(|plan| plan.mask).filter(|mask| *mask != 0).collect();
        masks.sort_unstable();
        masks.dedup();
        // More parameters first; among as many, those declared earlier.
        masks.sort_by_key(|mask| (core::cmp::Reverse(mask.count_ones()), *mask));
        let mut arcs: Vec<Arc> = Vec::new();
        let (needs, needed) = needs(&parts);
        let entries: Vec<Entry> = parts
            .states
            .iter()
            .zip(needs)
            .map(|(state, needs)| Entry {
                action: state.action,
                verdict: state.verdict,
                is_final: state.is_final,
                needs,
            })
            .collect();
        // The transitions of each event and state, in the order they are written.
        let mut order: Vec<usize> = (0..parts.transitions.len()).collect();
        order.sort_by_key(|at| (parts.transitions[*at].symbol, parts.transitions[*at].from));
        let mut cells = alloc::vec![Cell::default()];
        for group in order.chunk_by(|a, b| {
            let (a, b) = (&parts.transitions[*a], &parts.transitions[*b]);
            (a.symbol, a.from) == (b.symbol, b.from)
        }) {
            let start = arcs.len();
            let Transition { symbol, from, .. } = parts.transitions[group[0]];
            let plan = &mut plans[symbol.0 as usize];
            let mut required: Vec<u16> = Vec::new();
            for at in group {
                let transition = &parts.transitions[*at];
                arcs.push(Arc::new(*at, transition));
                required.extend(transition.reads.iter().map(|at| *at as u16));
            }
            required.sort_unstable();
            required.dedup();
            plan.by_state.resize(parts.states.len(), 0);
            plan.by_state[usize::from(from)] = cells.len() as u32;
            let first = parts.decisions.first(from, symbol);
            let quick = match first {
                None => Quick::new(from, &arcs[start..], &entries, &parts.program),
                Some(_) => None,
            };
            cells.push(Cell { arcs: start as u32..arcs.len() as u32, quick, first, required });
        }
        // A decision ends at an arc, wherever that has come to lie.
        let mut lies = alloc::vec![0; parts.transitions.len()];
        for (at, arc) in (0..).zip(&arcs) {
            lies[arc.number as usize] = at;
        }
        let next = |next: Next| match next {
            Next::Take(number) => Next::Take(lies[number as usize]),
            other => other,
        };
        let forks = parts.decisions.forks.iter();
        let forks = forks.map(|fork| Fork { test: fork.test, yes: next(fork.yes), no: next(fork.no) });
        let forks: Vec<Fork> = forks.collect();
        cells.iter_mut().for_each(|cell| cell.first = cell.first.map(next));
        for plan in &mut plans {
            if let ([at], 1) = (&plan.keys[..], parts.slice_on.len()) {
                plan.single = Some(*at);
            }
            plan.cover = masks.iter().position(|mask| *mask == plan.mask).unwrap_or(0);
            plan.parents = masks
                .iter()
                .enumerate()
                .filter(|(_, mask)| **mask != plan.mask && **mask & !plan.mask == 0)
                .map(|(at, _)| at)
                .collect();
        }
        Automaton { entries, needed, parts, plans, cells, arcs, forks, masks }
    }

    /// The events that concern the property at all.
    pub fn symbols(&self) -> impl Iterator<Item = SymbolId> {
        self.plans
            .iter()
            .enumerate()
            .filter(|(_, plan)| !plan.by_state.is_empty())
            .map(|(at, _)| SymbolId(at as u32))
    }

    /// What `state` does on `symbol`.
    #[inline(always)]
    pub(crate) fn cell(&self, state: StateId, symbol: usize) -> &Cell {
        let at = self.plans[symbol].by_state.get(usize::from(state)).copied().unwrap_or(0);
        &self.cells[at as usize]
    }

    /// The slice parameters that an event binds, with the position of each among the event's parameters.
    pub fn binding(&self, symbol: SymbolId) -> impl Iterator<Item = (usize, usize)> {
        let plan = self.plans.get(symbol.0 as usize);
        let mask = plan.map_or(0, |plan| plan.mask);
        let keys = plan.map_or(&[][..], |plan| &plan.keys);
        (0..MAX_SLICE_PARAMS)
            .filter(move |bit| mask & 1 << bit != 0)
            .zip(keys.iter().map(|at| usize::from(*at)))
    }

    /// The state of this name.
    pub fn state_named(&self, name: &str) -> Option<StateId> {
        self.states.iter().position(|state| state.name == name).map(|at| at as StateId)
    }

    /// The words for `state`: its name.
    pub fn state_name(&self, state: StateId) -> &str {
        self.states.get(usize::from(state)).map_or("?", |state| &state.name)
    }
}
