//! Layout of the cells of a program.

use super::cell::{Cell, TextBuffers, TextId};
use super::program::{AuxiliaryCells, EventCells, MethodCells, Slot, VariableCells};
use super::script_def::{Auxiliary, Carrier, EventOrigin, ScriptDef};
use super::value::Type;
use alloc::string::String;
use alloc::vec::Vec;

/// Text index of a slot without a string.
const NO_TEXT: TextId = TextId(u64::MAX);

/// The allocated cells with their initial values.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) cells: Vec<Cell>,
    /// Cells that are kept between instants.
    pub(super) kept: Vec<u32>,
    pub(super) texts: TextBuffers,
    /// Scratch cells, reused by every unit.
    scratch: Vec<u32>,
    used: usize,
}

impl Layout {
    /// A cell that is not kept: a constant, or one that is set in every instant in which it is read.
    pub(super) fn cell(&mut self, initial: Cell) -> u32 {
        self.cells.push(initial);
        self.cells.len() as u32 - 1
    }

    pub(super) fn kept(&mut self, initial: Cell) -> u32 {
        let cell = self.cell(initial);
        self.kept.push(cell);
        cell
    }

    pub(super) fn scratch(&mut self) -> u32 {
        if self.used == self.scratch.len() {
            let cell = self.cell(Cell::UNDEFINED);
            self.scratch.push(cell);
        }
        self.used += 1;
        self.scratch[self.used - 1]
    }

    /// Starts another unit.
    pub(super) fn begin(&mut self) {
        self.used = 0;
    }

    /// A kept cell for input values.
    fn kept_slot(&mut self, ty: Type) -> Slot {
        let text = if ty == Type::String { self.kept_text("") } else { NO_TEXT };
        Slot { cell: self.kept(Cell::UNDEFINED), ty, text }
    }

    /// A cell for input values that are read in the same instant.
    fn passing_slot(&mut self, ty: Type) -> Slot {
        let text = if ty == Type::String { TextId::scratch(self.scratch_text() as usize) } else { NO_TEXT };
        Slot { cell: self.cell(Cell::UNDEFINED), ty, text }
    }

    pub(super) fn kept_text(&mut self, initial: &str) -> TextId {
        self.texts.kept.push(initial.into());
        TextId::kept(self.texts.kept.len() - 1)
    }

    pub(super) fn scratch_text(&mut self) -> u32 {
        self.texts.scratch.push(String::new());
        self.texts.scratch.len() as u32 - 1
    }
}

/// The cells of the declarations of a script.
pub(super) struct DeclaredCells {
    pub(super) now: u32,
    pub(super) variables: Vec<VariableCells>,
    pub(super) methods: Vec<MethodCells>,
    pub(super) auxiliaries: Vec<AuxiliaryCells>,
    pub(super) imported_events: Vec<EventCells>,
    pub(super) imported_conditions: Vec<u32>,
    /// The occurrence of a named event.
    pub(super) events: Vec<u32>,
    /// The value of a named condition.
    pub(super) conditions: Vec<u32>,
    /// The value of a named condition for readers that see the end of the instant.
    pub(super) late: Vec<u32>,
    pub(super) properties: Vec<u32>,
    /// A cell that is always undefined.
    pub(super) undefined: u32,
}

impl DeclaredCells {
    pub(super) fn new(script: &ScriptDef, folded: &[Option<Cell>], layout: &mut Layout) -> DeclaredCells {
        let now = layout.cell(Cell::UNDEFINED);
        let undefined = layout.cell(Cell::UNDEFINED);
        let variables = script.variables.iter().map(|variable| VariableCells {
            slot: layout.kept_slot(variable.ty),
            updated: layout.cell(Cell::FALSE),
        });
        let variables = variables.collect();
        let methods = script.methods.iter().map(|method| {
            let mut passing = |ty: Option<Type>| ty.map(|ty| layout.passing_slot(ty));
            let at_start = method.parameters.iter().copied().map(&mut passing).collect();
            let at_end = method.parameters.iter().copied().map(&mut passing).collect();
            let result = passing(method.result);
            let (started, ended) = (layout.cell(Cell::FALSE), layout.cell(Cell::FALSE));
            MethodCells { started, ended, inside: layout.kept(Cell::FALSE), at_start, at_end, result }
        });
        let methods = methods.collect();
        let auxiliaries = script.auxiliaries.iter().map(|variable| AuxiliaryCells {
            old: auxiliary(script, folded, layout, variable),
            new: auxiliary(script, folded, layout, variable),
        });
        let auxiliaries = auxiliaries.collect();
        let imported_events: Vec<EventCells> = script
            .imported_events
            .iter()
            .map(|id| EventCells {
                happens: layout.cell(Cell::FALSE),
                values: match &script.events[id.at()].origin {
                    EventOrigin::Imported(types) => types.iter().map(|ty| layout.passing_slot(*ty)).collect(),
                    EventOrigin::Defined(_) => Vec::new(),
                },
            })
            .collect();
        let mut events: Vec<u32> = script.events.iter().map(|_| layout.cell(Cell::FALSE)).collect();
        for (id, cells) in script.imported_events.iter().zip(&imported_events) {
            events[id.at()] = cells.happens;
        }
        let conditions: Vec<u32> = script.conditions.iter().map(|_| layout.kept(Cell::UNDEFINED)).collect();
        let late = script.conditions.iter().map(|_| layout.kept(Cell::UNDEFINED)).collect();
        let imported_conditions = script.imported_conditions.iter().map(|id| conditions[id.at()]).collect();
        DeclaredCells {
            now,
            variables,
            methods,
            auxiliaries,
            imported_events,
            imported_conditions,
            events,
            conditions,
            late,
            properties: script.properties.iter().map(|_| layout.kept(Cell::UNDEFINED)).collect(),
            undefined,
        }
    }

    /// The cells and types of the values of an event.
    pub(super) fn carried(&self, script: &ScriptDef, carrier: Carrier) -> Vec<(u32, Type)> {
        let object = (self.undefined, Type::Boolean);
        let slot = |slot: &Option<Slot>| slot.as_ref().map_or(object, |slot| (slot.cell, slot.ty));
        match carrier {
            Carrier::Update(id) => {
                let slot = self.variables[id.at()].slot;
                alloc::vec![(slot.cell, slot.ty)]
            }
            Carrier::Start(id) => self.methods[id.at()].at_start.iter().map(slot).collect(),
            Carrier::End(id) => {
                let method = &self.methods[id.at()];
                let result = method.result.iter().map(|slot| (slot.cell, slot.ty));
                method.at_end.iter().map(slot).chain(result).collect()
            }
            Carrier::Imported(id) => {
                let at = import_number(&script.imported_events, id);
                let slots = self.imported_events.get(at as usize).map_or(&[][..], |cells| &cells.values);
                slots.iter().map(|slot| (slot.cell, slot.ty)).collect()
            }
        }
    }
}

/// Number of an import; numbers are assigned in order.
pub(super) fn import_number<T: Ord>(ids: &[T], id: T) -> u32 {
    ids.binary_search(&id).unwrap_or_else(|at| at) as u32
}

fn auxiliary(script: &ScriptDef, folded: &[Option<Cell>], layout: &mut Layout, variable: &Auxiliary) -> Slot {
    let initial = folded[variable.initial.at()].unwrap_or(Cell::UNDEFINED);
    let ty = variable.ty;
    if ty != Type::String {
        return Slot { cell: layout.kept(initial), ty, text: NO_TEXT };
    }
    let text = layout.kept_text("");
    layout.texts.write(text, &script.texts, |own, others| own.push_str(others.get(initial.as_text())));
    let cell = if initial.is_known() { Cell::known(text.0) } else { initial };
    Slot { cell: layout.kept(cell), ty, text }
}
