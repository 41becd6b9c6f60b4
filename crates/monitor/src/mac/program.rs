//! Compiled scripts: instructions in units, and dependencies.

use super::cell::{Cell, TextBuffers, TextId};
use super::code::Op;
use super::order::Definition;
use super::script_def::ScriptDef;
use super::value::{Type, Value};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

/// A compiled script. Units are numbered in order of evaluation.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) script: ScriptDef,
    pub(super) ops: Vec<Op>,
    pub(super) units: Vec<Unit>,
    /// The initial values of all cells.
    pub(super) cells: Vec<Cell>,
    /// The cells that are kept between instants.
    pub(super) kept: Arc<[u32]>,
    pub(super) texts: TextBuffers,
    pub(super) sources: Sources,
    /// The units that read a source.
    pub(super) readers: Lists,
    pub(super) now: u32,
    pub(super) variables: Vec<VariableCells>,
    pub(super) methods: Vec<MethodCells>,
    pub(super) auxiliaries: Vec<AuxiliaryCells>,
    pub(super) imported_events: Vec<EventCells>,
    pub(super) imported_conditions: Vec<u32>,
    /// The values of properties.
    pub(super) properties: Vec<u32>,
    /// Per exported event, its values.
    pub(super) exports: Vec<Vec<(u32, Type)>>,
}

/// A definition, update, property or alarm; evaluated when one of its sources has changed.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) ops: Range<u32>,
    pub(super) effect: Effect,
    pub(super) definition: Definition,
}

/// Effect of a unit after its evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    Event { happens: u32, cell: u32, export: Option<u32> },
    Condition { value: u32, cell: u32, export: Option<u32> },
    Property { value: u32, cell: u32, number: u32 },
    Alarm { happens: u32, number: u32 },
    Assign { trigger: u32, value: u32, to: u32 },
    Print { trigger: u32, value: u32, ty: Type },
    Invoke { trigger: u32, action: u32 },
}

/// A cell for input values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) cell: u32,
    pub(super) ty: Type,
    /// Where a string is stored.
    pub(super) text: TextId,
}

impl Slot {
    /// Writes a value of the slot's type or undefined.
    #[inline]
    pub(super) fn write(&self, cells: &mut [Cell], texts: &mut TextBuffers, value: Value<'_>) {
        cells[self.cell as usize] = match value {
            Value::String(text) => {
                texts.write(self.text, &[], |own, _| own.push_str(text));
                Cell::known(self.text.0)
            }
            other => Cell::plain(other).unwrap_or(Cell::UNDEFINED),
        };
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct VariableCells {
    pub(super) slot: Slot,
    pub(super) updated: u32,
}

#[derive(Clone, Debug)]
pub(super) struct MethodCells {
    pub(super) started: u32,
    pub(super) ended: u32,
    pub(super) inside: u32,
    /// The parameters; `None` for objects.
    pub(super) at_start: Vec<Option<Slot>>,
    pub(super) at_end: Vec<Option<Slot>>,
    pub(super) result: Option<Slot>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct AuxiliaryCells {
    pub(super) old: Slot,
    pub(super) new: Slot,
}

#[derive(Clone, Debug)]
pub(super) struct EventCells {
    pub(super) happens: u32,
    pub(super) values: Vec<Slot>,
}

/// Numbers of sources that units read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sources {
    methods: u32,
    events: u32,
    conditions: u32,
    old: u32,
    new: u32,
    now: u32,
    units: u32,
}

impl Sources {
    pub(super) fn new(script: &ScriptDef) -> Sources {
        let methods = script.variables.len() as u32;
        let events = methods + script.methods.len() as u32;
        let conditions = events + script.imported_events.len() as u32;
        let old = conditions + script.imported_conditions.len() as u32;
        let new = old + script.auxiliaries.len() as u32;
        let now = new + script.auxiliaries.len() as u32;
        Sources { methods, events, conditions, old, new, now, units: now + 1 }
    }

    pub(super) fn variable(&self, at: u32) -> u32 {
        at
    }

    pub(super) fn method(&self, at: u32) -> u32 {
        self.methods + at
    }

    /// An imported event, by its import number.
    pub(super) fn event(&self, at: u32) -> u32 {
        self.events + at
    }

    /// An imported condition, by its import number.
    pub(super) fn condition(&self, at: u32) -> u32 {
        self.conditions + at
    }

    /// An auxiliary variable before the instant.
    pub(super) fn old(&self, at: u32) -> u32 {
        self.old + at
    }

    /// An auxiliary variable after the guards of the instant.
    pub(super) fn new_value(&self, at: u32) -> u32 {
        self.new + at
    }

    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// The result of a unit.
    pub(super) fn unit(&self, at: u32) -> u32 {
        self.units + at
    }
}

/// Lists in one array.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Builds the lists from pairs of list number and item.
    pub(super) fn new(count: u32, mut pairs: Vec<(u32, u32)>) -> Lists {
        pairs.sort_unstable();
        pairs.dedup();
        let mut ends = alloc::vec![0; count as usize];
        for (list, _) in &pairs {
            ends[*list as usize] += 1;
        }
        let mut end = 0;
        for list in &mut ends {
            end += *list;
            *list = end;
        }
        Lists { ends, items: pairs.into_iter().map(|(_, item)| item).collect() }
    }

    #[inline]
    pub(super) fn get(&self, list: u32) -> &[u32] {
        let start = if list == 0 { 0 } else { self.ends[list as usize - 1] };
        &self.items[start as usize..self.ends[list as usize] as usize]
    }
}

impl Program {
    pub(super) fn constants(&self) -> &[String] {
        &self.script.texts
    }
}
