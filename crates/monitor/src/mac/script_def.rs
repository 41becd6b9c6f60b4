//! Definition of a monitoring script or a requirement script, as built by a front end.

use super::ids::*;
use super::value::Type;
use super::{Binary, Interface, Unary, Value};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Declarations and definitions of a script.
///
/// Each item gets a number when it is declared. Expressions ([`ExprId`]) and event expressions
/// ([`OccurrenceId`]) are built bottom up and checked while they are built: a [`DefinitionError`] describes the
/// error, and the front end adds the position. A definition is built before it is named, so that definitions
/// cannot be recursive. Auxiliary variables may be named before the guards that change them.
///
/// A monitoring script (PEDL) has variables, methods and exports:
///
/// ```
/// use invigil_monitor::mac::{Binary, ScriptDef, Type, Value};
/// let mut script = ScriptDef::default();
/// let x = script.variable("A.x", Type::Int);
/// let y = script.variable("A.y", Type::Int);
/// // condition c1 = A.x > 3;
/// let (left, right) = (script.read(x)?, script.constant(Value::Int(3)));
/// let more = script.binary(Binary::Greater, left, right)?;
/// let c1 = script.define_condition("c1", more)?;
/// // export event e1 = start(c1 && A.y < 10);
/// let (left, right) = (script.read(y)?, script.constant(Value::Int(10)));
/// let less = script.binary(Binary::Less, left, right)?;
/// let c1 = script.condition(c1)?;
/// let both = script.binary(Binary::And, c1, less)?;
/// let start = script.start(both)?;
/// let e1 = script.define_event("e1", start)?;
/// script.export_event(e1)?;
/// # Ok::<(), invigil_monitor::mac::DefinitionError>(())
/// ```
///
/// A requirement script (MEDL) has imports, auxiliary variables, guards, properties and alarms:
///
/// ```
/// use invigil_monitor::mac::{Binary, ScriptDef, Type, Value};
/// let mut script = ScriptDef::default();
/// let push = script.import_event("push", &[]);
/// let count = script.auxiliary("count", Type::Int, Value::Int(0))?;
/// // property few = count < 3;
/// let (left, right) = (script.unprimed(count)?, script.constant(Value::Int(3)));
/// let less = script.binary(Binary::Less, left, right)?;
/// script.property("few", less)?;
/// // push -> { count' = count + 1; }
/// let happens = script.event(push)?;
/// let guard = script.guard(happens)?;
/// let (left, right) = (script.unprimed(count)?, script.constant(Value::Int(1)));
/// let sum = script.binary(Binary::Add, left, right)?;
/// script.assign(guard, count, sum)?;
/// # Ok::<(), invigil_monitor::mac::DefinitionError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScriptDef {
    pub(super) variables: Vec<Variable>,
    pub(super) methods: Vec<Method>,
    pub(super) auxiliaries: Vec<Auxiliary>,
    pub(super) actions: Vec<String>,
    pub(super) events: Vec<NamedEvent>,
    pub(super) conditions: Vec<NamedCondition>,
    pub(super) imported_events: Vec<ScriptEventId>,
    pub(super) imported_conditions: Vec<ConditionId>,
    pub(super) exported_events: Vec<ScriptEventId>,
    pub(super) exported_conditions: Vec<ConditionId>,
    pub(super) properties: Vec<(String, ExprId)>,
    pub(super) alarms: Vec<(String, OccurrenceId)>,
    pub(super) guards: Vec<ScriptEventId>,
    pub(super) updates: Vec<Update>,
    pub(super) exprs: Vec<(Expr, Type)>,
    pub(super) occurrences: Vec<(Occurrence, Option<Carrier>)>,
    pub(super) texts: Vec<String>,
}

/// A monitored variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variable {
    /// Its name in the script.
    pub name: String,
    /// The type.
    pub ty: Type,
}

/// A monitored method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Method {
    /// Its name in the script.
    pub name: String,
    /// The types of its parameters. `None` for an object, whose value is always undefined.
    pub parameters: Vec<Option<Type>>,
    /// The type of its result, if it is a [`Type`].
    pub result: Option<Type>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Auxiliary {
    pub(super) name: String,
    pub(super) ty: Type,
    /// A constant.
    pub(super) initial: ExprId,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct NamedEvent {
    pub(super) name: String,
    pub(super) origin: EventOrigin,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum EventOrigin {
    /// Imported, with values of these types.
    Imported(Vec<Type>),
    Defined(OccurrenceId),
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct NamedCondition {
    pub(super) name: String,
    /// `None` if it is imported.
    pub(super) definition: Option<ExprId>,
}

/// One action of a guard.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Update {
    pub(super) guard: GuardId,
    pub(super) action: GuardAction,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum GuardAction {
    Assign(AuxiliaryId, ExprId),
    Print(ExprId),
    Invoke(ActionId),
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Expr {
    Undefined,
    /// The bits of a constant; of a string, its number.
    Constant(u64),
    Variable(VariableId),
    Auxiliary {
        variable: AuxiliaryId,
        primed: bool,
    },
    Now,
    Condition(ConditionId),
    Unary(Unary, ExprId),
    Binary(Binary, ExprId, ExprId),
    Cast(ExprId),
    Choose(ExprId, ExprId, ExprId),
    Defined(ExprId),
    Inside(MethodId),
    Interval(OccurrenceId, OccurrenceId),
    Time(OccurrenceId),
    Value(OccurrenceId, u32),
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Occurrence {
    Named(ScriptEventId),
    Update(VariableId),
    StartMethod(MethodId),
    EndMethod(MethodId),
    BoundaryMethod(MethodId),
    Start(ExprId),
    End(ExprId),
    Both(OccurrenceId, OccurrenceId),
    Either(OccurrenceId, OccurrenceId),
    When(OccurrenceId, ExprId),
}

/// The primitive event whose values an event has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Carrier {
    Update(VariableId),
    Start(MethodId),
    End(MethodId),
    Imported(ScriptEventId),
}

/// Type or reference error in a definition, as a message for the user. The front end knows the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionError(pub(super) String);

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for DefinitionError {}

/// The error for a number that does not belong to this script.
pub(super) fn foreign(noun: &str) -> DefinitionError {
    DefinitionError(format!("this {noun} does not belong to the script"))
}

impl ScriptDef {
    /// Declares a variable of the subject.
    pub fn variable(&mut self, name: &str, ty: Type) -> VariableId {
        self.variables.push(Variable { name: name.to_owned(), ty });
        VariableId(self.variables.len() as u32 - 1)
    }

    /// Declares a method of the subject.
    pub fn method(&mut self, name: &str, parameters: &[Option<Type>], result: Option<Type>) -> MethodId {
        self.methods.push(Method { name: name.to_owned(), parameters: parameters.to_vec(), result });
        MethodId(self.methods.len() as u32 - 1)
    }

    /// Declares an auxiliary variable with an initial value.
    ///
    /// [`Value::Undefined`] is the initial value of variables that the script does not initialize.
    pub fn auxiliary(
        &mut self,
        name: &str,
        ty: Type,
        initial: Value<'_>,
    ) -> Result<AuxiliaryId, DefinitionError> {
        let value = self.constant(initial);
        let initial = if matches!(initial, Value::Undefined) { value } else { self.fitted(ty, value, name)? };
        self.auxiliaries.push(Auxiliary { name: name.to_owned(), ty, initial });
        Ok(AuxiliaryId(self.auxiliaries.len() as u32 - 1))
    }

    /// Declares an action that guards can invoke.
    pub fn action(&mut self, name: &str) -> ActionId {
        self.actions.push(name.to_owned());
        ActionId(self.actions.len() as u32 - 1)
    }

    /// Imports an event with values of these types.
    ///
    /// A value of another type is converted like a cast, and undefined if there is no such cast.
    pub fn import_event(&mut self, name: &str, values: &[Type]) -> ScriptEventId {
        self.events
            .push(NamedEvent { name: name.to_owned(), origin: EventOrigin::Imported(values.to_vec()) });
        let id = ScriptEventId(self.events.len() as u32 - 1);
        self.imported_events.push(id);
        id
    }

    /// Imports a condition. It is undefined until a group contains it.
    pub fn import_condition(&mut self, name: &str) -> ConditionId {
        self.conditions.push(NamedCondition { name: name.to_owned(), definition: None });
        let id = ConditionId(self.conditions.len() as u32 - 1);
        self.imported_conditions.push(id);
        id
    }

    /// Defines a named event.
    pub fn define_event(
        &mut self,
        name: &str,
        event: OccurrenceId,
    ) -> Result<ScriptEventId, DefinitionError> {
        self.carrier(event)?;
        self.events.push(NamedEvent { name: name.to_owned(), origin: EventOrigin::Defined(event) });
        Ok(ScriptEventId(self.events.len() as u32 - 1))
    }

    /// Defines a named condition.
    pub fn define_condition(
        &mut self,
        name: &str,
        condition: ExprId,
    ) -> Result<ConditionId, DefinitionError> {
        self.expect_condition(condition, name)?;
        self.conditions.push(NamedCondition { name: name.to_owned(), definition: Some(condition) });
        Ok(ConditionId(self.conditions.len() as u32 - 1))
    }

    /// Exports an event. Exports are numbered from 0 in the order of these calls.
    pub fn export_event(&mut self, event: ScriptEventId) -> Result<(), DefinitionError> {
        self.events.get(event.at()).ok_or_else(|| foreign("event"))?;
        if !self.exported_events.contains(&event) {
            self.exported_events.push(event);
        }
        Ok(())
    }

    /// Exports a condition. Exports are numbered from 0 in the order of these calls.
    pub fn export_condition(&mut self, condition: ConditionId) -> Result<(), DefinitionError> {
        self.conditions.get(condition.at()).ok_or_else(|| foreign("condition"))?;
        if !self.exported_conditions.contains(&condition) {
            self.exported_conditions.push(condition);
        }
        Ok(())
    }

    /// Adds a property: a condition that must always hold. Properties are numbered from 0.
    pub fn property(&mut self, name: &str, condition: ExprId) -> Result<u32, DefinitionError> {
        self.expect_condition(condition, name)?;
        self.properties.push((name.to_owned(), condition));
        Ok(self.properties.len() as u32 - 1)
    }

    /// Adds an alarm: an event that must never occur. Alarms are numbered from 0.
    pub fn alarm(&mut self, name: &str, event: OccurrenceId) -> Result<u32, DefinitionError> {
        self.carrier(event)?;
        self.alarms.push((name.to_owned(), event));
        Ok(self.alarms.len() as u32 - 1)
    }

    /// Adds a guard, whose actions run whenever an event occurs.
    ///
    /// If several guards set one variable at the same instant, the last one wins.
    pub fn guard(&mut self, event: OccurrenceId) -> Result<GuardId, DefinitionError> {
        self.carrier(event)?;
        let event = match self.occurrences[event.at()].0 {
            Occurrence::Named(event) => event,
            // Name the event, so that it reads auxiliary variables like other events.
            _ => self.define_event(&format!("guard {}", self.guards.len() + 1), event)?,
        };
        self.guards.push(event);
        Ok(GuardId(self.guards.len() as u32 - 1))
    }

    /// Adds an assignment to a guard.
    ///
    /// Numbers are converted like a cast; check [`Type::widens_to`] to detect loss of precision.
    pub fn assign(&mut self, guard: GuardId, to: AuxiliaryId, value: ExprId) -> Result<(), DefinitionError> {
        let variable = self.auxiliaries.get(to.at()).ok_or_else(|| foreign("variable"))?;
        let (ty, name) = (variable.ty, variable.name.clone());
        let value = self.fitted(ty, value, &name)?;
        self.update(guard, GuardAction::Assign(to, value))
    }

    /// Adds a print action to a guard.
    pub fn print(&mut self, guard: GuardId, value: ExprId) -> Result<(), DefinitionError> {
        self.type_of(value)?;
        self.update(guard, GuardAction::Print(value))
    }

    /// Adds the invocation of an action to a guard.
    pub fn invoke(&mut self, guard: GuardId, action: ActionId) -> Result<(), DefinitionError> {
        self.actions.get(action.at()).ok_or_else(|| foreign("action"))?;
        self.update(guard, GuardAction::Invoke(action))
    }

    fn update(&mut self, guard: GuardId, action: GuardAction) -> Result<(), DefinitionError> {
        self.guards.get(guard.at()).ok_or_else(|| foreign("guard"))?;
        self.updates.push(Update { guard, action });
        Ok(())
    }

    /// Whether some definition uses the time.
    pub fn uses_time(&self) -> bool {
        self.exprs.iter().any(|(expr, _)| matches!(expr, Expr::Now | Expr::Time(_)))
    }

    /// Whether some guard prints.
    pub fn prints(&self) -> bool {
        self.updates.iter().any(|update| matches!(update.action, GuardAction::Print(_)))
    }

    /// Whether some definition refers to the entry of a method, and whether some refers to its exit.
    pub fn observed_boundaries(&self, method: MethodId) -> (bool, bool) {
        let mut observed_boundaries = (false, false);
        for (occurrence, _) in &self.occurrences {
            match occurrence {
                Occurrence::StartMethod(of) if *of == method => observed_boundaries.0 = true,
                Occurrence::EndMethod(of) if *of == method => observed_boundaries.1 = true,
                Occurrence::BoundaryMethod(of) if *of == method => observed_boundaries = (true, true),
                _ => {}
            }
        }
        if self.exprs.iter().any(|(expr, _)| matches!(expr, Expr::Inside(of) if *of == method)) {
            observed_boundaries = (true, true);
        }
        observed_boundaries
    }

    /// The variables, by number.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The methods, by number.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The names of the actions, by number.
    pub fn actions(&self) -> &[String] {
        &self.actions
    }

    /// The names of the exports, by their numbers in groups.
    pub fn exports(&self) -> Interface {
        self.interface(&self.exported_events, &self.exported_conditions)
    }

    /// The names of the imports, by their numbers in groups.
    pub fn imports(&self) -> Interface {
        self.interface(&self.imported_events, &self.imported_conditions)
    }

    fn interface(&self, events: &[ScriptEventId], conditions: &[ConditionId]) -> Interface {
        Interface {
            events: events.iter().map(|id| self.events[id.at()].name.clone()).collect(),
            conditions: conditions.iter().map(|id| self.conditions[id.at()].name.clone()).collect(),
        }
    }
}
