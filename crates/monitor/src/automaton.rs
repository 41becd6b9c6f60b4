//! Property automata: states, guarded transitions on events, and the blocks that they run.
//!
//! An [`Automaton`] is the compiled form of a property file. It is immutable; the state of a run is a
//! [`SliceTable`](crate::slices::SliceTable).

use crate::decision::{DecisionDiagram, DecisionEdge, DecisionNode};
use crate::event::EventId;
use crate::fast_path::FastTransition;
use crate::verdict::Verdict;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use invigil_expr::diag::Span;
use invigil_expr::program::{CodeId, Program};

/// Index of a state in [`AutomatonDef::states`].
pub type StateId = u16;

/// Maximum number of slice parameters of a property.
pub const MAX_SLICE_PARAMS: usize = 8;
/// Maximum number of states of a property.
pub const MAX_STATES: usize = u16::MAX as usize;

/// A set of slice parameters: one bit per parameter, in the order of declaration.
pub type ParamMask = u8;

/// A state of the property.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The name.
    pub name: String,
    /// The verdict while a slice is in it.
    pub verdict: Verdict,
    /// Whether a slice that enters it is dropped.
    pub is_final: bool,
    /// The action that runs on entry.
    pub action: Option<CodeId>,
    /// The verdict on a run that ends here.
    pub at_end: EndVerdict,
    /// The position of its name in the file.
    pub span: Span,
}

/// Verdict of a state on a run that ends in it, in addition to [`State::verdict`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EndVerdict {
    /// Nothing beyond the verdict.
    #[default]
    Nothing,
    /// Whether the property holds if the run ends here. Further events could change the answer.
    Presumably(bool),
    /// Whether the property holds: the run is complete.
    Decided(bool),
}

/// A block that is the condition of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Guard {
    /// The block.
    pub code: CodeId,
    /// Whether it has no `return`. It is then an update, and counts as true.
    pub is_update: bool,
}

/// Effect of a transition for one outcome of its guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BranchEffect {
    /// Updates the environment, and may return the target state.
    pub block: Option<CodeId>,
    /// The action that runs after the block.
    pub action: Option<CodeId>,
    /// The target state; `None` keeps the current one.
    pub target: Option<StateId>,
    /// Other states that the block may return.
    pub returned_states: Vec<StateId>,
}

/// A transition of the property.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transition {
    /// The source state.
    pub from: StateId,
    /// The event.
    pub event: EventId,
    /// The guard; without one the transition is taken unconditionally.
    pub guard: Option<Guard>,
    /// The effect if the guard is true.
    pub success: Option<BranchEffect>,
    /// The effect if the guard is false.
    pub failure: Option<BranchEffect>,
    /// The parameters of the event that its blocks read.
    pub reads: Vec<usize>,
    /// The condition as text for reports, if it is not written in a block of the transition.
    pub condition: Option<String>,
    /// The position in the file.
    pub span: Span,
}

/// Outcome of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Branch {
    /// The guard is true.
    Success,
    /// The guard is false.
    Failure,
}

impl Branch {
    /// The keyword in property files.
    pub fn word(self) -> &'static str {
        match self {
            Branch::Success => "success",
            Branch::Failure => "failure",
        }
    }
}

/// Definition of an [`Automaton`]: the contents of a property file with names resolved.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutomatonDef {
    /// The property's name.
    pub name: String,
    /// The formula that it was generated from, if any.
    pub formula: Option<String>,
    /// The slice parameters.
    pub slice_on: Vec<String>,
    /// For each event that binds slice parameters: per slice parameter, the index of the event parameter with
    /// its value.
    pub bindings: Vec<(EventId, Vec<Option<usize>>)>,
    /// The variables of the environment.
    pub env: Vec<String>,
    /// Initializes the environment.
    pub initialization: Option<CodeId>,
    /// The states: at least one, at most [`MAX_STATES`].
    pub states: Vec<State>,
    /// The initial state.
    pub initial: StateId,
    /// The transitions, in the order in which they are tried.
    pub transitions: Vec<Transition>,
    /// Decision diagrams, for states that decide between their transitions instead of trying them in order.
    pub decisions: DecisionDiagram,
    /// The code of all blocks.
    pub program: Program,
}

/// What an event means for the property.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventDispatch {
    /// The slice parameters that the event binds.
    pub(crate) mask: ParamMask,
    /// For each bound slice parameter, in order, the index of the event parameter.
    pub(crate) keys: Vec<u16>,
    /// The index of the event parameter with the slice parameter, if the property has exactly one and the event
    /// binds it.
    pub(crate) single: Option<u16>,
    /// For each state, the index of its cell in `Automaton::cells`. Cell 0 is that of states without a
    /// transition on the event.
    pub(crate) by_state: Vec<u32>,
    /// The index of `mask` in `Automaton::masks`; unused if the event binds no slice parameter.
    pub(crate) mask_index: usize,
    /// The masks, as indexes into `Automaton::masks`, to search for the parent of a new slice; most specific
    /// first.
    pub(crate) parents: Vec<usize>,
}

/// A transition in compact form, stored next to those that are tried after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompiledTransition {
    pub(crate) guard: Option<CodeId>,
    pub(crate) is_update: bool,
    pub(crate) success: Option<CompiledEffect>,
    pub(crate) failure: Option<CompiledEffect>,
    /// Its position in [`AutomatonDef::transitions`].
    pub(crate) number: u32,
}

/// A [`BranchEffect`] in compact form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompiledEffect {
    pub(crate) block: Option<CodeId>,
    pub(crate) action: Option<CodeId>,
    pub(crate) target: Option<StateId>,
}

impl CompiledTransition {
    fn new(number: usize, transition: &Transition) -> CompiledTransition {
        CompiledTransition {
            guard: transition.guard.map(|guard| guard.code),
            is_update: transition.guard.is_some_and(|guard| guard.is_update),
            success: transition.success.as_ref().map(CompiledEffect::new),
            failure: transition.failure.as_ref().map(CompiledEffect::new),
            number: number as u32,
        }
    }
}

impl CompiledEffect {
    fn new(effect: &BranchEffect) -> CompiledEffect {
        CompiledEffect { block: effect.block, action: effect.action, target: effect.target }
    }
}

/// The transitions of one state on one event.
#[derive(Clone, Debug, Default)]
pub(crate) struct DispatchCell {
    /// Its transitions, in the order in which they are tried: a range of `Automaton::compiled`.
    pub(crate) compiled: Range<u32>,
    /// The fast path, if it has a single simple transition.
    pub(crate) fast: Option<FastTransition>,
    /// The decision that selects the transition, if they are not tried in order.
    pub(crate) decision: Option<DecisionEdge>,
    /// The event parameters that its transitions read. If one is missing, the event is skipped.
    pub(crate) required: Vec<u16>,
}

/// The data about a state that each step needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateInfo {
    pub(crate) action: Option<CodeId>,
    pub(crate) verdict: Verdict,
    pub(crate) is_final: bool,
    /// Index into `Automaton::needed_sets`. States with transitions on the same events share an index.
    pub(crate) needed_set: u16,
}

/// Computes the distinct sets of events on which states have transitions, and for each state the index of its
/// set.
fn needed_sets(def: &AutomatonDef) -> (Vec<u16>, Vec<Vec<u32>>) {
    let mut events: Vec<Vec<u32>> = alloc::vec![Vec::new(); def.states.len()];
    for transition in &def.transitions {
        events[usize::from(transition.from)].push(transition.event.0);
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
    def: AutomatonDef,
    pub(crate) dispatch_table: Vec<EventDispatch>,
    pub(crate) cells: Vec<DispatchCell>,
    pub(crate) compiled: Vec<CompiledTransition>,
    /// The nodes of [`AutomatonDef::decisions`]; leaves refer to `compiled` instead of the transitions of the
    /// definition.
    pub(crate) nodes: Vec<DecisionNode>,
    pub(crate) state_info: Vec<StateInfo>,
    /// The events that are needed in a state, by [`StateInfo::needed_set`].
    pub(crate) needed_sets: Vec<Vec<u32>>,
    /// The distinct non-empty sets of slice parameters that events bind.
    pub(crate) masks: Vec<ParamMask>,
}

impl core::ops::Deref for Automaton {
    type Target = AutomatonDef;

    fn deref(&self) -> &AutomatonDef {
        &self.def
    }
}

impl Automaton {
    /// Whether a slice that moves from one state to another violates the property: it enters a non-accepting state from
    /// a state of another kind.
    ///
    /// ```
    /// use invigil_monitor::automaton::{Automaton, AutomatonDef, State};
    /// use invigil_monitor::verdict::Verdict;
    ///
    /// let state = |name: &str, verdict| State {
    ///     name: name.into(), verdict, is_final: false, action: None, at_end: Default::default(),
    ///     span: Default::default(),
    /// };
    /// let (fine, bad) = (Verdict::Accepting, Verdict::NonAccepting);
    /// let states = vec![state("open", fine), state("twice", bad), state("lost", bad)];
    /// let automaton = Automaton::new(AutomatonDef { states, ..AutomatonDef::default() });
    /// assert!(automaton.is_violation(0, 1));
    /// assert!(!automaton.is_violation(1, 2) && !automaton.is_violation(1, 0));
    /// ```
    #[inline(always)]
    pub fn is_violation(&self, from: StateId, to: StateId) -> bool {
        let verdict = |state: StateId| self.state_info[usize::from(state)].verdict;
        verdict(to) == Verdict::NonAccepting && verdict(from) != Verdict::NonAccepting
    }

    /// Compiles a definition.
    ///
    /// # Panics
    /// If the definition is inconsistent: a state or parameter does not exist. Front ends check this first.
    pub fn new(def: AutomatonDef) -> Automaton {
        assert!(usize::from(def.initial) < def.states.len() && def.states.len() <= MAX_STATES);
        assert!(def.slice_on.len() <= MAX_SLICE_PARAMS);
        let event_count = def.transitions.iter().map(|t| t.event.0 as usize + 1).max().unwrap_or(0);
        let mut dispatch_table: Vec<EventDispatch> =
            (0..event_count).map(|_| EventDispatch::default()).collect();
        for (event_id, params) in &def.bindings {
            let Some(dispatch) = dispatch_table.get_mut(event_id.0 as usize) else { continue };
            for (bit, at) in params.iter().enumerate() {
                if let Some(at) = at {
                    dispatch.mask |= 1 << bit;
                    dispatch.keys.push(*at as u16);
                }
            }
        }
        let mut masks: Vec<ParamMask> =
            dispatch_table.iter().map(|dispatch| dispatch.mask).filter(|mask| *mask != 0).collect();
        masks.sort_unstable();
        masks.dedup();
        // Larger masks first; of equal size, those with parameters declared earlier.
        masks.sort_by_key(|mask| (core::cmp::Reverse(mask.count_ones()), *mask));
        let mut compiled: Vec<CompiledTransition> = Vec::new();
        let (needed_set, needed_sets) = needed_sets(&def);
        let state_info: Vec<StateInfo> = def
            .states
            .iter()
            .zip(needed_set)
            .map(|(state, needed_set)| StateInfo {
                action: state.action,
                verdict: state.verdict,
                is_final: state.is_final,
                needed_set,
            })
            .collect();
        // Group the transitions by event and state; the order of definition is kept in each group.
        let mut order: Vec<usize> = (0..def.transitions.len()).collect();
        order.sort_by_key(|at| (def.transitions[*at].event, def.transitions[*at].from));
        let mut cells = alloc::vec![DispatchCell::default()];
        for group in order.chunk_by(|a, b| {
            let (a, b) = (&def.transitions[*a], &def.transitions[*b]);
            (a.event, a.from) == (b.event, b.from)
        }) {
            let start = compiled.len();
            let Transition { event: event_id, from, .. } = def.transitions[group[0]];
            let dispatch = &mut dispatch_table[event_id.0 as usize];
            let mut required: Vec<u16> = Vec::new();
            for at in group {
                let transition = &def.transitions[*at];
                compiled.push(CompiledTransition::new(*at, transition));
                required.extend(transition.reads.iter().map(|at| *at as u16));
            }
            required.sort_unstable();
            required.dedup();
            dispatch.by_state.resize(def.states.len(), 0);
            dispatch.by_state[usize::from(from)] = cells.len() as u32;
            let decision = def.decisions.root(from, event_id);
            let fast = match decision {
                None => FastTransition::new(from, &compiled[start..], &state_info, &def.program),
                Some(_) => None,
            };
            cells.push(DispatchCell {
                compiled: start as u32..compiled.len() as u32,
                fast,
                decision,
                required,
            });
        }
        // Leaves of decisions refer to transitions: map them to the order of `compiled`.
        let mut offsets = alloc::vec![0; def.transitions.len()];
        for (at, transition) in (0..).zip(&compiled) {
            offsets[transition.number as usize] = at;
        }
        let mapped = |edge: DecisionEdge| match edge {
            DecisionEdge::Take(number) => DecisionEdge::Take(offsets[number as usize]),
            other => other,
        };
        let nodes = def.decisions.nodes.iter();
        let nodes =
            nodes.map(|node| DecisionNode { test: node.test, yes: mapped(node.yes), no: mapped(node.no) });
        let nodes: Vec<DecisionNode> = nodes.collect();
        cells.iter_mut().for_each(|cell| cell.decision = cell.decision.map(mapped));
        for dispatch in &mut dispatch_table {
            if let ([at], 1) = (&dispatch.keys[..], def.slice_on.len()) {
                dispatch.single = Some(*at);
            }
            dispatch.mask_index = masks.iter().position(|mask| *mask == dispatch.mask).unwrap_or(0);
            dispatch.parents = masks
                .iter()
                .enumerate()
                .filter(|(_, mask)| **mask != dispatch.mask && **mask & !dispatch.mask == 0)
                .map(|(at, _)| at)
                .collect();
        }
        Automaton { state_info, needed_sets, def, dispatch_table, cells, compiled, nodes, masks }
    }

    /// The events on which the property has transitions.
    pub fn events(&self) -> impl Iterator<Item = EventId> {
        self.dispatch_table
            .iter()
            .enumerate()
            .filter(|(_, dispatch)| !dispatch.by_state.is_empty())
            .map(|(at, _)| EventId(at as u32))
    }

    /// The cell of a state on an event.
    #[inline(always)]
    pub(crate) fn cell(&self, state: StateId, event_id: usize) -> &DispatchCell {
        let at = self.dispatch_table[event_id].by_state.get(usize::from(state)).copied().unwrap_or(0);
        &self.cells[at as usize]
    }

    /// The slice parameters that an event binds, with the index of the event parameter of each.
    pub fn binding(&self, event_id: EventId) -> impl Iterator<Item = (usize, usize)> {
        let dispatch = self.dispatch_table.get(event_id.0 as usize);
        let mask = dispatch.map_or(0, |dispatch| dispatch.mask);
        let keys = dispatch.map_or(&[][..], |dispatch| &dispatch.keys);
        (0..MAX_SLICE_PARAMS)
            .filter(move |bit| mask & 1 << bit != 0)
            .zip(keys.iter().map(|at| usize::from(*at)))
    }

    /// The state with this name.
    pub fn state_named(&self, name: &str) -> Option<StateId> {
        self.states.iter().position(|state| state.name == name).map(|at| at as StateId)
    }

    /// The name of a state.
    pub fn state_name(&self, state: StateId) -> &str {
        self.states.get(usize::from(state)).map_or("?", |state| &state.name)
    }
}
