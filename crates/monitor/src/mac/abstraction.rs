//! Value abstraction: which new values of a variable can have an effect.
//!
//! A *simple expression* compares a variable with a constant. If a script uses a variable in no other way, an
//! assignment that changes the result of none of them changes no event and no condition, and need not be
//! reported.

use super::cell::{Cell, Texts};
use super::fold;
use super::ids::VariableId;
use super::operator::Binary;
use super::script_def::{EventOrigin, Expr, Occurrence, ScriptDef};
use super::value::{Type, Value};
use super::walk::{Node, Walk, children};
use alloc::string::String;
use alloc::vec::Vec;

/// How a variable can be abstracted.
#[derive(Clone, Debug, PartialEq)]
pub enum Abstraction {
    /// Not at all: every assignment matters.
    Off(NotAbstracted),
    /// An assignment matters if it changes one of these comparisons, or is the first one.
    Thresholds(Vec<Threshold>),
}

/// The reason why every assignment matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotAbstracted {
    /// The script uses `update` of the variable.
    Update,
    /// The script computes with the variable, or compares it with another one.
    Computed,
}

/// A comparison of a variable with a constant: `x operator constant`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Threshold {
    /// `<`, `<=`, `>`, `>=` or `==`. A `!=` of the script becomes `==`, which changes at the same values.
    pub operator: Binary,
    /// The type in which they are compared.
    pub ty: Type,
    /// The constant.
    pub constant: Constant,
}

/// A constant of a comparison.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Constant {
    /// An integer; for conditions 0 or 1.
    Whole(i64),
    /// A floating-point number.
    Floating(f64),
    /// A string.
    Text(String),
}

impl Threshold {
    /// Whether the comparison holds for a value. It does not for values of other types.
    #[inline]
    pub fn holds(&self, value: Value<'_>) -> bool {
        match (&self.constant, value) {
            (Constant::Text(text), Value::String(value)) => text == value,
            (_, Value::String(_)) => false,
            (Constant::Text(_), _) => false,
            (constant, value) => {
                let (Some(cell), Some(ty)) = (Cell::plain(value), value.ty()) else { return false };
                let cell = if ty == self.ty { cell } else { cell.cast(ty, self.ty) };
                match constant {
                    Constant::Whole(constant) => compare(self.operator, cell.as_whole(), *constant),
                    Constant::Floating(constant) => compare(self.operator, cell.as_floating(), *constant),
                    Constant::Text(_) => false,
                }
            }
        }
    }
}

fn compare<T: PartialOrd>(operator: Binary, value: T, constant: T) -> bool {
    match operator {
        Binary::Less => value < constant,
        Binary::AtMost => value <= constant,
        Binary::Greater => value > constant,
        Binary::AtLeast => value >= constant,
        _ => value == constant,
    }
}

impl ScriptDef {
    /// How each variable can be abstracted, by the number of the variable.
    ///
    /// ```
    /// use invigil_monitor::mac::{Abstraction, NotAbstracted, Binary, ScriptDef, Type, Value};
    /// let mut script = ScriptDef::default();
    /// let (x, y) = (script.variable("x", Type::Int), script.variable("y", Type::Int));
    /// // condition c = 3 < x && y > x + 1;
    /// let (three, read_x) = (script.constant(Value::Int(3)), script.read(x)?);
    /// let simple = script.binary(Binary::Less, three, read_x)?;
    /// script.define_condition("c1", simple)?;
    /// let abstractions = script.abstractions();
    /// assert!(matches!(&abstractions[0], Abstraction::Thresholds(all) if all.len() == 1));
    ///
    /// let (read_x, read_y) = (script.read(x)?, script.read(y)?);
    /// let both = script.binary(Binary::Less, read_x, read_y)?;
    /// script.define_condition("c2", both)?;
    /// assert_eq!(script.abstractions()[0], Abstraction::Off(NotAbstracted::Computed));
    /// # Ok::<(), invigil_monitor::mac::DefinitionError>(())
    /// ```
    pub fn abstractions(&self) -> Vec<Abstraction> {
        let mut found = alloc::vec![Abstraction::Thresholds(Vec::new()); self.variables.len()];
        let folded = fold::constants(self);
        let mut walk = Walk::default();
        let events = self.events.iter().filter_map(|event| match event.origin {
            EventOrigin::Defined(event) => Some(Node::Event(event)),
            EventOrigin::Imported(_) => None,
        });
        let conditions = self.conditions.iter().filter_map(|condition| condition.definition.map(Node::Expr));
        for root in events.chain(conditions) {
            self.record_use(root, None, &folded, &mut found);
            for node in walk.postorder(self, root, |_| false) {
                if let Node::Event(id) = *node
                    && let Occurrence::Update(variable) = self.occurrences[id.at()].0
                {
                    found[variable.at()] = Abstraction::Off(NotAbstracted::Update);
                }
                for child in children(self, *node).into_iter().flatten() {
                    self.record_use(child, Some(*node), &folded, &mut found);
                }
            }
        }
        found
    }

    /// Records how a node uses a variable, if its operand `child` is one.
    fn record_use(&self, child: Node, by: Option<Node>, folded: &[Option<Cell>], found: &mut [Abstraction]) {
        let Some(variable) = self.as_variable(child) else { return };
        let Abstraction::Thresholds(thresholds) = &mut found[variable.at()] else { return };
        let ty = self.variables[variable.at()].ty;
        let user = by.map(|node| match node {
            Node::Expr(id) => Some(self.exprs[id.at()].0),
            Node::Event(_) => None,
        });
        let threshold = match user {
            // The first assignment and the end of the object are always reported.
            Some(Some(Expr::Defined(_))) => return,
            // A condition has two values: no use of it distinguishes more.
            _ if ty == Type::Boolean => {
                Some(Threshold { operator: Binary::Equal, ty, constant: Constant::Whole(1) })
            }
            Some(Some(Expr::Binary(operator, a, b))) => {
                let (operator, other) =
                    if Node::Expr(a) == child { (operator, b) } else { (mirrored(operator), a) };
                folded[other.at()]
                    .and_then(|constant| self.threshold(operator, ty, constant, self.exprs[other.at()].1))
            }
            _ => None,
        };
        match threshold {
            None => found[variable.at()] = Abstraction::Off(NotAbstracted::Computed),
            Some(threshold) if thresholds.contains(&threshold) => {}
            Some(threshold) => thresholds.push(threshold),
        }
    }

    fn as_variable(&self, node: Node) -> Option<VariableId> {
        match node {
            Node::Expr(id) => match self.exprs[id.at()].0 {
                Expr::Variable(variable) => Some(variable),
                _ => None,
            },
            Node::Event(_) => None,
        }
    }

    fn threshold(&self, operator: Binary, ty: Type, constant: Cell, other: Type) -> Option<Threshold> {
        let operator = match operator {
            Binary::NotEqual => Binary::Equal,
            Binary::Equal | Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast => operator,
            _ => return None,
        };
        if !constant.is_known() {
            return None;
        }
        if ty == Type::String {
            let texts = Texts { kept: &[], scratch: &[], constant: &self.texts };
            let constant = Constant::Text(texts.get(constant.as_text()).into());
            return Some(Threshold { operator, ty, constant });
        }
        let common = ty.promoted_with(other);
        let constant = constant.cast(other, common);
        let constant = match common {
            Type::Float | Type::Double => Constant::Floating(constant.as_floating()),
            _ => Constant::Whole(constant.as_whole()),
        };
        Some(Threshold { operator, ty: common, constant })
    }
}

/// The comparison with exchanged sides.
fn mirrored(operator: Binary) -> Binary {
    match operator {
        Binary::Less => Binary::Greater,
        Binary::AtMost => Binary::AtLeast,
        Binary::Greater => Binary::Less,
        Binary::AtLeast => Binary::AtMost,
        other => other,
    }
}
