//! Checker: from events and conditions to verdicts.

use super::cell::Cell;
use super::check_output::{Alarm, CheckOutput, PropertyChange};
use super::compile::compile;
use super::event_group::{EventGroup, GroupEvent, Interface};
use super::ids::{ActionId, AuxiliaryId};
use super::machine::{Machine, MachineOutput, MachineState};
use super::recogniser::ScriptError;
use super::script_def::{DefinitionError, ScriptDef};
use super::value::{Truth, Value};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Evaluates a requirement script, one instant at a time.
///
/// ```
/// use invigil_monitor::mac::{Checker, EventGroup, ScriptDef, Truth};
/// let mut script = ScriptDef::default();
/// let closed = script.import_condition("GateClosed");
/// let closed = script.condition(closed)?;
/// script.property("safe", closed)?;
///
/// let mut checker = Checker::new(script)?;
/// let mut group = EventGroup::default();
/// group.begin(100);
/// group.condition(0, Truth::False);
/// let output = checker.instant(&group);
/// assert_eq!(output.properties()[0].truth, Truth::False);
/// assert_eq!(output.properties()[0].violations, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    machine: Machine,
    output: CheckOutput,
    /// Maps numbers of groups to imports; `None` if they are equal.
    wiring: Option<Wiring>,
}

#[derive(Clone, Debug)]
struct Wiring {
    events: Vec<Option<u32>>,
    conditions: Vec<Option<u32>>,
}

/// Names that a requirement script imports but the monitoring script does not export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingImport {
    /// The events.
    pub events: Vec<String>,
    /// The conditions.
    pub conditions: Vec<String>,
}

impl fmt::Display for MissingImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not exported by the monitoring script: ")?;
        let events = self.events.iter().map(|name| ("event", name));
        let conditions = self.conditions.iter().map(|name| ("condition", name));
        for (at, (kind, name)) in events.chain(conditions).enumerate() {
            write!(f, "{}{kind} `{name}`", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for MissingImport {}

impl Checker {
    /// Compiles a requirement script, in its initial state. Groups use the numbers of its imports.
    pub fn new(script: ScriptDef) -> Result<Checker, ScriptError> {
        if !script.variables.is_empty() || !script.methods.is_empty() {
            return Err(ScriptError::Misplaced(
                "a requirement script cannot have monitored variables or methods",
            ));
        }
        if !script.exported_events.is_empty() || !script.exported_conditions.is_empty() {
            return Err(ScriptError::Misplaced("a requirement script cannot have exports"));
        }
        let program = compile(script).map_err(ScriptError::Cycles)?;
        Ok(Checker { machine: Machine::new(program), output: CheckOutput::default(), wiring: None })
    }

    /// Sets whether an undefined property counts as violated.
    pub fn undefined_violates(mut self, undefined_violates: bool) -> Checker {
        self.machine.undefined_violates = undefined_violates;
        self
    }

    /// Connects the exports of a monitoring script, whose numbers groups use from now on. Exports that are not
    /// imported are ignored.
    pub fn connect(&mut self, exports: &Interface) -> Result<(), MissingImport> {
        let imports = self.script().imports();
        let position = |name: &String, names: &[String]| names.iter().position(|other| other == name);
        let missing = |names: &[String], others: &[String]| {
            let missing_names = names.iter().filter(|name| position(name, others).is_none());
            missing_names.cloned().collect::<Vec<_>>()
        };
        let missing_imports = MissingImport {
            events: missing(&imports.events, &exports.events),
            conditions: missing(&imports.conditions, &exports.conditions),
        };
        if !missing_imports.events.is_empty() || !missing_imports.conditions.is_empty() {
            return Err(missing_imports);
        }
        let wire = |names: &[String], to: &[String]| {
            names.iter().map(|name| position(name, to).map(|at| at as u32)).collect::<Vec<_>>()
        };
        self.wiring = Some(Wiring {
            events: wire(&exports.events, &imports.events),
            conditions: wire(&exports.conditions, &imports.conditions),
        });
        Ok(())
    }

    /// The script.
    pub fn script(&self) -> &ScriptDef {
        &self.machine.program.script
    }

    /// Evaluates an instant and returns the results. Numbers that the script does not import are ignored.
    pub fn instant(&mut self, group: &EventGroup) -> &CheckOutput {
        for event in group.events() {
            self.event(event);
        }
        for (condition, truth) in group.conditions() {
            self.condition(*condition, *truth);
        }
        let program = &self.machine.program;
        let (now, source) = (program.now as usize, program.sources.now());
        self.machine.state.cells[now] = Cell::whole(group.time());
        self.machine.mark(source);
        let output = &mut self.output;
        output.begin(group.time());
        self.machine.sweep(&mut |machine_output| match machine_output {
            MachineOutput::Property { number, truth, count } => {
                output.property(PropertyChange { property: number, truth, violations: count });
            }
            MachineOutput::Alarm { number, count } => output.alarm(Alarm { alarm: number, count }),
            MachineOutput::Print(value) => output.print(value),
            MachineOutput::Invoke(action) => output.invoke(ActionId(action)),
            MachineOutput::Event { .. } | MachineOutput::Condition { .. } => {}
        });
        output.faults.extend_from_slice(&self.machine.faults);
        &self.output
    }

    /// The results of the last instant.
    pub fn output(&self) -> &CheckOutput {
        &self.output
    }

    /// The value of a property after the last instant, by its number.
    pub fn property(&self, number: u32) -> Option<Truth> {
        let cell = self.machine.program.properties.get(number as usize)?;
        Some(self.machine.state.cells[*cell as usize].truth())
    }

    /// The value of an auxiliary variable after the last instant.
    pub fn auxiliary(&self, variable: AuxiliaryId) -> Option<Value<'_>> {
        let slot = self.machine.program.auxiliaries.get(variable.at())?.old;
        let texts = self.machine.state.texts.with(self.machine.program.constants());
        Some(self.machine.state.cells[slot.cell as usize].value(slot.ty, &texts))
    }

    /// The number of faults so far.
    pub fn fault_count(&self) -> u64 {
        self.machine.state.faults
    }

    /// The state.
    pub fn state(&self) -> &MachineState {
        &self.machine.state
    }

    /// Restores a state returned by [`Checker::state`].
    pub fn restore(&mut self, state: &MachineState) -> Result<(), DefinitionError> {
        self.machine.restore(state)
    }

    fn event(&mut self, event: GroupEvent<'_>) {
        let number = match &self.wiring {
            None => Some(event.event),
            Some(wiring) => wiring.events.get(event.event as usize).copied().flatten(),
        };
        let Some(number) = number else { return };
        let Some(cells) = self.machine.program.imported_events.get(number as usize) else { return };
        let (happens, count) = (cells.happens, cells.values.len());
        self.machine.set_occurring(happens);
        self.machine.mark(self.machine.program.sources.event(number));
        let mut values = event.values();
        for at in 0..count {
            let slot = self.machine.program.imported_events[number as usize].values[at];
            let value = values.next().unwrap_or(Value::Undefined);
            self.machine.write(slot, value.cast(slot.ty));
        }
    }

    fn condition(&mut self, number: u32, truth: Truth) {
        let number = match &self.wiring {
            None => Some(number),
            Some(wiring) => wiring.conditions.get(number as usize).copied().flatten(),
        };
        let Some(number) = number else { return };
        let Some(cell) = self.machine.program.imported_conditions.get(number as usize) else { return };
        self.machine.state.cells[*cell as usize] = match truth {
            Truth::Undefined => Cell::UNDEFINED,
            known => Cell::from(known == Truth::True),
        };
        self.machine.mark(self.machine.program.sources.condition(number));
    }
}
