//! Parses expressions.

use super::parser::{MAX_NESTING, ModelParser};
use super::scan::Token;
use super::syntax::{Argument, Expr, ExprKind, Name, Path, Range, Segment};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Binary, Unary};

/// The maximum depth of expressions: the engines recurse over them.
pub(super) const MAX_DEPTH: u32 = 200;

/// The maximum number of fields and indices in a path.
const MAX_SEGMENTS: usize = 32;

/// The functions on actions and queues.
pub(super) const FUNCTIONS: [&str; 5] = ["enabled", "happens", "length", "empty", "full"];

enum Operator {
    Binary(Binary),
    All,
    Any,
    Implies,
    If,
}

/// Binding powers; a higher number binds more tightly.
const IF: u8 = 1;
const IMPLIES: u8 = 2;
const OR: u8 = 3;
const AND: u8 = 4;
const NOT: u8 = 5;
const COMPARE: u8 = 6;
const UNARY: u8 = 12;

impl ModelParser<'_> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Option<Expr> {
        self.expression_above(0)
    }

    /// Parses an expression whose operators have at least the binding power `power`.
    fn expression_above(&mut self, power: u8) -> Option<Expr> {
        if self.nesting >= MAX_NESTING {
            self.too_deep(self.here());
            return None;
        }
        self.nesting += 1;
        let found = self.operators(power);
        self.nesting -= 1;
        found
    }

    fn too_deep(&mut self, span: Span) {
        let diagnostic = Diagnostic::error(span, "this expression is nested too deeply").label("too deep");
        self.report(diagnostic.help("define parts of it with `predicate`"));
        // The remaining text is as deep; stop here.
        self.stop();
    }

    fn operators(&mut self, power: u8) -> Option<Expr> {
        let mut left = self.prefix()?;
        loop {
            let Some((operator, own_power)) =
                self.operator().filter(|(_, own_power)| *own_power >= power.max(IF))
            else {
                return Some(left);
            };
            match operator {
                Operator::Binary(operator) => {
                    self.take();
                    let right = self.expression_above(own_power + 1)?;
                    left = self.node(ExprKind::Binary(operator, Box::new((left, right))))?;
                    if own_power == COMPARE && self.operator().is_some_and(|(_, next)| next == COMPARE) {
                        let diagnostic = Diagnostic::error(self.here(), "comparisons cannot be chained");
                        self.report(diagnostic.label("second comparison").help("write `a < b and b < c`"));
                        return None;
                    }
                }
                Operator::Implies => {
                    self.take();
                    let right = self.expression_above(own_power)?;
                    left = self.node(ExprKind::Binary(Binary::Implies, Box::new((left, right))))?;
                }
                Operator::All | Operator::Any => {
                    let mut parts = vec![left];
                    while self.operator().is_some_and(|(_, next)| next == own_power) {
                        self.take();
                        parts.push(self.expression_above(own_power + 1)?);
                    }
                    let is_all = matches!(operator, Operator::All);
                    left = self.node(if is_all { ExprKind::All(parts) } else { ExprKind::Any(parts) })?;
                }
                Operator::If => {
                    self.take();
                    let this = self.expression_above(0)?;
                    self.expect(":")?;
                    let that = self.expression_above(own_power)?;
                    left = self.node(ExprKind::If(Box::new((left, this, that))))?;
                }
            }
        }
    }

    /// Returns the next binary operator with its binding power.
    fn operator(&self) -> Option<(Operator, u8)> {
        let binary = |operator, power| Some((Operator::Binary(operator), power));
        match self.peek() {
            Token::Word("and") | Token::Mark("&&" | "∧") => Some((Operator::All, AND)),
            Token::Word("or") | Token::Mark("||" | "∨") => Some((Operator::Any, OR)),
            Token::Word("implies") | Token::Mark("=>" | "⇒") => Some((Operator::Implies, IMPLIES)),
            Token::Mark("->" | "→") if self.has_arrows => Some((Operator::Implies, IMPLIES)),
            Token::Mark("?") => Some((Operator::If, IF)),
            Token::Mark("==") => binary(Binary::Equal, COMPARE),
            Token::Mark("!=" | "≠") => binary(Binary::NotEqual, COMPARE),
            Token::Mark("<") => binary(Binary::Less, COMPARE),
            Token::Mark("<=" | "≤") => binary(Binary::LessOrEqual, COMPARE),
            Token::Mark(">") => binary(Binary::Greater, COMPARE),
            Token::Mark(">=" | "≥") => binary(Binary::GreaterOrEqual, COMPARE),
            Token::Mark("|") => binary(Binary::BitOr, 7),
            Token::Mark("^") => binary(Binary::BitXor, 8),
            Token::Mark("&") => binary(Binary::BitAnd, 9),
            Token::Mark("<<") => binary(Binary::ShiftLeft, 10),
            Token::Mark(">>") => binary(Binary::ShiftRight, 10),
            Token::Mark("+") => binary(Binary::Add, 11),
            Token::Mark("-") => binary(Binary::Subtract, 11),
            Token::Mark("*") => binary(Binary::Multiply, 12),
            Token::Mark("/") => binary(Binary::Divide, 12),
            Token::Mark("%") => binary(Binary::Remainder, 12),
            _ => None,
        }
    }

    /// Parses an operand with its prefix operators.
    fn prefix(&mut self) -> Option<Expr> {
        let start = self.here();
        let (operator, power) = match self.peek() {
            Token::Word("not") => (Unary::Not, NOT),
            Token::Mark("!" | "¬") => (Unary::Not, UNARY + 1),
            Token::Mark("-") => (Unary::Negate, UNARY + 1),
            Token::Mark("~") => (Unary::Complement, UNARY + 1),
            Token::Word("forall" | "exists") => return self.quantifier(),
            _ => return self.primary(),
        };
        self.take();
        let operand = self.expression_above(power)?;
        if let (Unary::Negate, ExprKind::Number(number)) = (operator, &operand.kind) {
            // The number includes its sign, so that a range can start with a negative number.
            let kind = ExprKind::Number(number.wrapping_neg());
            return Some(Expr { kind, span: start.to(operand.span), depth: 1 });
        }
        let mut found = self.node(ExprKind::Unary(operator, Box::new(operand)))?;
        found.span = start.to(found.span);
        Some(found)
    }

    /// Parses `forall i in 0..3: …`.
    fn quantifier(&mut self) -> Option<Expr> {
        let is_all = self.at_word("forall");
        let start = self.take();
        let name = self.expect_name("a name for the number")?;
        if !self.take_word("in") {
            let diagnostic = self.expected("`in`").help("write `forall i in 0..3: …`");
            self.report(diagnostic);
            return None;
        }
        let range = self.range()?;
        self.expect(":")?;
        let body = Box::new(self.expression_above(0)?);
        let mut found = self.node(ExprKind::Quantifier { is_all, name, range, body })?;
        found.span = start.to(found.span);
        Some(found)
    }

    /// Parses a range. Its bounds bind more tightly than comparisons, so that a range can be part of one.
    pub(super) fn range(&mut self) -> Option<Range> {
        let low = Box::new(self.expression_above(COMPARE + 1)?);
        self.expect("..")?;
        let high = Box::new(self.expression_above(COMPARE + 1)?);
        Some(Range { low, high })
    }

    fn primary(&mut self) -> Option<Expr> {
        let leaf = |kind, span| Some(Expr { kind, span, depth: 1 });
        match self.peek() {
            Token::Number(number) => leaf(ExprKind::Number(number), self.take()),
            Token::Word("true") => leaf(ExprKind::Boolean(true), self.take()),
            Token::Word("false") => leaf(ExprKind::Boolean(false), self.take()),
            Token::Word(word) if FUNCTIONS.contains(&word) && self.peek_at(1) == Token::Mark("(") => {
                self.call()
            }
            Token::Word(_) => {
                let path = self.path()?;
                let (span, depth) = (path.span, 1 + index_depth(&path));
                Some(Expr { kind: ExprKind::Path(path), span, depth })
            }
            Token::Mark("(") => {
                let start = self.take();
                let mut inside = self.expression_above(0)?;
                inside.span = start.to(self.expect(")")?);
                Some(inside)
            }
            _ => {
                let mut diagnostic = self.expected("an expression");
                if matches!(self.peek(), Token::Quoted(_)) {
                    diagnostic =
                        diagnostic.help("refer to actions with `happens(\"…\")` and `enabled(\"…\")`");
                }
                self.report(diagnostic);
                None
            }
        }
    }

    fn call(&mut self) -> Option<Expr> {
        let name = self.expect_name("a function")?;
        self.expect("(")?;
        let argument = match self.peek() {
            Token::Quoted(text) => Argument::Quoted(Name { text: text.to_owned(), span: self.take() }),
            _ => Argument::Path(self.path()?),
        };
        let mut end = self.expect(")")?;
        let is_primed = self.at_mark("'");
        if is_primed {
            end = self.take();
        }
        let span = name.span.to(end);
        let inside = if let Argument::Path(path) = &argument { index_depth(path) } else { 0 };
        Some(Expr { kind: ExprKind::Call { name, argument, is_primed }, span, depth: 1 + inside })
    }

    /// Parses a path such as `P[2].x'`.
    pub(super) fn path(&mut self) -> Option<Path> {
        let head = self.expect_name("a name")?;
        let mut path = Path { span: head.span, head, rest: Vec::new(), is_primed: false };
        loop {
            if path.rest.len() > MAX_SEGMENTS {
                let diagnostic = Diagnostic::error(self.here(), "this path is too long");
                self.report(diagnostic.label(format!("more than {MAX_SEGMENTS} segments")));
                return None;
            }
            if self.at_mark(".") {
                self.take();
                let field = self.expect_name("a name after the dot")?;
                path.span = path.span.to(field.span);
                path.rest.push(Segment::Field(field));
            } else if self.at_mark("[") {
                self.take();
                let index = self.expression_above(0)?;
                path.span = path.span.to(self.expect("]")?);
                path.rest.push(Segment::Index(index));
            } else {
                break;
            }
        }
        if self.at_mark("'") {
            path.span = path.span.to(self.take());
            path.is_primed = true;
        }
        Some(path)
    }

    /// Creates a composite expression; reports an error if it is too deep.
    fn node(&mut self, kind: ExprKind) -> Option<Expr> {
        let parts: Vec<&Expr> = match &kind {
            ExprKind::Unary(_, a) => vec![a],
            ExprKind::Quantifier { body, range, .. } => vec![&range.low, &range.high, body],
            ExprKind::Binary(_, both) => vec![&both.0, &both.1],
            ExprKind::If(all) => vec![&all.0, &all.1, &all.2],
            ExprKind::All(parts) | ExprKind::Any(parts) => parts.iter().collect(),
            _ => Vec::new(),
        };
        let (first, last) = (parts.first()?.span, parts.last()?.span);
        let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
        let span = first.to(last);
        if depth > MAX_DEPTH {
            self.too_deep(last);
            return None;
        }
        Some(Expr { kind, span, depth })
    }
}

fn index_depth(path: &Path) -> u32 {
    let depths = path.rest.iter().map(|segment| match segment {
        Segment::Index(index) => index.depth,
        Segment::Field(_) => 0,
    });
    depths.max().unwrap_or(0)
}
