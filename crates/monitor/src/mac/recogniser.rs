//! Recogniser: from snapshots of a subject to events and conditions.

use super::cell::Cell;
use super::compile::compile;
use super::event_group::EventGroup;
use super::ids::{MethodId, VariableId};
use super::machine::{Fault, Machine, MachineOutput, MachineState};
use super::order::Cycle;
use super::program::MethodCells;
use super::script_def::{DefinitionError, ScriptDef};
use super::value::{Type, Value};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A report of the subject about a monitored entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Snapshot<'a> {
    /// A variable was assigned.
    Update(VariableId, Value<'a>),
    /// A variable has this value without an assignment, because its name refers to the variable of another
    /// object.
    Changed(VariableId, Value<'a>),
    /// A method was entered. Omitted trailing arguments are undefined.
    Start(MethodId, &'a [Value<'a>]),
    /// A method was left: arguments and result. Both are undefined if unknown; the result also if there is none
    /// or an exception was thrown.
    End(MethodId, &'a [Value<'a>], Value<'a>),
    /// The object or scope of these variables ended: they are undefined from now on.
    Invalidated(&'a [VariableId]),
    /// A unit of time passed.
    Tick,
}

/// A snapshot that does not match the script. It was ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// There is no variable with this number.
    Variable(VariableId),
    /// There is no method with this number.
    Method(MethodId),
    /// A value has the wrong type.
    Type {
        /// The variable, or the method of the argument or result.
        name: String,
        /// The declared type; `None` for an object.
        expected: Option<Type>,
        /// The type of the value.
        found: Type,
    },
    /// There are more arguments than parameters.
    Arguments {
        /// The method.
        name: String,
        /// The number of parameters.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotError::Variable(id) => write!(f, "the script has no variable with number {}", id.0),
            SnapshotError::Method(id) => write!(f, "the script has no method with number {}", id.0),
            SnapshotError::Type { name, expected: Some(expected), found } => {
                write!(f, "`{name}`: expected {expected}, got {found}")
            }
            SnapshotError::Type { name, expected: None, found } => {
                write!(f, "`{name}`: expected an object, got {found}")
            }
            SnapshotError::Arguments { name, expected, found } => {
                write!(f, "`{name}` has {expected} parameters, got {found} arguments")
            }
        }
    }
}

impl core::error::Error for SnapshotError {}

/// Error in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// Definitions and guards depend on each other.
    Cycles(Vec<Cycle>),
    /// It has parts that belong to the other kind of script.
    Misplaced(&'static str),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Misplaced(message) => f.write_str(message),
            ScriptError::Cycles(cycles) => {
                for (at, cycle) in cycles.iter().enumerate() {
                    write!(f, "{}{cycle}", if at == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for ScriptError {}

/// Evaluates a monitoring script, one snapshot at a time.
///
/// ```
/// use invigil_monitor::mac::{Binary, ScriptDef, Recogniser, Snapshot, Truth, Type, Value};
/// let mut script = ScriptDef::default();
/// let x = script.variable("A.x", Type::Int);
/// let (left, right) = (script.read(x)?, script.constant(Value::Int(3)));
/// let more = script.binary(Binary::Greater, left, right)?;
/// let c1 = script.define_condition("c1", more)?;
/// script.export_condition(c1)?;
///
/// let mut recogniser = Recogniser::new(script)?;
/// let group = recogniser.snapshot(Snapshot::Update(x, Value::Int(2)), 10)?;
/// assert_eq!(group.conditions(), [(0, Truth::False)]);
/// assert!(recogniser.snapshot(Snapshot::Update(x, Value::Int(1)), 20)?.is_empty());
/// let group = recogniser.snapshot(Snapshot::Update(x, Value::Int(5)), 30)?;
/// assert_eq!((group.time(), group.conditions()), (30, &[(0, Truth::True)][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recogniser {
    machine: Machine,
    group: EventGroup,
}

impl Recogniser {
    /// Compiles a monitoring script, in its initial state: all variables are undefined.
    pub fn new(script: ScriptDef) -> Result<Recogniser, ScriptError> {
        if !script.imported_events.is_empty() || !script.imported_conditions.is_empty() {
            return Err(ScriptError::Misplaced("a monitoring script cannot have imports"));
        }
        if !script.auxiliaries.is_empty() || !script.guards.is_empty() {
            return Err(ScriptError::Misplaced(
                "a monitoring script cannot have auxiliary variables or guards",
            ));
        }
        if !script.properties.is_empty() || !script.alarms.is_empty() {
            return Err(ScriptError::Misplaced("a monitoring script cannot have properties or alarms"));
        }
        let program = compile(script).map_err(ScriptError::Cycles)?;
        Ok(Recogniser { machine: Machine::new(program), group: EventGroup::default() })
    }

    /// The script.
    pub fn script(&self) -> &ScriptDef {
        &self.machine.program.script
    }

    /// Processes a snapshot taken at `time`, and returns the exported changes, which are often empty.
    pub fn snapshot(&mut self, snapshot: Snapshot<'_>, time: i64) -> Result<&EventGroup, SnapshotError> {
        self.apply(snapshot)?;
        Ok(self.evaluate(time))
    }

    /// Processes a snapshot and assignments of the same instant, such as the fields of one record of a log.
    ///
    /// All of them take effect before any definition is evaluated.
    pub fn snapshot_with(
        &mut self,
        assigned: &[(VariableId, Value<'_>)],
        snapshot: Snapshot<'_>,
        time: i64,
    ) -> Result<&EventGroup, SnapshotError> {
        for (variable, value) in assigned {
            self.check_value(*variable, *value)?;
        }
        self.apply(snapshot)?;
        for (variable, value) in assigned {
            self.update(*variable, *value)?;
        }
        Ok(self.evaluate(time))
    }

    fn apply(&mut self, snapshot: Snapshot<'_>) -> Result<(), SnapshotError> {
        match snapshot {
            Snapshot::Update(variable, value) => self.update(variable, value),
            Snapshot::Changed(variable, value) => self.change(variable, value).map(drop),
            Snapshot::Start(method, arguments) => self.start(method, arguments),
            Snapshot::End(method, arguments, result) => self.end(method, arguments, result),
            Snapshot::Invalidated(variables) => self.invalidate(variables),
            Snapshot::Tick => Ok(()),
        }
    }

    fn evaluate(&mut self, time: i64) -> &EventGroup {
        let now = self.machine.program.now as usize;
        self.machine.state.cells[now] = Cell::whole(time);
        let group = &mut self.group;
        group.begin(time);
        self.machine.sweep(&mut |output| match output {
            MachineOutput::Event { number, values } => {
                group.event(number);
                values.iter().for_each(|value| group.value(value));
            }
            MachineOutput::Condition { number, truth } => group.condition(number, truth),
            MachineOutput::Property { .. }
            | MachineOutput::Alarm { .. }
            | MachineOutput::Print(_)
            | MachineOutput::Invoke(_) => {}
        });
        &self.group
    }

    /// The faults of the last snapshot.
    pub fn faults(&self) -> &[Fault] {
        &self.machine.faults
    }

    /// The number of faults so far.
    pub fn fault_count(&self) -> u64 {
        self.machine.state.faults
    }

    /// The state.
    pub fn state(&self) -> &MachineState {
        &self.machine.state
    }

    /// Restores a state returned by [`Recogniser::state`].
    pub fn restore(&mut self, state: &MachineState) -> Result<(), DefinitionError> {
        self.machine.restore(state)
    }

    fn update(&mut self, variable: VariableId, value: Value<'_>) -> Result<(), SnapshotError> {
        let updated = self.change(variable, value)?;
        self.machine.set_occurring(updated);
        Ok(())
    }

    /// Sets a variable; returns the cell of its updates.
    fn change(&mut self, variable: VariableId, value: Value<'_>) -> Result<u32, SnapshotError> {
        self.check_value(variable, value)?;
        let cells = self.machine.program.variables[variable.at()];
        self.machine.write(cells.slot, value);
        self.machine.mark(self.machine.program.sources.variable(variable.0));
        Ok(cells.updated)
    }

    /// Checks a value against the declaration of a variable.
    fn check_value(&self, variable: VariableId, value: Value<'_>) -> Result<(), SnapshotError> {
        let Some(declared) = self.script().variables.get(variable.at()) else {
            return Err(SnapshotError::Variable(variable));
        };
        match value.ty() {
            Some(got) if got != declared.ty => Err(SnapshotError::Type {
                name: declared.name.clone(),
                expected: Some(declared.ty),
                found: got,
            }),
            _ => Ok(()),
        }
    }

    fn start(&mut self, method: MethodId, arguments: &[Value<'_>]) -> Result<(), SnapshotError> {
        self.check_call(method, arguments, Value::Undefined)?;
        let depth = self.machine.state.depths[method.at()];
        self.set_depth(method, depth.saturating_add(1));
        self.machine.set_occurring(self.cells(method).started);
        for at in 0..self.cells(method).at_start.len() {
            if let Some(slot) = self.cells(method).at_start[at] {
                self.machine.write(slot, arguments.get(at).copied().unwrap_or(Value::Undefined));
            }
        }
        Ok(())
    }

    fn end(
        &mut self,
        method: MethodId,
        arguments: &[Value<'_>],
        result: Value<'_>,
    ) -> Result<(), SnapshotError> {
        self.check_call(method, arguments, result)?;
        // The method may have been entered before monitoring started.
        let depth = self.machine.state.depths[method.at()];
        self.set_depth(method, depth.saturating_sub(1));
        self.machine.set_occurring(self.cells(method).ended);
        for at in 0..self.cells(method).at_end.len() {
            if let Some(slot) = self.cells(method).at_end[at] {
                self.machine.write(slot, arguments.get(at).copied().unwrap_or(Value::Undefined));
            }
        }
        if let Some(slot) = self.cells(method).result {
            self.machine.write(slot, result);
        }
        Ok(())
    }

    fn cells(&self, method: MethodId) -> &MethodCells {
        &self.machine.program.methods[method.at()]
    }

    /// Sets the number of active calls of a method.
    fn set_depth(&mut self, method: MethodId, depth: u32) {
        self.machine.state.depths[method.at()] = depth;
        let inside = self.cells(method).inside as usize;
        self.machine.state.cells[inside] = Cell::from(depth > 0);
        self.machine.mark(self.machine.program.sources.method(method.0));
    }

    fn invalidate(&mut self, variables: &[VariableId]) -> Result<(), SnapshotError> {
        if let Some(unknown) = variables.iter().find(|id| id.at() >= self.script().variables.len()) {
            return Err(SnapshotError::Variable(*unknown));
        }
        for variable in variables {
            let slot = self.machine.program.variables[variable.at()].slot;
            self.machine.write(slot, Value::Undefined);
            self.machine.mark(self.machine.program.sources.variable(variable.0));
        }
        Ok(())
    }

    /// Checks arguments and result against the declaration of a method.
    fn check_call(
        &self,
        method: MethodId,
        arguments: &[Value<'_>],
        result: Value<'_>,
    ) -> Result<(), SnapshotError> {
        let Some(declared) = self.script().methods.get(method.at()) else {
            return Err(SnapshotError::Method(method));
        };
        let name = || declared.name.clone();
        if arguments.len() > declared.parameters.len() {
            let (expected, found) = (declared.parameters.len(), arguments.len());
            return Err(SnapshotError::Arguments { name: name(), expected, found });
        }
        let expected = declared.parameters.iter().chain([&declared.result]);
        let values = arguments.iter().copied();
        let missing = declared.parameters.len() - arguments.len();
        let values = values.chain(core::iter::repeat_n(Value::Undefined, missing)).chain([result]);
        for (declared, value) in expected.zip(values) {
            if let Some(got) = value.ty()
                && *declared != Some(got)
            {
                return Err(SnapshotError::Type { name: name(), expected: *declared, found: got });
            }
        }
        Ok(())
    }
}
