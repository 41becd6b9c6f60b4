//! What stands before `--BODY--`.

use super::acceptance::{self, Condition};
use super::expression::{self, Step};
use super::propositions;
use super::scan::{Reader, Token};
use super::{Stop, body};
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels};
use crate::{Budget, Logic};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// What a label is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Constant(bool),
    /// A proposition, by its number, and where it stands.
    Proposition(u32, usize),
    /// An alias, by its number.
    Alias(usize),
}

/// A label in postfix notation.
type Expression = Vec<Step<Operand>>;

/// What a header says.
pub(super) struct Header {
    pub(super) states: Option<u32>,
    /// Where runs begin, and where that stands.
    pub(super) starts: Vec<(State, usize)>,
    pub(super) propositions: Vec<Atom>,
    pub(super) condition: Condition,
    /// The number of sets that the text may refer to.
    pub(super) sets: u32,
    names: IndexMap<String, Expression, FxBuildHasher>,
    aliases: Vec<Label>,
}

/// Reads a header, up to and including `--BODY--`.
pub(super) fn read(reader: &mut Reader<'_>, logic: &mut Logic) -> Result<Header, Stop> {
    if *reader.token() != Token::Header("HOA") {
        return reader.expected("an automaton in the HOA format, which begins with `HOA: v1`");
    }
    reader.advance()?;
    match reader.token() {
        Token::Identifier("v1") => reader.advance()?,
        _ => return reader.expected("version `v1` of the format"),
    }
    let mut header = Header {
        states: None,
        starts: Vec::new(),
        propositions: Vec::new(),
        condition: Condition::default(),
        sets: 0,
        names: IndexMap::default(),
        aliases: Vec::new(),
    };
    let mut seen = FxHashSet::default();
    while *reader.token() != Token::Body {
        let Token::Header(name) = *reader.token() else {
            return reader.expected("a header or `--BODY--`");
        };
        if !seen.insert(name) && !matches!(name, "Start" | "Alias" | "properties") {
            return reader.wrong(format!("`{name}:` stands here for the second time"));
        }
        let unknown = !matches!(name, "States" | "Start" | "AP" | "Alias" | "Acceptance");
        if unknown && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return reader.wrong(format!(
                "`{name}:` is not supported, and its capital letter says that it must not be ignored"
            ));
        }
        reader.advance()?;
        match name {
            "States" => {
                let count = reader.must_number("the number of states")?;
                Budget::allows("states", count as usize, logic.budget.states)?;
                header.states = Some(count);
            }
            "Start" => {
                let at = reader.at();
                let state = body::one_state(reader)?;
                header.starts.push((state, at));
            }
            "AP" => header.propositions = propositions(reader, logic)?,
            "Alias" => header.alias(reader)?,
            "Acceptance" => (header.condition, header.sets) = acceptance::read(reader)?,
            _ => skip(reader)?,
        }
    }
    if !seen.contains("Acceptance") {
        return reader.wrong("`Acceptance:` is missing");
    }
    for at in 0..header.names.len() {
        let label = header.value(&header.names[at], logic)?;
        header.aliases.push(label);
    }
    reader.advance()?;
    Ok(header)
}

/// The values of a header that does not matter.
fn skip(reader: &mut Reader<'_>) -> Result<(), Stop> {
    while matches!(reader.token(), Token::Identifier(_) | Token::Number(_) | Token::Text(_)) {
        reader.advance()?;
    }
    Ok(())
}

fn propositions(reader: &mut Reader<'_>, logic: &mut Logic) -> Result<Vec<Atom>, Stop> {
    let count = reader.must_number("the number of propositions")? as usize;
    let (mut atoms, mut seen) = (Vec::new(), FxHashSet::default());
    while atoms.len() < count {
        let at = reader.at();
        let Some(name) = reader.text()? else {
            return reader.expected(&format!("the names of {count} propositions, in quotes"));
        };
        let atom = logic.formulae.atom_for(propositions::read(&name));
        if !seen.insert(atom) {
            return Err(Stop::Mistake(at, format!("the proposition {name:?} stands here twice")));
        }
        atoms.push(atom);
    }
    Ok(atoms)
}

impl Header {
    fn alias(&mut self, reader: &mut Reader<'_>) -> Result<(), Stop> {
        let Token::Alias(name) = *reader.token() else { return reader.expected("an alias: `@name`") };
        if self.names.contains_key(name) {
            return reader.wrong(format!("the alias `@{name}` is defined twice"));
        }
        reader.advance()?;
        let expression = self.expression(reader)?;
        self.names.insert(name.to_owned(), expression);
        Ok(())
    }

    /// Reads the expression of a label.
    pub(super) fn expression(&self, reader: &mut Reader<'_>) -> Result<Expression, Stop> {
        expression::read(reader, true, |reader| {
            let operand = match *reader.token() {
                Token::Identifier("t") => Operand::Constant(true),
                Token::Identifier("f") => Operand::Constant(false),
                Token::Number(number) => Operand::Proposition(number, reader.at()),
                Token::Alias(name) => match self.names.get_index_of(name) {
                    Some(at) => Operand::Alias(at),
                    None => return reader.wrong(format!("there is no alias `@{name}` up to here")),
                },
                _ => return reader.expected("a label: `t`, `f`, the number of a proposition, or an alias"),
            };
            reader.advance()?;
            Ok(operand)
        })
    }

    /// The label that an expression stands for.
    pub(super) fn value(&self, steps: &[Step<Operand>], logic: &mut Logic) -> Result<Label, Stop> {
        let mut stack: Vec<Label> = Vec::new();
        for step in steps {
            let labels = &mut logic.labels;
            let made = match *step {
                Step::Operand(operand) => self.operand(operand, labels)?,
                Step::Not => labels.not(&pop(&mut stack, labels))?,
                Step::And | Step::Or => {
                    let (right, left) = (pop(&mut stack, labels), pop(&mut stack, labels));
                    if *step == Step::And { labels.and(&left, &right)? } else { labels.or(&left, &right)? }
                }
            };
            stack.push(made);
        }
        Ok(pop(&mut stack, &logic.labels))
    }

    fn operand(&self, operand: Operand, labels: &mut Labels) -> Result<Label, Stop> {
        Ok(match operand {
            Operand::Constant(true) => labels.top(),
            Operand::Constant(false) => labels.bottom(),
            Operand::Alias(at) => self.aliases[at].clone(),
            Operand::Proposition(number, at) => match self.propositions.get(number as usize) {
                Some(atom) => labels.atom(*atom)?,
                None => {
                    let declared = self.propositions.len();
                    let what = format!("there is no proposition {number}: {declared} are declared");
                    return Err(Stop::Mistake(at, what));
                }
            },
        })
    }
}

fn pop(stack: &mut Vec<Label>, labels: &Labels) -> Label {
    // An expression that was read has an operand wherever it needs one.
    stack.pop().unwrap_or_else(|| labels.bottom())
}
