//! Validation of models: whether their parts are consistent.

use crate::action::{Action, Statement};
use crate::expression::{Expression, LValue};
use crate::model::{InvalidModelError, ModelParts};
use crate::variable::Domain;

/// Maximum number of outcomes of one action.
const MAX_OUTCOMES: u64 = 1 << 16;

pub(crate) fn check_parts(parts: &ModelParts) -> Result<(), InvalidModelError> {
    for variable in &parts.variables {
        let name = &variable.name;
        let (low, high) = variable.domain.range();
        if low > high {
            return Err(InvalidModelError(format!(
                "the range of variable `{name}` is empty: {low} to {high}"
            )));
        }
        if high.checked_sub(low).is_none() {
            return Err(InvalidModelError(format!("the range of `{name}` is too large: {low} to {high}")));
        }
        if variable.initial.len() != variable.elements() as usize {
            return Err(InvalidModelError(format!(
                "variable `{name}` needs one initial value for each element"
            )));
        }
        if let Some(value) = variable.initial.iter().find(|value| !variable.domain.holds(**value)) {
            return Err(InvalidModelError(format!(
                "the initial value {value} of variable `{name}` is out of range"
            )));
        }
    }
    for process in &parts.processes {
        let name = &process.name;
        let Some(variable) = parts.variables.get(process.location as usize) else {
            return Err(InvalidModelError(format!("process `{name}` has no variable for its location")));
        };
        let names = process.locations.iter().map(|location| &location.name);
        if variable.length.is_some() || !matches!(&variable.domain, Domain::Names(of) if of.iter().eq(names))
        {
            return Err(InvalidModelError(format!(
                "the location variable of process `{name}` must be a scalar whose values are the names of its locations"
            )));
        }
    }
    for action in &parts.actions {
        Checker { parts, describe: || format!("action `{}`", action.name), is_predicate: false }
            .action(action)?;
    }
    Checker { parts, describe: || "the start".to_owned(), is_predicate: false }.statements(&parts.start)?;
    for predicate in &parts.predicates {
        let describe = || format!("predicate `{}`", predicate.name);
        Checker { parts, describe, is_predicate: true }.expression(&predicate.expression)?;
    }
    Ok(())
}

/// Validates an expression over steps.
pub(crate) fn check_predicate(parts: &ModelParts, expression: &Expression) -> Result<(), InvalidModelError> {
    Checker { parts, describe: || "the predicate".to_owned(), is_predicate: true }.expression(expression)
}

/// Checks one part of a model.
struct Checker<'a, F> {
    parts: &'a ModelParts,
    /// Returns the part's name for messages.
    describe: F,
    is_predicate: bool,
}

impl<F: Fn() -> String> Checker<'_, F> {
    fn error<T>(&self, message: impl core::fmt::Display) -> Result<T, InvalidModelError> {
        Err(InvalidModelError(format!("{} {message}", (self.describe)())))
    }

    fn action(&self, action: &Action) -> Result<(), InvalidModelError> {
        for (at, movement) in action.moves.iter().enumerate() {
            let Some(process) = self.parts.processes.get(movement.process as usize) else {
                return self.error(format_args!("moves process {}, which does not exist", movement.process));
            };
            if [movement.from, movement.to]
                .iter()
                .any(|location| *location as usize >= process.locations.len())
            {
                return self
                    .error(format_args!("moves `{}` between locations that do not exist", process.name));
            }
            if action.moves[..at].iter().any(|other| other.process == movement.process) {
                return self.error(format_args!("moves `{}` twice", process.name));
            }
        }
        self.expression(&action.guard)?;
        self.statements(&action.effect)?;
        for (name, value) in &action.parameters {
            let describe = || format!("parameter `{name}` of action `{}`", action.name);
            Checker { parts: self.parts, describe, is_predicate: true }.expression(value)?;
        }
        Ok(())
    }

    fn statements(&self, statements: &[Statement]) -> Result<(), InvalidModelError> {
        let mut outcomes: u64 = 1;
        for statement in statements {
            if let Statement::Choose { low, high, .. } = statement {
                let values =
                    high.checked_sub(*low).and_then(|span| u64::try_from(span).ok()).map(|span| span + 1);
                outcomes = values.and_then(|values| outcomes.checked_mul(values)).unwrap_or(u64::MAX);
            }
            self.statement(statement, true)?;
        }
        if outcomes > MAX_OUTCOMES {
            return self.error(format_args!("has more than {MAX_OUTCOMES} outcomes, or an empty choice"));
        }
        Ok(())
    }

    fn statement(&self, statement: &Statement, is_top_level: bool) -> Result<(), InvalidModelError> {
        match statement {
            Statement::Assign { place, value, wraps } => {
                self.place(place)?;
                self.expression(value)?;
                let variable = &self.parts.variables[place.variable as usize];
                let (low, high) = variable.domain.range();
                let span = high.wrapping_sub(low) as u64;
                // Array elements occupy a power-of-two number of bits.
                let bits = u64::BITS - span.leading_zeros();
                let has_spare_bits = variable.length.is_some() && bits > 0 && !bits.is_power_of_two();
                if *wraps && (span & span.wrapping_add(1) != 0 || has_spare_bits) {
                    return self.error("wraps a variable whose range does not fill its bits");
                }
                Ok(())
            }
            Statement::Choose { .. } if !is_top_level => self.error("makes a choice inside an `if`"),
            Statement::Choose { place, .. } => self.place(place),
            Statement::Require(condition) | Statement::Assert { condition, .. } => self.expression(condition),
            Statement::If { condition, then, otherwise } => {
                self.expression(condition)?;
                then.iter().chain(otherwise).try_for_each(|inside| self.statement(inside, false))
            }
        }
    }

    fn place(&self, place: &LValue) -> Result<(), InvalidModelError> {
        self.variable(place)?;
        place.index.iter().try_for_each(|index| self.expression(index))
    }

    /// Checks that the variable exists, and has an index if and only if it is an array. Does not check the index.
    fn variable(&self, place: &LValue) -> Result<(), InvalidModelError> {
        let count = self.parts.variables.len();
        let Some(variable) = self.parts.variables.get(place.variable as usize) else {
            return self.error(format_args!(
                "uses variable {}, but the number of variables is {count}",
                place.variable
            ));
        };
        let name = &variable.name;
        match (variable.length, &place.index) {
            (None, Some(_)) => self.error(format_args!("indexes `{name}`, which is not an array")),
            (Some(_), None) => self.error(format_args!("uses the array `{name}` without an index")),
            _ => Ok(()),
        }
    }

    fn expression(&self, expression: &Expression) -> Result<(), InvalidModelError> {
        let mut found = Ok(());
        expression.visit(&mut |inside| {
            if found.is_err() {
                return;
            }
            found = match inside {
                // The index is visited separately.
                Expression::Read(place) => self.variable(place),
                Expression::Happens(actions) | Expression::Enabled(actions) => {
                    let count = self.parts.actions.len();
                    if !self.is_predicate {
                        self.error("refers to actions, which only predicates can do")
                    } else if !actions.is_sorted_by(|a, b| a < b) {
                        self.error("lists actions out of order")
                    } else if actions.last().is_some_and(|last| *last as usize >= count) {
                        self.error("refers to an action that does not exist")
                    } else {
                        Ok(())
                    }
                }
                Expression::Before(_) if !self.is_predicate => {
                    self.error("refers to the previous state, which only predicates can do")
                }
                _ => Ok(()),
            };
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variable::Variable;

    fn error_of(guard: Expression, effect: Vec<Statement>) -> Option<String> {
        let parts = ModelParts {
            variables: vec![
                Variable::scalar("busy", Domain::Boolean, 0),
                Variable::array("slot", Domain::Boolean, vec![0; 2]),
            ],
            actions: vec![Action { guard, effect, ..Action::named("go") }],
            ..ModelParts::default()
        };
        check_parts(&parts).err().map(|error| error.0)
    }

    #[test]
    fn index_without_array_and_array_without_index_are_rejected() {
        let scalar = || LValue::scalar(0);
        let element = || LValue { index: Some(Box::new(Expression::Constant(0))), ..LValue::scalar(0) };
        let array = || LValue::scalar(1);
        let no_array = Some("action `go` indexes `busy`, which is not an array".to_owned());
        let no_index = Some("action `go` uses the array `slot` without an index".to_owned());
        let truth = || Expression::Constant(1);
        let assign = |place| vec![Statement::Assign { place, value: truth(), wraps: false }];
        for (place, error) in [(scalar(), None), (element(), no_array), (array(), no_index)] {
            assert_eq!(error_of(Expression::Read(place.clone()), vec![]), error, "read of {place:?}");
            assert_eq!(error_of(truth(), assign(place.clone())), error, "assignment to {place:?}");
        }
        // The index of an element is an expression, too.
        let index = Some(Box::new(Expression::Read(element())));
        let nested = Expression::Read(LValue { index, ..array() });
        assert_eq!(
            error_of(nested, vec![]).as_deref(),
            Some("action `go` indexes `busy`, which is not an array")
        );
    }
}
