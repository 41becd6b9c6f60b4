//! Expressions over a state, or over a step.

use crate::action::Actions;
use crate::variable::VariableId;

/// An expression. Values are 64-bit integers; arithmetic wraps around, truth is any value but 0.
///
/// Over a state, reads see that state. Over a step they see its target, and those below [`Expression::Before`] see
/// its source. [`Expression::Happens`] and [`Expression::Enabled`] make sense in predicates only, never in the
/// guards and effects that they talk about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A number.
    Constant(i64),
    /// What a variable holds.
    Read(Place),
    /// An operator with one operand.
    Unary(Unary, Box<Expression>),
    /// An operator with two operands.
    Binary(Binary, Box<(Expression, Expression)>),
    /// The second if the first is true, else the third.
    If(Box<(Expression, Expression, Expression)>),
    /// The value at the source of the step; where the execution starts, at its target.
    Before(Box<Expression>),
    /// Whether the step is by one of these actions.
    Happens(Actions),
    /// Whether one of these actions is enabled.
    Enabled(Actions),
}

/// A variable, or an element of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The variable.
    pub variable: VariableId,
    /// Which element, from 0, if it is an array.
    pub index: Option<Box<Expression>>,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// 1 for 0, and 0 for all else.
    Not,
    /// The number with the other sign.
    Negate,
    /// All bits the other way round.
    Complement,
}

/// An operator with two operands. Comparisons and logic give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, rounded towards 0. Division by 0 is a fault.
    Divide,
    /// What division leaves, with the sign of the first. By 0 is a fault.
    Remainder,
    /// Both bits.
    BitAnd,
    /// Either bit.
    BitOr,
    /// One bit and not the other.
    BitXor,
    /// Bits moved up. By less than 0 or more than 63 is a fault.
    ShiftLeft,
    /// Bits moved down, keeping the sign. By less than 0 or more than 63 is a fault.
    ShiftRight,
    /// The same.
    Equal,
    /// Not the same.
    NotEqual,
    /// Less.
    Less,
    /// Less, or the same.
    LessOrEqual,
    /// More.
    Greater,
    /// More, or the same.
    GreaterOrEqual,
    /// Both are true. The second is not looked at if the first decides.
    And,
    /// One is true. The second is not looked at if the first decides.
    Or,
    /// If the first is true, so is the second, which is not looked at otherwise.
    Implies,
}

impl Expression {
    /// What a variable of one value holds.
    ///
    /// ```
    /// use invigil_model::{Expression, Place};
    /// assert_eq!(Expression::read(3), Expression::Read(Place { variable: 3, index: None }));
    /// ```
    pub fn read(variable: VariableId) -> Expression {
        Expression::Read(Place::scalar(variable))
    }

    /// Whether it is about a step, and not just about a configuration.
    ///
    /// ```
    /// use invigil_model::Expression;
    /// assert!(!Expression::read(0).is_about_steps());
    /// assert!(Expression::Before(Box::new(Expression::read(0))).is_about_steps());
    /// ```
    pub fn is_about_steps(&self) -> bool {
        let mut found = false;
        self.visit(&mut |inside| {
            found |= matches!(inside, Expression::Before(_) | Expression::Happens(_));
        });
        found
    }

    /// What an element of an array holds.
    ///
    /// ```
    /// use invigil_model::Expression;
    /// let first = Expression::element(3, Expression::Constant(0));
    /// assert!(matches!(first, Expression::Read(place) if place.index.is_some()));
    /// ```
    pub fn element(variable: VariableId, index: Expression) -> Expression {
        Expression::Read(Place { variable, index: Some(Box::new(index)) })
    }

    /// Two operands, joined.
    ///
    /// ```
    /// use invigil_model::{Binary, Expression};
    /// let sum = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    /// assert!(matches!(sum, Expression::Binary(Binary::Add, _)));
    /// ```
    pub fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new((left, right)))
    }

    /// One operand with its operator.
    ///
    /// ```
    /// use invigil_model::{Expression, Unary};
    /// let idle = Expression::unary(Unary::Not, Expression::read(0));
    /// assert!(matches!(idle, Expression::Unary(Unary::Not, _)));
    /// ```
    pub fn unary(operator: Unary, operand: Expression) -> Expression {
        Expression::Unary(operator, Box::new(operand))
    }

    /// All of them hold; true if there are none. The tree is balanced, so that long lists stay shallow.
    ///
    /// ```
    /// use invigil_model::Expression;
    /// assert_eq!(Expression::all(vec![]), Expression::Constant(1));
    /// ```
    pub fn all(parts: Vec<Expression>) -> Expression {
        Expression::balanced(Binary::And, parts, Expression::Constant(1))
    }

    /// One of them holds; false if there are none. The tree is balanced, so that long lists stay shallow.
    ///
    /// ```
    /// use invigil_model::Expression;
    /// assert_eq!(Expression::any(vec![Expression::read(0)]), Expression::read(0));
    /// ```
    pub fn any(parts: Vec<Expression>) -> Expression {
        Expression::balanced(Binary::Or, parts, Expression::Constant(0))
    }

    fn balanced(operator: Binary, mut parts: Vec<Expression>, none: Expression) -> Expression {
        while parts.len() > 1 {
            let mut pairs = parts.into_iter();
            let mut joined = Vec::new();
            while let Some(left) = pairs.next() {
                joined.push(match pairs.next() {
                    Some(right) => Expression::binary(operator, left, right),
                    None => left,
                });
            }
            parts = joined;
        }
        parts.pop().unwrap_or(none)
    }

    /// Calls `visit` for this expression and every one inside it.
    pub fn visit(&self, visit: &mut impl FnMut(&Expression)) {
        visit(self);
        match self {
            Expression::Constant(_) | Expression::Happens(_) | Expression::Enabled(_) => {}
            Expression::Read(place) => {
                if let Some(index) = &place.index {
                    index.visit(visit);
                }
            }
            Expression::Unary(_, operand) | Expression::Before(operand) => operand.visit(visit),
            Expression::Binary(_, both) => {
                both.0.visit(visit);
                both.1.visit(visit);
            }
            Expression::If(parts) => {
                parts.0.visit(visit);
                parts.1.visit(visit);
                parts.2.visit(visit);
            }
        }
    }
}

impl Place {
    /// A variable of one value.
    ///
    /// ```
    /// use invigil_model::Place;
    /// assert_eq!(Place::scalar(1).variable, 1);
    /// ```
    pub fn scalar(variable: VariableId) -> Place {
        Place { variable, index: None }
    }
}
