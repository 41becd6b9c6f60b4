//! The header of an automaton, before `--BODY--`.

use super::acceptance::{self, Condition};
use super::expression::{self, PostfixItem};
use super::propositions;
use super::scan::{Scanner, Token};
use super::{ReadError, body};
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels};
use crate::{Budget, Logic};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// Operand of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Constant(bool),
    /// Number of a proposition, and its offset.
    Proposition(u32, usize),
    /// Number of an alias.
    Alias(usize),
}

/// Label in postfix notation.
type Expression = Vec<PostfixItem<Operand>>;

/// Parsed header.
pub(super) struct Header {
    pub(super) states: Option<u32>,
    /// Initial states, with their offsets.
    pub(super) starts: Vec<(State, usize)>,
    pub(super) propositions: Vec<Atom>,
    pub(super) condition: Condition,
    /// Number of declared acceptance sets.
    pub(super) sets: u32,
    definitions: IndexMap<String, Expression, FxBuildHasher>,
    /// Labels of the aliases, by number.
    aliases: Vec<Label>,
}

/// Parses a header, up to and including `--BODY--`.
pub(super) fn read(scanner: &mut Scanner<'_>, logic: &mut Logic) -> Result<Header, ReadError> {
    if *scanner.token() != Token::Header("HOA") {
        return scanner.expected("an automaton in HOA format, which starts with `HOA: v1`");
    }
    scanner.advance()?;
    match scanner.token() {
        Token::Identifier("v1") => scanner.advance()?,
        _ => return scanner.expected("version `v1` of the format"),
    }
    let mut header = Header {
        states: None,
        starts: Vec::new(),
        propositions: Vec::new(),
        condition: Condition::default(),
        sets: 0,
        definitions: IndexMap::default(),
        aliases: Vec::new(),
    };
    let mut seen = FxHashSet::default();
    while *scanner.token() != Token::Body {
        let Token::Header(name) = *scanner.token() else {
            return scanner.expected("a header or `--BODY--`");
        };
        if !seen.insert(name) && !matches!(name, "Start" | "Alias" | "properties") {
            return scanner.error(format!("duplicate `{name}:`"));
        }
        let unknown = !matches!(name, "States" | "Start" | "AP" | "Alias" | "Acceptance");
        if unknown && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return scanner.error(format!(
                "`{name}:` is not supported, and cannot be ignored because it starts with a capital letter"
            ));
        }
        scanner.advance()?;
        match name {
            "States" => {
                let count = scanner.expect_number("the number of states")?;
                Budget::check("states", count as usize, logic.budget.states)?;
                header.states = Some(count);
            }
            "Start" => {
                let at = scanner.at();
                let state = body::single_state(scanner)?;
                header.starts.push((state, at));
            }
            "AP" => header.propositions = propositions(scanner, logic)?,
            "Alias" => header.alias(scanner)?,
            "Acceptance" => (header.condition, header.sets) = acceptance::read(scanner)?,
            _ => skip_values(scanner)?,
        }
    }
    if !seen.contains("Acceptance") {
        return scanner.error("`Acceptance:` is missing");
    }
    for at in 0..header.definitions.len() {
        let label = header.evaluate(&header.definitions[at], logic)?;
        header.aliases.push(label);
    }
    scanner.advance()?;
    Ok(header)
}

/// Skips the values of an ignored header item.
fn skip_values(scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
    while matches!(scanner.token(), Token::Identifier(_) | Token::Number(_) | Token::String(_)) {
        scanner.advance()?;
    }
    Ok(())
}

fn propositions(scanner: &mut Scanner<'_>, logic: &mut Logic) -> Result<Vec<Atom>, ReadError> {
    let count = scanner.expect_number("the number of propositions")? as usize;
    let (mut atoms, mut seen) = (Vec::new(), FxHashSet::default());
    while atoms.len() < count {
        let at = scanner.at();
        let Some(name) = scanner.take_string()? else {
            return scanner.expected(&format!("the names of {count} propositions, in quotes"));
        };
        let atom = logic.formulae.atom_for(propositions::from_text(&name));
        if !seen.insert(atom) {
            return Err(ReadError::Syntax(at, format!("duplicate proposition {name:?}")));
        }
        atoms.push(atom);
    }
    Ok(atoms)
}

impl Header {
    fn alias(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
        let Token::Alias(name) = *scanner.token() else { return scanner.expected("an alias: `@name`") };
        if self.definitions.contains_key(name) {
            return scanner.error(format!("the alias `@{name}` is defined twice"));
        }
        scanner.advance()?;
        let expression = self.expression(scanner)?;
        self.definitions.insert(name.to_owned(), expression);
        Ok(())
    }

    /// Parses the expression of a label.
    pub(super) fn expression(&self, scanner: &mut Scanner<'_>) -> Result<Expression, ReadError> {
        expression::read(scanner, true, |scanner| {
            let operand = match *scanner.token() {
                Token::Identifier("t") => Operand::Constant(true),
                Token::Identifier("f") => Operand::Constant(false),
                Token::Number(number) => Operand::Proposition(number, scanner.at()),
                Token::Alias(name) => match self.definitions.get_index_of(name) {
                    Some(at) => Operand::Alias(at),
                    None => {
                        return scanner.error(format!("unknown alias `@{name}`; define it before its use"));
                    }
                },
                _ => return scanner.expected("a label: `t`, `f`, the number of a proposition, or an alias"),
            };
            scanner.advance()?;
            Ok(operand)
        })
    }

    /// Evaluates the expression of a label.
    pub(super) fn evaluate(
        &self,
        items: &[PostfixItem<Operand>],
        logic: &mut Logic,
    ) -> Result<Label, ReadError> {
        let mut stack: Vec<Label> = Vec::new();
        for item in items {
            let labels = &mut logic.labels;
            let value = match *item {
                PostfixItem::Operand(operand) => self.operand_label(operand, labels)?,
                PostfixItem::Not => labels.not(&pop(&mut stack, labels))?,
                PostfixItem::And | PostfixItem::Or => {
                    let (right, left) = (pop(&mut stack, labels), pop(&mut stack, labels));
                    if *item == PostfixItem::And {
                        labels.and(&left, &right)?
                    } else {
                        labels.or(&left, &right)?
                    }
                }
            };
            stack.push(value);
        }
        Ok(pop(&mut stack, &logic.labels))
    }

    fn operand_label(&self, operand: Operand, labels: &mut Labels) -> Result<Label, ReadError> {
        Ok(match operand {
            Operand::Constant(true) => labels.top(),
            Operand::Constant(false) => labels.bottom(),
            Operand::Alias(at) => self.aliases[at].clone(),
            Operand::Proposition(number, at) => match self.propositions.get(number as usize) {
                Some(atom) => labels.atom(*atom)?,
                None => {
                    let declared = self.propositions.len();
                    let message = format!("unknown proposition {number}: {declared} are declared");
                    return Err(ReadError::Syntax(at, message));
                }
            },
        })
    }
}

fn pop(stack: &mut Vec<Label>, labels: &Labels) -> Label {
    // The parser guarantees that all operands exist.
    stack.pop().unwrap_or_else(|| labels.bottom())
}
