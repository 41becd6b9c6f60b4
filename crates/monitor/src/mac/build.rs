//! Construction of expressions and event expressions, with Java's typing rules.

use super::ids::*;
use super::script_def::{Carrier, DefinitionError, EventOrigin, Expr, Occurrence, ScriptDef, foreign};
use super::{Binary, Type, Unary, Value};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;

/// Expressions. One of type [`Type::Boolean`] is a condition.
impl ScriptDef {
    /// A constant. [`Value::Undefined`] is a condition that is always undefined.
    pub fn constant(&mut self, value: Value<'_>) -> ExprId {
        let bits = match value {
            Value::Undefined => return self.expr(Expr::Undefined, Type::Boolean),
            Value::String(v) => {
                self.texts.push(v.to_owned());
                self.texts.len() as u64 - 1
            }
            plain => plain.bits(),
        };
        self.expr(Expr::Constant(bits), value.ty().unwrap_or(Type::Boolean))
    }

    /// The value of a monitored variable.
    pub fn read(&mut self, variable: VariableId) -> Result<ExprId, DefinitionError> {
        let ty = self.variables.get(variable.at()).ok_or_else(|| foreign("variable"))?.ty;
        Ok(self.expr(Expr::Variable(variable), ty))
    }

    /// The value of an auxiliary variable, without a prime.
    ///
    /// On the right side of a guard it is the value before the instant. In definitions, properties and alarms
    /// it is the value after the guards of the instant, unless these guards depend on the definition; then it
    /// is the value before the instant.
    pub fn unprimed(&mut self, variable: AuxiliaryId) -> Result<ExprId, DefinitionError> {
        self.aux(variable, false)
    }

    /// The value of an auxiliary variable after the guards of the instant: `x'`.
    pub fn primed(&mut self, variable: AuxiliaryId) -> Result<ExprId, DefinitionError> {
        self.aux(variable, true)
    }

    fn aux(&mut self, variable: AuxiliaryId, primed: bool) -> Result<ExprId, DefinitionError> {
        let ty = self.auxiliaries.get(variable.at()).ok_or_else(|| foreign("variable"))?.ty;
        Ok(self.expr(Expr::Auxiliary { variable, primed }, ty))
    }

    /// `currentTime`: the time of the instant in milliseconds, a `long`.
    pub fn now(&mut self) -> ExprId {
        self.expr(Expr::Now, Type::Long)
    }

    /// The value of a named condition.
    pub fn condition(&mut self, condition: ConditionId) -> Result<ExprId, DefinitionError> {
        self.conditions.get(condition.at()).ok_or_else(|| foreign("condition"))?;
        Ok(self.expr(Expr::Condition(condition), Type::Boolean))
    }

    /// A unary operator.
    pub fn unary(&mut self, operator: Unary, operand: ExprId) -> Result<ExprId, DefinitionError> {
        let ty = self.type_of(operand)?;
        let (fits, needs) = match operator {
            Unary::Plus | Unary::Minus => (ty.is_number(), "a number"),
            Unary::Complement => (ty.is_whole(), "an integer"),
            Unary::Not => (ty == Type::Boolean, "a condition"),
        };
        if !fits {
            return Err(DefinitionError(format!("`{}` needs {needs}, got {ty}", operator.word())));
        }
        Ok(self.expr(Expr::Unary(operator, operand), ty.promoted()))
    }

    /// A binary operator.
    pub fn binary(
        &mut self,
        operator: Binary,
        left: ExprId,
        right: ExprId,
    ) -> Result<ExprId, DefinitionError> {
        let (a, b) = (self.type_of(left)?, self.type_of(right)?);
        let ty = binary_type(operator, a, b)?;
        Ok(self.expr(Expr::Binary(operator, left, right), ty))
    }

    /// A cast to another type, as in `(int) x`.
    pub fn cast(&mut self, ty: Type, operand: ExprId) -> Result<ExprId, DefinitionError> {
        let from = self.type_of(operand)?;
        if from == ty {
            return Ok(operand);
        }
        if !from.is_number() || !ty.is_number() {
            return Err(DefinitionError(format!("{from} cannot be cast to {ty}")));
        }
        Ok(self.expr(Expr::Cast(operand), ty))
    }

    /// `condition ? left : right`, undefined where the condition is.
    pub fn choose(
        &mut self,
        condition: ExprId,
        left: ExprId,
        right: ExprId,
    ) -> Result<ExprId, DefinitionError> {
        self.expect_condition(condition, "?:")?;
        let (a, b) = (self.type_of(left)?, self.type_of(right)?);
        let ty = match (a, b) {
            _ if a == b => a,
            _ if a.is_number() && b.is_number() => a.promoted_with(b),
            _ => {
                return Err(DefinitionError(format!(
                    "the branches of `?:` have no common type: {a} and {b}"
                )));
            }
        };
        let (left, right) = (self.cast(ty, left)?, self.cast(ty, right)?);
        Ok(self.expr(Expr::Choose(condition, left, right), ty))
    }

    /// `defined(e)`: whether an expression has a value.
    pub fn defined(&mut self, operand: ExprId) -> Result<ExprId, DefinitionError> {
        self.type_of(operand)?;
        Ok(self.expr(Expr::Defined(operand), Type::Boolean))
    }

    /// `InM(f)`: whether some thread is executing a method, at any depth. Initially false.
    pub fn inside(&mut self, method: MethodId) -> Result<ExprId, DefinitionError> {
        self.methods.get(method.at()).ok_or_else(|| foreign("method"))?;
        Ok(self.expr(Expr::Inside(method), Type::Boolean))
    }

    /// `[begin, end)`: whether `begin` has occurred and `end` has not occurred since or at the same instant.
    pub fn interval(&mut self, begin: OccurrenceId, end: OccurrenceId) -> Result<ExprId, DefinitionError> {
        self.carrier(begin)?;
        self.carrier(end)?;
        Ok(self.expr(Expr::Interval(begin, end), Type::Boolean))
    }

    /// `time(e)`: the time of the last occurrence, a `long` in milliseconds; undefined before the first.
    pub fn time(&mut self, event: OccurrenceId) -> Result<ExprId, DefinitionError> {
        self.carrier(event)?;
        Ok(self.expr(Expr::Time(event), Type::Long))
    }

    /// `value(e, index)`: a value of the last occurrence of an event; undefined before the first.
    pub fn value(&mut self, event: OccurrenceId, index: u32) -> Result<ExprId, DefinitionError> {
        let types = self.values_of(event)?;
        match types.get(index as usize) {
            Some(Some(ty)) => Ok(self.expr(Expr::Value(event, index), *ty)),
            Some(None) => Err(DefinitionError(format!(
                "value {index} of this event is an object, which cannot be monitored"
            ))),
            None if types.is_empty() => Err(DefinitionError("this event has no values".into())),
            None => {
                let (count, plural) = (types.len(), if types.len() == 1 { "" } else { "s" });
                let message = format!(
                    "this event has {count} value{plural}, numbered from 0: there is no value {index}"
                );
                Err(DefinitionError(message))
            }
        }
    }

    /// The type of an expression.
    pub fn type_of(&self, expr: ExprId) -> Result<Type, DefinitionError> {
        self.exprs.get(expr.at()).map(|(_, ty)| *ty).ok_or_else(|| foreign("expression"))
    }

    pub(super) fn expect_condition(&self, expr: ExprId, construct: &str) -> Result<(), DefinitionError> {
        match self.type_of(expr)? {
            Type::Boolean => Ok(()),
            ty => Err(DefinitionError(format!("`{construct}` needs a condition, got {ty}"))),
        }
    }

    /// Converts a value to the type `ty` of a variable.
    pub(super) fn fitted(&mut self, ty: Type, value: ExprId, name: &str) -> Result<ExprId, DefinitionError> {
        let from = self.type_of(value)?;
        self.cast(ty, value)
            .map_err(|_| DefinitionError(format!("`{name}` has type {ty}, but the value has type {from}")))
    }

    fn expr(&mut self, expr: Expr, ty: Type) -> ExprId {
        self.exprs.push((expr, ty));
        ExprId(self.exprs.len() as u32 - 1)
    }
}

/// Event expressions.
impl ScriptDef {
    /// A named event.
    pub fn event(&mut self, event: ScriptEventId) -> Result<OccurrenceId, DefinitionError> {
        let named = self.events.get(event.at()).ok_or_else(|| foreign("event"))?;
        let carrier = match named.origin {
            EventOrigin::Imported(_) => Some(Carrier::Imported(event)),
            EventOrigin::Defined(definition) => self.carrier(definition)?,
        };
        Ok(self.occurrence(Occurrence::Named(event), carrier))
    }

    /// `update(x)`: a monitored variable is assigned. The value of the event is the new value.
    pub fn update_of(&mut self, variable: VariableId) -> Result<OccurrenceId, DefinitionError> {
        self.variables.get(variable.at()).ok_or_else(|| foreign("variable"))?;
        Ok(self.occurrence(Occurrence::Update(variable), Some(Carrier::Update(variable))))
    }

    /// `startM(f)`: a method is entered. The values of the event are the arguments.
    pub fn start_of(&mut self, method: MethodId) -> Result<OccurrenceId, DefinitionError> {
        self.methods.get(method.at()).ok_or_else(|| foreign("method"))?;
        Ok(self.occurrence(Occurrence::StartMethod(method), Some(Carrier::Start(method))))
    }

    /// `endM(f)`: a method is left. The values of the event are the arguments and the result.
    pub fn end_of(&mut self, method: MethodId) -> Result<OccurrenceId, DefinitionError> {
        self.methods.get(method.at()).ok_or_else(|| foreign("method"))?;
        Ok(self.occurrence(Occurrence::EndMethod(method), Some(Carrier::End(method))))
    }

    /// `IOM(f)`: a method is entered or left. Like `startM(f) || endM(f)`, it has no values.
    pub fn boundary_of(&mut self, method: MethodId) -> Result<OccurrenceId, DefinitionError> {
        self.methods.get(method.at()).ok_or_else(|| foreign("method"))?;
        Ok(self.occurrence(Occurrence::BoundaryMethod(method), None))
    }

    /// `start(c)`: a condition becomes true.
    pub fn start(&mut self, condition: ExprId) -> Result<OccurrenceId, DefinitionError> {
        self.expect_condition(condition, "start")?;
        Ok(self.occurrence(Occurrence::Start(condition), None))
    }

    /// `end(c)`: a condition that was true is no longer true.
    pub fn end(&mut self, condition: ExprId) -> Result<OccurrenceId, DefinitionError> {
        self.expect_condition(condition, "end")?;
        Ok(self.occurrence(Occurrence::End(condition), None))
    }

    /// `a && b`: both occur at the same instant.
    pub fn both(&mut self, left: OccurrenceId, right: OccurrenceId) -> Result<OccurrenceId, DefinitionError> {
        self.carrier(left)?;
        self.carrier(right)?;
        Ok(self.occurrence(Occurrence::Both(left, right), None))
    }

    /// `a || b`: at least one occurs.
    pub fn either(
        &mut self,
        left: OccurrenceId,
        right: OccurrenceId,
    ) -> Result<OccurrenceId, DefinitionError> {
        self.carrier(left)?;
        self.carrier(right)?;
        Ok(self.occurrence(Occurrence::Either(left, right), None))
    }

    /// `e when c`: an event occurs at an instant at which a condition is true. It has the values of `e`.
    pub fn when(&mut self, event: OccurrenceId, condition: ExprId) -> Result<OccurrenceId, DefinitionError> {
        let carrier = self.carrier(event)?;
        self.expect_condition(condition, "when")?;
        Ok(self.occurrence(Occurrence::When(event, condition), carrier))
    }

    /// The types of the values of an event; `None` for objects, which are not monitored.
    ///
    /// `&&`, `||`, `start` and `end` have no values.
    pub fn values_of(&self, event: OccurrenceId) -> Result<Vec<Option<Type>>, DefinitionError> {
        let Some(carrier) = self.carrier(event)? else { return Ok(Vec::new()) };
        Ok(self.carried(carrier))
    }

    pub(super) fn carried(&self, carrier: Carrier) -> Vec<Option<Type>> {
        match carrier {
            Carrier::Update(variable) => alloc::vec![Some(self.variables[variable.at()].ty)],
            Carrier::Start(method) => self.methods[method.at()].parameters.clone(),
            Carrier::End(method) => {
                let method = &self.methods[method.at()];
                let result = method.result.map(Some);
                method.parameters.iter().copied().chain(result).collect()
            }
            Carrier::Imported(event) => match &self.events[event.at()].origin {
                EventOrigin::Imported(types) => types.iter().copied().map(Some).collect(),
                EventOrigin::Defined(_) => Vec::new(),
            },
        }
    }

    pub(super) fn carrier(&self, event: OccurrenceId) -> Result<Option<Carrier>, DefinitionError> {
        self.occurrences.get(event.at()).map(|(_, carrier)| *carrier).ok_or_else(|| foreign("event"))
    }

    fn occurrence(&mut self, occurrence: Occurrence, carrier: Option<Carrier>) -> OccurrenceId {
        self.occurrences.push((occurrence, carrier));
        OccurrenceId(self.occurrences.len() as u32 - 1)
    }
}

/// The type of the result of an operator in Java.
fn binary_type(operator: Binary, a: Type, b: Type) -> Result<Type, DefinitionError> {
    let numbers = a.is_number() && b.is_number();
    let whole = a.is_whole() && b.is_whole();
    let conditions = a == Type::Boolean && b == Type::Boolean;
    let (ty, needs) = match operator {
        Binary::Add if a == Type::String || b == Type::String => (Some(Type::String), ""),
        Binary::Add => (numbers.then(|| a.promoted_with(b)), "numbers or a string"),
        Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
            (numbers.then(|| a.promoted_with(b)), "numbers")
        }
        _ if operator.is_shift() => (whole.then(|| a.promoted()), "integers"),
        _ if operator.is_order() => (numbers.then_some(Type::Boolean), "numbers"),
        Binary::Equal | Binary::NotEqual => {
            ((numbers || a == b).then_some(Type::Boolean), "two numbers, two strings or two conditions")
        }
        Binary::BitAnd | Binary::BitXor | Binary::BitOr => {
            let ty = if conditions { Some(Type::Boolean) } else { whole.then(|| a.promoted_with(b)) };
            (ty, "integers or conditions")
        }
        _ => (conditions.then_some(Type::Boolean), "conditions"),
    };
    ty.ok_or_else(|| DefinitionError(format!("`{}` needs {needs}, got {a} and {b}", operator.word())))
}
