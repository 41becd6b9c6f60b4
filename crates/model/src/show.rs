//! Display of expressions, with the names of the model.

use crate::expression::{Binary, Expression, LValue, Unary};
use crate::model::Model;
use crate::variable::Domain;

/// Deeper subexpressions are shown as `…`, because input may be nested arbitrarily.
const DEEPEST: u32 = 100;

/// Binding strengths; an operand that binds less tightly gets parentheses.
const CONDITIONAL: u8 = 1;
const NOT: u8 = 13;
const ATOM: u8 = 14;

impl Model {
    /// Formats an expression. Constants that are compared with a variable are shown as values of its domain.
    ///
    /// ```
    /// use invigil_model::{Binary, Expression, Domain, Model, ModelParts, Variable};
    /// let light = Domain::Names(vec!["red".into(), "green".into()]);
    /// let variables = vec![Variable::scalar("light", light, 0), Variable::scalar("x", Domain::Boolean, 0)];
    /// let model = Model::new(ModelParts { variables, ..ModelParts::default() }).unwrap();
    /// let green = Expression::binary(Binary::Equal, Expression::read(0), Expression::Constant(1));
    /// let go = Expression::binary(Binary::And, green, Expression::read(1));
    /// assert_eq!(model.show(&go), "light == green && x");
    /// ```
    pub fn show(&self, expression: &Expression) -> String {
        let mut out = String::new();
        Printer { model: self, out: &mut out }.expression(expression, None, CONDITIONAL, 0);
        out
    }

    /// The domain of an expression, if it is known: that of a variable, or Boolean for a comparison.
    ///
    /// ```
    /// use invigil_model::{Expression, Domain, Model, ModelParts, Variable};
    /// let variables = vec![Variable::scalar("x", Domain::Boolean, 0)];
    /// let model = Model::new(ModelParts { variables, ..ModelParts::default() }).unwrap();
    /// assert_eq!(model.domain(&Expression::read(0)), Some(&Domain::Boolean));
    /// assert_eq!(model.domain(&Expression::Constant(1)), None);
    /// ```
    pub fn domain(&self, expression: &Expression) -> Option<&Domain> {
        let mut expression = expression;
        loop {
            expression = match expression {
                Expression::Read(place) => return Some(&self.variable(place.variable).domain),
                Expression::Before(inside) => inside,
                // If one branch is a constant, the other one may determine the domain.
                Expression::If(parts) if matches!(parts.1, Expression::Constant(_)) => &parts.2,
                Expression::If(parts) => &parts.1,
                Expression::Unary(Unary::Not, _) | Expression::Happens(_) | Expression::Enabled(_) => {
                    return Some(&Domain::Boolean);
                }
                Expression::Binary(operator, _) if operator_syntax(*operator).2 => {
                    return Some(&Domain::Boolean);
                }
                Expression::Constant(_) | Expression::Unary(..) | Expression::Binary(..) => return None,
            };
        }
    }
}

struct Printer<'a> {
    model: &'a Model,
    out: &'a mut String,
}

impl Printer<'_> {
    /// Formats an expression: `domain` is that of constants, `least` the required binding strength.
    fn expression(&mut self, expression: &Expression, domain: Option<&Domain>, least: u8, depth: u32) {
        if depth > DEEPEST {
            return self.out.push('…');
        }
        let strength = binding_strength(expression);
        if strength < least {
            self.out.push('(');
        }
        self.bare(expression, domain, depth + 1);
        if strength < least {
            self.out.push(')');
        }
    }

    fn bare(&mut self, expression: &Expression, domain: Option<&Domain>, depth: u32) {
        match expression {
            Expression::Constant(value) => {
                let shown = domain.map_or_else(|| value.to_string(), |domain| domain.show(*value));
                self.out.push_str(&shown);
            }
            Expression::Read(place) => self.place(place, depth),
            Expression::Unary(operator, operand) => {
                self.out.push(match operator {
                    Unary::Not => '!',
                    Unary::Negate => '-',
                    Unary::Complement => '~',
                });
                // `--1` would be read as another operator.
                let is_negative = matches!(&**operand, Expression::Constant(value) if *value < 0);
                let least = if is_negative { ATOM + 1 } else { NOT };
                self.expression(operand, None, least, depth);
            }
            Expression::Binary(operator, both) => {
                let (word, strength, is_boolean) = operator_syntax(*operator);
                let (left, right) = (&both.0, &both.1);
                let domains = match operator {
                    Binary::And | Binary::Or | Binary::Implies => {
                        (Some(&Domain::Boolean), Some(&Domain::Boolean))
                    }
                    _ if is_boolean => (self.model.domain(right), self.model.domain(left)),
                    _ => (None, None),
                };
                // Chains of one operator need no parentheses on the left, implications none on the right.
                let (first, second) = match operator {
                    Binary::Implies => (strength + 1, strength),
                    Binary::And | Binary::Or => (strength, strength),
                    _ if is_boolean => (strength + 1, strength + 1),
                    _ => (strength, strength + 1),
                };
                self.expression(left, domains.0, first, depth);
                self.out.push(' ');
                self.out.push_str(word);
                self.out.push(' ');
                self.expression(right, domains.1, second, depth);
            }
            Expression::If(parts) => {
                let domain = domain.or_else(|| self.model.domain(expression));
                self.expression(&parts.0, Some(&Domain::Boolean), CONDITIONAL + 1, depth);
                self.out.push_str(" ? ");
                self.expression(&parts.1, domain, CONDITIONAL + 1, depth);
                self.out.push_str(" : ");
                self.expression(&parts.2, domain, CONDITIONAL, depth);
            }
            Expression::Before(inside) => {
                self.out.push_str("before(");
                self.expression(inside, domain, CONDITIONAL, depth);
                self.out.push(')');
            }
            Expression::Happens(actions) => self.actions("happens", actions),
            Expression::Enabled(actions) => self.actions("enabled", actions),
        }
    }

    fn place(&mut self, place: &LValue, depth: u32) {
        self.out.push_str(&self.model.variable(place.variable).name);
        if let Some(index) = &place.index {
            self.out.push('[');
            self.expression(index, None, CONDITIONAL, depth);
            self.out.push(']');
        }
    }

    /// Formats a set of actions by name; a shared name is listed once.
    fn actions(&mut self, word: &str, actions: &[u32]) {
        let mut names: Vec<&str> = Vec::new();
        for action in actions.iter().filter_map(|id| self.model.parts().actions.get(*id as usize)) {
            let name = action.event.as_deref().unwrap_or(&action.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        self.out.push_str(word);
        self.out.push('(');
        self.out.push_str(&names.join(", "));
        self.out.push(')');
    }
}

fn binding_strength(expression: &Expression) -> u8 {
    match expression {
        Expression::If(_) => CONDITIONAL,
        Expression::Binary(operator, _) => operator_syntax(*operator).1,
        Expression::Unary(..) => NOT,
        _ => ATOM,
    }
}

/// The text of an operator, its binding strength, and whether its result is a Boolean.
fn operator_syntax(operator: Binary) -> (&'static str, u8, bool) {
    match operator {
        Binary::Implies => ("->", 2, true),
        Binary::Or => ("||", 3, true),
        Binary::And => ("&&", 4, true),
        Binary::Equal => ("==", 5, true),
        Binary::NotEqual => ("!=", 5, true),
        Binary::Less => ("<", 6, true),
        Binary::LessOrEqual => ("<=", 6, true),
        Binary::Greater => (">", 6, true),
        Binary::GreaterOrEqual => (">=", 6, true),
        Binary::BitOr => ("|", 7, false),
        Binary::BitXor => ("^", 8, false),
        Binary::BitAnd => ("&", 9, false),
        Binary::ShiftLeft => ("<<", 10, false),
        Binary::ShiftRight => (">>", 10, false),
        Binary::Add => ("+", 11, false),
        Binary::Subtract => ("-", 11, false),
        Binary::Multiply => ("*", 12, false),
        Binary::Divide => ("/", 12, false),
        Binary::Remainder => ("%", 12, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::model::ModelParts;
    use crate::variable::Variable;

    fn model() -> Model {
        let places = Domain::Names(vec!["idle".into(), "CS".into()]);
        let small = Domain::Integer { low: 0, high: 7 };
        let variables = vec![
            Variable::scalar("x", small.clone(), 0),
            Variable::scalar("P_0", places, 0),
            Variable::array("slot", small, vec![0; 4]),
            Variable::scalar("busy", Domain::Boolean, 0),
        ];
        let actions = vec![Action::named("send"), Action::named("receive")];
        Model::new(ModelParts { variables, actions, ..ModelParts::default() }).unwrap()
    }

    fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        Expression::binary(operator, left, right)
    }

    #[test]
    fn show_formats_expressions_with_model_names() {
        let (x, at, busy) = (|| Expression::read(0), || Expression::read(1), || Expression::read(3));
        let number = Expression::Constant;
        let not = |inside| Expression::unary(Unary::Not, inside);
        let less = |value| binary(Binary::Less, x(), number(value));
        let critical = || binary(Binary::Equal, at(), number(1));
        let table = [
            (binary(Binary::And, less(3), critical()), "x < 3 && P_0 == CS"),
            (binary(Binary::Equal, number(0), at()), "idle == P_0"),
            (not(critical()), "!(P_0 == CS)"),
            (not(busy()), "!busy"),
            (binary(Binary::Equal, busy(), number(1)), "busy == true"),
            (binary(Binary::And, binary(Binary::Or, busy(), less(3)), less(4)), "(busy || x < 3) && x < 4"),
            (binary(Binary::Or, busy(), binary(Binary::And, less(3), less(4))), "busy || x < 3 && x < 4"),
            (Expression::all(vec![less(1), less(2), less(3)]), "x < 1 && x < 2 && x < 3"),
            (binary(Binary::Subtract, x(), binary(Binary::Subtract, x(), number(1))), "x - (x - 1)"),
            (binary(Binary::Subtract, binary(Binary::Subtract, x(), x()), number(1)), "x - x - 1"),
            (binary(Binary::Multiply, binary(Binary::Add, x(), number(1)), number(2)), "(x + 1) * 2"),
            (
                binary(Binary::Implies, busy(), binary(Binary::Implies, busy(), less(1))),
                "busy -> busy -> x < 1",
            ),
            (
                binary(Binary::Implies, binary(Binary::Implies, busy(), busy()), busy()),
                "(busy -> busy) -> busy",
            ),
            (Expression::element(2, binary(Binary::Add, x(), number(1))), "slot[x + 1]"),
            (Expression::unary(Unary::Negate, number(-1)), "-(-1)"),
            (Expression::If(Box::new((busy(), number(1), x()))), "busy ? 1 : x"),
            (binary(Binary::Greater, Expression::Before(Box::new(x())), number(2)), "before(x) > 2"),
            (Expression::Happens(vec![0, 1]), "happens(send, receive)"),
            (Expression::Enabled(vec![0]), "enabled(send)"),
            (binary(Binary::And, number(1), busy()), "true && busy"),
        ];
        for (expression, words) in table {
            assert_eq!(model().show(&expression), words);
        }
    }

    #[test]
    fn show_truncates_deep_expressions() {
        let mut deep = Expression::read(3);
        for _ in 0..1000 {
            deep = Expression::unary(Unary::Not, deep);
        }
        let shown = model().show(&deep);
        assert!(shown.ends_with("!…") && shown.len() < 200, "{shown}");
    }
}
