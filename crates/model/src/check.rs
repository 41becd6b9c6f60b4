//! Whether the parts of a model fit together.

use crate::action::{Action, Statement};
use crate::expression::{Expression, Place};
use crate::model::{Mistake, Parts};
use crate::variable::Kind;

/// How many ways one action may make its choices.
const MAX_OUTCOMES: u64 = 1 << 16;

pub(crate) fn parts(parts: &Parts) -> Result<(), Mistake> {
    for variable in &parts.variables {
        let name = &variable.name;
        let (low, high) = variable.kind.range();
        if low > high {
            return Err(Mistake(format!("variable `{name}` can hold nothing: {low} to {high}")));
        }
        if high.checked_sub(low).is_none() {
            return Err(Mistake(format!("the range of `{name}` is too large: {low} to {high}")));
        }
        if variable.initial.len() != variable.elements() as usize {
            return Err(Mistake(format!("variable `{name}` has not one first value for each element")));
        }
        if let Some(value) = variable.initial.iter().find(|value| !variable.kind.holds(**value)) {
            return Err(Mistake(format!("variable `{name}` cannot hold its first value {value}")));
        }
    }
    for process in &parts.processes {
        let name = &process.name;
        let Some(variable) = parts.variables.get(process.location as usize) else {
            return Err(Mistake(format!("process `{name}` has no variable for its location")));
        };
        let names = process.locations.iter().map(|location| &location.name);
        if variable.length.is_some() || !matches!(&variable.kind, Kind::Names(of) if of.iter().eq(names)) {
            return Err(Mistake(format!("the locations of process `{name}` are not those of its variable")));
        }
    }
    for action in &parts.actions {
        Checked { parts, of: || format!("action `{}`", action.name), is_predicate: false }.action(action)?;
    }
    Checked { parts, of: || "the start".to_owned(), is_predicate: false }.statements(&parts.start)?;
    for predicate in &parts.predicates {
        let of = || format!("predicate `{}`", predicate.name);
        Checked { parts, of, is_predicate: true }.expression(&predicate.expression)?;
    }
    Ok(())
}

/// Checks an expression over steps.
pub(crate) fn predicate(parts: &Parts, expression: &Expression) -> Result<(), Mistake> {
    Checked { parts, of: || "the predicate".to_owned(), is_predicate: true }.expression(expression)
}

struct Checked<'a, F> {
    parts: &'a Parts,
    of: F,
    is_predicate: bool,
}

impl<F: Fn() -> String> Checked<'_, F> {
    fn mistake<T>(&self, words: impl core::fmt::Display) -> Result<T, Mistake> {
        Err(Mistake(format!("{} {words}", (self.of)())))
    }

    fn action(&self, action: &Action) -> Result<(), Mistake> {
        for (at, by) in action.moves.iter().enumerate() {
            let Some(process) = self.parts.processes.get(by.process as usize) else {
                return self.mistake(format_args!("moves process {}, which there is not", by.process));
            };
            if [by.from, by.to].iter().any(|location| *location as usize >= process.locations.len()) {
                return self
                    .mistake(format_args!("moves `{}` between places it does not have", process.name));
            }
            if action.moves[..at].iter().any(|other| other.process == by.process) {
                return self.mistake(format_args!("moves `{}` twice", process.name));
            }
        }
        self.expression(&action.guard)?;
        self.statements(&action.effect)?;
        for (name, value) in &action.parameters {
            let of = || format!("parameter `{name}` of action `{}`", action.name);
            Checked { parts: self.parts, of, is_predicate: true }.expression(value)?;
        }
        Ok(())
    }

    fn statements(&self, statements: &[Statement]) -> Result<(), Mistake> {
        let mut outcomes: u64 = 1;
        for statement in statements {
            if let Statement::Choose { low, high, .. } = statement {
                let ways =
                    high.checked_sub(*low).and_then(|span| u64::try_from(span).ok()).map(|span| span + 1);
                outcomes = ways.and_then(|ways| outcomes.checked_mul(ways)).unwrap_or(u64::MAX);
            }
            self.statement(statement, true)?;
        }
        if outcomes > MAX_OUTCOMES {
            return self
                .mistake(format_args!("has more than {MAX_OUTCOMES} outcomes, or a choice of nothing"));
        }
        Ok(())
    }

    fn statement(&self, statement: &Statement, is_outside: bool) -> Result<(), Mistake> {
        match statement {
            Statement::Assign { place, value, wraps } => {
                self.place(place)?;
                self.expression(value)?;
                let variable = &self.parts.variables[place.variable as usize];
                let (low, high) = variable.kind.range();
                let span = high.wrapping_sub(low) as u64;
                // Elements of arrays take a power of two of bits.
                let bits = u64::BITS - span.leading_zeros();
                let has_spare_bits = variable.length.is_some() && bits > 0 && !bits.is_power_of_two();
                if *wraps && (span & span.wrapping_add(1) != 0 || has_spare_bits) {
                    return self.mistake("lets a variable wrap whose range does not fill its bits");
                }
                Ok(())
            }
            Statement::Choose { .. } if !is_outside => self.mistake("makes a choice under a condition"),
            Statement::Choose { place, .. } => self.place(place),
            Statement::Require(condition) | Statement::Assert { condition, .. } => self.expression(condition),
            Statement::If { condition, then, otherwise } => {
                self.expression(condition)?;
                then.iter().chain(otherwise).try_for_each(|inside| self.statement(inside, false))
            }
        }
    }

    fn place(&self, place: &Place) -> Result<(), Mistake> {
        let count = self.parts.variables.len();
        let Some(variable) = self.parts.variables.get(place.variable as usize) else {
            return self.mistake(format_args!("reads variable {}, and there are {count}", place.variable));
        };
        if variable.length.is_some() != place.index.is_some() {
            return self.mistake(format_args!(
                "takes `{}` for what it is not: array or single value",
                variable.name
            ));
        }
        place.index.iter().try_for_each(|index| self.expression(index))
    }

    fn expression(&self, expression: &Expression) -> Result<(), Mistake> {
        let mut found = Ok(());
        expression.visit(&mut |inside| {
            if found.is_err() {
                return;
            }
            found = match inside {
                // The index is visited by itself.
                Expression::Read(place) => match self.parts.variables.get(place.variable as usize) {
                    Some(variable) if variable.length.is_some() == place.index.is_some() => Ok(()),
                    _ => self.place(&Place { variable: place.variable, index: None }),
                },
                Expression::Happens(actions) | Expression::Enabled(actions) => {
                    let count = self.parts.actions.len();
                    if !self.is_predicate {
                        self.mistake("looks at actions")
                    } else if !actions.is_sorted_by(|a, b| a < b) {
                        self.mistake("lists actions out of order")
                    } else if actions.last().is_some_and(|last| *last as usize >= count) {
                        self.mistake("looks at an action that there is not")
                    } else {
                        Ok(())
                    }
                }
                Expression::Before(_) if !self.is_predicate => self.mistake("looks at an earlier state"),
                _ => Ok(()),
            };
        });
        found
    }
}
