//! Properties that compare and add integers, as a table: a few nanoseconds for an event.
//!
//! This is for monitors that step inside a program. The table knows the commonest transitions only; whenever it does not
//! know, or someone is to be told, it leaves everything as it is, and the general way is taken.
//!
//! A property without slices has its values in the table, and is [ahead](Swift) of its slices then. One with slices of
//! one parameter keeps them where they are: the table only [says](Sliced) what to do with the slice of an event.

use crate::automaton::{Automaton, StateId};
use crate::event::SymbolId;
use crate::few;
use crate::inside::{ENTERING, LEAVING};
use crate::quick::{Guard, Place, Quick, QuickExit, Sum};
use crate::slices::Slices;
use crate::verdict::Verdict;
use alloc::vec;
use alloc::vec::Vec;
use invigil_expr::program::Quick as Operand;
use invigil_expr::value::{Tag, Value};

/// Room for values: the environment, constants, one that is written and never read, and the parameters of the event. Every
/// position that a byte can name is there.
const VALUES: usize = 256;
/// Where the parameters begin.
const PARAMS: usize = 240;

/// What one state does on one event. Operands are positions among the values.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Whether there is a test: `a < b`, or `a == b` if it is one of equality.
    has_test: bool,
    is_equality: bool,
    a: u8,
    b: u8,
    /// How many parameters of the event it reads, counted up to the last of them.
    params: u8,
    success: Exit,
}

/// `values[to] = values[a] + values[b]`, and the state that comes then.
#[derive(Clone, Copy, Debug)]
struct Exit {
    target: StateId,
    to: u8,
    a: u8,
    b: u8,
    /// What comes of it; nothing is added unless a transition is taken.
    comes: Stepped,
}

const NOWHERE: Exit = Exit { target: 0, to: 0, a: 0, b: 0, comes: Stepped::Unknown };
const UNKNOWN: Cell = Cell { has_test: false, is_equality: false, a: 0, b: 0, params: 0, success: NOWHERE };

/// What came of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// A transition was taken.
    Taken,
    /// It was waited for, and none was taken.
    Stayed,
    /// The present state does not wait for it.
    Unwanted,
    /// Nothing was done: the general way must be taken.
    Unknown,
}

/// What all states do on all events.
#[derive(Clone, Debug)]
struct Table {
    /// For each event, the cells of all states.
    cells: Vec<Cell>,
    /// For each cell, what comes when its test fails. They lie apart so that which way it goes is foreseen, and not waited for.
    failures: Vec<Exit>,
    states: usize,
    values: [i64; VALUES],
    /// The variables of the environment.
    env: usize,
}

/// A property without slices as a table, and where it stands; see the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swift {
    table: Table,
    state: StateId,
    /// Whether it has gone on from where the slices stand.
    is_ahead: bool,
}

/// A property with slices of one parameter as a table; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Sliced {
    table: Table,
    /// For each event, the position of the slice parameter among its own, if it has it.
    pub(crate) keys: Vec<Option<u16>>,
}

/// Where operands are among the values.
struct Layout {
    env: usize,
    /// Those that come after the environment, zero first.
    constants: Vec<i64>,
}

impl Layout {
    /// The value that is written and never read.
    fn sink(&self) -> usize {
        self.env + self.constants.len()
    }

    fn constant(&self, constant: i64) -> Option<u8> {
        let at = self.constants.iter().position(|known| *known == constant)?;
        u8::try_from(self.env + at).ok()
    }

    fn place(&self, quick: &Quick, place: Place) -> Option<u8> {
        match quick.operand(place)? {
            Operand::Env(at) => u8::try_from(at).ok(),
            Operand::Param(at) => u8::try_from(PARAMS + usize::from(at)).ok(),
            Operand::Int(constant) => self.constant(constant),
        }
    }

    fn exit(&self, quick: &Quick, exit: &QuickExit, is_due: &impl Fn(StateId) -> bool) -> Option<Exit> {
        let (sum, target) = match exit {
            QuickExit::Absent => return Some(Exit { comes: Stepped::Stayed, ..NOWHERE }),
            QuickExit::Usual(sum, target) if !is_due(*target) => (sum, *target),
            QuickExit::Usual(..) | QuickExit::Unusual => return Some(NOWHERE),
        };
        let (to, a, b) = match *sum {
            Some(Sum { slot, a, b }) => {
                (u8::try_from(slot).ok()?, self.place(quick, a)?, self.place(quick, b)?)
            }
            None => (u8::try_from(self.sink()).ok()?, self.constant(0)?, self.constant(0)?),
        };
        Some(Exit { target, to, a, b, comes: Stepped::Taken })
    }

    fn cell(&self, quick: &Quick, is_due: impl Fn(StateId) -> bool) -> Option<(Cell, Exit)> {
        let (test, is_equality, contrary) = match quick.guard {
            Guard::Always => (None, false, false),
            Guard::Less { a, b, contrary } => (Some((a, b)), false, contrary),
            Guard::Equal { a, b, contrary } => (Some((a, b)), true, contrary),
        };
        let (a, b) = match test {
            Some((a, b)) => (self.place(quick, a)?, self.place(quick, b)?),
            None => (0, 0),
        };
        let (success, failure) =
            (self.exit(quick, &quick.success, &is_due)?, self.exit(quick, &quick.failure, &is_due)?);
        let (success, failure) = if contrary { (failure, success) } else { (success, failure) };
        Some((Cell { has_test: test.is_some(), is_equality, a, b, params: 0, success }, failure))
    }
}

impl Default for Table {
    /// One that knows nothing.
    fn default() -> Table {
        Table {
            cells: Vec::new(),
            failures: Vec::new(),
            states: 0,
            values: [0; VALUES],
            // No property has so many variables.
            env: usize::MAX,
        }
    }
}

impl Table {
    /// None if there are too many variables and constants.
    fn new(automaton: &Automaton, concern: &[u8]) -> Option<Table> {
        let quicks = automaton.cells.iter().filter_map(|cell| cell.quick.as_ref());
        let env = automaton.env.len();
        let mut layout = Layout { env, constants: vec![0] };
        for constant in quicks.flat_map(Quick::constants) {
            if layout.constant(constant).is_none() {
                layout.constants.push(constant);
            }
        }
        let mut values = [0; VALUES];
        values.get_mut(env..layout.sink())?.copy_from_slice(&layout.constants);
        if layout.sink() >= PARAMS {
            return None;
        }
        let (states, symbols) = (automaton.states.len(), automaton.plans.len());
        let mut cells = vec![UNKNOWN; states * symbols];
        let mut failures = vec![NOWHERE; states * symbols];
        for state in 0..automaton.states.len() {
            for symbol in 0..symbols {
                let cell = automaton.cell(state as StateId, symbol);
                let at = symbol * states + state;
                if cell.arcs.is_empty() {
                    cells[at].success.comes = Stepped::Unwanted;
                    continue;
                }
                let Some(quick) = cell.quick.as_ref().filter(|quick| cell.first.is_none() && !quick.prints)
                else {
                    continue;
                };
                let params = cell.required.iter().max().map_or(0, |last| last + 1);
                let Ok(params) = u8::try_from(params) else { continue };
                let verdict = |state: StateId| automaton.entries[usize::from(state)].verdict;
                let from = state as StateId;
                let about = |state: StateId| concern.get(usize::from(state)).copied().unwrap_or_default();
                let is_due = |to: StateId| {
                    about(from) & LEAVING != 0
                        || about(to) & ENTERING != 0
                        || to != from
                            && verdict(to) == Verdict::NonAccepting
                            && verdict(from) != Verdict::NonAccepting
                };
                if let Some((cell, failure)) = layout.cell(quick, is_due) {
                    (cells[at], failures[at]) = (Cell { params, ..cell }, failure);
                }
            }
        }
        Some(Table { cells, failures, states, values, env })
    }

    /// What comes of an event with these parameters in a state, if there is a cell for it. `value` tells what operands are.
    #[inline(always)]
    fn exit(&self, at: usize, params: usize, value: impl Fn(u8) -> Option<i64>) -> Option<&Exit> {
        let cell = self.cells.get(at)?;
        if params < usize::from(cell.params) {
            return Some(&NOWHERE);
        }
        // Where a branch leads does not change from event to event in most programs, so that it is foreseen; a choice between
        // two places to read from is waited for.
        let holds = if !cell.has_test {
            true
        } else {
            let (Some(a), Some(b)) = (value(cell.a), value(cell.b)) else { return Some(&NOWHERE) };
            if cell.is_equality { a == b } else { a < b }
        };
        if holds { Some(&cell.success) } else { self.failures.get(at) }
    }
}

impl Swift {
    /// None if the property is not of this kind.
    pub(crate) fn new(automaton: &Automaton, concern: &[u8]) -> Option<Swift> {
        if !automaton.slice_on.is_empty() {
            return None;
        }
        Some(Swift { table: Table::new(automaton, concern)?, state: 0, is_ahead: false })
    }

    /// Goes on from where the slices stand, if all that the property remembers are integers.
    pub(crate) fn load(&mut self, slices: &Slices) {
        let Some(root) = slices.root().filter(|_| slices.len() == 1 && slices.failure().is_none()) else {
            return;
        };
        let env = slices.env(root);
        if env.len() == self.table.env && env.iter().all(|value| value.as_int().is_some()) {
            for (to, value) in self.table.values.iter_mut().zip(env) {
                *to = value.as_int().unwrap_or_default();
            }
            self.state = slices.state(root);
            self.is_ahead = true;
        }
    }

    /// Follows an event whose parameters are integers.
    #[inline(always)]
    pub(crate) fn step(&mut self, symbol: SymbolId, params: &[i64]) -> Stepped {
        if !self.is_ahead {
            return Stepped::Unknown;
        }
        let at = symbol.0 as usize * self.table.states + usize::from(self.state);
        few::copy(&mut self.table.values[PARAMS..], params, |param| param);
        let values = &self.table.values;
        let Some(&exit) = self.table.exit(at, params.len(), |at| Some(values[usize::from(at)])) else {
            return Stepped::Unwanted;
        };
        if exit.comes != Stepped::Taken {
            return exit.comes;
        }
        let values = &mut self.table.values;
        let Some(sum) = values[usize::from(exit.a)].checked_add(values[usize::from(exit.b)]) else {
            return Stepped::Unknown;
        };
        values[usize::from(exit.to)] = sum;
        if self.state != exit.target {
            self.state = exit.target;
        }
        Stepped::Taken
    }

    /// Brings `slices` to where the table stands.
    pub(crate) fn store(&mut self, automaton: &Automaton, slices: &mut Slices) {
        if let Some(root) = slices.root().filter(|_| self.is_ahead) {
            for (variable, value) in self.table.values.iter().take(self.table.env).enumerate() {
                slices.set_env(root, variable, Value::int(*value));
            }
            slices.set_state(automaton, root, self.state);
        }
        self.is_ahead = false;
    }

    /// Whether it knows better than the slices.
    pub(crate) fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// Whether the event does anything in the present state.
    pub(crate) fn wants(&self, symbol: SymbolId) -> bool {
        let at = symbol.0 as usize * self.table.states + usize::from(self.state);
        self.table.cells.get(at).is_some_and(|cell| cell.success.comes != Stepped::Unwanted)
    }
}

impl Sliced {
    /// None if the property is not of this kind.
    pub(crate) fn new(automaton: &Automaton, concern: &[u8]) -> Option<Sliced> {
        if automaton.slice_on.len() != 1 {
            return None;
        }
        let keys = automaton.plans.iter().map(|plan| plan.single).collect();
        Some(Sliced { table: Table::new(automaton, concern)?, keys })
    }

    /// Follows an event whose parameters are integers, in the slice that it is about, if that is there.
    #[inline(always)]
    pub(crate) fn step(
        &self,
        automaton: &Automaton,
        slices: &mut Slices,
        symbol: SymbolId,
        params: &[i64],
    ) -> Stepped {
        let Some(Some(key)) = self.keys.get(symbol.0 as usize) else { return Stepped::Unknown };
        let Some(key) = params.get(usize::from(*key)) else { return Stepped::Unknown };
        if slices.failure.is_some() {
            return Stepped::Unknown;
        }
        let Some(slice) = slices.single(Value::int(*key), "", None) else { return Stepped::Unknown };
        let from = slices.records.head(slice).state;
        match self.follow(symbol, from, params, slices.records.env_mut(slice)) {
            (Stepped::Taken, to) => {
                if from != to {
                    slices.records.set_state(slice, to);
                    slices.pass(automaton, from, to);
                }
                Stepped::Taken
            }
            // Another slice may wait for it.
            (Stepped::Unwanted, _) if slices.wants(symbol) => Stepped::Stayed,
            (other, _) => other,
        }
    }

    /// What comes of an event in a slice that is in a state, and in which state it is then. Its environment is brought up to date.
    #[inline(always)]
    pub(crate) fn follow(
        &self,
        symbol: SymbolId,
        from: StateId,
        params: &[i64],
        env: &mut [Value],
    ) -> (Stepped, StateId) {
        let at = symbol.0 as usize * self.table.states + usize::from(from);
        let value = |at: u8| {
            let at = usize::from(at);
            match env.get(at) {
                Some(variable) => variable.as_int(),
                None if at >= PARAMS => params.get(at - PARAMS).copied(),
                None => Some(self.table.values[at]),
            }
        };
        let Some(&exit) = self.table.exit(at, params.len(), value) else { return (Stepped::Unwanted, from) };
        if exit.comes != Stepped::Taken {
            return (exit.comes, from);
        }
        let sum = value(exit.a).zip(value(exit.b)).and_then(|(a, b)| a.checked_add(b));
        let Some(sum) = sum else { return (Stepped::Unknown, from) };
        match env.get_mut(usize::from(exit.to)) {
            // One that holds an object would have to be released.
            Some(variable) if variable.is(Tag::Object) => return (Stepped::Unknown, from),
            Some(variable) => *variable = Value::int(sum),
            None => {}
        }
        (Stepped::Taken, exit.target)
    }
}
