//! Acceptance conditions.
//!
//! A condition without `Fin` is converted to conjunctive normal form. A clause is met if some of its sets is visited
//! infinitely often, that is, if their union is; so each clause becomes one acceptance set.

use super::ReadError;
use super::expression::{self, PostfixItem};
use super::scan::{Scanner, Token};
use crate::automaton::{MAX_SETS, Marks};
use crate::{Budget, TooLarge};

/// Union of sets and of complements of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clause {
    sets: Marks,
    complements: Marks,
}

/// Conjunction of clauses: each union is visited infinitely often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Condition(Vec<Clause>);

impl Condition {
    /// Returns the number of acceptance sets of the automaton.
    pub(super) fn sets(&self) -> u32 {
        self.0.len() as u32
    }

    /// Returns the marks of an edge that is in these sets of the text.
    pub(super) fn marks(&self, sets: Marks) -> Marks {
        let inside = |clause: &Clause| clause.sets & sets != 0 || clause.complements & !sets != 0;
        self.0
            .iter()
            .enumerate()
            .filter(|(_, clause)| inside(clause))
            .fold(0, |marks, (at, _)| marks | 1 << at)
    }

    /// Adds a clause. Clauses that contain another clause are redundant.
    fn add(&mut self, clause: Clause) -> Result<(), TooLarge> {
        let contains = |large: &Clause, small: &Clause| {
            small.sets & !large.sets == 0 && small.complements & !large.complements == 0
        };
        if !self.0.iter().any(|known| contains(&clause, known)) {
            self.0.retain(|known| !contains(known, &clause));
            self.0.push(clause);
        }
        Budget::check("acceptance sets", self.0.len(), MAX_SETS as usize)
    }

    fn and(mut self, other: Condition) -> Result<Condition, TooLarge> {
        other.0.into_iter().try_for_each(|clause| self.add(clause))?;
        Ok(self)
    }

    fn or(&self, other: &Condition) -> Result<Condition, TooLarge> {
        let mut either = Condition::default();
        for a in &self.0 {
            for b in &other.0 {
                either.add(Clause { sets: a.sets | b.sets, complements: a.complements | b.complements })?;
            }
        }
        Ok(either)
    }
}

/// Parses a condition and the number of declared sets.
pub(super) fn read(scanner: &mut Scanner<'_>) -> Result<(Condition, u32), ReadError> {
    let sets = scanner.expect_number("the number of acceptance sets")?;
    Budget::check("acceptance sets", sets as usize, MAX_SETS as usize)?;
    let items = expression::read(scanner, false, |scanner| atom(scanner, sets))?;
    let mut stack: Vec<Condition> = Vec::new();
    for item in items {
        let value = match item {
            PostfixItem::Operand(condition) => condition,
            PostfixItem::Not => continue,
            PostfixItem::And | PostfixItem::Or => {
                let (right, left) = (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                if item == PostfixItem::And { left.and(right)? } else { left.or(&right)? }
            }
        };
        stack.push(value);
    }
    Ok((stack.pop().unwrap_or_default(), sets))
}

fn atom(scanner: &mut Scanner<'_>, sets: u32) -> Result<Condition, ReadError> {
    let bottom = Clause { sets: 0, complements: 0 };
    match scanner.token() {
        Token::Identifier("Inf") => {}
        Token::Identifier("t") => {
            scanner.advance()?;
            return Ok(Condition::default());
        }
        Token::Identifier("f") => {
            scanner.advance()?;
            return Ok(Condition(vec![bottom]));
        }
        Token::Identifier("Fin") => {
            return scanner.error(
                "acceptance with `Fin` (co-Büchi, Rabin, Streett, parity) is not supported; \
                 convert the automaton to generalised Büchi acceptance first",
            );
        }
        _ => return scanner.expected("an acceptance condition: `Inf(…)`, `t` or `f`"),
    }
    scanner.advance()?;
    scanner.expect_sign('(')?;
    let complement = scanner.take_sign('!')?;
    let set = self::set(scanner, sets)?;
    scanner.expect_sign(')')?;
    Ok(Condition(vec![match complement {
        false => Clause { sets: set, ..bottom },
        true => Clause { complements: set, ..bottom },
    }]))
}

/// Parses the number of a set.
pub(super) fn set(scanner: &mut Scanner<'_>, sets: u32) -> Result<Marks, ReadError> {
    match *scanner.token() {
        Token::Number(number) if number < sets => {
            scanner.advance()?;
            Ok(1 << number)
        }
        Token::Number(number) => {
            scanner.error(format!("unknown acceptance set {number}: {sets} are declared"))
        }
        _ => scanner.expected("the number of an acceptance set"),
    }
}
