//! Value abstraction: which comparisons decide whether a new value of a variable can change anything.

use super::ast::{Expr, Literal, Path, Script};
use crate::mac::ast::{At, Kind};
use invigil_monitor::mac::{Binary, Type, Unary, Value};
use std::collections::HashMap;

/// A comparison of a variable with a constant: `x < 10`.
///
/// Where all that a script asks of a variable are such comparisons, a value that changes none of them need not be
/// told, unless it is the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct Simple {
    /// `<`, `<=`, `>`, `>=` or `==`, with the variable on its left.
    pub operator: Binary,
    /// What it is compared with.
    pub constant: Literal,
}

impl Simple {
    /// Whether a value of the variable passes; nothing if it has no value, or one that cannot be compared.
    ///
    /// ```
    /// use invigil_lang::pedl::{Simple, ast::Literal};
    /// use invigil_monitor::mac::{Binary, Value};
    /// let more = Simple { operator: Binary::Greater, constant: Literal::Double(2.5) };
    /// assert_eq!(more.holds(Value::Int(3)), Some(true));
    /// assert_eq!(more.holds(Value::Undefined), None);
    /// ```
    pub fn holds(&self, value: Value<'_>) -> Option<bool> {
        use std::cmp::Ordering;
        let constant = self.constant.value();
        let ordering = match (value, constant) {
            (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(&b)),
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            _ => match value.ty()?.with(constant.ty()?) {
                Type::Double => fraction(value)?.partial_cmp(&fraction(constant)?),
                // Java compares as the narrower type, which may lose something.
                Type::Float => narrow(value)?.partial_cmp(&narrow(constant)?),
                _ => Some(whole(value)?.cmp(&whole(constant)?)),
            },
        };
        // What cannot be ordered is not equal, nor less, nor greater.
        Some(ordering.is_some_and(|ordering| match self.operator {
            Binary::Less => ordering == Ordering::Less,
            Binary::AtMost => ordering != Ordering::Greater,
            Binary::Greater => ordering == Ordering::Greater,
            Binary::AtLeast => ordering != Ordering::Less,
            _ => ordering == Ordering::Equal,
        }))
    }
}

fn whole(value: Value<'_>) -> Option<i64> {
    Some(match value {
        Value::Byte(value) => value.into(),
        Value::Char(value) => value.into(),
        Value::Short(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::Long(value) => value,
        _ => return None,
    })
}

fn fraction(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Double(value) => Some(value),
        Value::Float(value) => Some(value.into()),
        other => whole(other).map(|value| value as f64),
    }
}

fn narrow(value: Value<'_>) -> Option<f32> {
    match value {
        Value::Float(value) => Some(value),
        other => whole(other).map(|value| value as f32),
    }
}

/// What a script asks of each variable, by the numbers that `variable` gives; nothing for those of which every value must
/// be told. `constant` tells what a name that never changes is.
pub(super) fn abstractions(
    script: &Script,
    variable: &dyn Fn(&Path) -> Option<(usize, bool)>,
    constant: &dyn Fn(&Path) -> Option<Literal>,
) -> HashMap<usize, Option<Vec<Simple>>> {
    let mut found: HashMap<usize, Option<Vec<Simple>>> = HashMap::new();
    for expr in script.definitions.iter().map(|definition| &definition.expr) {
        let parents = parents(expr);
        for (at, node) in expr.nodes.iter().enumerate() {
            let (number, asked) = match &node.kind {
                Kind::Update(path) => match variable(path) {
                    Some((number, _)) => (number, Asked::Everything),
                    None => continue,
                },
                Kind::Path(path) => match variable(path) {
                    Some((number, is_boolean)) => {
                        (number, asked(expr, at, parents[at], is_boolean, constant))
                    }
                    None => continue,
                },
                _ => continue,
            };
            let known = found.entry(number).or_insert_with(|| Some(Vec::new()));
            match asked {
                Asked::Everything => *known = None,
                Asked::Nothing => {}
                Asked::Simple(simple) => {
                    if let Some(all) = known.as_mut().filter(|all| !all.contains(&simple)) {
                        all.push(simple);
                    }
                }
            }
        }
    }
    found
}

/// What an expression asks of a variable in it.
enum Asked {
    /// Whether it has a value: the first one tells.
    Nothing,
    Simple(Simple),
    Everything,
}

fn asked(
    expr: &Expr,
    at: At,
    parent: Option<At>,
    is_boolean: bool,
    constant: &dyn Fn(&Path) -> Option<Literal>,
) -> Asked {
    let itself = || match is_boolean {
        true => Asked::Simple(Simple { operator: Binary::Equal, constant: Literal::Boolean(true) }),
        false => Asked::Everything,
    };
    let Some(parent) = parent else { return itself() };
    match &expr.nodes[parent].kind {
        Kind::Defined(_) => Asked::Nothing,
        Kind::Binary(operator, left, right) => {
            let Some(operator) = turned(*operator, *right == at) else {
                let is_logic = matches!(operator, Binary::And | Binary::Or | Binary::Implies);
                return if is_logic { itself() } else { Asked::Everything };
            };
            let other = if *left == at { *right } else { *left };
            let constant = match &expr.nodes[other].kind {
                Kind::Literal(literal) => Some(literal.clone()),
                Kind::Path(path) => constant(path),
                _ => None,
            };
            constant.map_or(Asked::Everything, |constant| Asked::Simple(Simple { operator, constant }))
        }
        Kind::Unary(Unary::Not, _) | Kind::Start(_) | Kind::End(_) | Kind::When(..) => itself(),
        Kind::Choice(condition, ..) if *condition == at => itself(),
        _ => Asked::Everything,
    }
}

/// A comparison with its operands the other way round, if they are; that something is unequal is as good as equal.
fn turned(operator: Binary, is_turned: bool) -> Option<Binary> {
    Some(match (operator, is_turned) {
        (Binary::Equal | Binary::NotEqual, _) => Binary::Equal,
        (Binary::Less, false) | (Binary::Greater, true) => Binary::Less,
        (Binary::AtMost, false) | (Binary::AtLeast, true) => Binary::AtMost,
        (Binary::Greater, false) | (Binary::Less, true) => Binary::Greater,
        (Binary::AtLeast, false) | (Binary::AtMost, true) => Binary::AtLeast,
        _ => return None,
    })
}

/// What each node is an operand of.
fn parents(expr: &Expr) -> Vec<Option<At>> {
    let mut parents = vec![None; expr.nodes.len()];
    for (at, node) in expr.nodes.iter().enumerate() {
        for operand in node.kind.operands().into_iter().flatten() {
            parents[operand] = Some(at);
        }
    }
    parents
}
