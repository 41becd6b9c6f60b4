//! Incremental evaluation: at each instant, only the affected units are evaluated.

use super::cell::{self, Cell, TextBuffers, Texts};
use super::interpreter::run;
use super::order::Definition;
use super::program::{Effect, Program, Slot};
use super::script_def::{DefinitionError, foreign};
use super::value::{Truth, Type, Value};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// State of a recogniser or checker between two instants: plain data, which can be stored and compared.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MachineState {
    pub(super) cells: Vec<Cell>,
    /// The kept cells. All others are set before they are read.
    kept: Arc<[u32]>,
    pub(super) texts: TextBuffers,
    /// Per method, the number of active calls.
    pub(super) depths: Vec<u32>,
    /// The units to evaluate at the next instant, as bits.
    dirty: Vec<u64>,
    /// The number of violations per property, followed by the number of occurrences per alarm.
    pub(super) counts: Vec<u64>,
    pub(super) faults: u64,
    pub(super) begun: bool,
}

impl MachineState {
    fn kept(&self) -> impl Iterator<Item = Cell> {
        self.kept.iter().map(|at| self.cells[*at as usize])
    }

    /// Whether it fits the script of `other`, which has this many units.
    fn is_like(&self, other: &MachineState, units: usize) -> bool {
        let sizes = |state: &MachineState| {
            let texts = (state.texts.kept.len(), state.texts.scratch.len());
            (state.cells.len(), texts, state.depths.len(), state.dirty.len(), state.counts.len())
        };
        let is_unit = |at: usize, word: u64| (at + 1) * 64 <= units || word >> (units % 64) == 0;
        self.kept == other.kept
            && sizes(self) == sizes(other)
            && self.dirty.iter().enumerate().all(|(at, word)| is_unit(at, *word))
    }

    /// Marks the readers of a source for evaluation.
    #[inline]
    pub(super) fn mark(&mut self, program: &Program, source: u32) {
        for unit in program.readers.get(source) {
            self.dirty[*unit as usize / 64] |= 1 << (unit % 64);
        }
    }
}

impl PartialEq for MachineState {
    fn eq(&self, other: &MachineState) -> bool {
        self.kept().eq(other.kept())
            && self.texts.kept == other.texts.kept
            && self.depths == other.depths
            && self.dirty == other.dirty
            && self.counts == other.counts
            && (self.faults, self.begun) == (other.faults, other.begun)
    }
}

impl Eq for MachineState {}

impl Hash for MachineState {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.kept().for_each(|cell| cell.hash(to));
        (&self.texts.kept, &self.depths, &self.dirty, &self.counts, self.faults, self.begun).hash(to);
    }
}

/// A fault in a definition; dependent values are undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The definition or guard.
    pub definition: Definition,
    /// The kind.
    pub kind: FaultKind,
}

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Integer division by zero.
    DividedByZero,
    /// String concatenation exceeds 65,536 bytes.
    TextTooLong,
}

impl FaultKind {
    /// The message.
    pub fn message(self) -> &'static str {
        match self {
            FaultKind::DividedByZero => "integer division by zero",
            FaultKind::TextTooLong => "string longer than 65,536 bytes",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

/// Output of an instant.
pub(super) enum MachineOutput<'a> {
    /// An exported event occurs.
    Event {
        number: u32,
        values: EventValues<'a>,
    },
    /// An exported condition changes.
    Condition {
        number: u32,
        truth: Truth,
    },
    /// A property changes; `count` is the number of violations.
    Property {
        number: u32,
        truth: Truth,
        count: u64,
    },
    /// An alarm is raised; `count` is the number of occurrences.
    Alarm {
        number: u32,
        count: u64,
    },
    Print(Value<'a>),
    Invoke(u32),
}

/// The values of an event.
#[derive(Clone, Copy)]
pub(super) struct EventValues<'a> {
    cells_and_types: &'a [(u32, Type)],
    cells: &'a [Cell],
    texts: Texts<'a>,
}

impl<'a> EventValues<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = Value<'a>> {
        self.cells_and_types.iter().map(move |(cell, ty)| self.cells[*cell as usize].value(*ty, &self.texts))
    }
}

/// A compiled script with its state.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) program: Arc<Program>,
    pub(super) state: MachineState,
    /// Whether an undefined property counts as violated.
    pub(super) undefined_violates: bool,
    /// The faults of the instant.
    pub(super) faults: Vec<Fault>,
    /// Cells of events that occur, which are reset at the end of the instant.
    happening: Vec<u32>,
    /// The auxiliary variables that were assigned at this instant.
    assigned: Vec<u32>,
    /// The faults of the current unit.
    raised: Vec<cell::CellStatus>,
}

impl Machine {
    pub(super) fn new(program: Program) -> Machine {
        let script = &program.script;
        let state = MachineState {
            cells: program.cells.clone(),
            kept: program.kept.clone(),
            texts: program.texts.clone(),
            depths: alloc::vec![0; script.methods.len()],
            dirty: alloc::vec![0; program.units.len().div_ceil(64)],
            counts: alloc::vec![0; script.properties.len() + script.alarms.len()],
            faults: 0,
            begun: false,
        };
        Machine {
            program: Arc::new(program),
            state,
            undefined_violates: false,
            faults: Vec::new(),
            happening: Vec::new(),
            assigned: Vec::new(),
            raised: Vec::new(),
        }
    }

    /// Restores a state of a machine with the same script.
    pub(super) fn restore(&mut self, state: &MachineState) -> Result<(), DefinitionError> {
        if !state.is_like(&self.state, self.program.units.len()) {
            return Err(foreign("state"));
        }
        self.state.clone_from(state);
        Ok(())
    }

    /// Sets a cell to true until the end of the instant.
    #[inline]
    pub(super) fn set_occurring(&mut self, cell: u32) {
        self.state.cells[cell as usize] = Cell::TRUE;
        self.happening.push(cell);
    }

    #[inline]
    pub(super) fn write(&mut self, slot: Slot, value: Value<'_>) {
        slot.write(&mut self.state.cells, &mut self.state.texts, value);
    }

    #[inline]
    pub(super) fn mark(&mut self, source: u32) {
        self.state.mark(&self.program, source);
    }

    /// Evaluates the marked units and the units that depend on them, in order.
    pub(super) fn sweep(&mut self, emit: &mut impl FnMut(MachineOutput<'_>)) {
        self.faults.clear();
        let first = !self.state.begun;
        if first {
            self.state.begun = true;
            let units = self.program.units.len();
            self.state.dirty.fill(u64::MAX);
            if let Some(last) = self.state.dirty.last_mut()
                && !units.is_multiple_of(64)
            {
                *last = (1 << (units % 64)) - 1;
            }
        }
        let program = &*self.program;
        for word in 0..self.state.dirty.len() {
            while self.state.dirty[word] != 0 {
                let bit = self.state.dirty[word].trailing_zeros();
                self.state.dirty[word] &= !(1 << bit);
                let number = word as u32 * 64 + bit;
                let unit = &program.units[number as usize];
                let ops = &program.ops[unit.ops.start as usize..unit.ops.end as usize];
                let MachineState { cells, texts, .. } = &mut self.state;
                run(ops, cells, texts, program.constants(), &mut self.raised);
                let (state, raised) = (&mut self.state, &mut self.raised);
                let mut effects = Effects {
                    program,
                    state,
                    raised,
                    happening: &mut self.happening,
                    assigned: &mut self.assigned,
                    undefined_violates: self.undefined_violates,
                    first,
                };
                effects.apply(number, unit.effect, emit);
                let definition = unit.definition;
                self.faults
                    .extend(self.raised.drain(..).map(|status| Fault { definition, kind: kind(status) }));
            }
        }
        self.state.faults += self.faults.len() as u64;
        self.commit();
    }

    /// Ends the instant: auxiliary variables take their new values, and events are reset.
    fn commit(&mut self) {
        let program = &*self.program;
        for variable in self.assigned.drain(..) {
            let cells = program.auxiliaries[variable as usize];
            let value = self.state.cells[cells.new.cell as usize];
            if assign(&mut self.state, program.constants(), cells.old, value) {
                self.state.mark(program, program.sources.old(variable));
            }
        }
        for cell in self.happening.drain(..) {
            self.state.cells[cell as usize] = Cell::FALSE;
        }
    }
}

fn kind(status: cell::CellStatus) -> FaultKind {
    match status {
        cell::CellStatus::TextTooLong => FaultKind::TextTooLong,
        _ => FaultKind::DividedByZero,
    }
}

/// Copies a cell to a slot; returns whether the slot changed.
fn assign(state: &mut MachineState, constants: &[String], slot: Slot, value: Cell) -> bool {
    let value = if value.is_known() { value } else { Cell::UNDEFINED };
    let before = state.cells[slot.cell as usize];
    if slot.ty != Type::String || !value.is_known() {
        state.cells[slot.cell as usize] = value;
        return before != value;
    }
    let texts = state.texts.with(constants);
    if before.is_known() && texts.get(before.as_text()) == texts.get(value.as_text()) {
        return false;
    }
    state.texts.write(slot.text, constants, |own, others| own.push_str(others.get(value.as_text())));
    state.cells[slot.cell as usize] = Cell::known(slot.text.0);
    true
}

/// Applies the effect of a unit.
struct Effects<'m> {
    program: &'m Program,
    state: &'m mut MachineState,
    raised: &'m mut Vec<cell::CellStatus>,
    happening: &'m mut Vec<u32>,
    assigned: &'m mut Vec<u32>,
    undefined_violates: bool,
    first: bool,
}

impl Effects<'_> {
    #[inline]
    fn apply(&mut self, unit: u32, effect: Effect, emit: &mut impl FnMut(MachineOutput<'_>)) {
        let program = self.program;
        match effect {
            Effect::Condition { value, cell, export } => {
                let before = self.state.cells[cell as usize].truth();
                let truth = self.settle(value, cell);
                if truth != before {
                    self.state.mark(program, program.sources.unit(unit));
                    if let Some(number) = export {
                        emit(MachineOutput::Condition { number, truth });
                    }
                }
            }
            Effect::Event { happens, cell, export } => {
                if !self.holds(happens) {
                    return;
                }
                self.state.cells[cell as usize] = Cell::TRUE;
                self.happening.push(cell);
                self.state.mark(program, program.sources.unit(unit));
                if let Some(number) = export {
                    let values = EventValues {
                        cells_and_types: &program.exports[number as usize],
                        cells: &self.state.cells,
                        texts: self.state.texts.with(program.constants()),
                    };
                    emit(MachineOutput::Event { number, values });
                }
            }
            Effect::Property { value, cell, number } => {
                let before = self.state.cells[cell as usize].truth();
                let truth = self.settle(value, cell);
                let violated =
                    |truth| truth == Truth::False || self.undefined_violates && truth == Truth::Undefined;
                if violated(truth) && (self.first || !violated(before)) {
                    self.state.counts[number as usize] += 1;
                } else if truth == before {
                    return;
                }
                emit(MachineOutput::Property { number, truth, count: self.state.counts[number as usize] });
            }
            Effect::Alarm { happens, number } => {
                if self.holds(happens) {
                    let count = &mut self.state.counts[program.script.properties.len() + number as usize];
                    *count += 1;
                    emit(MachineOutput::Alarm { number, count: *count });
                }
            }
            Effect::Assign { trigger, value, to } => {
                if self.holds(trigger) {
                    let value = self.read_reporting_fault(value);
                    let slot = program.auxiliaries[to as usize].new;
                    if assign(self.state, program.constants(), slot, value) {
                        self.state.mark(program, program.sources.new_value(to));
                    }
                    self.assigned.push(to);
                }
            }
            Effect::Print { trigger, value, ty } => {
                if self.holds(trigger) {
                    let texts = self.state.texts.with(program.constants());
                    emit(MachineOutput::Print(self.state.cells[value as usize].value(ty, &texts)));
                    self.read_reporting_fault(value);
                }
            }
            Effect::Invoke { trigger, action } => {
                if self.holds(trigger) {
                    emit(MachineOutput::Invoke(action));
                }
            }
        }
    }

    fn holds(&self, cell: u32) -> bool {
        self.state.cells[cell as usize].holds()
    }

    /// Reads a value, and reports a fault in it.
    fn read_reporting_fault(&mut self, cell: u32) -> Cell {
        let value = self.state.cells[cell as usize];
        if value.is_fault() {
            self.raised.push(value.status);
        }
        value
    }

    /// Sets a condition. After a fault it is undefined, with a flag: the fault is reported once, when the
    /// condition becomes undefined.
    fn settle(&mut self, value: u32, cell: u32) -> Truth {
        let mut value = self.state.cells[value as usize];
        let before = self.state.cells[cell as usize];
        if value.is_fault() {
            let broken = Cell { bits: 1, ..Cell::UNDEFINED };
            if before != broken {
                self.raised.push(value.status);
            }
            value = broken;
        }
        self.state.cells[cell as usize] = value;
        value.truth()
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile::compile;
    use super::super::script_def::ScriptDef;
    use super::*;

    #[test]
    fn mismatched_state_is_rejected() {
        let mut script = ScriptDef::default();
        let closed = script.import_condition("closed");
        let closed = script.condition(closed).unwrap();
        script.property("safe", closed).unwrap();
        let mut machine = Machine::new(compile(script).unwrap());
        let good = machine.state.clone();
        assert!(machine.restore(&good).is_ok());
        type Spoil = fn(&mut MachineState);
        let spoils: [Spoil; 6] = [
            |state| state.dirty[0] = u64::MAX,
            |state| state.dirty.push(0),
            |state| state.counts.clear(),
            |state| state.depths.push(0),
            |state| state.cells.clear(),
            |state| state.texts.kept.push(String::new()),
        ];
        for spoil in spoils {
            let mut bad = good.clone();
            spoil(&mut bad);
            assert!(machine.restore(&bad).is_err());
        }
        assert_eq!(machine.state, good);
    }
}
