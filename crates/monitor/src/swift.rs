//! Properties without slices that compare and add integers, as a table: a few nanoseconds for an event.
//!
//! This is for monitors that step inside a program. The table knows the commonest transitions only; whenever it does not
//! know, or someone is to be told, it leaves everything as it is, and the general way is taken.

use crate::automaton::{Automaton, StateId};
use crate::event::SymbolId;
use crate::inside::{ENTERING, LEAVING};
use crate::quick::{Guard, Place, Quick, QuickExit, Sum};
use crate::slices::Slices;
use crate::verdict::Verdict;
use alloc::vec;
use alloc::vec::Vec;
use invigil_expr::program::Quick as Operand;
use invigil_expr::value::Value;

/// What one state does on one event. Operands are positions among the values.
#[derive(Clone, Copy, Debug)]
struct Cell {
    a: u16,
    b: u16,
    /// How many parameters of the event it reads, counted up to the last of them.
    params: u16,
    test: Test,
    success: Exit,
    failure: Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Always,
    Less,
    Equal,
}

/// `values[to] = values[a] + values[b]`, and the state that comes then.
#[derive(Clone, Copy, Debug)]
struct Exit {
    to: u16,
    a: u16,
    b: u16,
    target: StateId,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// No transition is taken.
    Stay,
    /// It is taken, and nobody need know.
    Take,
    /// The general way must be taken.
    General,
}

const NOWHERE: Exit = Exit { to: 0, a: 0, b: 0, target: 0, way: Way::General };
const UNKNOWN: Cell = Cell { a: 0, b: 0, params: 0, test: Test::Always, success: NOWHERE, failure: NOWHERE };
const IDLE: Exit = Exit { way: Way::Stay, ..NOWHERE };

/// What came of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// The present state does not wait for it.
    Unwanted,
    /// It was followed.
    Done,
    /// Nothing was done: the general way must be taken.
    Unknown,
}

/// A property as a table, and where it stands; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Swift {
    cells: Vec<Cell>,
    symbols: usize,
    state: StateId,
    /// The environment, constants, and one that is written and never read. The parameters of an event come after them.
    values: Vec<i64>,
    /// The variables of the environment.
    env: usize,
    /// Where the parameters begin.
    params: usize,
    /// The transitions that were taken.
    steps: u64,
    /// Whether it has gone on from where the slices stand.
    is_ahead: bool,
}

/// Where operands are among the values.
struct Layout {
    env: usize,
    /// Those that come after the environment, zero first.
    constants: Vec<i64>,
}

impl Layout {
    /// The value that is written and never read. The parameters come after it.
    fn sink(&self) -> usize {
        self.env + self.constants.len()
    }

    fn constant(&self, constant: i64) -> Option<u16> {
        let at = self.constants.iter().position(|known| *known == constant)?;
        u16::try_from(self.env + at).ok()
    }

    fn place(&self, quick: &Quick, place: Place) -> Option<u16> {
        match quick.operand(place)? {
            Operand::Env(at) => Some(at),
            Operand::Param(at) => u16::try_from(self.sink() + 1 + usize::from(at)).ok(),
            Operand::Int(constant) => self.constant(constant),
        }
    }

    fn exit(&self, quick: &Quick, exit: &QuickExit, is_due: &impl Fn(StateId) -> bool) -> Option<Exit> {
        let (sum, target) = match exit {
            QuickExit::Absent => return Some(IDLE),
            QuickExit::Usual(sum, target) if !is_due(*target) => (sum, *target),
            QuickExit::Usual(..) | QuickExit::Unusual => return Some(NOWHERE),
        };
        let (to, a, b) = match *sum {
            Some(Sum { slot, a, b }) => (slot, self.place(quick, a)?, self.place(quick, b)?),
            None => (u16::try_from(self.sink()).ok()?, self.constant(0)?, self.constant(0)?),
        };
        Some(Exit { to, a, b, target, way: Way::Take })
    }

    fn cell(&self, quick: &Quick, is_due: impl Fn(StateId) -> bool) -> Option<Cell> {
        let (test, operands, contrary) = match quick.guard {
            Guard::Always => (Test::Always, None, false),
            Guard::Less { a, b, contrary } => (Test::Less, Some((a, b)), contrary),
            Guard::Equal { a, b, contrary } => (Test::Equal, Some((a, b)), contrary),
        };
        let (a, b) = match operands {
            Some((a, b)) => (self.place(quick, a)?, self.place(quick, b)?),
            None => (0, 0),
        };
        let (success, failure) =
            (self.exit(quick, &quick.success, &is_due)?, self.exit(quick, &quick.failure, &is_due)?);
        let (success, failure) = if contrary { (failure, success) } else { (success, failure) };
        Some(Cell { a, b, params: 0, test, success, failure })
    }
}

impl Swift {
    /// None if the property is not of this kind.
    pub(crate) fn new(automaton: &Automaton, concern: &[u8]) -> Option<Swift> {
        if !automaton.slice_on.is_empty() {
            return None;
        }
        let mut values = vec![0; automaton.env.len()];
        let quicks = automaton.cells.iter().filter_map(|cell| cell.quick.as_ref());
        let mut layout = Layout { env: values.len(), constants: vec![0] };
        for constant in quicks.flat_map(Quick::constants) {
            if layout.constant(constant).is_none() {
                layout.constants.push(constant);
            }
        }
        values.extend(&layout.constants);
        values.push(0);
        let symbols = automaton.plans.len();
        let mut cells = vec![UNKNOWN; automaton.states.len() * symbols];
        for state in 0..automaton.states.len() {
            for symbol in 0..symbols {
                let cell = automaton.cell(state as StateId, symbol);
                let into = &mut cells[state * symbols + symbol];
                if cell.arcs.is_empty() {
                    *into = Cell { success: IDLE, failure: IDLE, ..UNKNOWN };
                    continue;
                }
                let Some(quick) = cell.quick.as_ref().filter(|quick| cell.first.is_none() && !quick.prints)
                else {
                    continue;
                };
                let params = cell.required.iter().max().map_or(0, |last| last + 1);
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
                *into = layout.cell(quick, is_due).map_or(UNKNOWN, |cell| Cell { params, ..cell });
            }
        }
        let params = values.len();
        Some(Swift { cells, symbols, state: 0, values, env: layout.env, params, steps: 0, is_ahead: false })
    }

    /// Goes on from where the slices stand, if all that the property remembers are integers.
    pub(crate) fn load(&mut self, slices: &Slices) {
        let Some(root) = slices.root().filter(|_| slices.len() == 1 && slices.failure().is_none()) else {
            return;
        };
        let env = slices.env(root);
        if env.len() == self.env && env.iter().all(|value| value.as_int().is_some()) {
            for (to, value) in self.values.iter_mut().zip(env) {
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
        let symbol = symbol.0 as usize;
        if symbol >= self.symbols {
            return Stepped::Unwanted;
        }
        let Some(cell) = self.cells.get(usize::from(self.state) * self.symbols + symbol) else {
            return Stepped::Unknown;
        };
        if params.len() < usize::from(cell.params) {
            return Stepped::Unknown;
        }
        let (values, first) = (&mut self.values[..], self.params);
        let read = |at: u16| match usize::from(at).checked_sub(first) {
            Some(param) => params.get(param).copied().unwrap_or_default(),
            None => values.get(usize::from(at)).copied().unwrap_or_default(),
        };
        // Branches can be foreseen here, as where they lead does not change from event to event in most programs; a chain of
        // loads that depend on each other cannot be made shorter.
        let holds = if cell.test == Test::Always {
            true
        } else if cell.test == Test::Less {
            read(cell.a) < read(cell.b)
        } else {
            read(cell.a) == read(cell.b)
        };
        let (exit, other) =
            if holds { (&cell.success, &cell.failure) } else { (&cell.failure, &cell.success) };
        match exit.way {
            Way::Stay if other.way == Way::Stay => return Stepped::Unwanted,
            Way::Stay => return Stepped::Done,
            Way::General => return Stepped::Unknown,
            Way::Take => {}
        }
        let Some(sum) = read(exit.a).checked_add(read(exit.b)) else { return Stepped::Unknown };
        if let Some(to) = values.get_mut(usize::from(exit.to)) {
            *to = sum;
        }
        // Most transitions stay: what is not written need not be waited for.
        if self.state != exit.target {
            self.state = exit.target;
        }
        self.steps += 1;
        Stepped::Done
    }

    /// Brings `slices` to where the table stands. Gives the transitions that were taken on the way.
    pub(crate) fn store(&mut self, automaton: &Automaton, slices: &mut Slices) -> u64 {
        if let Some(root) = slices.root().filter(|_| self.is_ahead) {
            for (variable, value) in self.values[..self.env].iter().enumerate() {
                slices.set_env(root, variable, Value::int(*value));
            }
            slices.set_state(automaton, root, self.state);
        }
        self.is_ahead = false;
        core::mem::take(&mut self.steps)
    }

    /// Whether it knows better than the slices.
    pub(crate) fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// Whether the event does anything in the present state.
    pub(crate) fn wants(&self, symbol: SymbolId) -> bool {
        let at = usize::from(self.state) * self.symbols + symbol.0 as usize;
        (symbol.0 as usize) < self.symbols
            && self
                .cells
                .get(at)
                .is_some_and(|cell| cell.success.way != Way::Stay || cell.failure.way != Way::Stay)
    }
}
