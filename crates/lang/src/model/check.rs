//! Type checker for expressions, which also lowers them.

use super::parse_expressions::MAX_DEPTH;
use super::syntax::{Argument, Expr, ExprKind, Name, Path, Range, Segment};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Binary, Expression, Unary};
use std::rc::Rc;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Boolean,
    Integer,
    /// An enum with these values.
    Names(Rc<Vec<String>>),
}

impl Type {
    /// Describes the type for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Type::Boolean => "a Boolean".to_owned(),
            Type::Integer => "a number".to_owned(),
            Type::Names(names) => {
                let mut shown: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
                if names.len() > 4 {
                    shown.push("…".to_owned());
                }
                format!("one of {}", shown.join(", "))
            }
        }
    }
}

/// A lowered expression and its type.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) expression: Expression,
    pub(super) kind: Type,
    pub(super) depth: u32,
}

impl Typed {
    /// A leaf, or an expression of depth 1.
    pub(super) fn leaf(expression: Expression, kind: Type) -> Typed {
        Typed { expression, kind, depth: 1 }
    }

    pub(super) fn constant(&self) -> Option<i64> {
        match self.expression {
            Expression::Constant(value) => Some(value),
            _ => None,
        }
    }
}

/// Resolves the names in expressions.
pub(super) trait Scope {
    /// Reads a path; returns `None` after reporting an error.
    fn read(&self, checker: &mut Checker, path: &Path, expected: Option<&Type>) -> Option<Typed>;

    /// Applies a function to its argument; returns `None` after reporting an error.
    fn call(&self, checker: &mut Checker, name: &Name, argument: &Argument) -> Option<Typed>;
}

/// Checks expressions and lowers them.
pub(super) struct Checker {
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The number of nodes that may still be created.
    node_budget: usize,
    /// Names bound to numbers, innermost last.
    pub(super) locals: Vec<(String, i64)>,
    /// Whether names without a prime refer to the source of the step.
    is_step: bool,
    /// Whether the current expression is already fixed to the source or target of the step.
    is_time_fixed: bool,
}

impl Checker {
    /// Creates a checker with a limit on the number of nodes.
    pub(super) fn new(node_budget: usize) -> Checker {
        let (diagnostics, locals) = (Vec::new(), Vec::new());
        Checker { diagnostics, node_budget, locals, is_step: false, is_time_fixed: false }
    }

    /// Reports a diagnostic.
    pub(super) fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        if self.diagnostics.len() < 50 && !self.diagnostics.iter().any(|other| other.span == diagnostic.span)
        {
            self.diagnostics.push(diagnostic);
        }
        None
    }

    /// Whether the limit on nodes is reached.
    pub(super) fn is_exhausted(&self) -> bool {
        self.node_budget == 0
    }

    /// Counts nodes; reports an error if there are too many.
    pub(super) fn spend(&mut self, span: Span, nodes: usize) -> Option<()> {
        match self.node_budget.checked_sub(nodes) {
            Some(left) => {
                self.node_budget = left;
                Some(())
            }
            None => {
                self.node_budget = 0;
                let diagnostic =
                    Diagnostic::error(span, "this expression is too large").label("limit reached here");
                self.report(diagnostic.help("use smaller ranges or fewer nested quantifiers"))
            }
        }
    }

    /// Checks a predicate over steps: if any name has a prime, names without one refer to the source of the step.
    pub(super) fn predicate(&mut self, scope: &dyn Scope, syntax: &Expr) -> Option<Expression> {
        self.is_step = has_prime(syntax);
        let found = self.expect(scope, syntax, &Type::Boolean);
        self.is_step = false;
        Some(found?.expression)
    }

    /// Checks an expression of the given type.
    pub(super) fn expect(&mut self, scope: &dyn Scope, syntax: &Expr, wanted: &Type) -> Option<Typed> {
        let found = self.check(scope, syntax, Some(wanted))?;
        if found.kind == *wanted {
            return Some(found);
        }
        let message = format!("expected {}, found {}", wanted.describe(), found.kind.describe());
        let mut diagnostic =
            Diagnostic::error(syntax.span, message).label(format!("is {}", found.kind.describe()));
        if (wanted, &found.kind) == (&Type::Boolean, &Type::Integer) {
            diagnostic = diagnostic.help("compare the value: `… != 0`");
        }
        self.report(diagnostic)
    }

    /// Evaluates a constant expression.
    pub(super) fn constant(&mut self, scope: &dyn Scope, syntax: &Expr) -> Option<i64> {
        let found = self.expect(scope, syntax, &Type::Integer)?;
        match found.constant() {
            Some(value) => Some(value),
            None => {
                let diagnostic = Diagnostic::error(syntax.span, "expected a constant");
                self.report(diagnostic.label("not known at compile time"))
            }
        }
    }

    /// Evaluates the bounds of a range; reports empty and oversized ranges.
    pub(super) fn bounds(&mut self, scope: &dyn Scope, range: &Range) -> Option<(i64, i64)> {
        let low = self.constant(scope, &range.low);
        let high = self.constant(scope, &range.high);
        let (low, high, span) = (low?, high?, range.low.span.to(range.high.span));
        if low > high {
            let diagnostic = Diagnostic::error(span, format!("the range {low}..{high} is empty"));
            return self.report(diagnostic.label("empty range"));
        }
        match high.checked_sub(low) {
            Some(size) if size < 1 << 62 => Some((low, high)),
            _ => self.report(Diagnostic::error(span, "this range is too large").label("too large")),
        }
    }

    /// Checks an expression of any type; `expected` helps to resolve enum values.
    pub(super) fn check(
        &mut self,
        scope: &dyn Scope,
        syntax: &Expr,
        expected: Option<&Type>,
    ) -> Option<Typed> {
        self.spend(syntax.span, 1)?;
        match &syntax.kind {
            ExprKind::Number(number) => Some(Typed::leaf(Expression::Constant(*number), Type::Integer)),
            ExprKind::Boolean(truth) => {
                Some(Typed::leaf(Expression::Constant(i64::from(*truth)), Type::Boolean))
            }
            ExprKind::Path(path) => self.path(scope, path, expected),
            ExprKind::Unary(operator, operand) => {
                let kind = if *operator == Unary::Not { Type::Boolean } else { Type::Integer };
                let operand = self.expect(scope, operand, &kind)?;
                let depth = operand.depth + 1;
                self.limit_depth(syntax.span, unary(*operator, operand.expression), kind, depth)
            }
            ExprKind::Binary(operator, operands) => self.binary(scope, syntax.span, *operator, operands),
            ExprKind::All(parts) | ExprKind::Any(parts) => {
                let parts: Vec<Option<Typed>> =
                    parts.iter().map(|part| self.expect(scope, part, &Type::Boolean)).collect();
                let parts = parts.into_iter().collect::<Option<Vec<Typed>>>()?;
                self.join_conditions(syntax.span, matches!(syntax.kind, ExprKind::All(_)), parts)
            }
            ExprKind::If(parts) => {
                let condition = self.expect(scope, &parts.0, &Type::Boolean);
                let this = self.check(scope, &parts.1, expected)?;
                let that = self.expect(scope, &parts.2, &this.kind)?;
                let condition = condition?;
                let depth = 1 + condition.depth.max(this.depth).max(that.depth);
                let kind = this.kind.clone();
                let chosen = match condition.constant() {
                    Some(0) => that.expression,
                    Some(_) => this.expression,
                    None => {
                        Expression::If(Box::new((condition.expression, this.expression, that.expression)))
                    }
                };
                self.limit_depth(syntax.span, chosen, kind, depth)
            }
            ExprKind::Quantifier { is_all, name, range, body } => {
                let (low, high) = self.bounds(scope, range)?;
                let mut parts = Vec::new();
                for number in low..=high {
                    self.spend(syntax.span, 1)?;
                    self.locals.push((name.text.clone(), number));
                    let part = self.expect(scope, body, &Type::Boolean);
                    self.locals.pop();
                    // Errors in the first instance also occur in the others.
                    parts.push(part?);
                }
                self.join_conditions(syntax.span, *is_all, parts)
            }
            ExprKind::Call { name, argument, is_primed } => {
                let was_time_fixed = core::mem::replace(&mut self.is_time_fixed, true);
                let found = scope.call(self, name, argument);
                self.is_time_fixed = was_time_fixed;
                let mut found = found?;
                if !matches!(found.expression, Expression::Happens(_)) {
                    found.expression = self.fix_time(found.expression, *is_primed);
                }
                Some(found)
            }
        }
    }

    fn path(&mut self, scope: &dyn Scope, path: &Path, expected: Option<&Type>) -> Option<Typed> {
        if let Some(name) = path.bare()
            && let Some((_, number)) = self.locals.iter().rev().find(|(local, _)| local == name)
        {
            return Some(Typed::leaf(Expression::Constant(*number), Type::Integer));
        }
        let was_time_fixed = core::mem::replace(&mut self.is_time_fixed, true);
        let found = scope.read(self, path, expected);
        self.is_time_fixed = was_time_fixed;
        let mut found = found?;
        found.expression = self.fix_time(found.expression, path.is_primed);
        self.limit_depth(path.span, found.expression, found.kind, found.depth)
    }

    /// Fixes a value that is read to the source or target of the step.
    fn fix_time(&self, expression: Expression, is_primed: bool) -> Expression {
        let is_source = self.is_step && !self.is_time_fixed && !is_primed;
        match expression {
            Expression::Constant(_) => expression,
            _ if is_source => Expression::Before(Box::new(expression)),
            _ => expression,
        }
    }

    fn binary(
        &mut self,
        scope: &dyn Scope,
        span: Span,
        operator: Binary,
        operands: &(Expr, Expr),
    ) -> Option<Typed> {
        let (operand_type, kind) = match operator {
            Binary::Implies => (Some(Type::Boolean), Type::Boolean),
            Binary::Equal | Binary::NotEqual => (None, Type::Boolean),
            Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
                (Some(Type::Integer), Type::Boolean)
            }
            _ => (Some(Type::Integer), Type::Integer),
        };
        let (left, right) = match operand_type {
            Some(operand_type) => {
                let left = self.expect(scope, &operands.0, &operand_type);
                (left, self.expect(scope, &operands.1, &operand_type))
            }
            None => self.check_same_type(scope, operands),
        };
        let (left, right) = (left?, right?);
        let depth = 1 + left.depth.max(right.depth);
        if matches!(operator, Binary::Divide | Binary::Remainder) && right.constant() == Some(0) {
            return self.report(Diagnostic::error(operands.1.span, "division by 0").label("is 0"));
        }
        self.limit_depth(span, binary(operator, left.expression, right.expression), kind, depth)
    }

    /// Checks two operands that must have the same type. Either one may determine it.
    fn check_same_type(
        &mut self,
        scope: &dyn Scope,
        operands: &(Expr, Expr),
    ) -> (Option<Typed>, Option<Typed>) {
        let mark = self.diagnostics.len();
        if let Some(left) = self.check(scope, &operands.0, None) {
            let right = self.expect(scope, &operands.1, &left.kind);
            return (Some(left), right);
        }
        // The left operand may be an enum value whose type only the right operand determines.
        let before: Vec<Diagnostic> = self.diagnostics.drain(mark..).collect();
        let right = self.check(scope, &operands.1, None);
        match &right {
            Some(of) if matches!(of.kind, Type::Names(_)) => {
                let kind = of.kind.clone();
                (self.expect(scope, &operands.0, &kind), right)
            }
            _ => {
                let after: Vec<Diagnostic> = self.diagnostics.drain(mark..).collect();
                before.into_iter().chain(after).for_each(|diagnostic| {
                    self.report::<()>(diagnostic);
                });
                (None, right)
            }
        }
    }

    /// Joins conditions by `and` or by `or`.
    fn join_conditions(&mut self, span: Span, is_all: bool, parts: Vec<Typed>) -> Option<Typed> {
        let depth = parts.iter().map(|part| part.depth).max().unwrap_or(0) + parts.len().max(1).ilog2() + 1;
        let parts = parts.into_iter().map(|part| part.expression).collect();
        let joined = if is_all { conjunction(parts) } else { disjunction(parts) };
        self.limit_depth(span, joined, Type::Boolean, depth)
    }

    /// Limits the depth of a lowered expression, since names may denote deep ones.
    fn limit_depth(&mut self, span: Span, expression: Expression, kind: Type, depth: u32) -> Option<Typed> {
        if depth > 2 * MAX_DEPTH {
            let diagnostic =
                Diagnostic::error(span, "this expression is nested too deeply").label("too deep");
            return self.report(diagnostic.help("its names refer to expressions that are already deep"));
        }
        Some(Typed { expression, kind, depth })
    }
}

/// Conjunction, with constant operands removed.
pub(super) fn conjunction(mut parts: Vec<Expression>) -> Expression {
    if parts.contains(&Expression::Constant(0)) {
        return Expression::Constant(0);
    }
    parts.retain(|part| !matches!(part, Expression::Constant(_)));
    Expression::all(parts)
}

/// Disjunction, with constant operands removed.
pub(super) fn disjunction(mut parts: Vec<Expression>) -> Expression {
    if parts.iter().any(|part| matches!(part, Expression::Constant(value) if *value != 0)) {
        return Expression::Constant(1);
    }
    parts.retain(|part| !matches!(part, Expression::Constant(_)));
    Expression::any(parts)
}

/// Unary operator, with constant folding.
pub(super) fn unary(operator: Unary, operand: Expression) -> Expression {
    match (operator, &operand) {
        (Unary::Not, Expression::Constant(value)) => Expression::Constant(i64::from(*value == 0)),
        (Unary::Negate, Expression::Constant(value)) => Expression::Constant(value.wrapping_neg()),
        (Unary::Complement, Expression::Constant(value)) => Expression::Constant(!value),
        _ => Expression::unary(operator, operand),
    }
}

/// Binary operator, with constant folding.
pub(super) fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    if let (Expression::Constant(a), Expression::Constant(b)) = (&left, &right)
        && let Some(value) = fold(operator, *a, *b)
    {
        return Expression::Constant(value);
    }
    Expression::binary(operator, left, right)
}

fn fold(operator: Binary, a: i64, b: i64) -> Option<i64> {
    let shift = u32::try_from(b).ok().filter(|by| *by < 64);
    Some(match operator {
        Binary::Add => a.checked_add(b)?,
        Binary::Subtract => a.checked_sub(b)?,
        Binary::Multiply => a.checked_mul(b)?,
        Binary::Divide => a.checked_div(b)?,
        Binary::Remainder => a.checked_rem(b)?,
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::ShiftLeft => a.wrapping_shl(shift?),
        Binary::ShiftRight => a.wrapping_shr(shift?),
        Binary::Equal => i64::from(a == b),
        Binary::NotEqual => i64::from(a != b),
        Binary::Less => i64::from(a < b),
        Binary::LessOrEqual => i64::from(a <= b),
        Binary::Greater => i64::from(a > b),
        Binary::GreaterOrEqual => i64::from(a >= b),
        Binary::And => i64::from(a != 0 && b != 0),
        Binary::Or => i64::from(a != 0 || b != 0),
        Binary::Implies => i64::from(a == 0 || b != 0),
    })
}

/// Whether any name has a prime. The recursion is bounded by the parser.
pub(super) fn has_prime(syntax: &Expr) -> bool {
    let in_path = |path: &Path| {
        path.is_primed || path.rest.iter().any(|part| matches!(part, Segment::Index(of) if has_prime(of)))
    };
    match &syntax.kind {
        ExprKind::Number(_) | ExprKind::Boolean(_) => false,
        ExprKind::Path(path) => in_path(path),
        ExprKind::Unary(_, operand) => has_prime(operand),
        ExprKind::Binary(_, operands) => has_prime(&operands.0) || has_prime(&operands.1),
        ExprKind::All(parts) | ExprKind::Any(parts) => parts.iter().any(has_prime),
        ExprKind::If(parts) => has_prime(&parts.0) || has_prime(&parts.1) || has_prime(&parts.2),
        ExprKind::Quantifier { body, .. } => has_prime(body),
        ExprKind::Call { argument, is_primed, .. } => {
            *is_primed || matches!(argument, Argument::Path(path) if in_path(path))
        }
    }
}
