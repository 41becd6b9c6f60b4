//! Acceptance conditions. One without `Fin` can be brought into the form of this crate: a conjunction of
//! clauses, each of which asks that some of its sets be visited for ever, which is to visit their union.

use super::Stop;
use super::expression::{self, Step};
use super::scan::{Reader, Token};
use crate::automaton::{MAX_SETS, Marks};
use crate::{Budget, TooLarge};

/// A union of sets, and of complements of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clause {
    sets: Marks,
    complements: Marks,
}

/// A condition: all of these unions are visited for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Condition(Vec<Clause>);

impl Condition {
    /// How many acceptance sets the automaton has.
    pub(super) fn sets(&self) -> u32 {
        self.0.len() as u32
    }

    /// The marks of an edge that is in these sets of the text.
    pub(super) fn marks(&self, sets: Marks) -> Marks {
        let inside = |clause: &Clause| clause.sets & sets != 0 || clause.complements & !sets != 0;
        self.0
            .iter()
            .enumerate()
            .filter(|(_, clause)| inside(clause))
            .fold(0, |marks, (at, _)| marks | 1 << at)
    }

    /// One more clause. Of two clauses that contain each other only the smaller one asks for anything.
    fn add(&mut self, clause: Clause) -> Result<(), TooLarge> {
        let contains = |large: &Clause, small: &Clause| {
            small.sets & !large.sets == 0 && small.complements & !large.complements == 0
        };
        if !self.0.iter().any(|known| contains(&clause, known)) {
            self.0.retain(|known| !contains(known, &clause));
            self.0.push(clause);
        }
        Budget::allows("acceptance sets", self.0.len(), MAX_SETS as usize)
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

/// Reads a condition, and the number of sets that it declares.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(Condition, u32), Stop> {
    let sets = reader.must_number("the number of acceptance sets")?;
    Budget::allows("acceptance sets", sets as usize, MAX_SETS as usize)?;
    let steps = expression::read(reader, false, |reader| atom(reader, sets))?;
    let mut stack: Vec<Condition> = Vec::new();
    for step in steps {
        let made = match step {
            Step::Operand(condition) => condition,
            Step::Not => continue,
            Step::And | Step::Or => {
                let (right, left) = (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                if step == Step::And { left.and(right)? } else { left.or(&right)? }
            }
        };
        stack.push(made);
    }
    Ok((stack.pop().unwrap_or_default(), sets))
}

fn atom(reader: &mut Reader<'_>, sets: u32) -> Result<Condition, Stop> {
    let never = Clause { sets: 0, complements: 0 };
    match reader.token() {
        Token::Identifier("Inf") => {}
        Token::Identifier("t") => {
            reader.advance()?;
            return Ok(Condition::default());
        }
        Token::Identifier("f") => {
            reader.advance()?;
            return Ok(Condition(vec![never]));
        }
        Token::Identifier("Fin") => {
            return reader.wrong(
                "acceptance with `Fin` (co-Büchi, Rabin, Streett, parity) is not supported; \
                 convert the automaton to generalised Büchi acceptance first",
            );
        }
        _ => return reader.expected("an acceptance condition: `Inf(…)`, `t` or `f`"),
    }
    reader.advance()?;
    reader.must('(')?;
    let complement = reader.sign('!')?;
    let set = self::set(reader, sets)?;
    reader.must(')')?;
    Ok(Condition(vec![match complement {
        false => Clause { sets: set, ..never },
        true => Clause { complements: set, ..never },
    }]))
}

/// Reads the number of a set.
pub(super) fn set(reader: &mut Reader<'_>, sets: u32) -> Result<Marks, Stop> {
    match *reader.token() {
        Token::Number(number) if number < sets => {
            reader.advance()?;
            Ok(1 << number)
        }
        Token::Number(number) => {
            reader.wrong(format!("there is no acceptance set {number}: {sets} are declared"))
        }
        _ => reader.expected("the number of an acceptance set"),
    }
}
