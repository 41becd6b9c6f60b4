//! Expressions over states and steps.

use crate::action::Actions;
use crate::variable::VariableId;

/// An expression. Values are 64-bit integers; arithmetic wraps around, and every value except 0 is true.
///
/// Over a state, variables are read in that state. Over a step, they are read in its target, and below
/// [`Expression::Before`] in its source. [`Expression::Happens`] and [`Expression::Enabled`] are allowed in predicates
/// only, not in guards and effects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A number.
    Constant(i64),
    /// The value of a variable.
    Read(LValue),
    /// An operator with one operand.
    Unary(Unary, Box<Expression>),
    /// An operator with two operands.
    Binary(Binary, Box<(Expression, Expression)>),
    /// The second operand if the first is true, otherwise the third.
    If(Box<(Expression, Expression, Expression)>),
    /// The value in the source of the step. In the initial step, it is the value in the target.
    Before(Box<Expression>),
    /// Whether the action of the step is one of these.
    Happens(Actions),
    /// Whether one of these actions is enabled.
    Enabled(Actions),
}

/// A variable, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LValue {
    /// The variable.
    pub variable: VariableId,
    /// The index of the element, counted from 0, if the variable is an array.
    pub index: Option<Box<Expression>>,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// 1 for 0, otherwise 0.
    Not,
    /// Negation.
    Negate,
    /// Bitwise complement.
    Complement,
}

/// Binary operators. Comparisons and logical operators give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, truncated towards 0. Division by 0 is a fault.
    Divide,
    /// Remainder of the division, with the sign of the dividend. Division by 0 is a fault.
    Remainder,
    /// Bitwise and.
    BitAnd,
    /// Bitwise or.
    BitOr,
    /// Bitwise exclusive or.
    BitXor,
    /// Left shift. By less than 0 or more than 63 is a fault.
    ShiftLeft,
    /// Arithmetic right shift. By less than 0 or more than 63 is a fault.
    ShiftRight,
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Conjunction; the second operand is not evaluated if the first is false.
    And,
    /// Disjunction; the second operand is not evaluated if the first is true.
    Or,
    /// Implication; the second operand is not evaluated if the first is false.
    Implies,
}

impl Expression {
    /// The value of a scalar variable.
    ///
    /// ```
    /// use invigil_model::{Expression, LValue};
    /// assert_eq!(Expression::read(3), Expression::Read(LValue { variable: 3, index: None }));
    /// ```
    pub fn read(variable: VariableId) -> Expression {
        Expression::Read(LValue::scalar(variable))
    }

    /// Whether the expression is over a step, not just over a state.
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

    /// The value of an element of an array.
    ///
    /// ```
    /// use invigil_model::Expression;
    /// let first = Expression::element(3, Expression::Constant(0));
    /// assert!(matches!(first, Expression::Read(place) if place.index.is_some()));
    /// ```
    pub fn element(variable: VariableId, index: Expression) -> Expression {
        Expression::Read(LValue { variable, index: Some(Box::new(index)) })
    }

    /// A binary operation.
    ///
    /// ```
    /// use invigil_model::{Binary, Expression};
    /// let sum = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    /// assert!(matches!(sum, Expression::Binary(Binary::Add, _)));
    /// ```
    pub fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new((left, right)))
    }

    /// A unary operation.
    ///
    /// ```
    /// use invigil_model::{Expression, Unary};
    /// let idle = Expression::unary(Unary::Not, Expression::read(0));
    /// assert!(matches!(idle, Expression::Unary(Unary::Not, _)));
    /// ```
    pub fn unary(operator: Unary, operand: Expression) -> Expression {
        Expression::Unary(operator, Box::new(operand))
    }

    /// Conjunction; true if the list is empty. The tree is balanced, so that long lists stay shallow.
    ///
    /// ```
    /// use invigil_model::Expression;
    /// assert_eq!(Expression::all(vec![]), Expression::Constant(1));
    /// ```
    pub fn all(parts: Vec<Expression>) -> Expression {
        Expression::balanced(Binary::And, parts, Expression::Constant(1))
    }

    /// Disjunction; false if the list is empty. The tree is balanced, so that long lists stay shallow.
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

    /// Calls `visit` for this expression and all its subexpressions.
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

impl LValue {
    /// A scalar variable.
    ///
    /// ```
    /// use invigil_model::LValue;
    /// assert_eq!(LValue::scalar(1).variable, 1);
    /// ```
    pub fn scalar(variable: VariableId) -> LValue {
        LValue { variable, index: None }
    }
}
