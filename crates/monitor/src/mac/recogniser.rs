//! From snapshots of a subject to events and conditions.

use super::cell::Cell;
use super::compile::compile;
use super::group::Group;
use super::ids::{MethodId, VariableId};
use super::machine::{Fault, Machine, State, Told};
use super::order::Cycle;
use super::parts::{Mismatch, Parts};
use super::program::MethodCells;
use super::value::{Type, Value};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Something that a subject tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Snapshot<'a> {
    /// A variable was assigned.
    Update(VariableId, Value<'a>),
    /// A variable has this value from now on, though nobody assigned it: its name means the variable of another object.
    Changed(VariableId, Value<'a>),
    /// Control entered a method. Arguments that are left out at the end are undefined.
    Start(MethodId, &'a [Value<'a>]),
    /// Control left a method: the arguments as they are then, and the result. Both are undefined where the
    /// subject cannot tell, the result also where there is none or an exception was thrown.
    End(MethodId, &'a [Value<'a>], Value<'a>),
    /// The object that these variables belong to is gone, or its scope is: they are undefined from now on.
    Gone(&'a [VariableId]),
    /// Time passed.
    Tick,
}

/// A snapshot that does not fit the script; nothing was done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// There are fewer variables than this number.
    Variable(VariableId),
    /// There are fewer methods than this number.
    Method(MethodId),
    /// A value has another type than the script says.
    Type {
        /// The variable, or the method of the argument or result.
        name: String,
        /// The type that the script gives it; `None` for an object.
        wanted: Option<Type>,
        /// The type that came.
        got: Type,
    },
    /// A method has fewer parameters than came.
    Arguments {
        /// The method.
        name: String,
        /// How many it has.
        wanted: usize,
        /// How many came.
        got: usize,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Variable(id) => write!(f, "the script has no variable number {}", id.0),
            Misfit::Method(id) => write!(f, "the script has no method number {}", id.0),
            Misfit::Type { name, wanted: Some(wanted), got } => {
                write!(f, "`{name}`: the script says {wanted}, and {got} came")
            }
            Misfit::Type { name, wanted: None, got } => {
                write!(f, "`{name}`: the script says that this is an object, and {got} came")
            }
            Misfit::Arguments { name, wanted, got } => {
                write!(f, "`{name}` has {wanted} parameters, and {got} arguments came")
            }
        }
    }
}

impl core::error::Error for Misfit {}

/// A script that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Definitions and guards need each other.
    Cycles(Vec<Cycle>),
    /// It has parts that belong into the other kind of script.
    Misplaced(&'static str),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Misplaced(words) => f.write_str(words),
            Unfit::Cycles(cycles) => {
                for (at, cycle) in cycles.iter().enumerate() {
                    write!(f, "{}{cycle}", if at == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for Unfit {}

/// Evaluates a monitoring script, one snapshot at a time.
///
/// ```
/// use invigil_monitor::mac::{Binary, Parts, Recogniser, Snapshot, Truth, Type, Value};
/// let mut parts = Parts::default();
/// let x = parts.variable("A.x", Type::Int);
/// let (left, right) = (parts.read(x)?, parts.constant(Value::Int(3)));
/// let more = parts.binary(Binary::Greater, left, right)?;
/// let c1 = parts.define_condition("c1", more)?;
/// parts.export_condition(c1)?;
///
/// let mut recogniser = Recogniser::new(parts)?;
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
    group: Group,
}

impl Recogniser {
    /// Compiles a monitoring script. Nothing has happened yet: all variables are undefined.
    pub fn new(parts: Parts) -> Result<Recogniser, Unfit> {
        if !parts.imported_events.is_empty() || !parts.imported_conditions.is_empty() {
            return Err(Unfit::Misplaced("a monitoring script imports nothing"));
        }
        if !parts.auxiliaries.is_empty() || !parts.guards.is_empty() {
            return Err(Unfit::Misplaced("a monitoring script has neither auxiliary variables nor guards"));
        }
        if !parts.properties.is_empty() || !parts.alarms.is_empty() {
            return Err(Unfit::Misplaced("a monitoring script has neither properties nor alarms"));
        }
        let program = compile(parts).map_err(Unfit::Cycles)?;
        Ok(Recogniser { machine: Machine::new(program), group: Group::default() })
    }

    /// The script.
    pub fn parts(&self) -> &Parts {
        &self.machine.program.parts
    }

    /// Deals with a snapshot that was taken at `time`, and gives what is to be exported of it: often nothing.
    pub fn snapshot(&mut self, what: Snapshot<'_>, time: i64) -> Result<&Group, Misfit> {
        self.take(what)?;
        Ok(self.evaluate(time))
    }

    /// Deals with a snapshot and with assignments of the same instant, such as the fields of one record of a log:
    /// no definition sees some of them without the others.
    pub fn together(
        &mut self,
        assigned: &[(VariableId, Value<'_>)],
        what: Snapshot<'_>,
        time: i64,
    ) -> Result<&Group, Misfit> {
        for (variable, value) in assigned {
            self.fits(*variable, *value)?;
        }
        self.take(what)?;
        for (variable, value) in assigned {
            self.update(*variable, *value)?;
        }
        Ok(self.evaluate(time))
    }

    fn take(&mut self, what: Snapshot<'_>) -> Result<(), Misfit> {
        match what {
            Snapshot::Update(variable, value) => self.update(variable, value),
            Snapshot::Changed(variable, value) => self.change(variable, value).map(drop),
            Snapshot::Start(method, arguments) => self.start(method, arguments),
            Snapshot::End(method, arguments, result) => self.end(method, arguments, result),
            Snapshot::Gone(variables) => self.gone(variables),
            Snapshot::Tick => Ok(()),
        }
    }

    fn evaluate(&mut self, time: i64) -> &Group {
        let now = self.machine.program.now as usize;
        self.machine.state.cells[now] = Cell::whole(time);
        let group = &mut self.group;
        group.begin(time);
        self.machine.sweep(&mut |told| match told {
            Told::Event { number, values } => {
                group.event(number);
                values.iter().for_each(|value| group.value(value));
            }
            Told::Condition { number, truth } => group.condition(number, truth),
            Told::Property { .. } | Told::Alarm { .. } | Told::Print(_) | Told::Invoke(_) => {}
        });
        &self.group
    }

    /// What went wrong in the last snapshot.
    pub fn faults(&self) -> &[Fault] {
        &self.machine.faults
    }

    /// How many faults there have been.
    pub fn fault_count(&self) -> u64 {
        self.machine.state.faults
    }

    /// What it remembers.
    pub fn state(&self) -> &State {
        &self.machine.state
    }

    /// Puts a state back that [`Recogniser::state`] gave.
    pub fn restore(&mut self, state: &State) -> Result<(), Mismatch> {
        self.machine.restore(state)
    }

    fn update(&mut self, variable: VariableId, value: Value<'_>) -> Result<(), Misfit> {
        let updated = self.change(variable, value)?;
        self.machine.happens(updated);
        Ok(())
    }

    /// Gives a variable a value; gives the cell of its updates.
    fn change(&mut self, variable: VariableId, value: Value<'_>) -> Result<u32, Misfit> {
        self.fits(variable, value)?;
        let cells = self.machine.program.variables[variable.at()];
        self.machine.write(cells.slot, value);
        self.machine.mark(self.machine.program.sources.variable(variable.0));
        Ok(cells.updated)
    }

    /// Whether a value is what the script says of a variable.
    fn fits(&self, variable: VariableId, value: Value<'_>) -> Result<(), Misfit> {
        let Some(declared) = self.parts().variables.get(variable.at()) else {
            return Err(Misfit::Variable(variable));
        };
        match value.ty() {
            Some(got) if got != declared.ty => {
                Err(Misfit::Type { name: declared.name.clone(), wanted: Some(declared.ty), got })
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, method: MethodId, arguments: &[Value<'_>]) -> Result<(), Misfit> {
        self.check(method, arguments, Value::Undefined)?;
        let depth = self.machine.state.depths[method.at()];
        self.cross(method, depth.saturating_add(1));
        self.machine.happens(self.cells(method).started);
        for at in 0..self.cells(method).at_start.len() {
            if let Some(slot) = self.cells(method).at_start[at] {
                self.machine.write(slot, arguments.get(at).copied().unwrap_or(Value::Undefined));
            }
        }
        Ok(())
    }

    fn end(&mut self, method: MethodId, arguments: &[Value<'_>], result: Value<'_>) -> Result<(), Misfit> {
        self.check(method, arguments, result)?;
        // A method may end that was entered before anyone watched.
        let depth = self.machine.state.depths[method.at()];
        self.cross(method, depth.saturating_sub(1));
        self.machine.happens(self.cells(method).ended);
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

    fn cross(&mut self, method: MethodId, depth: u32) {
        self.machine.state.depths[method.at()] = depth;
        let inside = self.cells(method).inside as usize;
        self.machine.state.cells[inside] = Cell::from(depth > 0);
        self.machine.mark(self.machine.program.sources.method(method.0));
    }

    fn gone(&mut self, variables: &[VariableId]) -> Result<(), Misfit> {
        if let Some(unknown) = variables.iter().find(|id| id.at() >= self.parts().variables.len()) {
            return Err(Misfit::Variable(*unknown));
        }
        for variable in variables {
            let slot = self.machine.program.variables[variable.at()].slot;
            self.machine.write(slot, Value::Undefined);
            self.machine.mark(self.machine.program.sources.variable(variable.0));
        }
        Ok(())
    }

    /// Whether the arguments and the result of a method are what the script says.
    fn check(&self, method: MethodId, arguments: &[Value<'_>], result: Value<'_>) -> Result<(), Misfit> {
        let Some(declared) = self.parts().methods.get(method.at()) else {
            return Err(Misfit::Method(method));
        };
        let name = || declared.name.clone();
        if arguments.len() > declared.parameters.len() {
            let (wanted, got) = (declared.parameters.len(), arguments.len());
            return Err(Misfit::Arguments { name: name(), wanted, got });
        }
        let expected = declared.parameters.iter().chain([&declared.result]);
        let values = arguments.iter().copied();
        let missing = declared.parameters.len() - arguments.len();
        let values = values.chain(core::iter::repeat_n(Value::Undefined, missing)).chain([result]);
        for (wanted, value) in expected.zip(values) {
            if let Some(got) = value.ty()
                && *wanted != Some(got)
            {
                return Err(Misfit::Type { name: name(), wanted: *wanted, got });
            }
        }
        Ok(())
    }
}
